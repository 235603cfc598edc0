// What the learner makes of labels, without a browser: labels that the others dispute, what to label next, a model to take away.

import { describe, expect, test } from 'vitest';
import { Learning } from '../src/learning';
import { choose } from '../src/next';
import { type Action, type Point, type Specimen, type Start, begin, step } from '../src/state';
import { lane } from './support';

const SHAPE: Point[] = [[0, 0], [50, 5], [90, 60], [20, 70], [60, 30]];

/** Specimens with points in pictures without corners; the last one is open. */
function project(count: number): { start: Start; points: (n: number) => Point[] } {
  const points = (n: number) => SHAPE.map(([x, y], k): Point => [x + ((n * (k + 3)) % 7) / 10, y + ((n * (k + 5)) % 11) / 10]);
  const specimens = Array.from({ length: count }, (_, n): Specimen => ({ id: `s${n}`, picture: false, points: points(n) }));
  return { start: { title: 'made', specimens, pairs: [] }, points };
}

async function quiet(learning: Learning): Promise<void> {
  for (let still = 0; still < 5; still = learning.busy ? 0 : still + 1) await new Promise((done) => setTimeout(done, 2));
}

describe('labels of specimens', () => {
  test('a label that the others dispute is to be checked, and no longer when it is put right', async () => {
    const count = 45;
    const { start, points } = project(count);
    const learner = await lane();
    const learning = new Learning(start, learner, learner, () => Promise.reject(new Error('no pictures')), () => {}, (reason) => expect.fail(reason));
    let history = begin(start);
    const act = (action: Action) => {
      history = step(history, action);
    };
    for (let n = 0; n < count - 1; n++) {
      points(n).forEach((at, k) => act({ type: 'place', specimen: `s${n}`, name: `p${n === 17 && k < 2 ? 1 - k : k}`, at }));
      act({ type: 'confirm', specimen: `s${n}`, accepted: [], estimate: null });
    }
    learning.update(history.present, { specimen: null, pair: null });
    await quiet(learning);
    expect(learning.findings(history.present)[0]).toMatchObject({ specimen: 's17', kind: 'swapped', landmarks: ['p0', 'p1'] });
    expect(learning.specimenError).toBeGreaterThan(0);
    // The label itself is as the person gave it.
    expect(history.present.specimens['s17']!.labels['p1']!.at).toEqual(points(17)[0]);
    points(17).forEach((at, k) => act({ type: 'place', specimen: 's17', name: `p${k}`, at }));
    learning.update(history.present, { specimen: null, pair: null });
    await quiet(learning);
    expect(learning.findings(history.present).filter(({ specimen }) => specimen === 's17')).toEqual([]);
    expect(learning.specimenError).toBe(0);

    // The open one is proposed; suggestions are no labels until they are accepted.
    const open = `s${count - 1}`;
    learning.update(history.present, { specimen: open, pair: null });
    await quiet(learning);
    const proposed = Object.entries(learning.proposal!.points);
    expect(Object.fromEntries(proposed.map(([name, { at }]) => [name, at]))).toEqual(Object.fromEntries(points(count - 1).map((at, k) => [`p${k}`, at])));
    expect(history.present.specimens[open]!.labels).toEqual({});

    const learned = await learning.learnNames();
    expect(learned!.sentence).toBe('An atlas of 5 points from 44 specimens that are oriented alike.');
    expect(JSON.parse(learned!.model).format.kind).toBe('homolog-model');
  }, 120_000);
});

describe('what to label next', () => {
  const margins: Record<string, number> = { a: 0.5, b: 0.2, c: 0.9 };
  const next = (round: number) => choose(['a', 'b', 'c', 'd'], (id) => margins[id], round);

  test('the least sure', () => {
    for (let round = 0; round < 9; round++) expect(next(round)).toBe('b');
    expect(choose([], () => 0, 0)).toBe(null);
    expect(choose(['x', 'y'], () => undefined, 0)).toBe('x');
  });

  test('one in ten at random, the same in every run', () => {
    const random = Array.from({ length: 12 }, (_, n) => next(10 * n + 9));
    expect(new Set(random).size).toBeGreaterThan(2);
    expect(Array.from({ length: 12 }, (_, n) => next(10 * n + 9))).toEqual(random);
  });
});
