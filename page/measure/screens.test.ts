// The pictures of docs/label.md: npx vitest run --dir measure screens

import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { test } from 'vitest';
import { spoiled, walking } from '../browser/bodies';
import { Person, openSpecimen, ready } from '../browser/person';
import { Server, browser, folder, openPage, pairProject, turntablePictures } from '../browser/support';

const FIGURES = resolve(import.meta.dirname, '../../docs/figures');

const openSpace = (page: Page, id: string) => page.evaluate((id) => (window as any).homolog.openSpecimen(id), id);

const settle = async (page: Page) => {
  await page.waitForFunction(() => (window as any).homolog?.learning.busy === false, undefined, { timeout: 300_000 });
  await page.waitForTimeout(300);
};
const shoot = async (page: Page, name: string) => {
  await settle(page);
  await page.screenshot({ path: `${FIGURES}/label-${name}.png` });
};

test('screens', async () => {
  const pictures = await turntablePictures();
  const { names, points } = pictures.truth;
  const label = async (page: Page, id: string) => {
    await openSpecimen(page, id);
    await page.evaluate(
      ([id, names, points]) => {
        const app = (window as any).homolog;
        (names as string[]).forEach((name, n) => app.act({ type: 'place', specimen: id, name, at: (points as ReadonlyArray<readonly number[]>)[n] }));
        app.act({ type: 'confirm', specimen: id, accepted: [], estimate: null });
      },
      [id, names, points[id]!] as const,
    );
  };
  const light = await browser({ colorScheme: 'light' });
  const server = await Server.start(pictures.path, '--labels', folder());
  const { page } = await openPage(light, server.address);
  await ready(page, 'view1');
  for (const id of ['view1', 'view6', 'view12']) await label(page, id);
  await openSpecimen(page, 'view3');
  await page.mouse.move(640, 357);
  await shoot(page, 'specimen');
  const person = new Person(page, pictures.truth);
  for (const id of ['view3', 'view4', 'view8', 'view9', 'view10', 'view2']) {
    await openSpecimen(page, id);
    for (let wrong = await person.wrong(id), n = 0; n < Math.min(wrong.length, 4); n++) {
      const at = await page.evaluate((name) => (window as any).homolog.learning.proposal.points[name]?.at, wrong[n]!);
      if (at) await person.drag(at, person.truthOf(id, wrong[n]!));
    }
    await page.keyboard.press('Shift+Enter');
    await settle(page);
  }
  await page.keyboard.press('Alt+3');
  await shoot(page, 'model');
  await light.close();

  const dark = await browser({ colorScheme: 'dark' });
  const pairs = await Server.start(pairProject(pictures).path, '--labels', folder());
  const { page: two } = await openPage(dark, pairs.address);
  await two.waitForFunction(() => (window as any).homolog?.learning.suggestion != null);
  await shoot(two, 'pair');
  await two.keyboard.press('?');
  await shoot(two, 'keys');
  await dark.close();

  const tablet = await browser({ colorScheme: 'light', viewport: { width: 820, height: 1180 }, hasTouch: true });
  const { page: three } = await openPage(tablet, server.address);
  await three.waitForSelector('.row');
  await openSpecimen(three, 'view5');
  await shoot(three, 'tablet');
  await tablet.close();
  await server.kill();
  await pairs.kill();
}, 600_000);

test('in space', async () => {
  // A body in space, one frame of it with two names swapped.
  const space = await browser({ colorScheme: 'light' });
  const frames = walking();
  const path = join(folder(), 'walking.json');
  const open = [9, 13].map((n) => spoiled(frames[n]!, n)).map(({ id, points }) => ({ id, points }));
  const named = [0, 4, 8, 12, 16, 20].map((n) => frames[n]!);
  const wrong = { ...named[3]!, points: [...named[3]!.points] };
  [wrong.points[5], wrong.points[14]] = [wrong.points[14]!, wrong.points[5]!];
  const graphs = named.map((frame, n) => (n === 3 ? wrong : frame));
  writeFileSync(path, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs: [...graphs, ...open] }));
  const body = await Server.start(path, '--labels', folder());
  const { page: four } = await openPage(space, body.address);
  await four.waitForFunction(() => (window as any).homolog?.learning.settled);
  await settle(four);
  for (const key of ['6', '6', '8']) await four.keyboard.press(key);
  await shoot(four, 'space');
  await four.locator('.sidebar .findings button', { hasText: /^Go to/ }).first().click();
  await shoot(four, 'check');
  // A phone: looked at, not shown.
  const phone = resolve(process.env['HOMOLOG_SCREENS'] ?? folder());
  await four.setViewportSize({ width: 390, height: 844 });
  await settle(four);
  await four.screenshot({ path: `${phone}/phone-check.png` });
  await openSpace(four, open[0]!.id);
  await settle(four);
  await four.screenshot({ path: `${phone}/phone-space.png` });
  await space.close();
  await body.kill();
}, 180_000);
