// A canvas with one or two viewports, each with its own picture, zoom and pan. Mouse, pen and fingers: drag a mark, drag the ground to
// pan, wheel or pinch to zoom. What is drawn and what can be grabbed is the caller's business.

import type { Turn } from './space';
import { inSpace } from './space';
import type { Place, Point } from './state';

export class Viewport {
  /** Where it is on the canvas, in CSS pixels. */
  rect = { x: 0, y: 0, width: 1, height: 1 };
  picture: ImageBitmap | null = null;
  /** The corners of what is shown, in picture coordinates. */
  bounds: { low: Point; high: Point } = { low: [0, 0], high: [1, 1] };
  scale = 1;
  /** The place of the picture in the middle of the viewport. */
  centre: Point = [0, 0];
  /** Follows the size of the canvas until a person zooms or pans. */
  fitted = true;
  /** How points in space are seen; null for pictures and points in the plane. */
  turn: Turn | null = null;
  /** Neither zoomed nor moved by hand. */
  fixed = false;

  fit(): void {
    const { low, high } = this.bounds;
    const [width, height] = [Math.max(high[0] - low[0], 1e-9), Math.max(high[1] - low[1], 1e-9)];
    this.scale = Math.min((this.rect.width - 24) / width, (this.rect.height - 24) / height);
    if (!(this.scale > 0)) this.scale = 1e-3;
    this.centre = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    this.fitted = true;
  }

  toScreen(place: Place): Point {
    const { rect, scale, centre, turn } = this;
    const [x, y] = turn !== null && inSpace(place) ? turn.flat(place) : place;
    return [rect.x + rect.width / 2 + (x - centre[0]) * scale, rect.y + rect.height / 2 + (y - centre[1]) * scale];
  }

  toPicture([x, y]: Point): Point {
    const { rect, scale, centre } = this;
    return [centre[0] + (x - rect.x - rect.width / 2) / scale, centre[1] + (y - rect.y - rect.height / 2) / scale];
  }

  /** From 0, far away, to 1, near; undefined in the plane. */
  depth(place: Place): number | undefined {
    return this.turn !== null && inSpace(place) ? this.turn.depth(place) : undefined;
  }

  /** Zooms so that a place on the screen stays where it is. */
  zoom(factor: number, at: Point): void {
    if (this.fixed) return;
    const before = this.toPicture(at);
    const size = Math.max(this.bounds.high[0] - this.bounds.low[0], this.bounds.high[1] - this.bounds.low[1], 1e-9);
    const whole = Math.max(this.rect.width, this.rect.height, 1) / size;
    this.scale = Math.min(Math.max(this.scale * factor, whole / 8), whole * 200);
    const after = this.toPicture(at);
    this.centre = [this.centre[0] + before[0] - after[0], this.centre[1] + before[1] - after[1]];
    this.fitted = false;
  }

  pan(dx: number, dy: number): void {
    if (this.fixed) return;
    this.centre = [this.centre[0] - dx / this.scale, this.centre[1] - dy / this.scale];
    this.fitted = false;
  }

  contains([x, y]: Point): boolean {
    const { rect } = this;
    return x >= rect.x && y >= rect.y && x < rect.x + rect.width && y < rect.y + rect.height;
  }
}

export interface BoardEvents<Mark> {
  draw(context: CanvasRenderingContext2D): void;
  /** What is under a place on the screen, if it can be dragged. */
  grab(viewport: number, screen: Point): Mark | null;
  drag(mark: Mark, viewport: number, screen: Point): void;
  /** The end of a drag; `moved`: it was more than a tap. */
  drop(mark: Mark, viewport: number, screen: Point, moved: boolean): void;
  /** A tap on the ground. */
  tap(viewport: number, screen: Point): void;
  hover(viewport: number | null, screen: Point): void;
  /** The viewports beside the first one are small ones at its right edge. */
  small?(): boolean;
}

/** Farther than this, in CSS pixels, is a drag; nearer a tap. */
const TAP = 4;
/** So many radians for each CSS pixel. */
const TURNING = 0.009;
/** The width of small viewports, in CSS pixels and as a share of the canvas. */
const SMALL = [180, 0.24] as const;

export class Board<Mark> {
  readonly canvas = document.createElement('canvas');
  private readonly context = this.canvas.getContext('2d')!;
  private drawing = false;
  private readonly pointers = new Map<number, { first: Point; last: Point }>();
  private held: { mark: Mark; viewport: number; pointer: number } | null = null;
  private moved = false;
  private pinched = false;
  private turning = false;

  constructor(
    readonly viewports: Viewport[],
    private readonly events: BoardEvents<Mark>,
  ) {
    const { canvas } = this;
    canvas.className = 'board';
    canvas.tabIndex = -1;
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.up(event));
    canvas.addEventListener('pointerleave', (event) => this.events.hover(null, this.place(event)));
    canvas.addEventListener('contextmenu', (event) => this.viewports.some(({ turn }) => turn !== null) && event.preventDefault());
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  /** What it is, for those who do not see it. */
  describe(text: string): void {
    this.canvas.setAttribute('role', 'application');
    this.canvas.setAttribute('aria-label', text);
    this.canvas.tabIndex = 0;
  }

  /** Draws soon, once, however often it is asked. */
  redraw(): void {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.paint();
    });
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    const count = this.viewports.length;
    const tall = clientHeight > clientWidth && count > 1;
    const small = this.events.small?.();
    const column = small ? Math.min(SMALL[0], SMALL[1] * clientWidth) : 0;
    this.viewports.forEach((viewport, n) => {
      if (small !== undefined) {
        const height = clientHeight / (count - 1);
        viewport.rect = n === 0
          ? { x: 0, y: 0, width: clientWidth - column, height: clientHeight }
          : { x: clientWidth - column, y: (n - 1) * height, width: column, height: small ? height : 0 };
      } else {
        viewport.rect = tall
          ? { x: 0, y: (n * clientHeight) / count, width: clientWidth, height: clientHeight / count }
          : { x: (n * clientWidth) / count, y: 0, width: clientWidth / count, height: clientHeight };
      }
      if (viewport.fitted) viewport.fit();
    });
    this.redraw();
  }

  private paint(): void {
    const { context, canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    this.events.draw(context);
    // Where the pictures are, for whoever looks from outside.
    canvas.dataset['views'] = JSON.stringify(this.viewports.map(({ scale, centre, rect, turn }) => ({ scale, centre, rect, turn })));
  }

  private place(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private at(screen: Point): number {
    return Math.max(0, this.viewports.findIndex((viewport) => viewport.contains(screen)));
  }

  private down(event: PointerEvent): void {
    const screen = this.place(event);
    const first = this.viewports[this.at(screen)]!;
    const canTurn = first.turn !== null && !first.fixed;
    if (event.button > (canTurn ? 2 : 1)) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { first: screen, last: screen });
    if (this.pointers.size > 1) {
      this.held = null;
      this.pinched = true;
      return;
    }
    this.moved = false;
    this.pinched = false;
    const viewport = this.at(screen);
    const mark = event.button > 0 ? null : this.events.grab(viewport, screen);
    // The right button turns what is in space; a finger on the ground, too.
    this.turning = canTurn && (event.button === 2 || (event.pointerType === 'touch' && mark === null));
    this.held = mark === null ? null : { mark, viewport, pointer: event.pointerId };
  }

  private move(event: PointerEvent): void {
    const screen = this.place(event);
    const pointer = this.pointers.get(event.pointerId);
    if (pointer === undefined) {
      this.events.hover(this.at(screen), screen);
      return;
    }
    const before = pointer.last;
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1].last;
    pointer.last = screen;
    this.moved ||= Math.hypot(screen[0] - pointer.first[0], screen[1] - pointer.first[1]) > TAP;
    const viewport = this.viewports[this.at(pointer.first)]!;
    if (other !== undefined) {
      const distance = (point: Point) => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
      viewport.zoom(distance(screen) / distance(before), other);
    } else if (this.held !== null) {
      if (this.moved) this.events.drag(this.held.mark, this.held.viewport, screen);
    } else if (this.turning) {
      if (this.moved) viewport.turn?.by(TURNING * (screen[0] - before[0]), TURNING * (screen[1] - before[1]));
    } else if (this.moved) {
      viewport.pan(screen[0] - before[0], screen[1] - before[1]);
    }
    this.redraw();
  }

  private up(event: PointerEvent): void {
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (pointer === undefined || this.pinched || event.type === 'pointercancel') {
      this.held = null;
      this.redraw();
      return;
    }
    const screen = this.place(event);
    if (this.held?.pointer === event.pointerId) {
      const { mark, viewport } = this.held;
      this.held = null;
      this.events.drop(mark, viewport, screen, this.moved);
    } else if (!this.moved && event.button === 0) {
      this.events.tap(this.at(screen), screen);
    }
    this.redraw();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const screen = this.place(event);
    const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    this.viewports[this.at(screen)]!.zoom(Math.exp(-step / 300), screen);
    this.redraw();
  }
}
