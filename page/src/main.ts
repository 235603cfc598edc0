// Opens the page: with the server's project where there is a token in the address, else with files that are dropped in.

import packed from 'virtual:learner';
import { App } from './app';
import { startOf } from './data';
import { h, replace } from './dom';
import { dropZone } from './drop';
import { type Channel, Lane, unpack } from './learner';
import { Learning } from './learning';
import { Pictures } from './pictures';
import { Shell } from './shell';
import type { Start } from './state';
import { ServerStore, type Store } from './store';
import LearnerWorker from './worker?worker&inline';

async function open(root: Element): Promise<void> {
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
  const { start, store, numbers } = await projectOf(root, quick);
  const app = new App(start, store, await store.entries());
  const pictures = new Pictures(store, numbers);
  const failed = (reason: string) => app.tell(`The learner: ${reason}`);
  app.learning = new Learning(start, quick, slow, (specimen) => pictures.grey(specimen), () => app.changed(), failed);
  new Shell(app, pictures, quick, root);
  // For the console, and for tests that look at what is shown.
  Object.assign(window, { homolog: app });
  app.begin();
}

async function projectOf(root: Element, lane: Lane): Promise<{ start: Start; store: Store; numbers: Map<string, number> }> {
  const token = location.hash.slice(1);
  if (!location.protocol.startsWith('http') || token === '') return dropZone(root, lane);
  const store = new ServerStore(token);
  const { title, specimens, data } = await store.project();
  const numbers = new Map(specimens.flatMap(({ id, picture }, n) => (picture ? [[id, n] as const] : [])));
  return { start: startOf(title, specimens, data), store, numbers };
}

const root = document.querySelector('#app')!;
open(root).catch((error: Error) => replace(root, h('div', { className: 'drop' }, h('h1', {}, 'Homolog'), h('p', {}, `This page cannot open: ${error.message}`))));
