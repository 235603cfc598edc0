import { describe, expect, test } from 'vitest';
import { type DataSet, landmarkData, pairData, startOf } from '../src/data';
import * as ask from '../src/requests';
import { begin, step } from '../src/state';
import { lane } from './support';

const format = { kind: 'homolog-data', version: 1 } as const;

describe('a start', () => {
  test('pictures alone', () => {
    const start = startOf('p', [{ id: 'a', picture: true, image: 'a.png' }, { id: 'b', picture: true }], null);
    expect(start.specimens).toEqual([{ id: 'a', picture: true, image: 'a.png', points: [] }, { id: 'b', picture: true, points: [] }]);
    expect(start.pairs).toEqual([]);
  });

  test('points without names are matched, each graph with the next', () => {
    const data: DataSet = { format, graphs: ['a', 'b', 'c'].map((id) => ({ id, points: [[1, 2]] })) };
    expect(startOf('p', [], data).pairs.map(({ left, right }) => left + right)).toEqual(['ab', 'bc']);
  });

  test('matches by number, by name, by equal names, and not known', () => {
    const graphs = [
      { id: 'a', points: [[0, 0], [1, 0], [2, 0]] as [number, number][], names: ['x', 'y', 'z'] },
      { id: 'b', points: [[0, 0], [1, 0], [2, 0]] as [number, number][], names: ['z', 'w', 'x'] },
    ];
    const pair = (rest: object) => startOf('p', [], { format, graphs, pairs: [{ left: 'a', right: 'b', ...rest }] }).pairs[0]!;
    expect(pair({})).toMatchObject({ matches: [[0, 2], [1, null], [2, 0]], confirmed: true });
    expect(pair({ matches: [['x', 'w'], [1, 0]] })).toMatchObject({ matches: [[0, 1], [1, 0], [2, null]], confirmed: true });
    expect(pair({ matches: [[0, 1]], unknown: ['z'] })).toMatchObject({ matches: [[0, 1], [1, null]], confirmed: false });
    expect(pair({ matches: 'unknown' })).toMatchObject({ matches: [], confirmed: false });
  });
});

describe('what the library takes', () => {
  test('labels as a data set and as a table, there and back', async () => {
    const start = startOf('p', [{ id: 'a', picture: true }, { id: 'b', picture: true }], null);
    let history = begin(start);
    history = step(history, { type: 'place', specimen: 'a', name: 'tip', at: [1.25, 2] });
    history = step(history, { type: 'absent', specimen: 'a', name: 'notch' });
    history = step(history, { type: 'confirm', specimen: 'a', accepted: [['base', [3, 4.125]]], estimate: null });
    history = step(history, { type: 'place', specimen: 'b', name: 'tip', at: [9, 9] });
    const data = landmarkData(start, history.present);
    const { text } = await ask.write(await lane(), data, 'landmarks');
    // What is not confirmed is not a result yet.
    expect(text).toBe('specimen,landmark,x,y\na,tip,1.25,2.0\na,base,3.0,4.125\n');
    const { data: again } = await ask.read(await lane(), 'landmarks.csv', text);
    expect(begin(startOf('p', [], again)).present.specimens['a']!.labels).toEqual({
      tip: { at: [1.25, 2], accepted: false },
      base: { at: [3, 4.125], accepted: false },
    });
  });

  test('a partly labelled pair is known in part', async () => {
    const points: [number, number][] = [[0, 0], [5, 0], [0, 5]];
    const start = startOf('p', [], { format, graphs: [{ id: 'a', points }, { id: 'b', points }] });
    const pair = ['a', 'b'] as const;
    let history = begin(start);
    history = step(history, { type: 'match', pair, left: 1, right: 0 });
    history = step(history, { type: 'match', pair, left: 2, right: null });
    const { text } = await ask.write(await lane(), pairData(start, history.present), 'data-set');
    const again = begin(startOf('p', [], JSON.parse(text)));
    expect(again.present.pairs[0]!.labels).toEqual({ 1: { right: 0, accepted: false }, 2: { right: null, accepted: false } });
    expect(again.present.pairs[0]!.confirmed).toBe(false);
  });

  test('what is wrong is said in words', async () => {
    const learner = await lane();
    await expect(ask.read(learner, 'a.csv', 'frame,landmark\n')).rejects.toThrow(/x and y/);
    await expect(ask.read(learner, 'a.png', '')).rejects.toThrow(/csv/);
    await expect(ask.detect(learner, 5, 5, new Uint8Array(3))).rejects.toThrow(/pixels/);
  });
});
