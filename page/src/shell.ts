// The frame around the views: title, tabs, what is saved, messages, keys.

import type { App, Tab } from './app';
import { h, replace } from './dom';
import { helpDialog } from './help';
import type { Lane } from './learner';
import { ModelView } from './model-view';
import { PairView } from './pair-view';
import type { Pictures } from './pictures';
import { Sidebar } from './sidebar';
import { SpecimenView } from './specimen-view';
import type { PairId } from './state';

export class Shell {
  private readonly sidebar: Sidebar;
  private readonly specimens: SpecimenView;
  private readonly pairs: PairView;
  private readonly model: ModelView;
  private readonly tabs = h('div', { className: 'tabs', aria: { role: 'tablist' } });
  private readonly saved = h('span', { className: 'saved', aria: { role: 'status' } });
  private readonly learning = h('span', { className: 'learning' });
  private readonly bar = h('div', { aria: { role: 'status' }, className: 'bar', hidden: true });
  private readonly stage = h('main');
  private readonly help = helpDialog();

  constructor(
    private readonly app: App,
    pictures: Pictures,
    lane: Lane,
    root: Element,
  ) {
    this.sidebar = new Sidebar(app);
    this.specimens = new SpecimenView(app, pictures);
    this.pairs = new PairView(app, pictures);
    this.model = new ModelView(app, lane, pictures);
    const button = (text: string, title: string, click: () => void) => h('button', { className: 'quiet', title, onclick: click }, text);
    const header = h('header', {},
      h('h1', { className: 'brand' }, 'Homolog'), h('span', { className: 'project' }, app.start.title), this.tabs, h('span', { className: 'space' }),
      this.learning, this.saved,
      button('Undo', 'Z', () => app.act({ type: 'undo' })), button('Redo', '⇧ Z', () => app.act({ type: 'redo' })), button('?', 'Keys', () => this.help.showModal()),
    );
    replace(root, header, this.bar, h('div', { className: 'body' }, this.sidebar.element, this.stage), this.help);
    document.addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('keyup', (event) => this.specimens.keyUp(event));
    window.addEventListener('blur', () => this.specimens.keyUp(null));
    document.title = `${app.start.title} – Homolog`;
    app.listen(() => this.update());
  }

  private update(): void {
    const { app } = this;
    const view = { specimens: this.specimens, pairs: this.pairs, model: this.model }[app.tab];
    if (this.stage.firstChild !== view.element) replace(this.stage, view.element);
    const tabs: Array<[Tab, string]> = [['specimens', 'Specimens'], ...(app.state.pairs.length > 0 ? [['pairs', 'Pairs'] as [Tab, string]] : []), ['model', 'Model']];
    replace(this.tabs, ...tabs.map(([tab, name]) =>
      h('button', { className: app.tab === tab ? 'current' : '', onclick: () => app.show(tab), aria: { role: 'tab', selected: String(app.tab === tab) } }, name)));
    this.sidebar.update();
    view.update();
    this.updateStatus();
  }

  private updateStatus(): void {
    const { app } = this;
    const { state } = app.saver;
    this.learning.textContent = app.learning.busy ? 'learning…' : '';
    const words = {
      saved: 'saved',
      saving: 'saving…',
      waiting: 'not saved',
      conflict: 'not saved',
    };
    this.saved.textContent = words[state.kind];
    this.saved.className = `saved ${state.kind}`;
    const some = (count: number) => (count === 1 ? 'Your last action is' : `Your last ${count} actions are`);
    if (state.kind === 'conflict') {
      const choose = (keep: boolean) => () => app.settle(state.entries, keep);
      replace(this.bar,
        h('p', {}, `This project was changed in another tab or by someone else. ${some(state.count)} not saved.`),
        h('button', { onclick: choose(true), data: { conflict: 'keep' } }, 'Add mine to theirs'),
        h('button', { onclick: choose(false), data: { conflict: 'drop' } }, 'Discard mine'));
      this.bar.className = 'bar alarm';
    } else if (state.kind === 'waiting') {
      replace(this.bar, h('p', {}, `${some(state.count)} not saved: ${state.reason}. Trying again; keep this page open, or start homolog label again and open its new address.`));
      this.bar.className = 'bar alarm';
    } else if (app.message !== null) {
      replace(this.bar, h('p', {}, app.message));
      this.bar.className = 'bar';
    }
    this.bar.hidden = !(state.kind === 'conflict' || state.kind === 'waiting' || app.message !== null);
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const typing = target instanceof HTMLInputElement && target.type !== 'checkbox';
    // A list of choices has its own arrows and letters; keys with Shift are the page's.
    if (typing || (target instanceof HTMLSelectElement && !event.shiftKey)) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (this.help.open || event.ctrlKey || event.metaKey) return;
    // Whoever reached a control with the keyboard presses it with the keyboard.
    const pressed = (event.key === 'Enter' || event.key === ' ') && !event.shiftKey;
    if (pressed && target.matches('button:focus-visible, input:focus-visible, a:focus-visible')) return;
    const done = event.altKey ? this.altKey(event) : this.plainKey(event);
    if (done) event.preventDefault();
  }

  private altKey(event: KeyboardEvent): boolean {
    const tabs: Record<string, Tab> = { '1': 'specimens', '2': 'pairs', '3': 'model' };
    const tab = tabs[event.key];
    if (tab !== undefined && (tab !== 'pairs' || this.app.state.pairs.length > 0)) this.app.show(tab);
    else if (event.key === 'ArrowDown') this.stepBy(1);
    else if (event.key === 'ArrowUp') this.stepBy(-1);
    else return false;
    return true;
  }

  private stepBy(by: number): void {
    const { app } = this;
    if (app.tab === 'pairs') {
      const ids = app.state.pairs.map(({ left, right }): PairId => [left, right]);
      const at = ids.findIndex(([left, right]) => left === app.pair?.[0] && right === app.pair?.[1]);
      const next = ids[at + by];
      if (next !== undefined) app.openPair(next);
    } else {
      const ids = app.start.specimens.map(({ id }) => id);
      const next = ids[ids.indexOf(app.specimen ?? '') + by];
      if (next !== undefined) app.openSpecimen(next);
    }
  }

  private plainKey(event: KeyboardEvent): boolean {
    if (event.key === '?') this.help.showModal();
    else if (event.key === 'z') this.app.act({ type: 'undo' });
    else if (event.key === 'Z') this.app.act({ type: 'redo' });
    else if (event.key.toLowerCase() === 'n') this.app.next();
    else if (this.app.tab === 'specimens') return this.specimens.key(event);
    else if (this.app.tab === 'pairs') return this.pairs.key(event);
    else return false;
    return true;
  }
}
