import { describe, expect, test } from 'vitest';
import { Saver } from '../src/saver';
import type { Entry } from '../src/state';
import { BrowserStore, Conflict, type Store } from '../src/store';

const entry = (id: string): Entry => ({ id, action: { type: 'name', name: id } });

class FakeStore implements Store {
  place = 'here';
  kept: Entry[] = [];
  /** Called before an entry is kept; may throw. */
  before: () => void = () => {};
  /** Called after it is kept, before the page hears of it; may throw. */
  after: () => void = () => {};
  async entries() {
    return [...this.kept];
  }
  async append(entry: Entry, seen: number) {
    this.before();
    if (seen !== this.kept.length) throw new Conflict();
    this.kept.push(entry);
    this.after();
  }
  async picture() {
    return new Blob();
  }
  async write(name: string) {
    return name;
  }
}

const settle = () => new Promise((done) => setTimeout(done, 5));
const saver = (store: Store) => new Saver(store, 0, () => {}, async () => {});
const ids = (entries: Entry[]) => entries.map(({ id }) => id);

describe('saving', () => {
  test('entries are kept in order, and saved is said last', async () => {
    const store = new FakeStore();
    const states: string[] = [];
    const saving: Saver = new Saver(store, 0, () => states.push(`${saving.state.kind} ${store.kept.length}`), async () => {});
    for (const id of ['a', 'b', 'c']) saving.add(entry(id));
    expect(saving.state.kind).toBe('saving');
    await settle();
    expect(ids(store.kept)).toEqual(['a', 'b', 'c']);
    expect(states.at(-1)).toBe('saved 3');
    expect(states.slice(0, -1).every((state) => state.startsWith('saving'))).toBe(true);
  });

  test('what the store did not take is sent again', async () => {
    const store = new FakeStore();
    let failures = 3;
    store.before = () => {
      if (failures-- > 0) throw new Error('away');
    };
    const saving = saver(store);
    saving.add(entry('a'));
    saving.add(entry('b'));
    await settle();
    expect(ids(store.kept)).toEqual(['a', 'b']);
    expect(saving.state.kind).toBe('saved');
  });

  test('an answer lost on the way is no conflict and no double entry', async () => {
    const store = new FakeStore();
    let lost = 1;
    store.after = () => {
      if (lost-- > 0) throw new Error('connection reset');
    };
    const saving = saver(store);
    saving.add(entry('a'));
    saving.add(entry('b'));
    await settle();
    expect(ids(store.kept)).toEqual(['a', 'b']);
    expect(saving.state.kind).toBe('saved');
  });

  test.each([true, false])('a conflict waits for a person (keep mine: %s)', async (keep) => {
    const store = new FakeStore();
    const saving = saver(store);
    store.kept.push(entry('theirs'));
    saving.add(entry('mine'));
    await settle();
    expect(saving.state).toMatchObject({ kind: 'conflict', count: 1 });
    saving.add(entry('mine too'));
    await settle();
    expect(ids(store.kept)).toEqual(['theirs']);
    expect(ids(saving.resolve(await store.entries(), keep))).toEqual(keep ? ['mine', 'mine too'] : []);
    await settle();
    expect(ids(store.kept)).toEqual(keep ? ['theirs', 'mine', 'mine too'] : ['theirs']);
    expect(saving.version).toBe(store.kept.length);
  });
});

test('the browser keeps a journal too, and knows of two tabs', async () => {
  const kept = new Map<string, string>();
  const keep = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) };
  const tab = () => new BrowserStore('wings', [], keep, () => {});
  await tab().append(entry('a'), 0);
  await expect(tab().append(entry('b'), 0)).rejects.toThrow(Conflict);
  await tab().append(entry('b'), 1);
  expect(ids(await tab().entries())).toEqual(['a', 'b']);
  expect(await new BrowserStore('others', [], keep, () => {}).entries()).toEqual([]);
});
