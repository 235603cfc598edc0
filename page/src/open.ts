// Opens a project in the page, whoever keeps it and whoever learns.

import { App } from './app';
import { h, replace } from './dom';
import type { Lane } from './learner';
import { Learning } from './learning';
import { Pictures } from './pictures';
import { Shell } from './shell';
import type { Start } from './state';
import type { Store } from './store';

export interface Opened {
  start: Start;
  store: Store;
  /** The numbers of the pictures, by specimen. */
  numbers: Map<string, number>;
  /** For quick answers, and for learning. */
  quick: Lane;
  slow: Lane;
}

export function open(project: (root: Element) => Promise<Opened>): void {
  const root = document.querySelector('#app')!;
  const begin = async () => {
    const { start, store, numbers, quick, slow } = await project(root);
    const app = new App(start, store, await store.entries());
    const pictures = new Pictures(store, numbers);
    const failed = (reason: string) => app.tell(`The learner: ${reason}`);
    app.learning = new Learning(start, quick, slow, (specimen) => pictures.grey(specimen), () => app.changed(), failed);
    new Shell(app, pictures, quick, root);
    // For the console, and for tests that look at what is shown.
    Object.assign(window, { homolog: app });
    app.begin();
  };
  begin().catch((error: Error) => replace(root, h('div', { className: 'drop' }, h('h1', {}, 'Homolog'), h('p', {}, `This page cannot open: ${error.message}`))));
}
