// The keys, in one place: what ? shows.

import { h } from './dom';

const KEYS: Array<[string, Array<[string, string]>]> = [
  ['Everywhere', [
    ['Z', 'undo'], ['⇧ Z', 'redo'], ['N', 'next: the least certain'], ['⏎', 'accept, go to the next'],
    ['⇧ ⏎', 'confirm all, learn, open the next'], ['R', 'reopen what is confirmed'], ['+ − 0', 'zoom in, out, whole picture'],
    ['L', 'loupe'], ['⌥ 1 2 3', 'specimens, pairs, model'], ['⌥ ↑ ↓', 'specimen or pair before, after'], ['?', 'these keys'],
  ]],
  ['Specimen', [
    ['click', 'place the chosen point'], ['drag', 'move a point, or the picture'], ['J, K', 'choose the next point, the previous one'],
    ['← ↑ → ↓', 'move it by a pixel (⇧: ten); ⏎ places it'], ['G', 'type x and y'], ['A', 'add a name'],
    ['right drag, 2 4 6 8', 'turn points in space'], ['1 3 7', 'front, side, top'],
    ['X', 'not visible here'], ['⌫', 'take the label away'], ['hold S', 'snap to corners'], ['T', 'show names'],
  ]],
  ['Pair', [
    ['click left, right', 'match two points; or drag from left to right'], ['↑ ↓', 'choose a match, least certain first'],
    ['1 2 3', 'take an alternative'], ['← →', 'go through the right points; ⏎ takes one'], ['X', 'it has no partner'],
    ['⌫', 'take the label away'], ['Space', 'flip the two pictures'],
  ]],
];

export function helpDialog(): HTMLDialogElement {
  const tables = KEYS.map(([title, keys]) =>
    h('section', {}, h('h2', {}, title), h('dl', {}, ...keys.flatMap(([key, what]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)]))),
  );
  const dialog = h('dialog', { className: 'help' }, h('div', { className: 'columns' }, ...tables), h('button', { onclick: () => dialog.close() }, 'Close'));
  return dialog;
}
