import { describe, expect, test } from 'vitest';
import { type Action, type Entry, MOST_UNDO, type Start, begin, replay, step } from '../src/state';

const start: Start = {
  title: 'wings',
  specimens: [
    { id: 'a', picture: true, points: [[1, 2], [3, 4]], names: ['tip', 'base'] },
    { id: 'b', picture: true, points: [] },
    { id: 'c', picture: false, points: [[5, 5], [6, 6], [7, 7]] },
    { id: 'd', picture: false, points: [[5, 5], [6, 6], [7, 7]] },
  ],
  pairs: [{ left: 'c', right: 'd', matches: [[0, 0]], confirmed: false }],
};
const CD = ['c', 'd'] as const;
const run = (...actions: Action[]) => actions.reduce(step, begin(start));
const journal = (actions: Action[]): Entry[] => actions.map((action, n) => ({ id: String(n), action }));

describe('labels', () => {
  test('names that were there are labels, and their specimen is done', () => {
    const { present } = begin(start);
    expect(present.names).toEqual(['tip', 'base']);
    expect(present.specimens['a']).toMatchObject({ confirmed: true, labels: { tip: { at: [1, 2], accepted: false } } });
    expect(present.specimens['b']).toMatchObject({ confirmed: false, labels: {} });
  });

  test('confirming accepts suggestions but never overwrites a label', () => {
    const { present } = run(
      { type: 'place', specimen: 'b', name: 'tip', at: [10, 10], corrects: true },
      { type: 'absent', specimen: 'b', name: 'notch' },
      { type: 'confirm', specimen: 'b', accepted: [['tip', [0, 0]], ['notch', [0, 0]], ['base', [9, 9]]], estimate: 0.1 },
    );
    expect(present.specimens['b']).toEqual({
      labels: {
        tip: { at: [10, 10], accepted: false },
        notch: { at: null, accepted: false },
        base: { at: [9, 9], accepted: true },
      },
      confirmed: true,
      corrected: 1,
    });
    expect(present.names).toEqual(['tip', 'base', 'notch']);
    expect(present.outcomes).toEqual([{ of: 'b', before: 1, suggested: 2, wrong: 1, estimate: 0.1 }]);
  });

  test('a right point belongs to one left point', () => {
    const { present } = run({ type: 'match', pair: CD, left: 2, right: 0 });
    expect(present.pairs[0]!.labels).toEqual({ 2: { right: 0, accepted: false } });
    const none = run({ type: 'match', pair: CD, left: 1, right: null }, { type: 'match', pair: CD, left: 2, right: null });
    expect(Object.keys(none.present.pairs[0]!.labels)).toEqual(['0', '1', '2']);
  });

  test('confirming a pair keeps labels, and takes no right point twice', () => {
    const { present } = run({ type: 'confirm-pair', pair: CD, accepted: [[0, 2], [1, 0], [2, 1]], estimate: null });
    expect(present.pairs[0]!.labels).toEqual({ 0: { right: 0, accepted: false }, 2: { right: 1, accepted: true } });
    expect(present.pairs[0]!.confirmed).toBe(true);
  });
});

describe('history', () => {
  const actions: Action[] = [
    { type: 'name', name: 'notch' },
    { type: 'place', specimen: 'b', name: 'tip', at: [1, 1] },
    { type: 'place', specimen: 'b', name: 'tip', at: [2, 2] },
    { type: 'clear', specimen: 'b', name: 'tip' },
    { type: 'match', pair: CD, left: 1, right: 2 },
    { type: 'unmatch', pair: CD, left: 0 },
    { type: 'confirm', specimen: 'b', accepted: [], estimate: null },
    { type: 'reopen', specimen: 'b' },
    { type: 'pair', left: 'b', right: 'c' },
    { type: 'points', specimen: 'b', points: [[1, 2]] },
  ];

  test('undo takes back every kind of action, redo brings it again', () => {
    for (let count = 1; count <= actions.length; count++) {
      const done = run(...actions.slice(0, count));
      const undone = step(done, { type: 'undo' });
      expect(undone.present).toEqual(run(...actions.slice(0, count - 1)).present);
      expect(step(undone, { type: 'redo' }).present).toEqual(done.present);
    }
  });

  test('all the way back and forth', () => {
    const done = run(...actions);
    const back = actions.reduce((history) => step(history, { type: 'undo' }), done);
    expect(back.present).toEqual(begin(start).present);
    expect(step(back, { type: 'undo' })).toBe(back);
    expect(actions.reduce((history) => step(history, { type: 'redo' }), back).present).toEqual(done.present);
  });

  test('a new action ends redo', () => {
    const history = run(actions[0]!, { type: 'undo' }, actions[1]!);
    expect(history.future).toEqual([]);
    expect(step(history, { type: 'redo' })).toBe(history);
  });

  test('a replayed journal gives the state that was seen, at every point and however long', () => {
    // A walk drawn by a fixed generator: the same in every run.
    let seed = 1;
    const draw = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * below);
    };
    const walk: Action[] = [];
    for (let n = 0; n < 3 * MOST_UNDO; n++) {
      const kind = draw(4);
      if (kind === 0) walk.push({ type: 'undo' });
      else if (kind === 1) walk.push({ type: 'redo' });
      else walk.push({ type: 'place', specimen: 'b', name: `p${draw(5)}`, at: [draw(100), n] });
    }
    let live = begin(start);
    walk.forEach((action, n) => {
      live = step(live, action);
      if (n % 97 === 0) expect(replay(start, journal(walk.slice(0, n + 1)))).toEqual(live);
    });
    expect(live.past.length).toBeLessThanOrEqual(MOST_UNDO);
  });
});

describe('what makes no sense here', () => {
  const before = begin(start);
  const senseless: Action[] = [
    { type: 'place', specimen: 'gone', name: 'tip', at: [1, 1] },
    { type: 'confirm', specimen: 'gone', accepted: [], estimate: null },
    { type: 'confirm', specimen: 'a', accepted: [['tip', [0, 0]]], estimate: null },
    { type: 'match', pair: ['a', 'gone'], left: 0, right: 0 },
    { type: 'pair', left: 'a', right: 'gone' },
    { type: 'pair', left: 'c', right: 'd' },
    { type: 'name', name: 'tip' },
    { type: 'name', name: '' },
    { type: 'clear', specimen: 'b', name: 'tip' },
    { type: 'from-the-future' } as unknown as Action,
  ];
  test.each(senseless)('%j changes nothing, and is not to be undone', (action) => {
    expect(step(before, action)).toBe(before);
  });
});
