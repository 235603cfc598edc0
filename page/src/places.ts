// Places: rounded, the nearest of several, the next one in a direction.

import type { Place, Point } from './state';

/** A tenth of a pixel is finer than any hand. */
export function rounded([x, y]: Point): Point {
  return [Math.round(10 * x) / 10, Math.round(10 * y) / 10];
}

const apart = (a: Place, b: Place): number => Math.hypot(...a.map((value, axis) => value - (b[axis] ?? value)));

export function nearest(points: readonly Place[], at: Place): Place {
  return points.reduce((best, point) => (apart(point, at) < apart(best, at) ? point : best));
}

/** The next point in a direction of the screen: near, and not much aside. */
export function towards(points: readonly Place[], from: Point, [dx, dy]: Point, flat: (place: Place) => Point): Place | null {
  const [ux, uy] = [Math.sign(dx), Math.sign(dy)];
  let best: Place | null = null;
  let least = Infinity;
  for (const point of points) {
    const [px, py] = flat(point);
    const [x, y] = [px - from[0], py - from[1]];
    const [along, aside] = [x * ux + y * uy, Math.abs(x * uy - y * ux)];
    if (along > 1e-9 && along + 2 * aside < least) [best, least] = [point, along + 2 * aside];
  }
  return best;
}
