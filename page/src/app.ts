// The open project: its journal and state, what is shown, and the learner's view of it. Views read from here and send actions here.

import type { Learning } from './learning';
import { Saver } from './saver';
import { type Action, type Entry, type History, type PairId, type Start, type State, findPair, replay, step } from './state';
import type { Store } from './store';

export type Tab = 'specimens' | 'pairs' | 'model';

/** So many specimens are joined by one action. */
const JOINED = 100;

export class App {
  history: History;
  tab: Tab;
  specimen: string | null = null;
  /** The landmark that somebody wants to see. */
  landmark: string | null = null;
  pair: PairId | null = null;
  /** A message for the person, gone with the next action. */
  message: string | null = null;
  learning!: Learning;
  readonly saver: Saver;
  private entries: Entry[];
  private readonly listeners: Array<() => void> = [];

  constructor(
    readonly start: Start,
    readonly store: Store,
    entries: readonly Entry[],
  ) {
    this.entries = [...entries];
    this.history = replay(start, entries);
    this.tab = start.pairs.length > 0 ? 'pairs' : 'specimens';
    const pause = (milliseconds: number) => new Promise<void>((done) => setTimeout(done, milliseconds));
    this.saver = new Saver(store, entries.length, () => this.changed(), pause);
  }

  get state(): State {
    return this.history.present;
  }

  get pairState() {
    return this.pair === null ? null : (this.state.pairs[findPair(this.state, this.pair)] ?? null);
  }

  /** Opens the first thing there is to do. */
  begin(): void {
    this.specimen = this.firstOpenSpecimen() ?? this.start.specimens[0]?.id ?? null;
    const pair = this.state.pairs.find((pair) => !pair.confirmed) ?? this.state.pairs[0];
    this.pair = pair === undefined ? null : [pair.left, pair.right];
    this.changed();
  }

  private firstOpenSpecimen(): string | null {
    return this.start.specimens.find(({ id }) => !this.state.specimens[id]?.confirmed)?.id ?? null;
  }

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(): void {
    const specimen = this.tab === 'specimens' ? this.specimen : null;
    this.learning?.update(this.state, { specimen, pair: this.tab === 'pairs' ? this.pair : null });
    for (const listener of this.listeners) listener();
  }

  /** Does something, and brings it into the journal. */
  act(action: Action): void {
    const next = step(this.history, action);
    if (next === this.history) return;
    this.history = next;
    this.message = null;
    const entry = { id: crypto.randomUUID(), action };
    this.entries.push(entry);
    this.saver.add(entry);
    this.changed();
  }

  show(tab: Tab): void {
    this.tab = tab;
    this.changed();
  }

  openSpecimen(id: string, landmark: string | null = null): void {
    this.specimen = id;
    this.landmark = landmark;
    this.tab = 'specimens';
    this.changed();
  }

  openPair(pair: PairId): void {
    this.pair = pair;
    this.tab = 'pairs';
    this.changed();
  }

  /** Goes to what teaches most. */
  next(): void {
    if (this.tab === 'pairs') {
      const pair = this.learning.nextPair(this.state, this.pair);
      if (pair !== null) return this.openPair(pair);
    } else {
      const id = this.learning.nextSpecimen(this.state, this.specimen);
      if (id !== null) return this.openSpecimen(id);
    }
    this.tell('Everything is confirmed.');
  }

  /** Names all points together, without any labels; then they are corrected. */
  async join(): Promise<void> {
    const specimens = this.learning.unlabelled(this.state);
    this.tell(`Joining ${specimens.length} specimens …`);
    try {
      const labels = await this.learning.join(specimens);
      // An action has a limit of its size.
      for (let first = 0; first < labels.length; first += JOINED) this.act({ type: 'join', labels: labels.slice(first, first + JOINED) });
      this.tell('Joined: correct what is wrong, and confirm each specimen.');
    } catch (error) {
      this.tell(`The specimens could not be joined: ${(error as Error).message}`);
    }
  }

  tell(message: string): void {
    this.message = message;
    this.changed();
  }

  /** After a conflict: their journal, then mine or not. */
  settle(theirs: readonly Entry[], keepMine: boolean): void {
    const mine = this.saver.resolve(theirs, keepMine);
    this.entries = [...theirs, ...mine];
    this.history = replay(this.start, this.entries);
    this.changed();
  }
}
