// What looks wrong in labelled specimens, as `homolog check` lists it: why, and buttons that mend it. Each is one action, which undo takes
// back.

import type { App } from './app';
import { h } from './dom';
import type { Finding } from './requests';

/** So many are listed; the others follow when these are done. */
const MOST = 30;

/** The surest first. */
export function findingList(app: App, findings: readonly Finding[]): HTMLElement {
  return h('ol', { aria: { label: 'To check' } }, ...findings.slice(0, MOST).map((finding) => h('li', {}, ...findingParts(app, finding))));
}

export function findingParts(app: App, finding: Finding): HTMLElement[] {
  const { specimen, landmarks, points_of: from = [], kind, why } = finding;
  const button = (text: string, click: () => void) => h('button', { onclick: click }, text);
  const buttons: HTMLButtonElement[] = [];
  if (from.length > 0) {
    const takes = landmarks.map((name, n): [string, string] => [name, from[n]!]);
    const text = kind === 'swapped' ? `Swap ${landmarks.join(' and ')}` : 'Exchange the names';
    buttons.push(button(text, () => app.act({ type: 'rename', specimen, takes })));
  } else if (kind === 'displaced' || kind === 'doubled') {
    buttons.push(button(`Label ${landmarks.join(' and ')} again`, () => {
      app.openSpecimen(specimen, landmarks[0]);
      app.act({ type: 'again', specimen, names: landmarks });
    }));
  }
  buttons.push(button(landmarks.length > 0 ? `Go to ${landmarks[0]}` : 'Show', () => app.openSpecimen(specimen, landmarks[0])));
  buttons.push(button('It is right', () => app.act({ type: 'vouch', specimen })));
  return [h('p', {}, h('strong', {}, specimen), ` ${why}`), h('div', {}, ...buttons)];
}
