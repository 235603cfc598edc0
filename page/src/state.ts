// The state of a project as a function of its journal: a start and a list of actions give always the same state. Nothing here knows
// of a browser, a server or a model.
//
// A label is what a person said. Suggestions are not in here: they become labels by an action that carries them.

/** x to the right, y down, in pixels of the picture from the centre of the upper left one. */
export type Point = readonly [number, number];

/** A point of a picture, or of a table in the plane or in space. */
export type Place = readonly [number, number] | readonly [number, number, number];

/** Something with points on it. */
export interface Specimen {
  readonly id: string;
  /** Whether it has a picture. */
  readonly picture: boolean;
  /** The path of the picture, as a data set names it. */
  readonly image?: string;
  /** Points that are there from the start, to be matched; in pictures without any, corners found stand in for them. */
  readonly points: readonly Place[];
  /** Their names, where they have any. */
  readonly names?: readonly string[];
}

export interface PairStart {
  readonly left: string;
  readonly right: string;
  /** Left point, right point or none; a left point that is not listed is not known. */
  readonly matches: ReadonlyArray<readonly [number, number | null]>;
  readonly confirmed: boolean;
}

/** What there is before anybody did anything. */
export interface Start {
  readonly title: string;
  readonly specimens: readonly Specimen[];
  readonly pairs: readonly PairStart[];
}

/** Where a person says that a named point is; null: it cannot be seen here. */
export interface PointLabel {
  readonly at: Place | null;
  /** Suggested and accepted, not placed by hand. */
  readonly accepted: boolean;
}

/** To which right point a person says that a left point belongs; null: to none. */
export interface MatchLabel {
  readonly right: number | null;
  readonly accepted: boolean;
}

export interface SpecimenState {
  readonly labels: Readonly<Record<string, PointLabel>>;
  readonly confirmed: boolean;
  /** Suggestions that a person put right. */
  readonly corrected: number;
  /** Corners found in the picture that became points to be matched. */
  readonly points?: readonly Point[];
  /** A person looked at what seems wrong with these labels, and says that they are right. */
  readonly vouched?: boolean;
}

export interface PairState {
  readonly left: string;
  readonly right: string;
  readonly labels: Readonly<Record<number, MatchLabel>>;
  readonly confirmed: boolean;
  readonly corrected: number;
}

/** What became of the suggestions of one specimen or pair, at the time it was confirmed. */
export interface Outcome {
  readonly of: string;
  /** Specimens or pairs confirmed before it. */
  readonly before: number;
  readonly suggested: number;
  readonly wrong: number;
  /** The error that cross-validation expected; null where it was not known. */
  readonly estimate: number | null;
}

export interface State {
  readonly names: readonly string[];
  readonly specimens: Readonly<Record<string, SpecimenState>>;
  readonly pairs: readonly PairState[];
  readonly outcomes: readonly Outcome[];
}

export type Action =
  | { type: 'name'; name: string }
  | { type: 'place'; specimen: string; name: string; at: Place; corrects?: boolean }
  | { type: 'absent'; specimen: string; name: string; corrects?: boolean }
  | { type: 'clear'; specimen: string; name: string }
  | { type: 'accept'; specimen: string; name: string; at: Place }
  | { type: 'confirm'; specimen: string; accepted: Array<[string, Place]>; estimate: number | null }
  | { type: 'reopen'; specimen: string }
  // Each name gets the label that another one has.
  | { type: 'rename'; specimen: string; takes: Array<[string, string]> }
  // These are labelled again.
  | { type: 'again'; specimen: string; names: string[] }
  | { type: 'vouch'; specimen: string }
  // Names of points that belong together in several specimens, to be looked at.
  | { type: 'join'; labels: Array<[string, Array<[string, Place]>]> }
  | { type: 'points'; specimen: string; points: Point[] }
  | { type: 'pair'; left: string; right: string }
  | { type: 'match'; pair: PairId; left: number; right: number | null; corrects?: boolean }
  | { type: 'unmatch'; pair: PairId; left: number }
  | { type: 'accept-match'; pair: PairId; left: number; right: number | null }
  | { type: 'confirm-pair'; pair: PairId; accepted: Array<[number, number | null]>; estimate: number | null }
  | { type: 'reopen-pair'; pair: PairId }
  | { type: 'undo' }
  | { type: 'redo' };

/** The ids of the left and the right specimen. */
export type PairId = readonly [string, string];

/** A line of the journal. */
export interface Entry {
  /** Drawn by the page that made it, to know it again after a broken connection. */
  readonly id: string;
  readonly action: Action;
}

/** The state, and what undo and redo lead to. */
export interface History {
  readonly past: readonly State[];
  readonly present: State;
  readonly future: readonly State[];
}

/** How many steps can be undone. */
export const MOST_UNDO = 200;

const FRESH: SpecimenState = { labels: {}, confirmed: false, corrected: 0 };

export function begin(start: Start): History {
  const specimens: Record<string, SpecimenState> = {};
  const names: string[] = [];
  const known = new Set<string>();
  for (const specimen of start.specimens) {
    const labels: Record<string, PointLabel> = {};
    specimen.names?.forEach((name, node) => {
      const at = specimen.points[node];
      if (name === '' || at === undefined) return;
      labels[name] = { at, accepted: false };
      if (!known.has(name)) names.push(name);
      known.add(name);
    });
    specimens[specimen.id] = { ...FRESH, labels, confirmed: Object.keys(labels).length > 0 };
  }
  const pairs = start.pairs.map((pair): PairState => {
    const labels: Record<number, MatchLabel> = {};
    for (const [left, right] of pair.matches) labels[left] = { right, accepted: false };
    return { left: pair.left, right: pair.right, labels, confirmed: pair.confirmed, corrected: 0 };
  });
  return { past: [], present: { names, specimens, pairs, outcomes: [] }, future: [] };
}

/** The history after one more action. An action that makes no sense here (its specimen is gone) changes nothing. */
export function step(history: History, action: Action): History {
  const { past, present, future } = history;
  if (action.type === 'undo') {
    const before = past.at(-1);
    return before ? { past: past.slice(0, -1), present: before, future: [present, ...future] } : history;
  }
  if (action.type === 'redo') {
    const [after, ...rest] = future;
    return after ? { past: [...past, present], present: after, future: rest } : history;
  }
  const next = reduce(present, action);
  if (next === present) return history;
  return { past: [...past, present].slice(-MOST_UNDO), present: next, future: [] };
}

/** The history of a whole journal. */
export function replay(start: Start, entries: readonly Entry[]): History {
  return entries.reduce((history, entry) => step(history, inSpaceAgain(start, entry.action)), begin(start));
}

/** Before there was a view in space, journals had only x and y of its points. */
function inSpaceAgain(start: Start, action: Action): Action {
  if (!('specimen' in action)) return action;
  const own = start.specimens.find(({ id }) => id === action.specimen)?.points ?? [];
  const whole = (at: Place): Place => (at.length === 3 ? at : (own.find((point) => point.length === 3 && point[0] === at[0] && point[1] === at[1]) ?? at));
  if (action.type === 'confirm') return { ...action, accepted: action.accepted.map(([name, at]) => [name, whole(at)]) };
  return 'at' in action ? { ...action, at: whole(action.at) } : action;
}

function reduce(state: State, action: Exclude<Action, { type: 'undo' | 'redo' }>): State {
  switch (action.type) {
    case 'name':
      return withName(state, action.name);
    case 'place':
      return labelPoint(state, action.specimen, action.name, { at: action.at, accepted: false }, action.corrects);
    case 'absent':
      return labelPoint(state, action.specimen, action.name, { at: null, accepted: false }, action.corrects);
    case 'accept':
      return labelPoint(state, action.specimen, action.name, { at: action.at, accepted: true }, false);
    case 'clear':
      return onSpecimen(state, action.specimen, (specimen) => {
        if (!(action.name in specimen.labels)) return specimen;
        const { [action.name]: _, ...labels } = specimen.labels;
        return relabelled(specimen, labels);
      });
    case 'rename':
      return onSpecimen(state, action.specimen, (specimen) => {
        const labels = { ...specimen.labels };
        for (const [name, from] of action.takes) {
          const label = specimen.labels[from];
          if (label === undefined) delete labels[name];
          else labels[name] = label;
        }
        return relabelled(specimen, labels);
      });
    case 'again':
      return onSpecimen(state, action.specimen, (specimen) => {
        const labels = { ...specimen.labels };
        for (const name of action.names) delete labels[name];
        return { ...relabelled(specimen, labels), confirmed: false };
      });
    case 'join':
      return action.labels.reduce(
        (state, [id, labels]) =>
          labels.reduce((state, [name, at]) => (name in (state.specimens[id]?.labels ?? {}) ? state : labelPoint(state, id, name, { at, accepted: true }, false)), state),
        state,
      );
    case 'vouch':
      return onSpecimen(state, action.specimen, (specimen) => (specimen.vouched ? specimen : { ...specimen, vouched: true }));
    case 'confirm':
      return confirm(state, action);
    case 'reopen':
      return onSpecimen(state, action.specimen, (specimen) => ({ ...specimen, confirmed: false }));
    case 'points':
      return onSpecimen(state, action.specimen, (specimen) => ({ ...specimen, points: action.points }));
    case 'pair': {
      const known = action.left in state.specimens && action.right in state.specimens;
      if (!known || findPair(state, [action.left, action.right]) >= 0) return state;
      const pair: PairState = { left: action.left, right: action.right, labels: {}, confirmed: false, corrected: 0 };
      return { ...state, pairs: [...state.pairs, pair] };
    }
    case 'match':
      return labelMatch(state, action.pair, action.left, { right: action.right, accepted: false }, action.corrects);
    case 'accept-match':
      return labelMatch(state, action.pair, action.left, { right: action.right, accepted: true }, false);
    case 'unmatch':
      return onPair(state, action.pair, (pair) => {
        if (!(action.left in pair.labels)) return pair;
        const { [action.left]: _, ...labels } = pair.labels;
        return { ...pair, labels };
      });
    case 'confirm-pair':
      return confirmPair(state, action);
    case 'reopen-pair':
      return onPair(state, action.pair, (pair) => ({ ...pair, confirmed: false }));
    default:
      // A journal of a later version may hold actions that this one does not know; they stay in the file.
      return state;
  }
}

function withName(state: State, name: string): State {
  return name === '' || state.names.includes(name) ? state : { ...state, names: [...state.names, name] };
}

function onSpecimen(state: State, id: string, change: (specimen: SpecimenState) => SpecimenState): State {
  const specimen = state.specimens[id];
  if (specimen === undefined) return state;
  const changed = change(specimen);
  return changed === specimen ? state : { ...state, specimens: { ...state.specimens, [id]: changed } };
}

/** Other labels have not been looked at again. */
function relabelled({ vouched: _, ...specimen }: SpecimenState, labels: Readonly<Record<string, PointLabel>>): SpecimenState {
  return { ...specimen, labels };
}

function labelPoint(state: State, id: string, name: string, label: PointLabel, corrects?: boolean): State {
  if (!(id in state.specimens)) return state;
  return onSpecimen(withName(state, name), id, (specimen) => ({
    ...relabelled(specimen, { ...specimen.labels, [name]: label }),
    corrected: specimen.corrected + (corrects ? 1 : 0),
  }));
}

function confirm(state: State, action: Extract<Action, { type: 'confirm' }>): State {
  const before = Object.values(state.specimens).filter((specimen) => specimen.confirmed).length;
  const specimen = state.specimens[action.specimen];
  if (specimen === undefined || specimen.confirmed) return state;
  const labels = { ...specimen.labels };
  for (const [name, at] of action.accepted) {
    // A label that a person gave is never overwritten.
    if (!(name in labels)) labels[name] = { at, accepted: true };
  }
  const named = action.accepted.reduce((state, [name]) => withName(state, name), state);
  const next = onSpecimen(named, action.specimen, (specimen) => ({ ...specimen, labels, confirmed: true }));
  const now = next.specimens[action.specimen]!;
  const outcome = outcomeOf(action.specimen, before, Object.values(now.labels), now.corrected, action.estimate);
  return outcome === null ? next : { ...next, outcomes: [...next.outcomes, outcome] };
}

function outcomeOf(
  of: string,
  before: number,
  labels: ReadonlyArray<{ accepted: boolean }>,
  wrong: number,
  estimate: number | null,
): Outcome | null {
  const suggested = labels.filter((label) => label.accepted).length + wrong;
  return suggested === 0 ? null : { of, before, suggested, wrong, estimate };
}

function onPair(state: State, id: PairId, change: (pair: PairState) => PairState): State {
  const index = findPair(state, id);
  const pair = state.pairs[index];
  if (pair === undefined) return state;
  const changed = change(pair);
  return changed === pair ? state : { ...state, pairs: state.pairs.map((other, n) => (n === index ? changed : other)) };
}

function labelMatch(state: State, id: PairId, left: number, label: MatchLabel, corrects?: boolean): State {
  return onPair(state, id, (pair) => {
    const labels: Record<number, MatchLabel> = {};
    for (const [other, existing] of Object.entries(pair.labels)) {
      // One-to-one: who takes a right point takes it from whoever had it.
      if (label.right === null || existing.right !== label.right) labels[Number(other)] = existing;
    }
    labels[left] = label;
    return { ...pair, labels, corrected: pair.corrected + (corrects ? 1 : 0) };
  });
}

function confirmPair(state: State, action: Extract<Action, { type: 'confirm-pair' }>): State {
  const before = state.pairs.filter((pair) => pair.confirmed).length;
  const pair = state.pairs[findPair(state, action.pair)];
  if (pair === undefined || pair.confirmed) return state;
  const taken = new Set(Object.values(pair.labels).map((label) => label.right));
  let next = state;
  for (const [left, right] of action.accepted) {
    if (left in pair.labels || (right !== null && taken.has(right))) continue;
    next = labelMatch(next, action.pair, left, { right, accepted: true });
  }
  next = onPair(next, action.pair, (pair) => ({ ...pair, confirmed: true }));
  const now = next.pairs[findPair(next, action.pair)]!;
  const of = `${now.left} – ${now.right}`;
  const outcome = outcomeOf(of, before, Object.values(now.labels), now.corrected, action.estimate);
  return outcome === null ? next : { ...next, outcomes: [...next.outcomes, outcome] };
}

export function findPair(state: State, [left, right]: PairId): number {
  return state.pairs.findIndex((pair) => pair.left === left && pair.right === right);
}
