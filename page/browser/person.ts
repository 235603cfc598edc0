// A person at the page: looks at where things are, clicks, drags and types, and counts it.

import type { Page } from 'playwright-core';
import type { Place, Point } from '../src/state';
import type { Truth } from './support';

/** As far as this, in pixels of the picture, a person calls a proposed point right: the labels have an error of a pixel themselves. */
export const AGREES = 5;

export interface Shown {
  names: string[];
  specimen: string | null;
  labels: Record<string, { at: Place | null; accepted: boolean }>;
  confirmed: boolean;
  proposed: Record<string, Place>;
}

/** What the page shows now. */
export function shown(page: Page): Promise<Shown> {
  return page.evaluate(() => {
    const app = (window as any).homolog;
    const own = app.state.specimens[app.specimen];
    const { proposal } = app.learning;
    const points = proposal?.specimen === app.specimen ? proposal.points : {};
    return {
      names: app.state.names,
      specimen: app.specimen,
      labels: own.labels,
      confirmed: own.confirmed,
      proposed: Object.fromEntries(Object.entries(points).map(([name, { at }]: any) => [name, at])),
    };
  });
}

export const saved = (page: Page) =>
  page.waitForFunction(() => document.querySelector('.saved')?.textContent === 'saved', undefined, { polling: 50 });

export async function openSpecimen(page: Page, id: string): Promise<void> {
  await page.locator('.row', { has: page.locator(`span:text-is("${id}")`) }).click();
  await ready(page, id);
}

/** Waits until the specimen is shown with its picture and the learner has said what it has to say. */
export async function ready(page: Page, id: string): Promise<void> {
  await page.waitForSelector(`[data-picture="${id}"]`);
  await page.waitForFunction((id) => {
    const { learning } = (window as any).homolog ?? {};
    return learning?.settled && learning.proposal?.specimen === id;
  }, id);
}

/** Where a point of a picture is on the screen. */
export async function onScreen(page: Page, place: Place, view = 0): Promise<Point> {
  const board = page.locator('.board');
  const box = (await board.boundingBox())!;
  const { scale, centre, rect, turn } = JSON.parse((await board.getAttribute('data-views'))!)[view];
  const along = (axis: number[]) => axis.reduce((sum, value, n) => sum + value * (place[n]! - turn.pivot[n]), 0);
  const [x, y] = turn === null ? place : [along(turn.axes[0]), -along(turn.axes[1])];
  return [box.x + rect.x + rect.width / 2 + (x - centre[0]) * scale, box.y + rect.y + rect.height / 2 + (y - centre[1]) * scale];
}

export class Person {
  clicks = 0;

  constructor(
    private readonly page: Page,
    private readonly truth: Truth,
  ) {}

  async place(name: string, at: Point): Promise<void> {
    const known = (await shown(this.page)).names.includes(name);
    if (!known) {
      await this.page.getByLabel('New name').fill(name);
      await this.page.getByLabel('New name').press('Enter');
    } else {
      await this.page.locator('.point', { has: this.page.locator(`span:text-is("${name}")`) }).click();
    }
    await this.page.mouse.click(...(await onScreen(this.page, at)));
    // A page behind another one may hear of a click a moment later.
    await this.page.waitForFunction((name) => {
      const app = (window as any).homolog;
      return name in app.state.specimens[app.specimen].labels && app.learning.settled;
    }, name);
    this.clicks += 1;
  }

  async drag(from: Place, to: Place): Promise<void> {
    const [start, end] = [await onScreen(this.page, from), await onScreen(this.page, to)];
    await this.page.mouse.move(...start);
    await this.page.mouse.down();
    await this.page.mouse.move(end[0], end[1], { steps: 3 });
    await this.page.mouse.up();
    await this.page.waitForFunction(() => (window as any).homolog.learning.settled);
    this.clicks += 1;
  }

  /** Names that are proposed too far from the truth. */
  async wrong(id: string): Promise<string[]> {
    const { proposed } = await shown(this.page);
    const points = this.truth.points[id]!;
    return this.truth.names.filter((name, n) => {
      const at = proposed[name];
      return at === undefined || Math.hypot(at[0] - points[n]![0], at[1] - points[n]![1]) > AGREES;
    });
  }

  truthOf(id: string, name: string): Point {
    return this.truth.points[id]![this.truth.names.indexOf(name)]!;
  }
}
