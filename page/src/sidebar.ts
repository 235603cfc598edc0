// The list of specimens or pairs by state, the progress, the estimated error, and the big button.

import type { App } from './app';
import { h, percent, replace } from './dom';
import { findingList } from './findings';
import { LEAST_FOR_ESTIMATE } from './judge';
import { pairKeyOf } from './learning';
import type { PairId } from './state';

export type Standing = 'open' | 'suggested' | 'confirmed' | 'check';

const WORDS: Record<Standing, string> = {
  open: 'open',
  suggested: 'suggested',
  confirmed: 'confirmed',
  check: 'to check',
};

interface Row {
  key: string;
  title: string;
  standing: Standing;
  current: boolean;
  open(): void;
}

function specimenStanding(app: App, id: string, suspects: ReadonlySet<string>): Standing {
  if (suspects.has(id)) return 'check';
  if (app.state.specimens[id]?.confirmed) return 'confirmed';
  const shown = app.learning.proposal;
  const proposed = shown?.specimen === id && Object.keys(shown.points).length > 0;
  return proposed || app.learning.sureness.has(id) ? 'suggested' : 'open';
}

function pairStanding(app: App, pair: PairId, confirmed: boolean): Standing {
  if (confirmed) return app.learning.disputedMatches.has(pairKeyOf(pair)) ? 'check' : 'confirmed';
  const labelled = (app.learning.model?.learned.pairs ?? 0) > 0;
  return labelled ? 'suggested' : 'open';
}

export class Sidebar {
  readonly element = h('nav', { className: 'sidebar', aria: { label: 'Specimens and pairs' } });
  private readonly summary = h('div', { className: 'summary' });
  private readonly findings = h('div', { className: 'findings' });
  private readonly list = h('ol', { className: 'rows' });
  private readonly next = h('button', { className: 'next', title: 'Go to the least certain one (N)', onclick: () => this.app.next() });
  private readonly rows = new Map<string, HTMLButtonElement>();

  constructor(private readonly app: App) {
    this.element.append(this.summary, this.findings, this.list, this.next);
  }

  update(): void {
    const rows = this.app.tab === 'pairs' ? this.pairRows() : this.specimenRows();
    const count = (standing: Standing) => rows.filter((row) => row.standing === standing).length;
    const done = count('confirmed') + count('check');
    const share = rows.length === 0 ? 0 : done / rows.length;
    const expected = this.app.tab === 'pairs' ? null : this.app.learning.expected;
    const error = this.app.tab === 'pairs' ? (this.app.learning.model?.learned.error ?? null) : (expected?.error ?? null);
    const what = this.app.tab === 'pairs' ? 'pairs' : 'specimens';
    const bar = h('div', { className: 'progress', aria: { role: 'progressbar', label: 'Confirmed', valuenow: String(Math.round(100 * share)) } }, h('i'));
    (bar.firstChild as HTMLElement).style.width = `${100 * share}%`;
    replace(
      this.summary,
      h('p', {}, h('strong', {}, `${done} of ${rows.length}`), ` ${what} confirmed`),
      bar,
      h(
        'p',
        { className: 'estimate', title: 'Each labelled specimen proposed from the others; the interval contains the error on new ones nine times in ten' },
        error === null ? (done < LEAST_FOR_ESTIMATE ? 'Estimated error: after a few more' : 'Estimated error: …') : 'Estimated error: ',
        error !== null && h('strong', {}, percent(error)),
        expected !== null && ` (${percent(expected.interval[0])} to ${percent(expected.interval[1])} on new ones)`,
      ),
      this.app.tab !== 'pairs' && done === 0 && this.app.learning.unlabelled(this.app.state).length > 1
        && h('button', { title: 'Name all points together, then correct', onclick: () => void this.app.join() }, 'Join first'),
      count('check') > 0 && h('p', { className: 'check' }, `${count('check')} to check`),
    );
    const findings = this.app.tab === 'pairs' ? [] : this.app.learning.findings(this.app.state);
    replace(this.findings, findings.length > 0 && findingList(this.app, findings));
    this.next.textContent = this.app.tab === 'pairs' ? 'Next pair' : 'Next specimen';
    this.next.disabled = done === rows.length;
    this.updateRows(rows);
  }

  private updateRows(rows: Row[]): void {
    const keys = rows.map((row) => row.key);
    if (keys.length !== this.rows.size || keys.some((key) => !this.rows.has(key))) {
      this.rows.clear();
      const items = rows.map((row) => {
        const button = h('button', {}, h('i'), h('span'), h('em'));
        this.rows.set(row.key, button);
        return h('li', {}, button);
      });
      replace(this.list, ...items);
    }
    for (const row of rows) {
      const button = this.rows.get(row.key)!;
      const name = `row ${row.standing}${row.current ? ' current' : ''}`;
      if (button.className !== name) {
        button.className = name;
        button.querySelector('em')!.textContent = WORDS[row.standing];
        if (row.current) button.scrollIntoView({ block: 'nearest' });
      }
      const title = button.querySelector('span')!;
      if (title.textContent !== row.title) title.textContent = row.title;
      button.onclick = row.open;
    }
  }

  private specimenRows(): Row[] {
    const { app } = this;
    const suspects = new Set(app.learning.findings(app.state).map(({ specimen }) => specimen));
    return app.start.specimens.map(({ id }) => ({
      key: `specimen ${id}`,
      title: id,
      standing: specimenStanding(app, id, suspects),
      current: id === app.specimen,
      open: () => app.openSpecimen(id),
    }));
  }

  private pairRows(): Row[] {
    const { app } = this;
    return app.state.pairs.map(({ left, right, confirmed }) => ({
      key: `pair ${pairKeyOf([left, right])}`,
      title: `${left} – ${right}`,
      standing: pairStanding(app, [left, right], confirmed),
      current: app.pair !== null && app.pair[0] === left && app.pair[1] === right,
      open: () => app.openPair([left, right]),
    }));
  }
}
