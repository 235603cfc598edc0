// The page without a program, from any static host or opened as a file: the learner is inside, as WebAssembly, and files are dropped in.

import packed from 'virtual:learner';
import { dropZone } from './drop';
import { type Channel, Lane, unpack } from './learner';
import { open } from './open';
import LearnerWorker from './worker?worker&inline';

open(async (root) => {
  const module = await unpack(packed);
  const lane = () =>
    new Lane(() => {
      const worker = new LearnerWorker();
      const channel = worker as unknown as Channel;
      worker.onerror = () => channel.onmessage?.({ data: { broken: true } });
      worker.postMessage({ module });
      return channel;
    });
  const [quick, slow] = [lane(), lane()];
  return { ...(await dropZone(root, quick)), quick, slow };
});
