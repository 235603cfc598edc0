// Data sets (docs/formats.md) as the page reads and writes them: a start from a data set, and the labels as a data set.

import type { MatchLabel, PairStart, PairState, Place, Point, Specimen, Start, State } from './state';

export interface DataSet {
  format: { kind: 'homolog-data'; version: 1 };
  graphs: GraphRecord[];
  pairs?: PairRecord[];
}

interface GraphRecord {
  id: string;
  /** Two or three coordinates each. */
  points?: Array<Place>;
  names?: string[];
  image?: string;
  /** Width and height of the picture: a TPS file counts y from its bottom edge. */
  image_size?: Point;
}

type NodeRef = number | string;

interface PairRecord {
  left: string;
  right: string;
  matches?: 'unknown' | Array<[NodeRef, NodeRef | null]>;
  unknown?: NodeRef[];
}

/** A specimen as the server or a dropped file names it. */
export interface Found {
  id: string;
  picture: boolean;
  image?: string;
}

/** Puts together what there is to label: specimens found, and the points, names and pairs of a data set. */
export function startOf(title: string, found: readonly Found[], data: DataSet | null): Start {
  const graphs = new Map((data?.graphs ?? []).map((graph) => [graph.id, graph]));
  const pictures = new Map(found.map((specimen) => [specimen.id, specimen]));
  const ids = [...graphs.keys(), ...found.map(({ id }) => id).filter((id) => !graphs.has(id))];
  const specimens = ids.map((id): Specimen => {
    const { points = [], names } = graphs.get(id) ?? {};
    const { picture = false, image } = pictures.get(id) ?? {};
    return { id, picture, points, ...(image && { image }), ...(names && { names }) };
  });
  const listed = (data?.pairs ?? []).map((pair) => pairOf(pair, graphs));
  const named = specimens.some((specimen) => specimen.names !== undefined);
  const chain = listed.length === 0 && !named ? chainOf(specimens.filter(({ points }) => points.length > 0)) : [];
  return { title, specimens, pairs: [...listed, ...chain] };
}

/** Each specimen with the next. */
export function chainOf(specimens: ReadonlyArray<{ id: string }>): PairStart[] {
  return specimens.slice(1).map(({ id }, n) => ({ left: specimens[n]!.id, right: id, matches: [], confirmed: false }));
}

function pairOf(pair: PairRecord, graphs: ReadonlyMap<string, GraphRecord>): PairStart {
  const [left, right] = [graphs.get(pair.left), graphs.get(pair.right)];
  const number = (graph: GraphRecord | undefined, node: NodeRef) =>
    typeof node === 'number' ? node : (graph?.names ?? []).indexOf(node);
  const count = left?.points?.length ?? 0;
  if (pair.matches === 'unknown') return { left: pair.left, right: pair.right, matches: [], confirmed: false };
  const unknown = new Set((pair.unknown ?? []).map((node) => number(left, node)));
  const partner = new Map<number, number | null>();
  if (pair.matches === undefined) {
    // Points of the same name belong together.
    const places = new Map((right?.names ?? []).map((name, node) => [name, node]));
    left?.names?.forEach((name, node) => partner.set(node, (name !== '' ? places.get(name) : undefined) ?? null));
    if (![...partner.values()].some((node) => node !== null)) partner.clear();
  } else {
    // What a list leaves out has no partner, unless it says that it is not known.
    for (let node = 0; node < count; node++) partner.set(node, null);
    for (const [from, to] of pair.matches) partner.set(number(left, from), to === null ? null : number(right, to));
  }
  const matches = [...partner].filter(([node]) => !unknown.has(node));
  return { left: pair.left, right: pair.right, matches, confirmed: matches.length > 0 && unknown.size === 0 };
}

/** The points of a specimen that are to be matched: its own, or corners found in its picture. */
export function pointsOf(specimen: Specimen, state: State): readonly Place[] {
  return specimen.points.length > 0 ? specimen.points : (state.specimens[specimen.id]?.points ?? []);
}

/** The labelled points of a specimen, in the order of the names. */
export function labelledPoints(state: State, id: string): { names: string[]; points: Place[] } {
  const labels = state.specimens[id]?.labels ?? {};
  const seen = state.names.filter((name) => labels[name]?.at != null);
  return { names: seen, points: seen.map((name) => labels[name]!.at!) };
}

/** Named points of confirmed specimens as a data set; `sizes` are those of their pictures. */
export function landmarkData(start: Start, state: State, sizes: ReadonlyMap<string, Point> = new Map()): DataSet {
  const done = start.specimens.filter(({ id }) => state.specimens[id]?.confirmed);
  const graphs = done.map(({ id, image }): GraphRecord => {
    const { names, points } = labelledPoints(state, id);
    const size = image === undefined ? undefined : sizes.get(id);
    return { id, names, points, ...(image && { image }), ...(size && { image_size: size }) };
  });
  return { format: { kind: 'homolog-data', version: 1 }, graphs };
}

/** Points and labelled pairs as a data set. What a person has said nothing about is not known, and teaches nothing. */
export function pairData(start: Start, state: State): DataSet {
  return dataOf(start, state, state.pairs.filter((pair) => Object.keys(pair.labels).length > 0));
}

/** So many pairs that are not labelled tell how much features vary. */
const OTHERS = 10;

/** What a model for pairs is learned from: confirmed pairs, and a few others. */
export function lessons(start: Start, state: State): DataSet {
  const done = state.pairs.filter((pair) => pair.confirmed && Object.keys(pair.labels).length > 0);
  const others = state.pairs.filter((pair) => !pair.confirmed).map((pair) => ({ ...pair, labels: {} }));
  return dataOf(start, state, [...done, ...others.slice(0, OTHERS)]);
}

function dataOf(start: Start, state: State, pairs: readonly PairState[]): DataSet {
  const used = new Set(pairs.flatMap(({ left, right }) => [left, right]));
  const byId = new Map(start.specimens.map((specimen) => [specimen.id, specimen]));
  const graphs = [...used].map((id): GraphRecord => {
    const specimen = byId.get(id)!;
    const { names, image } = specimen;
    return { id, points: [...pointsOf(specimen, state)], ...(names && { names: [...names] }), ...(image && { image }) };
  });
  const records = pairs.map((pair): PairRecord => {
    const count = pointsOf(byId.get(pair.left)!, state).length;
    if (Object.keys(pair.labels).length === 0) return { left: pair.left, right: pair.right, matches: 'unknown' };
    const matches = Object.entries(pair.labels).map(([left, label]): [number, number | null] => [Number(left), label.right]);
    const unknown = Array.from({ length: count }, (_, node) => node).filter((node) => !(node in pair.labels));
    return { left: pair.left, right: pair.right, matches, ...(unknown.length > 0 && { unknown }) };
  });
  return { format: { kind: 'homolog-data', version: 1 }, graphs, pairs: records };
}

/** What a person has said about a pair, as the learner wants to know it. */
export function knownOf(labels: Readonly<Record<number, MatchLabel>>): Array<{ left: number; right: number | null }> {
  return Object.entries(labels).map(([left, { right }]) => ({ left: Number(left), right }));
}
