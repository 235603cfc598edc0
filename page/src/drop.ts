// The page without a server: pictures and a table or data set are dropped in or chosen.

import { type DataSet, type Found, startOf } from './data';
import { h, replace } from './dom';
import type { Lane } from './learner';
import * as ask from './requests';
import type { Start } from './state';
import { BrowserStore } from './store';

export interface Dropped {
  start: Start;
  store: BrowserStore;
  numbers: Map<string, number>;
}

const PICTURE = /\.(png|jpe?g)$/i;
const DATA = /\.(csv|jsonl?|ndjson|tps)$/i;

/** Asks for files; resolves once they make a project. */
export function dropZone(root: Element, lane: Lane): Promise<Dropped> {
  return new Promise((resolve) => {
    const problem = h('p', { className: 'problem', aria: { role: 'alert' } });
    const take = async (files: readonly File[]) => {
      try {
        resolve(await projectOf(files, lane));
      } catch (error) {
        problem.textContent = (error as Error).message;
      }
    };
    const input = h('input', { type: 'file', multiple: true, onchange: () => void take([...(input.files ?? [])]) });
    const zone = h('div', { className: 'drop' },
      h('h1', {}, 'Homolog'),
      h('p', {}, 'Drop pictures here (PNG, JPEG), a landmark table (.csv), or a data set (.json).'),
      h('p', {}, 'Label a few; the rest is proposed. Nothing leaves this computer.'),
      h('label', { className: 'choose' }, 'Choose files', input),
      problem,
    );
    zone.ondragover = (event) => event.preventDefault();
    zone.ondrop = (event) => {
      event.preventDefault();
      void take([...(event.dataTransfer?.files ?? [])]);
    };
    replace(root, zone);
  });
}

async function projectOf(files: readonly File[], lane: Lane): Promise<Dropped> {
  const pictures = files.filter(({ name }) => PICTURE.test(name));
  const tables = files.filter(({ name }) => DATA.test(name));
  const other = files.find(({ name }) => !PICTURE.test(name) && !DATA.test(name));
  if (other !== undefined) throw new Error(`${other.name}: only PNG, JPEG, .csv and .json files are taken`);
  if (tables.length > 1) throw new Error('one table or data set at a time, please');
  if (files.length === 0) throw new Error('there were no files');
  let data: DataSet | null = null;
  if (tables[0] !== undefined) data = (await ask.read(lane, tables[0].name, await tables[0].text())).data;
  pictures.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  const stem = (name: string) => name.replace(/\.[^.]*$/, '');
  const used = new Set<string>();
  for (const { name } of pictures) {
    if (used.has(stem(name))) throw new Error(`there are two pictures called ${stem(name)}`);
    used.add(stem(name));
  }
  const found = pictures.map(({ name }): Found => ({ id: stem(name), picture: true, image: name }));
  const title = tables[0] ? stem(tables[0].name) : `${found[0]!.id} and ${found.length - 1} more`;
  const start = startOf(title, found, data);
  const numbers = new Map(pictures.map(({ name }, n) => [stem(name), n]));
  // The same files are the same project: the journal is found again.
  const key = `${title} ${start.specimens.map(({ id }) => id).join(' ')}`.slice(0, 2000);
  return { start, store: new BrowserStore(key, pictures, localStorage, download), numbers };
}

function download(name: string, text: string): void {
  const link = h('a', { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
