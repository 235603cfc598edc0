// The page that `homolog label` serves: it keeps the project and answers the learner's requests.

import { startOf } from './data';
import { Lane } from './learner';
import { open } from './open';
import { ProgramChannel } from './program';
import { ServerStore } from './store';

open(async () => {
  const token = await tokenOf();
  if (token === '') throw new Error('the address is not complete; open the one that `homolog label` printed');
  const store = new ServerStore(token);
  const lane = (name: 'quick' | 'slow') => new Lane(() => new ProgramChannel((body, signal) => store.ask(name, body, signal)));
  const { title, specimens, data } = await store.project();
  const numbers = new Map(specimens.flatMap(({ id, picture }, n) => (picture ? [[id, n] as const] : [])));
  return { start: startOf(title, specimens, data), store, numbers, quick: lane('quick'), slow: lane('slow') };
});

/** The token of this run of the program: from the address, which forgets it at once, or for the one-time code there; kept for a reload. */
async function tokenOf(): Promise<string> {
  const key = 'homolog token';
  let given = location.hash.slice(1);
  if (given === '') return sessionStorage.getItem(key) ?? '';
  history.replaceState(null, '', location.pathname);
  if (given.startsWith('once-')) {
    const response = await fetch('/api/session', { method: 'POST', body: given });
    if (!response.ok) throw new Error(await response.text());
    given = (await response.json()).token;
  }
  sessionStorage.setItem(key, given);
  return given;
}
