// Whether the page's estimates are honest: the estimated error after 2, 5 and 10 labelled specimens beside the error on others, and how many
// right specimens it says are to be checked. Wings, faces and motion capture: npx vitest run --dir measure honest

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'vitest';
import { Server, browser, folder, openPage } from '../browser/support';
import type { Place } from '../src/state';
import { DATA, PROGRAM, generator, shuffled } from '../test/support';

interface Graph {
  id: string;
  points: Place[];
  names: string[];
  image?: string;
}

/** As the page's own estimate counts: a point of a picture that is off by more than this share of the specimen's diameter is wrong. */
const WRONG = 0.02;
const OTHERS = 8;

function read(file: string): Graph[] | null {
  const path = join(DATA, file);
  if (!existsSync(path)) return null;
  const json = join(folder(), 'data.json');
  execFileSync(PROGRAM, ['convert', path, '--pairs', 'none', '-o', json], { stdio: 'ignore' });
  const { graphs }: { graphs: Graph[] } = JSON.parse(readFileSync(json, 'utf8'));
  const most = Math.max(...graphs.map(({ points }) => points.length));
  const whole = (graph: Graph): Graph => (graph.image === undefined ? graph : { ...graph, image: resolve(dirname(json), graph.image) });
  return graphs.filter(({ points }) => points.length === most).map(whole);
}

const distance = (a: Place, b: Place) => Math.hypot(...a.map((value, axis) => value - b[axis]!));

async function settle(page: Page): Promise<void> {
  for (let still = 0; still < 6; ) {
    await page.waitForTimeout(150);
    const busy = await page.evaluate(() => (window as any).homolog.learning.busy || !(window as any).homolog.learning.settled);
    still = busy ? 0 : still + 1;
  }
}

async function measure(file: string, graphs: Graph[]): Promise<void> {
  const context = await browser();
  for (const labelled of [2, 5, 10]) {
    const chosen = shuffled(graphs, generator(labelled + 3)).slice(0, labelled + OTHERS);
    const pictures = chosen[0]!.image !== undefined;
    const place = join(folder(), 'project');
    mkdirSync(place);
    const id = (graph: Graph) => (pictures ? basename(graph.image!, extname(graph.image!)) : graph.id);
    let path = place;
    if (pictures) {
      for (const { image } of chosen) copyFileSync(image!, join(place, basename(image!)));
    } else {
      path = join(place, 'points.json');
      const unnamed = chosen.map((graph) => ({ id: graph.id, points: shuffled(graph.points, generator(graph.id.length)) }));
      writeFileSync(path, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs: unnamed, pairs: [] }));
    }
    const server = await Server.start(path, '--labels', folder());
    const { page } = await openPage(context, server.address);
    await page.waitForSelector('.row');
    await page.keyboard.press('Alt+1');
    for (const graph of chosen.slice(0, labelled)) {
      await page.evaluate(([specimen, names, points]) => {
        const app = (window as any).homolog;
        (names as string[]).forEach((name, n) => app.act({ type: 'place', specimen, name, at: points[n] }));
        app.act({ type: 'confirm', specimen, accepted: [], estimate: null });
      }, [id(graph), graph.names, graph.points] as const);
    }
    await settle(page);
    const [{ error: estimate, interval }, suspects] = await page.evaluate(() => {
      const { learning, state } = (window as any).homolog;
      return [learning.expected, new Set(learning.findings(state).map(({ specimen }: any) => specimen)).size];
    });
    let [wrong, all] = [0, 0];
    for (const graph of chosen.slice(labelled)) {
      await page.evaluate((id) => (window as any).homolog.openSpecimen(id), id(graph));
      await settle(page);
      const proposed: Record<string, { at: Place; seen: boolean }> = await page.evaluate(() => (window as any).homolog.learning.proposal.points);
      const diameter = Math.max(...graph.points.flatMap((a) => graph.points.map((b) => distance(a, b))));
      const near = pictures ? WRONG * diameter : 1e-9;
      graph.names.forEach((name, n) => {
        const found = proposed[name];
        wrong += found === undefined || !found.seen || distance(found.at, graph.points[n]!) > near ? 1 : 0;
        all += 1;
      });
    }
    console.log(`${file}, ${labelled} labelled: estimated error ${(100 * estimate).toFixed(1)} % (${interval.map((end: number) => (100 * end).toFixed(1)).join(' to ')}), on ${OTHERS} others ${((100 * wrong) / all).toFixed(1)} % (${wrong} of ${all}); ${suspects} of ${labelled} right specimens to check`);
    await page.close();
    await server.kill();
  }
  await context.close();
}

for (const file of ['wings/wings.tps', 'faces/landmarks.csv', 'mocap/walk.trc']) {
  test(file, async () => {
    const graphs = read(file);
    if (graphs !== null) await measure(file, graphs);
  }, 600_000);
}
