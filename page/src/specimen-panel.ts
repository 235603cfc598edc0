// The column beside a specimen: the list of its points, a new name, coordinates by number, what is shown, and buttons with their keys.

import { h, percent, replace } from './dom';
import type { PointSuggestion } from './learning';
import type { Presence } from './requests';
import type { Place, PointLabel } from './state';

/** A point that may have more names than so many others is listed under its likeliest alone. */
const MOST_OTHERS = 2;

/** What can be shown or not. */
export type Toggle = 'snap' | 'loupe' | 'names';

export interface PanelEvents {
  select(name: string): void;
  addName(name: string): void;
  /** Typed coordinates; null: they are no numbers. */
  placeAt(at: Place | null): void;
  accept(): void;
  absent(): void;
  clear(): void;
  confirm(): void;
  reopen(): void;
  /** Whether specimens have every landmark and no other point. */
  presence(presence: Presence): void;
  /** Something else is to be shown. */
  redraw(): void;
}

/** What the panel shows. */
export interface PanelState {
  names: readonly string[];
  chosen: string | null;
  at: Place | null;
  labels: Readonly<Record<string, PointLabel>>;
  proposed: Readonly<Record<string, PointSuggestion>>;
  disputed: ReadonlySet<string>;
  /** What looks wrong, and what corrects it. */
  wrong: HTMLElement | null;
  inSpace: boolean;
  /** It has points of its own, of which some may be no landmark. */
  hasPoints: boolean;
  confirmed: boolean;
  /** How many suggestions are neither accepted nor put right. */
  waiting: number;
}

export class SpecimenPanel {
  readonly element = h('aside', { aria: { label: 'Points' } });
  readonly shows: Record<Toggle, boolean> = { snap: false, loupe: true, names: true };
  private readonly list = h('ol', { className: 'points' });
  private readonly newName = h('input', { placeholder: 'new name', aria: { label: 'New name' } });
  private readonly x = h('input', { className: 'coordinate', inputMode: 'decimal', aria: { label: 'x' } });
  private readonly y = h('input', { className: 'coordinate', inputMode: 'decimal', aria: { label: 'y' } });
  private readonly z = h('input', { className: 'coordinate', inputMode: 'decimal', aria: { label: 'z' } });
  private readonly depth = h('span', { hidden: true }, 'z', this.z);
  private readonly wrong = h('div', { className: 'findings' });
  private readonly presence = h('label', { hidden: true }, 'points');
  private readonly note = h('p', { className: 'note' });
  private readonly buttons = h('div', { className: 'buttons' });
  private readonly boxes = {} as Record<Toggle, HTMLInputElement>;

  constructor(private readonly events: PanelEvents) {
    const toggle = (text: string, key: string, what: Toggle) => {
      const box = h('input', { type: 'checkbox', checked: this.shows[what] });
      box.onchange = () => {
        this.shows[what] = box.checked;
        events.redraw();
      };
      this.boxes[what] = box;
      return h('label', {}, box, text, h('kbd', {}, key));
    };
    const options: Array<[Presence, string]> = [
      ['auto', 'decide for each specimen'],
      ['complete', 'every landmark, no other point'],
      ['partial', 'some missing or extra'],
    ];
    const presence = h('select', { aria: { label: 'Whether landmarks are missing' }, onchange: () => events.presence(presence.value as Presence) }, ...options.map(([value, text]) => h('option', { value }, text)));
    this.presence.append(presence);
    const form = h('form', { className: 'new-name', onsubmit: (event) => this.addName(event) }, this.newName, h('button', {}, 'Add'));
    const coordinates = h('form', { className: 'coordinates', onsubmit: (event) => this.typed(event) }, 'x', this.x, 'y', this.y, this.depth, h('button', {}, 'Place'));
    this.element.append(
      this.note,
      this.wrong,
      this.list,
      form,
      coordinates,
      h('div', { className: 'toggles' }, toggle('snap to corners', 'S', 'snap'), toggle('loupe', 'L', 'loupe'), toggle('names', 'T', 'names'), this.presence),
      this.buttons,
    );
  }

  update(state: PanelState): void {
    this.updateList(state);
    replace(this.wrong, state.wrong);
    this.depth.hidden = !state.inSpace;
    this.presence.hidden = !state.hasPoints;
    // What a person is typing is left alone.
    if (![this.x, this.y, this.z].includes(document.activeElement as HTMLInputElement)) this.showPlace(state.at);
    this.note.textContent = noteOf(state);
    const { events } = this;
    const button = (text: string, key: string, click: () => void, extra = '') =>
      h('button', { className: extra, onclick: click }, text, h('kbd', {}, key));
    replace(
      this.buttons,
      button('Accept', '⏎', () => events.accept()),
      button('Not visible', 'X', () => events.absent()),
      button('Clear', '⌫', () => events.clear()),
      state.confirmed
        ? button('Reopen', 'R', () => events.reopen())
        : button('Confirm, learn, next', '⇧⏎', () => events.confirm(), 'primary'),
    );
  }

  showPlace(at: Place | null): void {
    this.x.value = at ? at[0].toFixed(2) : '';
    this.y.value = at ? at[1].toFixed(2) : '';
    this.z.value = at?.[2]?.toFixed(2) ?? '';
  }

  toggle(what: Toggle): void {
    this.shows[what] = !this.shows[what];
    this.boxes[what].checked = this.shows[what];
  }

  /** Ready for a new name, or for coordinates. */
  askName(): void {
    this.newName.focus();
  }

  askPlace(): void {
    this.x.select();
  }

  private updateList({ names, chosen, labels, proposed, disputed, confirmed }: PanelState): void {
    const rows = names.map((name) => {
      const label = labels[name];
      const suggestion = proposed[name];
      const kind = label ? (label.at === null ? 'absent' : 'labelled') : suggestion ? 'suggested' : 'missing';
      const check = label !== undefined && confirmed && disputed.has(name);
      const word = check
        ? 'check'
        : { absent: 'not visible', labelled: label?.accepted ? 'accepted' : 'placed', suggested: percent(suggestion?.certainty ?? 0), missing: '–' }[kind];
      // "p00 or p01": the names that the point may have. After few labels these are all names, which says nothing.
      const others = kind === 'suggested' && suggestion!.others.length <= MOST_OTHERS ? suggestion!.others : [];
      const called = [name, ...others].join(' or ');
      const row = h('button', { className: `point ${kind}${check ? ' check' : ''}${name === chosen ? ' current' : ''}`, data: { name } }, h('i'), h('span', {}, called), h('em', {}, word));
      row.title = called;
      if (kind === 'suggested') row.style.setProperty('--certainty', `${100 * suggestion!.certainty}%`);
      row.onclick = () => this.events.select(name);
      return h('li', {}, row);
    });
    const scroll = this.list.scrollTop;
    replace(this.list, ...rows);
    this.list.scrollTop = scroll;
    this.list.querySelector('.current')?.scrollIntoView({ block: 'nearest' });
  }

  private addName(event: Event): void {
    event.preventDefault();
    const name = this.newName.value.trim();
    if (name === '') return;
    this.newName.value = '';
    this.newName.blur();
    this.events.addName(name);
  }

  private typed(event: Event): void {
    event.preventDefault();
    const fields = this.depth.hidden ? [this.x, this.y] : [this.x, this.y, this.z];
    const at = fields.map(({ value }) => (value.trim() === '' ? Number.NaN : Number(value.replace(',', '.'))));
    const numbers = at.every(Number.isFinite);
    if (numbers) (document.activeElement as HTMLElement | null)?.blur();
    this.events.placeAt(numbers ? (at as unknown as Place) : null);
  }
}

function noteOf({ confirmed, waiting, proposed, names }: PanelState): string {
  if (confirmed) return 'Confirmed. Drag to correct, R to reopen.';
  if (waiting > 0) return `${waiting} proposed. Drag what is wrong; ⇧⏎ accepts the rest.`;
  const none = Object.keys(proposed).length === 0 && names.length === 0;
  return none ? 'Click to place the first point.' : 'Click to place the chosen point.';
}
