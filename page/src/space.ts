// Points in space on a flat canvas: a rotation, seen from infinitely far away. Never a mirror image: right, up and towards the eye are
// right-handed, as the coordinates are.

import type { Place, Point } from './state';

export type Vector = readonly [number, number, number];
/** What goes to the right, up, and towards the eye. */
export type Axes = readonly [Vector, Vector, Vector];

export const STANDARD = ['front', 'side', 'top'] as const;
export type Standard = (typeof STANDARD)[number];

export const inSpace = (place: Place): place is Vector => place.length === 3;

/** Room around the points, as a share of their radius. */
const ROOM = 1.12;

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scaled = (a: Vector, by: number): Vector => [a[0] * by, a[1] * by, a[2] * by];
const sum = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const unit = (a: Vector): Vector => scaled(a, 1 / (Math.hypot(...a) || 1));
const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** The axis that goes up on the screen: the one along which specimens are longest (people stand), z if that is not clear. */
export function upward(specimens: ReadonlyArray<readonly Place[]>): 0 | 1 | 2 {
  const sizes = [0, 0, 0];
  for (const points of specimens) {
    for (const axis of [0, 1, 2] as const) {
      const values = points.filter(inSpace).map((point) => point[axis]);
      if (values.length > 0) sizes[axis]! += Math.max(...values) - Math.min(...values);
    }
  }
  const most = Math.max(...sizes);
  const longest = sizes.indexOf(most) as 0 | 1 | 2;
  return sizes[2]! > 0.8 * most ? 2 : longest;
}

/** One of the standard views. */
export function standard(view: Standard, up: 0 | 1 | 2): Axes {
  const fronts: Record<0 | 1 | 2, Axes> = {
    0: [[0, 1, 0], [1, 0, 0], [0, 0, -1]],
    1: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    2: [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
  };
  const [right, top, towards] = fronts[up];
  if (view === 'side') return [scaled(towards, -1), top, right];
  if (view === 'top') return [right, scaled(towards, -1), top];
  return [right, top, towards];
}

/** Which coordinates go to the right and up, in words. */
export function words([right, up]: Axes): string {
  const name = (axis: Vector) => {
    const at = axis.findIndex((value) => Math.abs(value) > 0.99);
    return `${axis[at]! < 0 ? '−' : ''}${'xyz'[at]}`;
  };
  return `${name(right)} →, ${name(up)} ↑`;
}

export class Turn {
  private constructor(
    private readonly pivot: Vector,
    readonly radius: number,
    public axes: Axes,
  ) {}

  /** Around the middle of some points. */
  static around(points: readonly Place[], axes: Axes): Turn {
    const inner = points.filter(inSpace);
    const middle = (axis: 0 | 1 | 2) => {
      const values = inner.map((point) => point[axis]);
      return values.length > 0 ? (Math.min(...values) + Math.max(...values)) / 2 : 0;
    };
    const pivot: Vector = [middle(0), middle(1), middle(2)];
    const radius = Math.max(...inner.map((point) => Math.hypot(...sum(point, scaled(pivot, -1)))), 1e-9);
    return new Turn(pivot, ROOM * radius, axes);
  }

  /** x to the right and y down, from the middle. */
  flat(place: Vector): Point {
    const off = sum(place, scaled(this.pivot, -1));
    return [dot(this.axes[0], off), -dot(this.axes[1], off)];
  }

  /** From 0, the farthest, to 1, the nearest. */
  depth(place: Vector): number {
    const towards = dot(this.axes[2], sum(place, scaled(this.pivot, -1)));
    return Math.min(Math.max(0.5 + towards / (2 * this.radius), 0), 1);
  }

  /** What is in front follows a hand that moves to the right and down, in radians. */
  by(right: number, down: number): void {
    let [x, y, z] = this.axes;
    [x, z] = [sum(scaled(x, Math.cos(right)), scaled(z, Math.sin(right))), sum(scaled(z, Math.cos(right)), scaled(x, -Math.sin(right)))];
    [y, z] = [sum(scaled(y, Math.cos(down)), scaled(z, -Math.sin(down))), sum(scaled(z, Math.cos(down)), scaled(y, Math.sin(down)))];
    // Rounding must not add up to a shear.
    z = unit(z);
    x = unit(sum(x, scaled(z, -dot(x, z))));
    this.axes = [x, cross(z, x), z];
  }
}
