// Processor time of proposals in the page's learner (under Node), whatever else the computer does: npx vitest run --dir measure learner

import { test } from 'vitest';
import type { Point } from '../src/state';
import { engine, generator, shuffled } from '../test/support';

test.each([[30, 12], [50, 40], [50, 400]] as const)('%i points, %i labelled specimens', (count, labelledCount) => {
  const draw = generator(5);
  const unit = () => draw(1 << 20) / (1 << 20);
  const shape = Array.from({ length: count }, (): Point => [100 + 400 * unit(), 100 + 300 * unit()]);
  const names = shape.map((_, n) => `point ${n + 1}`);
  /** The shape moved and turned a little, every point for itself too. */
  const specimen = () => {
    const [angle, dx, dy] = [0.3 * (unit() - 0.5), 60 * unit(), 60 * unit()];
    const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
    return shape.map(([x, y]): Point => [300 + dx + cosine * (x - 300) - sine * (y - 250) + 4 * unit(), 250 + dy + sine * (x - 300) + cosine * (y - 250) + 4 * unit()]);
  };
  const labelled = JSON.stringify(Array.from({ length: labelledCount }, () => ({ points: specimen(), names })));
  const learner = engine();
  const time = (candidates: { points: Point[]; own: boolean }) => {
    const before = process.cpuUsage();
    learner.ask({ propose: { labelled, candidates, known: [] } });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const median = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1]!.toFixed(0);
  const own = () => time({ points: shuffled(specimen(), draw), own: true });
  const foreign = () => Array.from({ length: 150 }, (): Point => [600 * unit(), 500 * unit()]);
  const corners = () => time({ points: [...specimen(), ...foreign()], own: false });
  const first = own();
  const times = [Array.from({ length: 12 }, own), Array.from({ length: 12 }, corners)].map(median);
  console.log(`${count} points, ${labelledCount} labelled: the first proposal, learning included, ${first.toFixed(0)} ms; then ${times[0]} ms; among ${count + 150} corners ${times[1]} ms`);
}, 200_000);
