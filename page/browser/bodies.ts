// A body in space that walks, for tests and pictures.

import type { Vector } from '../src/space';
import { generator, shuffled } from '../test/support';

export interface Frame {
  id: string;
  points: Vector[];
  /** Empty for points that are no marker. */
  names: string[];
}

/** A walking body of 17 points, y up. */
export function walking(): Frame[] {
  const draw = generator(3);
  const noise = () => (draw(2000) / 1000 - 1) * 6;
  return Array.from({ length: 24 }, (_, frame) => {
    const phase = (frame / 24) * 2 * Math.PI;
    const points: Array<[string, Vector]> = [['head', [0, 1700, 30]], ['chest', [0, 1350, 120]], ['back', [0, 1250, -110]]];
    for (const [side, x] of [['left', -1], ['right', 1]] as const) {
      const swing = x * Math.sin(phase);
      points.push([`${side} shoulder`, [190 * x, 1450, 0]], [`${side} elbow`, [250 * x, 1180, -140 * swing]], [`${side} hand`, [270 * x, 950, -280 * swing + 60]]);
      points.push([`${side} hip`, [140 * x, 950, 40]], [`${side} knee`, [150 * x, 520, 200 * swing + 60]], [`${side} heel`, [140 * x, 70, 380 * swing - 60]], [`${side} toe`, [160 * x, 40, 380 * swing + 160]]);
    }
    return { id: `frame${frame}`, names: points.map(([name]) => name), points: points.map(([, at]): Vector => [at[0] + noise(), at[1] + noise(), at[2] + 40 * frame + noise()]) };
  });
}

/** The frame in another order; a sixth of the points is missing and some are no marker. */
export function spoiled({ id, points, names }: Frame, seed: number): Frame {
  const draw = generator(seed + 7);
  const rows = shuffled(points.map((at, n): [string, Vector] => [names[n]!, at]), draw);
  const kept = rows.slice(Math.floor(rows.length / 6));
  const between = (axis: 0 | 1 | 2) => {
    const values = points.map((at) => at[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return low + ((high - low) * draw(1000)) / 1000;
  };
  for (let n = 0; n < 3; n++) kept.push(['', [between(0), between(1), between(2)]]);
  const mixed = shuffled(kept, draw);
  return { id, names: mixed.map(([name]) => name), points: mixed.map(([, at]) => at) };
}
