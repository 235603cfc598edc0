// Whether 500 specimens of 50 points stay fluent: how long opening, a proposal, a label, a confirmation and a frame of scrolling take.
//   npx vitest run --dir measure many

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'vitest';
import { Server, browser, folder, openPage } from '../browser/support';
import type { Point } from '../src/state';
import { generator, shuffled } from '../test/support';

const SPECIMENS = 500;
const POINTS = 50;
const LABELLED = 400;

/** A shape that is moved, turned, stretched and bent a little; the first ones are labelled. */
function made(): object {
  const draw = generator(5);
  const unit = () => draw(1 << 20) / (1 << 20);
  const shape = Array.from({ length: POINTS }, (): Point => [100 + 400 * unit(), 100 + 300 * unit()]);
  const names = shape.map((_, n) => `point ${n + 1}`);
  const graphs = Array.from({ length: SPECIMENS }, (_, s) => {
    const [angle, size, bend, dx, dy] = [0.3 * (unit() - 0.5), 0.9 + 0.2 * unit(), 1e-4 * unit(), 60 * unit(), 60 * unit()];
    const points = shape.map(([x, y]): Point => {
      const [u, v] = [x - 300, y - 250 + bend * (x - 300) ** 2];
      return [300 + dx + size * (Math.cos(angle) * u - Math.sin(angle) * v) + 4 * unit(), 250 + dy + size * (Math.sin(angle) * u + Math.cos(angle) * v) + 4 * unit()];
    });
    const id = `specimen ${s + 1}`;
    return s < LABELLED ? { id, points, names } : { id, points: shuffled(points, draw) };
  });
  return { format: { kind: 'homolog-data', version: 1 }, graphs };
}

function line(what: string, times: number[]): void {
  const sorted = [...times].sort((a, b) => a - b);
  console.log(`${what}: median ${sorted[sorted.length >> 1]!.toFixed(0)} ms, largest ${sorted.at(-1)!.toFixed(0)} ms (${times.length})`);
}

const settled = (page: Page, id: string) =>
  page.waitForFunction((id) => {
    const { learning, specimen } = (window as any).homolog ?? {};
    return specimen === id && learning.settled && learning.proposal?.specimen === id && Object.keys(learning.proposal.points).length > 0;
  }, id);

test(`${SPECIMENS} specimens of ${POINTS} points`, async () => {
  const path = join(folder(), 'many.json');
  writeFileSync(path, JSON.stringify(made()));
  const server = await Server.start(path, '--labels', folder());
  const context = await browser();
  const begin = performance.now();
  const { page, errors } = await openPage(context, server.address);
  await page.waitForSelector('.row');
  const listed = performance.now() - begin;
  await settled(page, `specimen ${LABELLED + 1}`);
  console.log(`opening: the list after ${listed.toFixed(0)} ms, the first proposal after ${(performance.now() - begin).toFixed(0)} ms`);

  // From the click to the proposal, in the page.
  const open: number[] = [];
  const learner: number[] = [];
  for (let n = 2; n <= 21; n++) {
    const id = `specimen ${LABELLED + n}`;
    const start = await page.evaluate((id) => {
      const now = performance.now();
      (window as any).homolog.openSpecimen(id);
      return now;
    }, id);
    await settled(page, id);
    open.push((await page.evaluate(() => performance.now())) - start);
    learner.push(await page.evaluate(() => (window as any).homolog.learning.lastMilliseconds));
  }
  line('opening a specimen, to its proposal', open);
  line('of that the learner', learner);

  // What the page itself does for one label, and for one confirmation.
  const [place, confirm] = await page.evaluate(async () => {
    const app = (window as any).homolog;
    const took = (work: () => void) => {
      const now = performance.now();
      work();
      return performance.now() - now;
    };
    const next = () => new Promise((done) => setTimeout(done, 300));
    const times: number[][] = [[], []];
    for (let n = 0; n < 12; n++) {
      const specimen = app.specimen;
      const points = Object.entries(app.learning.proposal?.points ?? {}) as Array<[string, { at: [number, number] }]>;
      times[0]!.push(took(() => app.act({ type: 'place', specimen, name: points[0]![0], at: points[0]![1].at })));
      const accepted = points.slice(1).map(([name, { at }]) => [name, at]);
      times[1]!.push(took(() => {
        app.act({ type: 'confirm', specimen, accepted, estimate: null });
        app.next();
      }));
      while (!app.learning.settled || app.learning.proposal?.specimen !== app.specimen) await next();
    }
    return times;
  });
  line('a label, until the page is free again', place!);
  line('a confirmation and the next specimen, until the page is free again', confirm!);

  const frames = await page.evaluate(async () => {
    const rows = document.querySelector('.rows')!;
    const times: number[] = [];
    let last = await new Promise<number>(requestAnimationFrame);
    for (let n = 0; n < 120; n++) {
      rows.scrollTop = (n / 120) * rows.scrollHeight;
      const now = await new Promise<number>(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    return times;
  });
  line('a frame while the list is scrolled from end to end', frames);
  const judged = performance.now();
  await page.waitForFunction(() => !(window as any).homolog.learning.busy, undefined, { timeout: 300_000 });
  console.log(`all labels held against one another (${await page.textContent('.estimate')}) ${((performance.now() - judged) / 1000).toFixed(1)} s later`);
  if (errors.length > 0) throw new Error(errors.join('\n'));
  await context.close();
  await server.kill();
}, 600_000);
