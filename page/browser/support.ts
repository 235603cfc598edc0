// What the browser tests share: a server of the program, Debian's Chromium, and pictures of the built-in turntable.

import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type BrowserContext, type Page, chromium } from 'playwright-core';
import { expect } from 'vitest';
import type { Point } from '../src/state';
import { folder, serve } from '../test/support';

export { folder };

/** The page without a program, if it is built: a file, or an address. */
export const STATIC = process.env['HOMOLOG_STATIC'];
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

export const possible = existsSync(CHROMIUM);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Server {
  private constructor(
    private readonly child: ChildProcess,
    /** With the token. */
    readonly address: string,
  ) {}

  static async start(input: string, ...more: string[]): Promise<Server> {
    const { child, address } = await serve(input, ...more);
    return new Server(child, address);
  }

  get origin(): string {
    return new URL(this.address).origin;
  }

  get token(): string {
    return new URL(this.address).hash.slice(1);
  }

  /** Not asked to end: killed. */
  kill(): Promise<void> {
    return new Promise((done) => {
      this.child.removeAllListeners('exit');
      this.child.once('exit', () => done());
      this.child.stdin!.end();
    });
  }

  async get(path: string): Promise<Response> {
    return fetch(`${this.origin}${path}`, { headers: { Authorization: `Bearer ${this.token}` } });
  }
}

export interface Truth {
  names: string[];
  /** By specimen: a point for each name. */
  points: Record<string, Point[]>;
}

/** Twelve pictures of the turntable in a folder, and where its landmarks are. */
export async function turntablePictures(): Promise<{ path: string; truth: Truth }> {
  const path = folder();
  const server = await Server.start('turntable', '--labels', join(path, 'nothing'));
  const { data } = await (await server.get('/api/project')).json();
  const truth: Truth = { names: data.graphs[0].names, points: {} };
  mkdirSync(join(path, 'pictures'));
  for (let n = 0; n < 12; n++) {
    const frame = 4 * n;
    const id = `view${n + 1}`;
    const picture = await server.get(`/api/pictures/${frame}`);
    writeFileSync(join(path, 'pictures', `${id}.png`), Buffer.from(await picture.arrayBuffer()));
    truth.points[id] = data.graphs[frame].points;
  }
  await server.kill();
  return { path: join(path, 'pictures'), truth };
}

/** The same pictures as a data set of pairs, points without names, the first two pairs labelled. */
export function pairProject({ path, truth }: { path: string; truth: Truth }): { path: string; partner: Record<string, number[]> } {
  const ids = Object.keys(truth.points);
  // Each frame lists its points in another order.
  const orders = ids.map((_, n) => truth.names.map((_, k) => (k * 7 + n * 11) % truth.names.length));
  const graphs = ids.map((id, n) => ({ id, points: orders[n]!.map((k) => truth.points[id]![k]!), image: `pictures/${id}.png` }));
  const partner: Record<string, number[]> = {};
  const pairs = ids.slice(6).map((right, n) => {
    const left = ids[n]!;
    partner[`${left} ${right}`] = orders[n]!.map((k) => orders[n + 6]!.indexOf(k));
    const matches = n < 2 ? partner[`${left} ${right}`]!.map((right, left) => [left, right]) : 'unknown';
    return { left, right, matches };
  });
  const file = join(path, '..', 'pairs.json');
  writeFileSync(file, JSON.stringify({ format: { kind: 'homolog-data', version: 1 }, graphs, pairs }));
  return { path: file, partner };
}

export async function browser(options: object = {}): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder(), {
    executablePath: CHROMIUM,
    viewport: { width: 1280, height: 720 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ...options,
  });
  context.setDefaultTimeout(60_000);
  return context;
}

/** A page whose errors are errors of the test. */
export async function openPage(context: BrowserContext, address: string): Promise<{ page: Page; errors: string[] }> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(address);
  return { page, errors };
}

/** What axe finds fault with, as a list of words. */
export async function faults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (window as any).axe.run(document);
    return violations.flatMap(({ id, nodes }: any) => nodes.map(({ html }: any) => `${id}: ${html.slice(0, 120)}`));
  });
}

/** Makes the page as large as a phone: everything is within the width, the buttons are there, the picture has room, axe finds no fault. */
export async function onPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForTimeout(200);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  for (const name of ['Undo', 'Redo', 'Accept', 'Not visible', 'Clear', 'Confirm, learn, next', 'Next specimen']) {
    const box = (await page.getByRole('button', { name: new RegExp(`^${name}`) }).boundingBox())!;
    expect(box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844, `${name} ${JSON.stringify(box)}`).toBe(true);
    // Nothing covers it, nor is it scrolled out of sight.
    const hit = await page.evaluate(({ x, y, width, height }) => {
      const at = (down: number) => document.elementFromPoint(x + width / 2, y + down * height)?.closest('button')?.textContent;
      return [at(0.1), at(0.9)];
    }, box);
    expect(hit.every((text) => text?.startsWith(name)), `${name} ${hit}`).toBe(true);
  }
  for (const control of await page.locator('.toggles label:visible, .toggles select:visible').all()) {
    const box = (await control.boundingBox())!;
    expect(box.x >= 0 && box.x + box.width <= 390, `${await control.textContent()} ${JSON.stringify(box)}`).toBe(true);
  }
  const board = (await page.locator('.board').boundingBox())!;
  expect(board.height).toBeGreaterThan(230);
  expect(await faults(page)).toEqual([]);
}
