// One pair: two pictures side by side, lines between matched points coloured by certainty, and a list with the least certain first.

import type { App } from './app';
import { Board, Viewport } from './board';
import { pointsOf } from './data';
import { h, percent, replace } from './dom';
import { pairKeyOf } from './learning';
import { certaintyColour, drawLine, drawLoupe, drawMark, drawPicture, themeOf } from './paint';
import { type Pictures, boundsOf, showPoints } from './pictures';
import type { SuggestedMatch } from './requests';
import { standard, upward } from './space';
import type { MatchLabel, Place, Point, Specimen } from './state';

const REACH = 14;

/** A left point, what is said or suggested about it, and how sure that is (2 for labels, so that they come last). */
interface Line {
  left: number;
  right: number | null;
  label: MatchLabel | null;
  suggestion: SuggestedMatch | null;
  certainty: number;
  disputed: boolean;
}

export class PairView {
  readonly element = h('section', { className: 'view' });
  private readonly viewports = [new Viewport(), new Viewport()] as const;
  private readonly board: Board<number>;
  private readonly list = h('ol', { className: 'points' });
  private readonly note = h('p', { className: 'note' });
  private readonly buttons = h('div', { className: 'buttons' });
  private readonly loupeBox = h('input', { type: 'checkbox', checked: true, onchange: () => this.board.redraw() });
  private shown = '';
  private left: number | null = null;
  /** The right point that the keyboard has gone to, not yet an action. */
  private pending: number | null = null;
  private dragged: { left: number; to: Point } | null = null;
  private hovered: { viewport: number; at: Point } | null = null;
  private flipped = false;

  constructor(
    private readonly app: App,
    private readonly pictures: Pictures,
  ) {
    this.board = new Board([...this.viewports], {
      draw: (context) => this.draw(context),
      grab: (viewport, screen) => (viewport === 0 ? this.pointAt(0, screen) : null),
      drag: (left, _, screen) => {
        this.left = left;
        this.dragged = { left, to: screen };
      },
      drop: (left, _, screen, moved) => this.drop(left, screen, moved),
      tap: (viewport, screen) => this.tap(viewport, screen),
      hover: (viewport, screen) => {
        this.hovered = viewport === null ? null : { viewport, at: this.viewports[viewport]!.toPicture(screen) };
        this.board.redraw();
      },
    });
    const loupe = h('label', {}, this.loupeBox, 'loupe', h('kbd', {}, 'L'));
    const flip = h('button', { className: 'quiet', onclick: () => this.flip() }, 'Flip pictures', h('kbd', {}, 'Space'));
    const aside = h('aside', { aria: { label: 'Matches' } }, this.note, this.list, h('div', { className: 'toggles' }, loupe, flip), this.buttons);
    this.board.describe('Two pictures with points. Up and down choose a point on the left, left and right one on the right.');
    this.element.append(this.board.canvas, aside);
  }

  private specimen(side: 0 | 1): Specimen | undefined {
    return this.app.start.specimens.find(({ id }) => id === this.app.pair?.[side]);
  }

  private points(side: 0 | 1): readonly Place[] {
    const specimen = this.specimen(side);
    return specimen === undefined ? [] : pointsOf(specimen, this.app.state);
  }

  private nodeName(side: 0 | 1, node: number | null): string {
    if (node === null) return 'none';
    return this.specimen(side)?.names?.[node] || String(node + 1);
  }

  private get suggestions(): readonly SuggestedMatch[] {
    const { suggestion } = this.app.learning;
    const here = suggestion !== null && this.app.pair !== null && pairKeyOf(suggestion.pair) === pairKeyOf(this.app.pair);
    return here ? suggestion!.answer.matches : [];
  }

  /** Least certain first; what a person has said comes last. */
  private lines(): Line[] {
    const pair = this.app.pairState;
    if (pair === null) return [];
    const margins = this.suggestions.map(({ margin }) => margin).filter((margin): margin is number => margin !== null);
    const typical = margins.sort((a, b) => a - b)[Math.floor(margins.length / 2)] || 1;
    const byLeft = new Map(this.suggestions.map((suggestion) => [suggestion.left, suggestion]));
    const disputed = new Set(this.app.learning.disputedMatches.get(pairKeyOf([pair.left, pair.right])) ?? []);
    const lines = this.points(0).map((_, left): Line => {
      const label = pair.labels[left] ?? null;
      const suggestion = byLeft.get(left) ?? null;
      const margin = suggestion?.margin ?? 0;
      const certainty = label !== null ? 2 : margin / (margin + typical);
      return { left, right: label ? label.right : (suggestion?.right ?? null), label, suggestion, certainty, disputed: pair.confirmed && disputed.has(left) };
    });
    return lines.sort((a, b) => Number(b.disputed) - Number(a.disputed) || a.certainty - b.certainty || a.left - b.left);
  }

  update(): void {
    const { pair } = this.app;
    if (pair === null) {
      this.note.textContent = 'There are no pairs in this project.';
      return;
    }
    if (this.shown !== pairKeyOf(pair)) this.open();
    const lines = this.lines();
    if (this.left === null || this.left >= lines.length) this.left = lines[0]?.left ?? null;
    const rows = lines.map((line) => {
      const kind = line.label ? (line.right === null ? 'absent' : 'labelled') : line.suggestion ? 'suggested' : 'missing';
      const word = line.disputed ? 'check' : line.label ? (line.label.accepted ? 'accepted' : 'said') : line.suggestion ? percent(line.certainty) : '–';
      const row = h('button', { className: `point ${kind}${line.disputed ? ' check' : ''}${line.left === this.left ? ' current' : ''}` }, h('i'), h('span', {}, `${this.nodeName(0, line.left)} → ${kind === 'missing' ? '?' : this.nodeName(1, line.right)}`), h('em', {}, word));
      if (kind === 'suggested') row.style.setProperty('--certainty', `${100 * line.certainty}%`);
      row.onclick = () => this.select(line.left);
      return h('li', {}, row);
    });
    replace(this.list, ...rows);
    this.list.querySelector('.current')?.scrollIntoView({ block: 'nearest' });
    const confirmed = this.app.pairState?.confirmed ?? false;
    const waiting = lines.filter((line) => line.label === null && line.suggestion !== null).length;
    const features = this.app.learning.suggestion?.features === 'edges' ? ' with edges' : '';
    this.note.textContent = confirmed ? 'Confirmed. Match again to correct, R to reopen.' : `${waiting} suggested${features}, the least certain first. Click left, then right.`;
    const button = (text: string, key: string, click: () => void, extra = '') => h('button', { className: extra, onclick: click }, text, h('kbd', {}, key));
    const alternatives = this.line(this.left)?.suggestion?.alternatives ?? [];
    replace(
      this.buttons,
      ...alternatives.map((right, n) => button(`→ ${this.nodeName(1, right)}`, String(n + 1), () => this.match(right), 'quiet')),
      button('Accept', '⏎', () => this.accept()),
      button('No partner', 'X', () => this.match(null)),
      button('Clear', '⌫', () => this.clear()),
      confirmed ? button('Reopen', 'R', () => this.reopen()) : button('Confirm, learn, next', '⇧⏎', () => this.confirm(), 'primary'),
    );
    this.board.redraw();
  }

  private line(left: number | null): Line | undefined {
    return left === null ? undefined : this.lines().find((line) => line.left === left);
  }

  private open(): void {
    this.shown = pairKeyOf(this.app.pair!);
    this.left = null;
    this.pending = null;
    this.flipped = false;
    ([0, 1] as const).forEach((side) => {
      const up = upward(this.app.start.specimens.map(({ points }) => points));
      showPoints(this.viewports[side], this.points(side), standard('front', up));
    });
    this.loadPictures();
  }

  private loadPictures(): void {
    const shown = this.shown;
    ([0, 1] as const).forEach((side) => {
      const specimen = this.specimen(this.flipped ? ((1 - side) as 0 | 1) : side);
      if (specimen === undefined || !specimen.picture) return;
      this.pictures.bitmap(specimen).then(
        (bitmap) => {
          if (this.shown !== shown) return;
          const viewport = this.viewports[side];
          const first = viewport.picture === null;
          viewport.picture = bitmap;
          viewport.bounds = boundsOf(bitmap, []);
          if (first) viewport.fit();
          this.board.redraw();
        },
        (error: Error) => this.app.tell(error.message),
      );
    });
  }

  private pointAt(side: 0 | 1, screen: Point): number | null {
    let best: number | null = null;
    let least = REACH;
    this.points(side).forEach((point, node) => {
      const [x, y] = this.viewports[side].toScreen(point);
      const distance = Math.hypot(x - screen[0], y - screen[1]);
      if (distance < least) [best, least] = [node, distance];
    });
    return best;
  }

  private select(left: number): void {
    this.left = left;
    this.pending = null;
    this.update();
  }

  private tap(viewport: number, screen: Point): void {
    const node = this.pointAt(viewport as 0 | 1, screen);
    if (node === null) return;
    if (viewport === 0) this.select(node);
    else this.match(node);
  }

  private drop(left: number, screen: Point, moved: boolean): void {
    this.dragged = null;
    this.select(left);
    if (!moved || !this.viewports[1].contains(screen)) return;
    const right = this.pointAt(1, screen);
    if (right !== null) this.match(right);
  }

  private match(right: number | null): void {
    const { pair } = this.app;
    const line = this.line(this.left);
    if (pair === null || line === undefined) return;
    const corrects = line.label === null && line.suggestion !== null && line.suggestion.right !== right;
    const accepted = line.label === null && line.suggestion !== null && !corrects;
    if (accepted) this.app.act({ type: 'accept-match', pair, left: line.left, right });
    else this.app.act({ type: 'match', pair, left: line.left, right, ...(corrects && { corrects }) });
    this.goOn();
  }

  private goOn(): void {
    this.pending = null;
    this.left = this.lines().find((line) => line.label === null)?.left ?? this.left;
    this.update();
  }

  private accept(): void {
    const line = this.line(this.left);
    if (line === undefined) return;
    if (this.pending !== null) this.match(this.pending);
    else if (line.label === null && line.suggestion !== null) this.match(line.suggestion.right);
    else this.goOn();
  }

  private clear(): void {
    const { pair } = this.app;
    if (pair !== null && this.left !== null) this.app.act({ type: 'unmatch', pair, left: this.left });
  }

  private reopen(): void {
    if (this.app.pair !== null) this.app.act({ type: 'reopen-pair', pair: this.app.pair });
  }

  private confirm(): void {
    const { pair, pairState } = this.app;
    if (pair === null || pairState === null || pairState.confirmed) return;
    const accepted = this.suggestions.filter(({ left }) => !(left in pairState.labels)).map(({ left, right }): [number, number | null] => [left, right]);
    if (accepted.length === 0 && Object.keys(pairState.labels).length === 0) {
      this.app.tell('There is nothing to confirm yet: match a point first.');
      return;
    }
    this.app.act({ type: 'confirm-pair', pair, accepted, estimate: this.app.learning.model?.learned.error ?? null });
    this.app.next();
  }

  private flip(): void {
    this.flipped = !this.flipped;
    this.loadPictures();
  }

  key(event: KeyboardEvent): boolean {
    const keys: Record<string, () => void> = {
      Enter: () => (event.shiftKey ? this.confirm() : this.accept()),
      ArrowDown: () => this.stepLine(1),
      ArrowUp: () => this.stepLine(-1),
      ArrowRight: () => this.stepRight(1),
      ArrowLeft: () => this.stepRight(-1),
      x: () => this.match(null),
      Backspace: () => this.clear(),
      Delete: () => this.clear(),
      r: () => this.app.pairState?.confirmed && this.reopen(),
      l: () => (this.loupeBox.checked = !this.loupeBox.checked),
      ' ': () => this.flip(),
      Escape: () => (this.pending = null),
      '+': () => this.zoom(1.3),
      '-': () => this.zoom(1 / 1.3),
      '0': () => this.viewports.forEach((viewport) => viewport.fit()),
      '1': () => this.alternative(0),
      '2': () => this.alternative(1),
      '3': () => this.alternative(2),
    };
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return false;
    action();
    this.board.redraw();
    return true;
  }

  private alternative(n: number): void {
    const right = this.line(this.left)?.suggestion?.alternatives[n];
    if (right !== undefined) this.match(right);
  }

  private zoom(factor: number): void {
    this.viewports.forEach((viewport) => viewport.zoom(factor, viewport.toScreen(viewport.centre)));
  }

  private stepLine(by: number): void {
    const order = this.lines().map(({ left }) => left);
    const at = this.left === null ? 0 : order.indexOf(this.left);
    const next = order[(at + by + order.length) % order.length];
    if (next !== undefined) this.select(next);
  }

  /** Goes from one right point to the next, in the order of their numbers. */
  private stepRight(by: number): void {
    const count = this.points(1).length;
    const now = this.pending ?? this.line(this.left)?.right ?? -1;
    if (count > 0) this.pending = (now + by + count) % count;
  }

  private draw(context: CanvasRenderingContext2D): void {
    const theme = themeOf(this.element);
    for (const viewport of this.viewports) drawPicture(context, viewport, theme);
    const [left, right] = this.viewports;
    drawLine(context, [right.rect.x, right.rect.y], right.rect.x > 0 ? [right.rect.x, right.rect.height] : [right.rect.width, right.rect.y], theme.faint, 1);
    const [leftPoints, rightPoints] = [this.points(0), this.points(1)];
    const lines = this.lines().reverse();
    const colourOf = (line: Line) => (line.disputed ? theme.check : line.label ? theme.label : certaintyColour(theme, line.certainty));
    for (const line of lines) {
      if (line.right === null || !rightPoints[line.right] || line.left === this.left) continue;
      drawLine(context, left.toScreen(leftPoints[line.left]!), right.toScreen(rightPoints[line.right]!), colourOf(line), line.label ? 1.6 : 1.1, line.label ? [] : [1, 0]);
    }
    const chosen = lines.find((line) => line.left === this.left);
    if (chosen !== undefined) this.drawChosen(context, chosen, colourOf(chosen));
    const taken = new Map(lines.filter((line) => line.right !== null).map((line) => [line.right!, line]));
    for (const line of lines) {
      const style = { kind: line.label ? ('label' as const) : ('suggestion' as const), colour: colourOf(line), selected: line.left === this.left };
      drawMark(context, left.toScreen(leftPoints[line.left]!), { ...style, depth: left.depth(leftPoints[line.left]!), ...(style.selected && { name: this.nodeName(0, line.left) }) }, theme);
    }
    rightPoints.forEach((point, node) => {
      const line = taken.get(node);
      const selected = line !== undefined ? line.left === this.left : node === this.pending;
      const colour = line ? colourOf(line) : theme.faint;
      drawMark(context, right.toScreen(point), { kind: line?.label ? 'label' : 'suggestion', colour, selected, depth: right.depth(point), ...(selected && { name: this.nodeName(1, node) }) }, theme);
    });
    if (this.hovered !== null && this.loupeBox.checked) drawLoupe(context, this.viewports[this.hovered.viewport]!, this.hovered.at, theme);
  }

  /** The chosen match on top, its runner-up dashed, and what the hand or the keyboard is about to do. */
  private drawChosen(context: CanvasRenderingContext2D, line: Line, colour: string): void {
    const theme = themeOf(this.element);
    const [left, right] = this.viewports;
    const from = left.toScreen(this.points(0)[line.left]!);
    const to = (node: number) => right.toScreen(this.points(1)[node]!);
    const runnerUp = line.suggestion?.alternatives[0];
    if (runnerUp !== undefined && line.label === null) drawLine(context, from, to(runnerUp), theme.unsure, 1.6, [6, 5]);
    if (line.right !== null && this.points(1)[line.right]) {
      drawLine(context, from, to(line.right), theme.halo, 5);
      drawLine(context, from, to(line.right), colour, 2.6);
    }
    if (this.pending !== null) drawLine(context, from, to(this.pending), theme.label, 2, [2, 3]);
    if (this.dragged !== null) drawLine(context, from, this.dragged.to, theme.label, 2.4);
  }
}
