// One specimen: its picture, named points placed by hand, and the points that the learner proposes.

import type { App } from './app';
import { Board } from './board';
import { h } from './dom';
import type { PointSuggestion } from './learning';
import { findingList } from './findings';
import { type Style, certaintyColour, drawLoupe, themeOf } from './paint';
import { type Pictures, boundsOf } from './pictures';
import { nearest, rounded, towards } from './places';
import type { Finding } from './requests';
import { Sights } from './sights';
import { type Scene, drawScene, drawSmall } from './specimen-paint';
import { SpecimenPanel } from './specimen-panel';
import type { Place, Point, Specimen } from './state';

/** As near as this to a mark, in CSS pixels, is on it. */
const REACH = 14;
/** As near as this a placed point snaps to a corner. */
const SNAP = 9;

interface Mark {
  name: string;
}

export class SpecimenView {
  readonly element = h('section', { className: 'view' });
  private readonly sights: Sights;
  private readonly board: Board<Mark>;
  private readonly panel: SpecimenPanel;
  private shown: string | null = null;
  private name: string | null = null;
  /** Where a point is being moved to, not yet an action. */
  private moving: { name: string; at: Place } | null = null;
  private hovered: Point | null = null;
  /** Whether the key that snaps is down. */
  private held = false;

  constructor(
    private readonly app: App,
    private readonly pictures: Pictures,
  ) {
    this.sights = new Sights(app.start.specimens);
    this.board = new Board([this.sights.main, ...this.sights.small], {
      small: () => this.sights.inSpace,
      draw: (context) => this.draw(context),
      grab: (viewport, screen) => (viewport === 0 ? this.markAt(screen) : null),
      drag: (mark, _, screen) => this.move(mark.name, this.snapped(screen)),
      drop: (mark, _, screen, moved) => this.drop(mark, screen, moved),
      tap: (viewport, screen) => (viewport === 0 ? this.tap(screen) : this.sights.lookAt(viewport - 1)),
      hover: (viewport, screen) => {
        this.hovered = viewport !== 0 ? null : this.viewport.toPicture(screen);
        this.board.redraw();
      },
    });
    this.panel = new SpecimenPanel({
      select: (name) => this.select(name),
      addName: (name) => {
        this.app.act({ type: 'name', name });
        this.select(name);
      },
      placeAt: (at) => {
        if (at === null) this.app.tell(this.sights.inSpace ? 'x, y and z are numbers' : 'x and y are numbers, in pixels of the picture');
        else this.place(this.name ?? this.freeName(), at);
      },
      accept: () => this.accept(),
      absent: () => this.absent(),
      clear: () => this.clear(),
      confirm: () => this.confirm(),
      reopen: () => this.reopen(),
      presence: (presence) => {
        this.app.learning.presence = presence;
        this.app.changed();
      },
      redraw: () => this.board.redraw(),
    });
    this.board.describe('Picture with points. Arrow keys move the chosen point, J and K choose the next or the previous one.');
    this.element.append(this.board.canvas, this.panel.element);
  }

  private get viewport() {
    return this.sights.main;
  }

  private get specimen(): Specimen | undefined {
    return this.app.start.specimens.find(({ id }) => id === this.app.specimen);
  }

  private get labels() {
    return this.app.state.specimens[this.app.specimen ?? '']?.labels ?? {};
  }

  private get confirmed(): boolean {
    return this.app.state.specimens[this.app.specimen ?? '']?.confirmed ?? false;
  }

  private get proposed(): Record<string, PointSuggestion> {
    const { proposal } = this.app.learning;
    return proposal?.specimen === this.app.specimen ? proposal!.points : {};
  }

  /** What looks wrong in this specimen. */
  private get findings(): Finding[] {
    return this.app.learning.findings(this.app.state).filter(({ specimen }) => specimen === this.app.specimen);
  }

  /** A table of points: a label is one of these points, never a place between them. Named points on a picture are labels themselves. */
  private get bound(): boolean {
    const { specimen } = this;
    return specimen !== undefined && specimen.points.length > 0 && !(specimen.picture && specimen.names !== undefined);
  }

  /** Whether a suggestion can become a label: where a point should be is shown, but is no point. */
  private canBe(suggestion: PointSuggestion): boolean {
    return suggestion.seen || !this.bound;
  }

  /** Suggestions that are neither accepted nor put right, the least sure first. */
  private get pending(): Array<[string, PointSuggestion]> {
    const open = Object.entries(this.proposed).filter(([name, suggestion]) => !(name in this.labels) && this.canBe(suggestion));
    return open.sort(([, a], [, b]) => a.certainty - b.certainty);
  }

  update(): void {
    const { specimen } = this;
    if (specimen === undefined) return;
    if (this.shown !== specimen.id) this.open(specimen);
    const { names } = this.app.state;
    const { findings } = this;
    if (this.app.landmark !== null) {
      if (names.includes(this.app.landmark)) this.name = this.app.landmark;
      this.app.landmark = null;
    }
    if (this.name === null || (!names.includes(this.name) && this.name !== this.freeName())) this.name = this.firstToDo();
    this.panel.update({
      names,
      chosen: this.name,
      at: this.positionOf(this.name),
      labels: this.labels,
      proposed: this.proposed,
      disputed: new Set(findings.flatMap(({ landmarks }) => landmarks)),
      wrong: findings.length > 0 ? findingList(this.app, findings) : null,
      inSpace: this.sights.inSpace,
      hasPoints: this.app.learning.candidates.get(this.app.specimen ?? '')?.own ?? false,
      confirmed: this.confirmed,
      waiting: this.pending.length,
    });
    this.board.redraw();
  }

  private open(specimen: Specimen): void {
    this.commit();
    this.shown = specimen.id;
    this.name = null;
    this.moving = null;
    this.sights.open(specimen);
    this.board.resize();
    if (!specimen.picture) return;
    this.pictures.bitmap(specimen).then(
      (bitmap) => {
        if (this.shown !== specimen.id) return;
        this.viewport.picture = bitmap;
        this.viewport.bounds = boundsOf(bitmap, []);
        this.viewport.fit();
        this.board.redraw();
        this.element.dataset['picture'] = specimen.id;
      },
      (error: Error) => this.app.tell(error.message),
    );
  }

  /** The next number that is no name yet. */
  private freeName(): string {
    let number = this.app.state.names.length + 1;
    while (this.app.state.names.includes(String(number))) number += 1;
    return String(number);
  }

  private firstToDo(): string | null {
    const { names } = this.app.state;
    return this.pending[0]?.[0] ?? names.find((name) => !(name in this.labels)) ?? names[0] ?? null;
  }

  private positionOf(name: string | null): Place | null {
    if (name === null) return null;
    if (this.moving?.name === name) return this.moving.at;
    const label = this.labels[name];
    return label === undefined ? (this.proposed[name]?.at ?? null) : label.at;
  }

  private select(name: string): void {
    this.commit();
    this.name = name;
    this.update();
  }

  private drop(mark: Mark, screen: Point, moved: boolean): void {
    if (moved) return this.place(mark.name, this.snapped(screen));
    // A click places the chosen point while that is nowhere yet, even close to another; then it chooses the point it hits.
    if (this.name !== null && this.positionOf(this.name) === null) this.tap(screen);
    else this.select(mark.name);
  }

  private tap(screen: Point): void {
    const placed = this.name !== null && this.labels[this.name]?.at != null;
    const next = this.app.state.names.find((name) => !(name in this.labels));
    // A click on the ground places the chosen point; where that is placed already, the next one, and at last a new one.
    const name = this.name !== null && !placed ? this.name : (next ?? this.freeName());
    this.place(name, this.snapped(screen));
  }

  private markAt(screen: Point): Mark | null {
    let best: Mark | null = null;
    let least = REACH;
    for (const name of this.app.state.names) {
      const at = this.positionOf(name);
      if (at === null) continue;
      const distance = this.sights.distance(at, screen) - (name === this.name ? 2 : 0);
      if (distance < least) [best, least] = [{ name }, distance];
    }
    return best;
  }

  private get corners(): readonly Place[] {
    return this.app.learning.candidates.get(this.app.specimen ?? '')?.points ?? [];
  }

  /** The place that a click means: one of the points of a table, any place of a picture. */
  private snapped(screen: Point): Place {
    if (this.bound) return this.sights.nearest(this.specimen!.points, screen)!;
    const near = this.panel.shows.snap ? this.corners.filter((corner) => this.sights.distance(corner, screen) < SNAP) : [];
    return this.sights.nearest(near, screen) ?? rounded(this.viewport.toPicture(screen));
  }

  private move(name: string, at: Place): void {
    this.name = name;
    this.moving = { name, at };
    this.hovered = this.sights.flat(at);
    this.board.redraw();
  }

  private place(name: string, at: Place): void {
    this.moving = null;
    const specimen = this.app.specimen;
    if (specimen === null) return;
    const corrects = name in this.proposed && !(name in this.labels);
    this.name = name;
    const place = this.bound ? nearest(this.specimen!.points, at) : at;
    this.app.act({ type: 'place', specimen, name, at: place, ...(corrects && { corrects }) });
    const { names } = this.app.state;
    if (!this.confirmed && !corrects) this.name = names.find((name) => !(name in this.labels)) ?? this.name;
    this.update();
  }

  /** What the keyboard moved becomes an action. */
  private commit(): void {
    if (this.moving === null) return;
    const { name, at } = this.moving;
    this.place(name, at);
  }

  private accept(): void {
    this.commit();
    const { specimen } = this.app;
    const suggestion = this.name === null ? undefined : this.proposed[this.name];
    if (specimen !== null && suggestion !== undefined && !(this.name! in this.labels) && this.canBe(suggestion)) {
      this.app.act({ type: 'accept', specimen, name: this.name!, at: suggestion.at });
    }
    this.name = this.firstToDo();
    this.update();
  }

  private absent(): void {
    this.moving = null;
    const { specimen } = this.app;
    if (specimen === null || this.name === null) return;
    const corrects = this.name in this.proposed && !(this.name in this.labels);
    this.app.act({ type: 'absent', specimen, name: this.name, ...(corrects && { corrects }) });
    this.name = this.firstToDo();
    this.update();
  }

  private clear(): void {
    this.moving = null;
    const { specimen } = this.app;
    if (specimen !== null && this.name !== null) this.app.act({ type: 'clear', specimen, name: this.name });
    this.update();
  }

  private reopen(): void {
    if (this.app.specimen !== null) this.app.act({ type: 'reopen', specimen: this.app.specimen });
  }

  private confirm(): void {
    this.commit();
    const { specimen } = this.app;
    if (specimen === null || this.confirmed) return;
    const accepted = this.pending.map(([name, { at }]): [string, Place] => [name, at]);
    if (accepted.length === 0 && Object.keys(this.labels).length === 0) {
      this.app.tell('There is nothing to confirm yet: place a point first.');
      return;
    }
    this.app.act({ type: 'confirm', specimen, accepted, estimate: this.app.learning.specimenError });
    this.app.next();
  }

  /** Whether the key meant something here. */
  key(event: KeyboardEvent): boolean {
    const step = event.shiftKey ? 10 : 1;
    const arrows: Record<string, Point> = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const arrow = arrows[event.key];
    if (arrow !== undefined) return this.nudge(arrow);
    const keys: Record<string, () => void> = {
      Enter: () => (event.shiftKey ? this.confirm() : this.accept()),
      x: () => this.absent(),
      Backspace: () => this.clear(),
      Delete: () => this.clear(),
      r: () => this.confirmed && this.reopen(),
      j: () => this.stepName(1),
      k: () => this.stepName(-1),
      a: () => this.panel.askName(),
      g: () => this.panel.askPlace(),
      s: () => this.snapWhileHeld(event.repeat),
      l: () => this.panel.toggle('loupe'),
      t: () => this.panel.toggle('names'),
      Escape: () => (this.moving = null),
      '+': () => this.viewport.zoom(1.3, this.viewport.toScreen(this.positionOf(this.name) ?? this.viewport.centre)),
      '-': () => this.viewport.zoom(1 / 1.3, this.viewport.toScreen(this.viewport.centre)),
      '0': () => this.viewport.fit(),
    };
    const action = this.sights.key(event.key) ?? keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return false;
    action();
    this.board.redraw();
    return true;
  }

  /** S snaps to corners as long as it is held. */
  private snapWhileHeld(repeated: boolean): void {
    if (repeated || this.panel.shows.snap) return;
    this.panel.toggle('snap');
    this.held = true;
  }

  /** A key was let go; null: the window was left, and nothing is held any more. */
  keyUp(event: KeyboardEvent | null): void {
    if (!this.held || (event !== null && event.key.toLowerCase() !== 's')) return;
    this.held = false;
    if (this.panel.shows.snap) this.panel.toggle('snap');
    this.board.redraw();
  }

  private nudge([dx, dy]: Point): boolean {
    const name = this.name ?? this.freeName();
    const from = this.positionOf(name);
    if (this.bound) {
      const next = towards(this.specimen!.points, from === null ? this.viewport.centre : this.sights.flat(from), [dx, dy], (place) => this.sights.flat(place));
      if (next !== null) this.move(name, next);
      this.panel.showPlace(next ?? from);
      return true;
    }
    const [x, y] = from ?? this.viewport.centre;
    this.move(name, rounded([x + dx, y + dy]));
    this.hovered = null;
    this.panel.showPlace(this.moving!.at);
    return true;
  }

  private stepName(by: number): void {
    this.commit();
    const { names } = this.app.state;
    if (names.length === 0) return;
    const at = this.name === null ? -1 : names.indexOf(this.name);
    this.name = names[(at + by + names.length) % names.length]!;
    this.update();
  }

  private draw(context: CanvasRenderingContext2D): void {
    const theme = themeOf(this.element);
    const { viewport, findings, confirmed } = this;
    const disputed = new Set(findings.flatMap(({ landmarks }) => landmarks));
    const order = [...this.app.state.names.filter((name) => name !== this.name), ...(this.name === null ? [] : [this.name])];
    const marks = order.flatMap((name) => {
      const at = this.positionOf(name);
      if (at === null) return [];
      const suggestion = this.proposed[name];
      const labelled = name in this.labels || this.moving?.name === name;
      const colour = labelled
        ? confirmed && disputed.has(name) ? theme.check : theme.label
        : certaintyColour(theme, suggestion?.certainty ?? 0);
      const kind: Style['kind'] = labelled ? 'label' : suggestion?.seen === false ? 'dashed' : 'suggestion';
      return [{ name, at, style: { kind, colour, selected: name === this.name } }];
    });
    const scene: Scene = {
      points: this.bound ? this.specimen!.points : [],
      corners: this.panel.shows.snap && !this.bound ? this.corners : [],
      expected: findings.flatMap(({ should_be: at }) => (at === undefined ? [] : [at as unknown as Place])),
      marks,
      names: this.panel.shows.names,
    };
    drawScene(context, viewport, scene, theme);
    drawSmall(context, this.sights.small, scene, theme);
    const focus = this.hovered ?? (this.moving ? this.sights.flat(this.moving.at) : null);
    if (this.panel.shows.loupe && focus !== null) drawLoupe(context, viewport, focus, theme);
  }
}
