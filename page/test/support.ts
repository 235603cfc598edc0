// The learner for tests without a browser: the program's, asked as the page asks it; and data where it is at hand.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Engine } from '../src/engine';
import { type Channel, Lane } from '../src/learner';
import { ProgramChannel } from '../src/program';
import { ServerStore } from '../src/store';

export const DATA = process.env['HOMOLOG_DATA'] ?? resolve(import.meta.dirname, '../../../shared/data');
export const PROGRAM = resolve(import.meta.dirname, process.env['HOMOLOG_PROGRAM'] ?? '../../target/debug/homolog');
/** The learner as WebAssembly, if it is built. */
const LEARNER = process.env['HOMOLOG_LEARNER'];

/** Runs a command until its own input ends, and kills it then: a test program that is killed itself closes that input too, so that no
 * server outlives it. */
const UNTIL_CLOSED = 'exec 3<&0; "$@" 3<&- & own=$!; (cat <&3 >/dev/null; kill -9 $own) >/dev/null 2>&1 & wait $own';

/** `homolog label`, at a free port. It is killed by ending its input. */
export async function serve(...more: string[]): Promise<{ child: ChildProcess; address: string }> {
  const child = spawn('sh', ['-c', UNTIL_CLOSED, 'sh', PROGRAM, 'label', ...more, '--no-open'], { stdio: ['pipe', 'pipe', 'pipe'] });
  const address = await new Promise<string>((done, fail) => {
    let errors = '';
    child.stderr!.on('data', (bytes) => (errors += bytes));
    child.stdout!.once('data', (bytes) => done(String(bytes).trim()));
    child.once('exit', () => fail(new Error(`homolog label ended: ${errors}`)));
  });
  return { child, address };
}

/** A folder that goes away by itself at the end. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'homolog-'));
  process.once('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function engine(): Engine {
  if (LEARNER === undefined) throw new Error('HOMOLOG_LEARNER must name the WebAssembly module; page/build --static makes it');
  return new Engine(new WebAssembly.Module(readFileSync(LEARNER)));
}

let store: Promise<ServerStore> | undefined;

/** The program, started once. */
async function program(): Promise<ServerStore> {
  const { address } = await serve('turntable', '--labels', folder());
  const { origin, hash } = new URL(address);
  // As a browser does for a page of that address.
  const plain = globalThis.fetch;
  globalThis.fetch = (input, init) => plain(input, { ...init, headers: { ...init?.headers, Origin: origin } });
  return new ServerStore(hash.slice(1), origin);
}

/** A lane to the program; with HOMOLOG_LEARNER to the WebAssembly module, without a worker. */
export async function lane(): Promise<Lane> {
  if (LEARNER !== undefined) {
    const learner = engine();
    return new Lane((): Channel => {
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
    });
  }
  const server = await (store ??= program());
  return new Lane(() => new ProgramChannel((body, signal) => server.ask('quick', body, signal)));
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
