// Which pair to label next: the one of smallest mean margin beside one at random, on real data. Prints the curve of docs/label.md:
//   npx vitest run --dir measure

import { join } from 'node:path';
import { test } from 'vitest';
import { Server, folder } from '../browser/support';
import type { Learned, Suggestion } from '../src/requests';
import type { Point } from '../src/state';
import { DATA, csv, engine, generator, shuffled } from '../test/support';

const STEPS = 6;
const RUNS = 10;
/** A pool to choose from and as many pairs to test on, at most. */
const PAIRS = 40;

/** The specimens of a table as lists of points, by landmark; `apart`: which two make a pair. Without a file: the built-in turntable. */
const SETS = [
  { name: 'turntable, 90 frames apart', file: null, columns: [0, 1, 2, 3], apart: 90 },
  { name: 'house, 90 frames apart', file: 'house/landmarks.csv', columns: [0, 1, 2, 3], apart: 90 },
  { name: 'faces', file: 'faces/landmarks.csv', columns: [0, 1, 2, 3], apart: 1 },
  { name: 'hummingbirds', file: 'specimens/hummingbirds/landmarks.csv', columns: [0, 1, 2, 3], apart: 1 },
  { name: 'mosquitoes', file: 'specimens/mosquitoes/landmarks.csv', columns: [0, 1, 2, 3], apart: 1 },
] as const;

async function rows(file: string | null): Promise<string[][] | null> {
  if (file !== null) return csv(join(DATA, file));
  const server = await Server.start('turntable', '--labels', folder());
  const { data } = await (await server.get('/api/project')).json();
  await server.kill();
  return data.graphs.flatMap(({ id, points, names }: { id: string; points: Point[]; names: string[] }) => points.map(([x, y], n) => [id, names[n]!, String(x), String(y)]));
}

test.each(SETS)('$name', async ({ name, file, columns, apart }) => {
  const table = await rows(file);
  if (table === null) return console.log(`${name}: skipped, there is no data in ${DATA}`);
  const learner = engine();
  const specimens = new Map<string, Map<string, Point>>();
  for (const row of table) {
    const [id, landmark, x, y] = columns.map((column) => row[column]!);
    if (!specimens.has(id!)) specimens.set(id!, new Map());
    specimens.get(id!)!.set(landmark!, [Number(x), Number(y)]);
  }
  const landmarks = [...specimens.values().next().value!.keys()];
  const frames = [...specimens.values()].filter((points) => landmarks.every((name) => points.has(name))).map((points) => landmarks.map((name) => points.get(name)!));
  const draw = generator(3);
  // Specimens that come in no order of their own are paired at random.
  const order = apart > 1 ? frames : shuffled(frames, draw);
  const size = landmarks.length;
  // The right points of each pair in another order: the truth is not the identity.
  const pairs = order.slice(0, order.length - apart).slice(0, PAIRS).map((left, n) => {
    const places = shuffled(left.map((_, k) => k), draw);
    const right = order[n + apart]!;
    return { left, right: places.map((k) => right[k]!), partner: left.map((_, i) => places.indexOf(i)) };
  });
  const format = { kind: 'homolog-data', version: 1 };
  const learn = (chosen: number[]) => {
    const graphs = chosen.flatMap((n) => [{ id: `l${n}`, points: pairs[n]!.left }, { id: `r${n}`, points: pairs[n]!.right }]);
    const records = chosen.map((n) => ({ left: `l${n}`, right: `r${n}`, matches: pairs[n]!.partner.map((k, i) => [i, k]) }));
    return learner.ask({ learn: { data: { format, graphs, pairs: records }, features: 'linear' } }) as Learned;
  };
  const suggest = (model: string, n: number) =>
    learner.ask({ suggest: { model, left: { points: pairs[n]!.left }, right: { points: pairs[n]!.right }, known: [] } }) as Suggestion;
  // Odd pairs are for testing only, even ones may be labelled.
  const [pool, held] = [pairs.map((_, n) => n).filter((n) => n % 2 === 0), pairs.map((_, n) => n).filter((n) => n % 2 === 1)];
  const error = (model: string) => {
    const wrong = held.map((n) => suggest(model, n).matches.filter(({ left, right }) => right !== pairs[n]!.partner[left]).length);
    return wrong.reduce((a, b) => a + b, 0) / (size * held.length);
  };
  const curves = { margin: new Array(STEPS).fill(0), random: new Array(STEPS).fill(0) };
  for (let run = 0; run < RUNS; run++) {
    for (const way of ['margin', 'random'] as const) {
      const random = generator(100 + run);
      const chosen = [pool[random(pool.length)]!];
      for (let n = 0; n < STEPS; n++) {
        const { name: model } = learn(chosen);
        curves[way][n] += error(model) / RUNS;
        const open = pool.filter((n) => !chosen.includes(n));
        const margin = (n: number) => suggest(model, n).mean_margin ?? Infinity;
        chosen.push(way === 'random' ? open[random(open.length)]! : open.reduce((best, n) => (margin(n) < margin(best) ? n : best)));
      }
    }
  }
  const line = (values: number[]) => values.map((value) => value.toFixed(3)).join(' ');
  console.log(`${name}: mean of ${RUNS} runs; error on ${held.length} other pairs after 1 to ${STEPS} labelled pairs`);
  console.log(`smallest mean margin  ${line(curves.margin)}\nat random             ${line(curves.random)}`);
}, 600_000);
