// Pairs in a browser: two are labelled, the learner suggests the rest; match by click, by drag and by key; undo; flip; confirm; export.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onScreen, saved } from './person';
import { Server, browser, openPage, pairProject, possible, turntablePictures } from './support';

let context: BrowserContext;
let project: { path: string; partner: Record<string, number[]> };

beforeAll(async () => {
  if (!possible) return;
  project = pairProject(await turntablePictures());
  context = await browser();
}, 60_000);
afterAll(() => context?.close());

interface Pair {
  left: string;
  right: string;
  labels: Record<number, { right: number | null; accepted: boolean }>;
  confirmed: boolean;
}

const pair = (page: Page): Promise<Pair> => page.evaluate(() => (window as any).homolog.pairState);

async function suggested(page: Page): Promise<Array<{ left: number; right: number | null; alternatives: number[] }>> {
  const handle = await page.waitForFunction(() => {
    const { learning, pair } = (window as any).homolog ?? {};
    const { settled, suggestion } = learning ?? { settled: false };
    return settled && suggestion !== null && JSON.stringify(suggestion.pair) === JSON.stringify(pair) && suggestion.answer.matches;
  });
  return handle.jsonValue() as Promise<Array<{ left: number; right: number | null; alternatives: number[] }>>;
}

describe.skipIf(!possible)('pairs', () => {
  test('match by click, drag and key, and confirm', async () => {
    const server = await Server.start(project.path);
    const { page, errors } = await openPage(context, server.address);
    const data = JSON.parse(readFileSync(project.path, 'utf8'));
    const points = (id: string) => data.graphs.find((graph: { id: string }) => graph.id === id).points;
    await suggested(page);
    const { left, right } = await pair(page);
    const partner = project.partner[`${left} ${right}`]!;

    // Click left, click right.
    await page.mouse.click(...(await onScreen(page, points(left)[3], 0)));
    await page.mouse.click(...(await onScreen(page, points(right)[partner[3]!], 1)));
    expect((await pair(page)).labels[3]!.right).toBe(partner[3]);
    // Drag.
    await page.mouse.move(...(await onScreen(page, points(left)[7], 0)));
    await page.mouse.down();
    await page.mouse.move(...(await onScreen(page, points(right)[partner[7]!], 1)), { steps: 4 });
    await page.mouse.up();
    expect((await pair(page)).labels[7]!.right).toBe(partner[7]);
    await page.keyboard.press('z');
    expect((await pair(page)).labels[7]).toBeUndefined();
    await page.keyboard.press('Shift+Z');

    // The keyboard: least certain first; an alternative, none, accept, and any right point by the arrows.
    const first = await page.locator('.point.current span').textContent();
    await page.keyboard.press('1');
    await page.keyboard.press('x');
    await page.keyboard.press('Enter');
    expect(Object.keys((await pair(page)).labels).length).toBe(5);
    for (let n = 0; n < 3; n++) await page.keyboard.press('z');
    await suggested(page);
    await page.waitForFunction((first) => document.querySelector('.points .point span')!.textContent === first, first);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    for (const key of [' ', ' ', '+', '0']) await page.keyboard.press(key);

    // What is suggested wrongly is put right with the keyboard alone.
    const suggestions = await suggested(page);
    const wrong = suggestions.filter((match) => match.right !== partner[match.left]);
    for (const { left: node } of wrong) {
      const row = async () => Number((await page.locator('.point.current span').textContent())!.split(' ')[0]) - 1;
      while ((await row()) !== node) await page.keyboard.press('ArrowDown');
      const now = (await suggested(page)).find((match) => match.left === node)?.right ?? -1;
      const steps = (partner[node]! - now + 30) % 30;
      for (let n = 0; n < steps; n++) await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      expect((await pair(page)).labels[node]!.right).toBe(partner[node]);
      await suggested(page);
    }
    console.log(`pair ${left} – ${right}: ${wrong.length} of ${suggestions.length} suggestions wrong after two labelled pairs`);
    await page.keyboard.press('Shift+Enter');
    await saved(page);
    const now = await pair(page);
    expect([now.left, now.right]).not.toEqual([left, right]);
    const done = await page.evaluate(([left, right]) => (window as any).homolog.state.pairs.find((pair: any) => pair.left === left && pair.right === right), [left, right]);
    expect(done.confirmed).toBe(true);
    partner.forEach((right, left) => expect(done.labels[left].right).toBe(right));

    await page.keyboard.press('Alt+3');
    for (const name of ['data.json', 'matches.csv', 'model.json']) {
      await page.locator(`[data-export="${name}"]`).click();
      await page.waitForSelector(`.bar:has-text("${name}")`);
    }
    const exported = JSON.parse(readFileSync(join(dirname(project.path), 'pairs.labels', 'data.json'), 'utf8'));
    expect(exported.pairs.length).toBe(3);
    expect(errors).toEqual([]);
    await page.close();
    await server.kill();
  }, 120_000);
});
