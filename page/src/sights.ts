// The view that can be turned, and the small standard views beside it; pictures and points in the plane are shown in the first one alone.

import { Viewport } from './board';
import { showPoints } from './pictures';
import { type Axes, STANDARD, inSpace, standard, upward } from './space';
import type { Place, Point, Specimen } from './state';

/** So far a key turns what is in space, in radians. */
const STEP = Math.PI / 12;

export class Sights {
  readonly main = new Viewport();
  readonly small = STANDARD.map(() => Object.assign(new Viewport(), { fixed: true }));
  /** The axis that goes up. */
  private readonly up: 0 | 1 | 2;
  private axes: Axes;

  constructor(specimens: readonly Specimen[]) {
    this.up = upward(specimens.map(({ points }) => points));
    this.axes = standard('front', this.up);
  }

  get inSpace(): boolean {
    return this.main.turn !== null;
  }

  /** Shows the points of a specimen, turned as the last one was. */
  open({ points }: Specimen): void {
    this.axes = this.main.turn?.axes ?? this.axes;
    showPoints(this.main, points, this.axes);
    this.small.forEach((viewport, n) => showPoints(viewport, points, standard(STANDARD[n]!, this.up)));
  }

  /** Turns what is in space to a standard view. */
  lookAt(view: number): void {
    if (this.main.turn !== null) this.main.turn.axes = standard(STANDARD[view]!, this.up);
  }

  turn(right: number, down: number): void {
    this.main.turn?.by(right * STEP, down * STEP);
  }

  /** What keys do in space: as in Blender, with the digits. */
  key(key: string): (() => void) | undefined {
    const keys: Record<string, () => void> = {
      1: () => this.lookAt(0), 3: () => this.lookAt(1), 7: () => this.lookAt(2),
      4: () => this.turn(-1, 0), 6: () => this.turn(1, 0), 8: () => this.turn(0, -1), 2: () => this.turn(0, 1),
    };
    return this.inSpace ? keys[key] : undefined;
  }

  /** Where a place is drawn, before zoom and pan. */
  flat(place: Place): Point {
    const { turn } = this.main;
    return turn !== null && inSpace(place) ? turn.flat(place) : [place[0], place[1]];
  }

  /** Of several places the one that is drawn nearest; of two at one place the one in front. */
  nearest(places: readonly Place[], screen: Point): Place | null {
    const far = (place: Place) => this.distance(place, screen);
    const depth = (place: Place) => this.main.depth(place) ?? 0;
    const nearer = (a: Place, b: Place) => far(b) < far(a) - 0.5 || (far(b) < far(a) + 0.5 && depth(b) > depth(a));
    return places.reduce<Place | null>((best, place) => (best === null || nearer(best, place) ? place : best), null);
  }

  /** On the screen, in CSS pixels. */
  distance(place: Place, screen: Point): number {
    const [x, y] = this.main.toScreen(place);
    return Math.hypot(x - screen[0], y - screen[1]);
  }
}
