// For everybody: nothing that axe finds fault with, every control reached by Tab, a phone's width, clicks stored where they are made.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Point } from '../src/state';
import { Person, onScreen, openSpecimen, ready, saved, shown } from './person';
import { Server, type Truth, browser, faults, folder, onPhone, openPage, pairProject, possible, turntablePictures } from './support';

const MINUTES = 60_000;

let pictures: { path: string; truth: Truth };
let context: BrowserContext;

beforeAll(async () => {
  if (!possible) return;
  pictures = await turntablePictures();
  context = await browser();
}, MINUTES);
afterAll(() => context?.close());

/** Presses Tab until the focus is back at the start; the names of what it reached. */
async function reached(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (let n = 0; n < 300; n++) {
    await page.keyboard.press('Tab');
    const name = await page.evaluate(() => {
      const { activeElement } = document;
      if (activeElement === null || activeElement === document.body) return null;
      return activeElement.getAttribute('aria-label') ?? activeElement.textContent ?? activeElement.tagName;
    });
    if (name === null) break;
    names.push(name.trim());
  }
  return names;
}

describe.skipIf(!possible)('for everybody', () => {
  test('axe finds no fault with any view, and Tab reaches every control', async () => {
    const server = await Server.start(pairProject(pictures).path, '--labels', folder());
    const { page, errors } = await openPage(context, server.address);
    await page.waitForSelector('.row');
    for (const keys of ['Alt+2', 'Alt+1', 'Alt+3', '?']) {
      await page.keyboard.press(keys);
      await page.waitForTimeout(300);
      expect(await faults(page), keys).toEqual([]);
    }
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+1');
    const names = (await reached(page)).join('\n');
    for (const control of ['Specimens', 'Undo', 'Redo', 'view1', 'Next specimen', 'Picture with points', 'New name', 'Place', 'Accept', 'Not visible', 'Clear']) {
      expect(names, control).toContain(control);
    }
    expect(errors).toEqual([]);
    await page.close();
    await server.kill();
  }, MINUTES);

  test('on a phone everything is within the width, and the buttons are there', async () => {
    const server = await Server.start(pictures.path, '--labels', folder());
    const { page } = await openPage(context, server.address);
    await ready(page, 'view1');
    await onPhone(page);
    await page.close();
    await server.kill();
  }, MINUTES);

  test('a click is stored where it is made, to a tenth of a pixel; held, S snaps to a corner', async () => {
    const server = await Server.start(pictures.path, '--labels', folder());
    const { page } = await openPage(context, server.address);
    await ready(page, 'view1');
    const [corner] = (await page.evaluate(() => (window as any).homolog.learning.candidates.get('view1').points)) as Point[];
    const beside: Point = [corner![0] + 3.2, corner![1] + 2.4];
    const place = async (name: string) => {
      await page.getByLabel('New name').fill(name);
      await page.getByLabel('New name').press('Enter');
      await page.mouse.click(...(await onScreen(page, beside)));
      await page.waitForFunction((name) => name in (window as any).homolog.state.specimens['view1'].labels, name);
      return (await shown(page)).labels[name]!.at!;
    };
    const free = await place('free');
    expect(Math.hypot(free[0] - beside[0], free[1] - beside[1])).toBeLessThan(1);
    expect(free.map((value) => Math.round(10 * value) / 10)).toEqual(free);
    await page.getByLabel('New name').fill('snapped');
    await page.getByLabel('New name').press('Enter');
    await page.keyboard.down('s');
    await page.mouse.click(...(await onScreen(page, beside)));
    await page.keyboard.up('s');
    expect((await shown(page)).labels['snapped']!.at).toEqual(corner);
    await page.close();
    await server.kill();
  }, MINUTES);

  test('after one labelled picture the next one is nearly right, and the exported TPS counts y from the bottom', async () => {
    const labels = folder();
    const server = await Server.start(pictures.path, '--labels', labels);
    const { page, errors } = await openPage(context, server.address);
    await ready(page, 'view1');
    const person = new Person(page, pictures.truth);
    for (const name of pictures.truth.names) await person.place(name, person.truthOf('view1', name));
    await page.keyboard.press('Shift+Enter');
    await saved(page);
    await openSpecimen(page, 'view2');
    const wrong = await person.wrong('view2');
    const milliseconds = await page.evaluate(() => (window as any).homolog.learning.lastMilliseconds);
    console.log(`one picture labelled: ${wrong.length} of 30 proposals more than 5 pixels off, in ${Math.round(milliseconds)} ms`);
    expect(wrong.length).toBeLessThan(8);
    await page.keyboard.press('Alt+3');
    await page.locator('[data-export="landmarks.tps"]').click();
    await page.waitForSelector('.bar:has-text("landmarks.tps")');
    const [first] = readFileSync(join(labels, 'landmarks.tps'), 'utf8').split('\n').slice(1);
    const [x, y] = first!.split(' ').map(Number);
    const truth = person.truthOf('view1', pictures.truth.names[0]!);
    // The height is in bytes 20 to 23 of a PNG file.
    const height = readFileSync(join(pictures.path, 'view1.png')).readUInt32BE(20);
    expect(Math.hypot(x! - truth[0], y! - (height - truth[1]))).toBeLessThan(1);
    expect(errors).toEqual([]);
    await page.close();
    await server.kill();
  }, 2 * MINUTES);
});
