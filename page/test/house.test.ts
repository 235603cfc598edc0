// How many clicks and labels it takes to get 30 frames of the house right, with the page's own parts and a person who knows the truth.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { labelledPoints } from '../src/data';
import { Learning } from '../src/learning';
import { type Place, type Point, type Specimen, type Start, begin, step } from '../src/state';
import { DATA, csv, generator, lane, shuffled } from './support';

const FRAMES = 30;
const table = csv(join(DATA, 'house/landmarks.csv'));
if (table === null) console.log(`house: skipped, there is no data in ${DATA}`);

/** Every third frame; its points in any order, without names. */
function house(): { start: Start; truth: Map<string, Map<string, Point>> } {
  const truth = new Map<string, Map<string, Point>>();
  for (const [frame, landmark, x, y] of table!) {
    if ((Number(frame) - 1) % 3 !== 0 || Number(frame) > 3 * FRAMES) continue;
    if (!truth.has(frame!)) truth.set(frame!, new Map());
    truth.get(frame!)!.set(landmark!, [Number(x), Number(y)]);
  }
  const draw = generator(7);
  const specimens = [...truth].map(([id, points]): Specimen => ({ id, picture: false, points: shuffled([...points.values()], draw) }));
  return { start: { title: 'house', specimens, pairs: [] }, truth };
}

test.skipIf(table === null)('30 frames of the house take few clicks', async () => {
  const { start, truth } = house();
  expect(start.specimens.length).toBe(FRAMES);
  const learner = await lane();
  let changes = 0;
  const failed = (reason: string) => expect.fail(reason);
  const learning = new Learning(start, learner, learner, () => Promise.reject(new Error('no pictures')), () => (changes += 1), failed);
  let history = begin(start);
  let [byHand, corrections, confirmations] = [0, 0, 0];
  const act = (action: Parameters<typeof step>[1]) => {
    history = step(history, action);
  };
  const times: number[] = [];
  let id: string | null = start.specimens[0]!.id;
  while (id !== null) {
    const points = truth.get(id)!;
    const specimen = id;
    /** What the learner says now. */
    const proposal = async () => {
      learning.update(history.present, { specimen, pair: null });
      while (learning.proposal?.specimen !== specimen) await new Promise((done) => setTimeout(done));
      await new Promise((done) => setTimeout(done, 2));
      return learning.proposal!.points;
    };
    let proposed = await proposal();
    if (learning.lastMilliseconds !== null) times.push(learning.lastMilliseconds);
    if (Object.keys(proposed).length === 0) {
      for (const [name, at] of points) act({ type: 'place', specimen, name, at });
      byHand += points.size;
    } else {
      // A person looks from the least sure on, and drags what is wrong to where it belongs; the learner thinks again.
      for (;;) {
        const labels = history.present.specimens[specimen]!.labels;
        const wrong = [...points].find(([name, at]) => !(name in labels) && !same(proposed[name]?.at as Point | undefined, at));
        if (wrong === undefined) break;
        act({ type: 'place', specimen, name: wrong[0], at: wrong[1], corrects: true });
        corrections += 1;
        proposed = await proposal();
      }
    }
    const labels = history.present.specimens[specimen]!.labels;
    const accepted = Object.entries(proposed).filter(([name]) => !(name in labels)).map(([name, { at }]): [string, Place] => [name, at]);
    act({ type: 'confirm', specimen, accepted, estimate: learning.specimenError });
    confirmations += 1;
    learning.update(history.present, { specimen: null, pair: null });
    for (let quiet = 0, before = -1; quiet < 3; before === changes ? quiet++ : (quiet = 0), before = changes) await new Promise((done) => setTimeout(done, 3));
    id = learning.nextSpecimen(history.present, specimen);
  }
  for (const [id, points] of truth) {
    const { names, points: labelled } = labelledPoints(history.present, id);
    expect(new Map(names.map((name, n) => [name, labelled[n]]))).toEqual(new Map([...points].sort(([a], [b]) => names.indexOf(a) - names.indexOf(b))));
  }
  times.sort((a, b) => a - b);
  console.log(
    `house, ${FRAMES} frames of 30 points: ${byHand} placed by hand, ${corrections} corrected, ${confirmations} confirmed: ` +
      `${byHand + corrections + confirmations} clicks and keys; by hand alone ${30 * FRAMES + FRAMES}; ` +
      `a proposal takes ${times[times.length >> 1]!.toFixed(1)} ms (largest ${times.at(-1)!.toFixed(1)})`,
  );
  expect(byHand + corrections).toBeLessThan(90);
}, 240_000);

function same(a: Point | undefined, b: Point): boolean {
  return a !== undefined && a[0] === b[0] && a[1] === b[1];
}
