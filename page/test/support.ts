// The learner out of the committed page, and data where it is at hand.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Engine } from '../src/engine';
import { type Channel, Lane } from '../src/learner';

const PAGE = resolve(import.meta.dirname, '../../crates/homolog-cli/src/label/page.html');
export const DATA = process.env['HOMOLOG_DATA'] ?? resolve(import.meta.dirname, '../../../shared/data');

let module: WebAssembly.Module | undefined;

/** The learner as the committed page has it. */
export function engine(): Engine {
  if (module === undefined) {
    const packed = /H4sI[A-Za-z0-9+/=]{1000,}/.exec(readFileSync(PAGE, 'utf8'))?.[0];
    if (packed === undefined) throw new Error('there is no learner in the page; run page/build');
    module = new WebAssembly.Module(gunzipSync(Buffer.from(packed, 'base64')));
  }
  return new Engine(module);
}

/** A lane that answers at once, without a worker. */
export function lane(learner = engine()): Lane {
  const open = (): Channel => {
    const channel: Channel = {
      onmessage: null,
      terminate() {},
      postMessage(message: any) {
        let answer: object;
        try {
          answer = { id: message.id, ok: learner.ask(message.request, message.pixels) };
        } catch (error) {
          answer = { id: message.id, error: (error as Error).message };
        }
        queueMicrotask(() => channel.onmessage?.({ data: answer }));
      },
    };
    return channel;
  };
  return new Lane(open);
}

export function csv(path: string): string[][] | null {
  if (!existsSync(path)) return null;
  return readFileSync(path, 'utf8').trim().split('\n').slice(1).map((line) => line.split(','));
}

/** Always the same numbers. */
export function generator(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    // xorshift32
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

export function shuffled<T>(list: readonly T[], draw: (below: number) => number): T[] {
  const copy = [...list];
  for (let n = copy.length - 1; n > 0; n--) {
    const other = draw(n + 1);
    [copy[n], copy[other]] = [copy[other]!, copy[n]!];
  }
  return copy;
}
