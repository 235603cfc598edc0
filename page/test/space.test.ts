// Laws of the view in space: never a mirror image, nothing stretched, however it is turned; and the actions that mend labels.

import { describe, expect, test } from 'vitest';
import { STANDARD, Turn, type Vector, standard, upward } from '../src/space';
import { type Action, type Start, begin, replay, step } from '../src/state';
import { generator } from './support';

const draw = generator(5);
const number = () => draw(2000) / 100 - 10;
const points = Array.from({ length: 9 }, (): Vector => [number(), 3 * number(), number()]);
const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

describe('a turn', () => {
  test('is a rotation in every standard view and after any number of turns', () => {
    for (const up of [0, 1, 2] as const) {
      for (const view of STANDARD) {
        const turn = Turn.around(points, standard(view, up));
        for (let n = 0; n < 200; n++) {
          const [right, top, towards] = turn.axes;
          for (const axis of turn.axes) expect(dot(axis, axis)).toBeCloseTo(1, 9);
          cross(right, top).forEach((value, axis) => expect(value).toBeCloseTo(towards[axis]!, 9));
          turn.by(number() / 5, number() / 5);
        }
      }
    }
    // The top of the screen is where the up axis grows; specimens are longest along y.
    expect(upward([points])).toBe(1);
    const front = Turn.around(points, standard('front', 1));
    expect(front.flat([0, 5, 0])[1]).toBeLessThan(front.flat([0, -5, 0])[1]);
  });

  test('what is in front follows the hand', () => {
    const turn = Turn.around([[-1, -1, -1], [1, 1, 1]], standard('front', 1));
    const near: Vector = [0, 0, 1];
    expect(turn.depth(near)).toBeGreaterThan(turn.depth([0, 0, -1]));
    turn.by(0.3, 0.2);
    const [x, y] = turn.flat(near);
    expect(x).toBeGreaterThan(0);
    expect(y).toBeGreaterThan(0);
  });
});

describe('labels in space', () => {
  const start: Start = { title: 't', pairs: [], specimens: ['a', 'b'].map((id) => ({ id, picture: false, points: [[1, 2, 3], [4, 5, 6]] })) };
  const after = (...actions: Action[]) => actions.reduce(step, begin(start)).present.specimens['a']!;
  const placed: Action[] = [{ type: 'place', specimen: 'a', name: 'p', at: [1, 2, 3] }, { type: 'place', specimen: 'a', name: 'q', at: [4, 5, 6] }, { type: 'confirm', specimen: 'a', accepted: [], estimate: null }];

  test('are exchanged, labelled again, vouched for, and joined', () => {
    const swap: Action = { type: 'rename', specimen: 'a', takes: [['p', 'q'], ['q', 'p']] };
    expect(after(...placed, swap).labels).toMatchObject({ p: { at: [4, 5, 6] }, q: { at: [1, 2, 3] } });
    expect(after(...placed, swap, { type: 'undo' })).toEqual(after(...placed));
    expect(after(...placed, { type: 'again', specimen: 'a', names: ['p'] })).toMatchObject({ confirmed: false, labels: { q: { at: [4, 5, 6] } } });
    const vouched = after(...placed, { type: 'vouch', specimen: 'a' });
    expect(vouched.vouched).toBe(true);
    // Other labels have to be looked at again.
    expect(after(...placed, { type: 'vouch', specimen: 'a' }, swap).vouched).toBeUndefined();
    const joined = after(placed[0]!, { type: 'join', labels: [['a', [['p', [4, 5, 6]], ['q', [4, 5, 6]]]]] });
    // What a person said stays.
    expect(joined.labels).toEqual({ p: { at: [1, 2, 3], accepted: false }, q: { at: [4, 5, 6], accepted: true } });
  });

  test('a journal with x and y alone gets its z back', () => {
    const entries = [{ id: '1', action: { type: 'place', specimen: 'a', name: 'p', at: [4, 5] } as Action }];
    expect(replay(start, entries).present.specimens['a']!.labels['p']!.at).toEqual([4, 5, 6]);
  });
});
