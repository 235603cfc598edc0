// Points in space, in a browser: frames of a body are labelled and turned, names on a frame with missing and extra points are those of the
// program's atlas, nothing loses its z, a swap is found and mended.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Vector } from '../src/space';
import { DATA, PROGRAM, generator, shuffled } from '../test/support';
import { type Frame, spoiled, walking } from './bodies';
import { onScreen, saved } from './person';
import { Server, browser, faults, folder, onPhone, openPage, possible } from './support';

const MINUTES = 60_000;
const LABELLED = 4;

/** Motion capture, if it is at hand. */
function capture(): Frame[] | null {
  const path = join(DATA, 'mocap/walk.trc');
  if (!existsSync(path)) return null;
  const file = join(folder(), 'walk.json');
  execFileSync(PROGRAM, ['convert', path, '--pairs', 'none', '-o', file]);
  const graphs: Frame[] = JSON.parse(readFileSync(file, 'utf8')).graphs;
  return Array.from({ length: 24 }, (_, n) => graphs[n * 9]!);
}

const ready = (page: Page, id: string) =>
  page.waitForFunction((id) => {
    const app = (window as any).homolog;
    return app?.specimen === id && app.learning.settled && app.learning.proposal?.specimen === id && !app.learning.busy;
  }, id, { timeout: 60_000 });

/** What the program says of the points of some specimens: names, candidates. */
const named = (model: string, data: string, ...options: string[]) =>
  execFileSync(PROGRAM, ['name', model, data, '--quiet', ...options], { encoding: 'utf8' }).trim().split('\n').slice(1).map((line) => line.split(','));

const open = async (page: Page, id: string) => {
  await page.locator('.row', { has: page.locator(`span:text-is("${id}")`) }).click();
  await ready(page, id);
};

let context: BrowserContext;
beforeAll(async () => {
  if (possible) context = await browser();
}, MINUTES);
afterAll(() => context?.close());

async function story(frames: Frame[]): Promise<void> {
  const path = join(folder(), 'body.json');
  // Named frames are labelled from the start; one is labelled by hand; others have missing and extra points.
  const known = Array.from({ length: LABELLED - 1 }, (_, n) => frames[n * 6]!);
  const hand = frames[21]!;
  const asked = [3, 9, 15, 20].map((n) => spoiled(frames[n]!, n));
  const graphs = [...known, { id: hand.id, points: hand.points }, ...asked.map(({ id, points }) => ({ id, points }))];
  writeFileSync(path, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs }));
  const labels = folder();
  const server = await Server.start(path, '--labels', labels);
  const { page, errors } = await openPage(context, server.address);
  await ready(page, hand.id);
  const axes = () => page.evaluate(() => JSON.stringify(JSON.parse(document.querySelector<HTMLElement>('.board')!.dataset['views']!)[0].turn.axes));

  // The head is above the feet, and what is left is on the left or the right, never mirrored: the axes are right-handed.
  const [[, up]] = [JSON.parse(await axes())];
  expect(up).toEqual([0, 1, 0]);
  // Turn it with the right button and with keys, look at it from a standard view.
  const front = await axes();
  const box = (await page.locator('.board').boundingBox())!;
  await page.mouse.move(box.x + 200, box.y + 200);
  await page.mouse.down({ button: 'right' });
  await page.mouse.move(box.x + 280, box.y + 230, { steps: 4 });
  await page.mouse.up({ button: 'right' });
  await page.waitForTimeout(100);
  expect(await axes()).not.toBe(front);
  await page.keyboard.press('1');
  await page.waitForTimeout(100);
  expect(await axes()).toBe(front);
  await page.keyboard.press('6');
  await page.waitForTimeout(100);
  expect(await axes()).not.toBe(front);
  await page.keyboard.press('1');
  const small = JSON.parse((await page.locator('.board').getAttribute('data-views'))!)[2];
  await page.mouse.click(box.x + small.rect.x + 20, box.y + small.rect.y + small.rect.height - 20);
  await page.waitForTimeout(100);
  expect(JSON.parse(await axes())[2]).toEqual([1, 0, 0]);
  await page.keyboard.press('1');
  await page.keyboard.press('6');
  await page.waitForTimeout(150);

  // A click between points takes one of them, whole; then the proposals are accepted.
  const [name, at] = [hand.names[0]!, hand.points[0]!];
  const choose = () => page.locator(`.point[data-name="${name}"]`).click();
  await choose();
  await page.keyboard.press('x');
  await choose();
  const [x, y] = await onScreen(page, at);
  await page.mouse.click(x + 1, y + 1);
  await page.waitForFunction(([id, name]) => (window as any).homolog.state.specimens[id!].labels[name!]?.at != null, [hand.id, name] as const);
  await ready(page, hand.id);
  expect(await page.evaluate(([id, name]) => (window as any).homolog.state.specimens[id!].labels[name!].at, [hand.id, name] as const)).toEqual(at);
  await page.keyboard.press('Shift+Enter');
  await saved(page);

  // Names on frames with missing and extra points: those of the model that the page writes, and that the program names with.
  await page.keyboard.press('Alt+3');
  for (const file of ['model.json', 'landmarks.csv', 'data.json']) {
    await page.locator(`[data-export="${file}"]`).click();
    await page.waitForSelector(`.bar:has-text("${file}")`, { timeout: 60_000 });
  }
  const model = JSON.parse(readFileSync(join(labels, 'model.json'), 'utf8'));
  expect(model.atlas.dimension).toBe(3);
  const plain = join(folder(), 'frames.json');
  writeFileSync(plain, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs: asked.map(({ id, points }) => ({ id, points })) }));
  let [right, all] = [0, 0];
  const compare = async (frame: Frame, rows: string[][]) => {
    const proposed: Record<string, { at: number[]; seen: boolean }> = await page.evaluate(() => (window as any).homolog.learning.proposal.points);
    const own = rows.filter(([id, name]) => id === frame.id && name !== '');
    const seen = Object.entries(proposed).filter(([, { seen }]) => seen);
    expect(seen.map(([name]) => name).sort()).toEqual(own.map(([, name]) => name!).sort());
    for (const [, name, x, y, z] of own) expect(proposed[name!]!.at, name).toEqual([Number(x), Number(y), Number(z)]);
  };
  for (const frame of asked) {
    await open(page, frame.id);
    await compare(frame, named(join(labels, 'model.json'), plain));
  }
  // Who knows whether points are missing says so, and the names are those of `homolog name --presence`.
  const [frame] = asked;
  await open(page, frame!.id);
  expect(await faults(page)).toEqual([]);
  for (const presence of ['complete', 'partial']) {
    const asked = page.waitForRequest((request) => (request.postDataBuffer()?.toString('latin1') ?? '').includes(`"presence":"${presence}"`));
    await page.getByLabel('Whether landmarks are missing').selectOption(presence);
    await asked;
    await ready(page, frame!.id);
    await compare(frame!, named(join(labels, 'model.json'), plain, '--presence', presence));
  }
  await page.getByLabel('Whether landmarks are missing').selectOption('auto');
  // Accept all: every label is a point of the table.
  for (const frame of asked) {
    await open(page, frame.id);
    await page.keyboard.press('Shift+Enter');
    const stored: Record<string, { at: Vector | null }> = await page.evaluate((id) => (window as any).homolog.state.specimens[id].labels, frame.id);
    for (const [name, { at }] of Object.entries(stored)) {
      const node = frame.points.findIndex((point) => point.every((value, axis) => value === at?.[axis]));
      expect(node, name).toBeGreaterThanOrEqual(0);
      right += frame.names[node] === name ? 1 : 0;
    }
    all += frame.names.filter((name) => name !== '').length;
    await saved(page);
  }
  console.log(`${frames[0]!.points.length} points in space, ${LABELLED} labelled: ${right} of ${all} names right on frames with missing and extra points, as the program has them`);
  expect(right).toBeGreaterThan(0.8 * all);

  // z is in the table, the data set and the journal, and the journal alone brings it back.
  const exported = readFileSync(join(labels, 'landmarks.csv'), 'utf8').split('\n');
  expect(exported[0]).toBe('specimen,landmark,x,y,z');
  expect(JSON.parse(readFileSync(join(labels, 'data.json'), 'utf8')).graphs.every(({ points }: Frame) => points.every((point) => point.length === 3))).toBe(true);
  const before = await page.evaluate(() => JSON.stringify((window as any).homolog.state));
  await page.reload();
  await page.waitForSelector('.row');
  expect(await page.evaluate(() => JSON.stringify((window as any).homolog.state))).toBe(before);

  // A swap is listed with a button that mends it, and undo brings it back.
  await open(page, known[1]!.id);
  const swapped = [known[1]!.names[3]!, known[1]!.names.at(-1)!] as const;
  await page.evaluate(([specimen, a, b]) => (window as any).homolog.act({ type: 'rename', specimen, takes: [[a, b], [b, a]] }), [known[1]!.id, ...swapped] as const);
  const button = page.locator('.sidebar .findings button', { hasText: /^Swap/ });
  await button.first().waitFor({ timeout: 60_000 });
  expect(await button.first().textContent()).toBe(`Swap ${swapped.join(' and ')}`);
  await button.first().click();
  await page.waitForFunction(() => (window as any).homolog.learning.findings((window as any).homolog.state).length === 0 && !(window as any).homolog.learning.busy, undefined, { timeout: 60_000 });
  expect(await page.evaluate(([id, name]) => (window as any).homolog.state.specimens[id!].labels[name!].at, [known[1]!.id, swapped[0]] as const)).toEqual(known[1]!.points[3]);
  await page.keyboard.press('z');
  await button.first().waitFor({ timeout: 60_000 });
  await open(page, known[2]!.id);
  await page.keyboard.press('r');
  await ready(page, known[2]!.id);
  await onPhone(page);
  expect(errors).toEqual([]);
  await page.close();
  await server.kill();
}

describe.skipIf(!possible)('in space', () => {
  test('joined first, then confirmed: one name for the same point, with z', async () => {
    const frames = walking().slice(0, 6);
    const path = join(folder(), 'body.json');
    const mixed = frames.map((frame, n) => {
      const order = shuffled(frame.points.map((_, k) => k), generator(n + 1));
      return { id: frame.id, points: order.map((k) => frame.points[k]!), names: order.map((k) => frame.names[k]!) };
    });
    writeFileSync(path, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs: mixed.map(({ id, points }) => ({ id, points })), pairs: [] }));
    const server = await Server.start(path, '--labels', folder());
    const { page, errors } = await openPage(context, server.address);
    await page.waitForSelector('.row');
    await page.keyboard.press('Alt+1');
    await page.getByRole('button', { name: 'Join first' }).click();
    await page.waitForSelector('.bar:has-text("Joined")', { timeout: 60_000 });
    const labels: Record<string, { labels: Record<string, { at: Vector }> }> = await page.evaluate(() => (window as any).homolog.state.specimens);
    const called = new Map<string, Set<string>>();
    for (const { id, points, names } of mixed) {
      for (const [name, { at }] of Object.entries(labels[id]!.labels)) {
        const node = points.findIndex((point) => point.every((value, axis) => value === at[axis]));
        called.set(name, (called.get(name) ?? new Set()).add(names[node]!));
      }
    }
    expect(called.size).toBeGreaterThan(14);
    expect([...called.values()].filter((own) => own.size > 1).length).toBeLessThan(3);
    await page.keyboard.press('Shift+Enter');
    await saved(page);
    expect(await page.evaluate(() => Object.values((window as any).homolog.state.specimens).filter(({ confirmed }: any) => confirmed).length)).toBe(1);
    expect(errors).toEqual([]);
    await page.close();
    await server.kill();
  }, 2 * MINUTES);

  test('the keys of a list of choices are its own, and a point that may be two landmarks says so', async () => {
    // Two landmarks are nearer to each other than they stray.
    const draw = generator(11);
    const noise = (most: number) => (draw(2000) / 1000 - 1) * most;
    const mean: Array<[number, number]> = [[0, 0], [100, 0], [100, 80], [0, 80], [50, 30], [52, 33]];
    const frames = Array.from({ length: 9 }, (_, n) => {
      const points = mean.map(([x, y], k) => [x + noise(k > 3 ? 6 : 2), y + noise(k > 3 ? 6 : 2)]);
      return { id: `s${n}`, points, ...(n < 8 ? { names: mean.map((_, k) => `p${k}`) } : {}) };
    });
    const path = join(folder(), 'table.json');
    writeFileSync(path, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs: frames }));
    const labels = folder();
    const server = await Server.start(path, '--labels', labels);
    const { page, errors } = await openPage(context, server.address);
    await ready(page, 's8');
    await page.keyboard.press('Alt+3');
    await page.locator('[data-export="model.json"]').click();
    await page.waitForSelector('.bar:has-text("model.json")', { timeout: 60_000 });
    await page.keyboard.press('Alt+1');
    await ready(page, 's8');
    const titles = await page.locator('.point.suggested').evaluateAll((all) => all.map((one) => (one as HTMLElement).title));
    const rows = titles.map((text) => text.split(' or ').sort().join(' '));
    const plain = join(folder(), 'open.json');
    writeFileSync(plain, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs: [frames[8]] }));
    const candidates = named(join(labels, 'model.json'), plain, '--candidates', '0.95').map((row) => row.at(-1)!.split(';').filter((name) => name !== 'none').sort().join(' '));
    expect(rows.sort()).toEqual(candidates.sort());
    expect(rows.filter((text) => text === 'p4 p5').length).toBe(2);
    expect(await page.locator('.point[data-name="p4"] span').textContent()).toBe('p4 or p5');

    const select = page.getByLabel('Whether landmarks are missing');
    const before = await page.evaluate(() => JSON.stringify((window as any).homolog.state));
    await select.focus();
    await page.keyboard.press('ArrowDown');
    expect(await select.inputValue()).toBe('complete');
    await page.keyboard.press('s');
    expect(await select.inputValue()).toBe('partial');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await select.inputValue()).toBe('auto');
    expect(await page.evaluate(() => JSON.stringify((window as any).homolog.state))).toBe(before);
    expect(await page.getByLabel('snap to corners').isChecked()).toBe(false);
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
    await ready(page, 's8');
    expect(errors).toEqual([]);
    await page.close();
    await server.kill();
  }, MINUTES);

  test('a made body', () => story(walking()), 4 * MINUTES);
  test('motion capture', async () => {
    const frames = capture();
    if (frames !== null) await story(frames);
  }, 6 * MINUTES);
});
