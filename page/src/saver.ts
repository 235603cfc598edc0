// Brings actions into the journal, one after the other, and says how far that is. Nothing is called saved before the store has it.

import type { Entry } from './state';
import { Conflict, type Store } from './store';

export type SaveState =
  | { kind: 'saved' }
  | { kind: 'saving'; count: number }
  /** The store does not answer; what waits is sent again. */
  | { kind: 'waiting'; count: number; reason: string }
  /** Someone else wrote in between: a person must say what to do. */
  | { kind: 'conflict'; count: number; entries: Entry[] };

export class Saver {
  state: SaveState = { kind: 'saved' };
  private queue: Entry[] = [];
  private working = false;

  constructor(
    private readonly store: Store,
    private seen: number,
    private readonly changed: () => void,
    private readonly pause: (milliseconds: number) => Promise<void>,
  ) {}

  /** How many entries of the journal this page knows to be kept. */
  get version(): number {
    return this.seen;
  }

  add(entry: Entry): void {
    this.queue.push(entry);
    void this.work();
  }

  /** After a conflict: `theirs` is the journal now; what waits is sent after it, or dropped. */
  resolve(theirs: readonly Entry[], keepMine: boolean): Entry[] {
    const mine = keepMine ? this.queue : [];
    this.queue = [...mine];
    this.seen = theirs.length;
    this.set({ kind: 'saved' });
    void this.work();
    return mine;
  }

  private set(state: SaveState): void {
    this.state = state;
    this.changed();
  }

  private async work(): Promise<void> {
    if (this.working || this.state.kind === 'conflict') return;
    this.working = true;
    while (this.queue.length > 0) {
      if (this.state.kind !== 'waiting') this.set({ kind: 'saving', count: this.queue.length });
      const stop = await this.send(this.queue[0]!);
      if (stop) break;
    }
    this.working = false;
    if (this.queue.length === 0) this.set({ kind: 'saved' });
  }

  /** Whether to stop. */
  private async send(entry: Entry): Promise<boolean> {
    try {
      await this.store.append(entry, this.seen);
      this.accepted();
      return false;
    } catch (error) {
      if (error instanceof Conflict) return this.conflict();
      this.set({ kind: 'waiting', count: this.queue.length, reason: (error as Error).message });
      await this.pause(1000);
      return false;
    }
  }

  private accepted(): void {
    this.queue.shift();
    this.seen += 1;
    if (this.state.kind === 'waiting') this.set({ kind: 'saving', count: this.queue.length });
  }

  private async conflict(): Promise<boolean> {
    let entries: Entry[];
    try {
      entries = await this.store.entries();
    } catch (error) {
      this.set({ kind: 'waiting', count: this.queue.length, reason: (error as Error).message });
      await this.pause(1000);
      return false;
    }
    // Kept, but the answer was lost on the way: then the first entry we do not know is our own.
    if (entries.length > this.seen && entries[this.seen]?.id === this.queue[0]?.id) {
      this.accepted();
      return false;
    }
    this.set({ kind: 'conflict', count: this.queue.length, entries });
    return true;
  }
}
