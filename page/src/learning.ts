// What the learner makes of the labels: proposals for specimens, suggestions for pairs, models, estimates, and what to label next.
// It watches the state and asks the learner again when something it rests on has changed. Nothing here is a label.

import { type DataSet, knownOf, labelledPoints, lessons, pointsOf } from './data';
import { Judge, type Labelled, type Pictured } from './judge';
import { type Lane, Superseded } from './learner';
import { choose } from './next';
import * as ask from './requests';
import { type PairId, type Place, type Point, type Specimen, type SpecimenState, type Start, type State, findPair } from './state';

export interface PointSuggestion {
  at: Place;
  certainty: number;
  /** Whether it is a corner or a point of the specimen, and not only where the others have it. */
  seen: boolean;
  /** Other names that the point may have, besides its own: together they include the true one 95 % of the time. */
  others: string[];
}

/** How many open specimens or pairs are looked at to choose the next. */
const LOOK = 12;
const LOOK_PAIRS = 40;

export class Learning {
  /** Corners of pictures, or the points that were there, by specimen. */
  readonly candidates = new Map<string, ask.Candidates>();
  /** Whether open specimens have every landmark and no other point. */
  presence: ask.Presence = 'auto';
  /** The proposal for the specimen that is open. */
  proposal: { specimen: string; points: Record<string, PointSuggestion> } | null = null;
  /** How sure the model is of open specimens: mean certainty. */
  readonly sureness = new Map<string, number>();

  models: Partial<Record<ask.FeatureSet, ask.Learned>> = {};
  suggestion: { pair: PairId; answer: ask.Suggestion; features: ask.FeatureSet } | null = null;
  readonly disputedMatches = new Map<string, number[]>();
  readonly pairMargins = new Map<string, number>();
  /** What labelled specimens make. */
  names: { round: number; learned: ask.LearnedNames } | null = null;
  private namesAsked: { round: number; quickly: boolean; learned: Promise<ask.LearnedNames> } | null = null;
  /** How long the last proposal or suggestion took, in milliseconds. */
  lastMilliseconds: number | null = null;

  /** Labelled specimens that have a picture and no points of their own. */
  private pictured: Pictured[] = [];
  private readonly judge: Judge;
  /** The labelled specimens as JSON: what proposals are learned from. */
  private labelledText = '[]';
  /** The JSON of each confirmed specimen. */
  private readonly texts = new WeakMap<SpecimenState, string>();
  /** How often they changed. */
  private rounds = 0;
  private seen: State | null = null;
  private pairKey: string | null = null;
  private proposalKey = '';
  private suggestionKey = '';
  /** The keys that were answered. */
  private proposed = '';
  private suggested = '';

  constructor(
    private readonly start: Start,
    private readonly quick: Lane,
    private readonly slow: Lane,
    private readonly grey: (specimen: Specimen) => Promise<ask.GreyLevels>,
    private readonly changed: () => void,
    private readonly failed: (reason: string) => void,
  ) {
    this.judge = new Judge(slow, {
      candidatesOf: (specimen) => this.candidatesOf(specimen),
      grey,
      shown: (lane, wanted, question) => this.shown(lane, wanted, question),
      changed,
    });
  }

  /** The share of proposed points that are wrong, by cross-validation, with an interval for new specimens. */
  get expected(): ask.Expected | null {
    return this.judge.expected;
  }

  get specimenError(): number | null {
    return this.expected?.error ?? null;
  }

  /** What looks wrong in the labels as they are now, surest first, if no one has said that they are right. */
  findings(state: State): ask.Finding[] {
    const open = this.judge.findings.filter(({ finding, labels }) => {
      const own = state.specimens[finding.specimen];
      return own?.labels === labels && own.confirmed && !own.vouched;
    });
    return open.map(({ finding }) => finding);
  }

  /** The model that is used for pairs: the better of those that are ready. */
  get model(): { features: ask.FeatureSet; learned: ask.Learned } | null {
    const { linear, edges } = this.models;
    if (linear === undefined) return null;
    const better = edges !== undefined && edges.error !== null && edges.error < (linear.error ?? 1);
    return better ? { features: 'edges', learned: edges } : { features: 'linear', learned: linear };
  }

  /** Whether what is shown is the answer to what was asked last. */
  get settled(): boolean {
    return this.proposed === this.proposalKey && this.suggested === this.suggestionKey;
  }

  get busy(): boolean {
    return this.slow.busy;
  }

  /** To be called after every change of state, with what is open. */
  update(state: State, open: { specimen: string | null; pair: PairId | null }): void {
    this.learnAgain(state);
    if (open.specimen !== null) void this.propose(state, open.specimen);
    if (open.pair !== null) void this.suggest(state, open.pair);
  }

  /** The points that a named point of this specimen may be. */
  async candidatesOf(specimen: Specimen): Promise<ask.Candidates> {
    const known = this.candidates.get(specimen.id);
    if (known !== undefined) return known;
    const own = specimen.points.length > 0;
    let points: readonly Place[] = own ? specimen.points : [];
    if (!own && specimen.picture) {
      const { width, height, pixels } = await this.grey(specimen);
      points = (await ask.detect(this.quick, width, height, pixels)).points;
    }
    const candidates = { points, own };
    this.candidates.set(specimen.id, candidates);
    return candidates;
  }

  /** Confirmed specimens with points, each as JSON. */
  private labelled(state: State): Labelled[] {
    const labelled: Labelled[] = [];
    for (const specimen of this.start.specimens) {
      const own = state.specimens[specimen.id];
      if (own === undefined || !own.confirmed) continue;
      let text = this.texts.get(own);
      if (text === undefined) {
        const { names, points } = labelledPoints(state, specimen.id);
        text = points.length > 0 ? JSON.stringify({ points, names }) : '';
        this.texts.set(own, text);
      }
      if (text !== '') labelled.push({ specimen, text });
    }
    return labelled;
  }

  private async propose(state: State, id: string): Promise<void> {
    const specimen = this.start.specimens.find((specimen) => specimen.id === id);
    const own = state.specimens[id];
    if (specimen === undefined || own === undefined) return;
    const { labelledText } = this;
    const key = `${id} ${JSON.stringify(own.labels)} ${own.confirmed} ${this.rounds} ${this.presence}`;
    if (key === this.proposalKey) return;
    this.proposalKey = key;
    if (this.proposal?.specimen !== id) this.proposal = null;
    await this.guarded(async () => {
      const candidates = await this.candidatesOf(specimen);
      // Something newer is asked already.
      if (this.proposalKey !== key) return;
      if (labelledText === '[]' || own.confirmed) {
        this.proposal = { specimen: id, points: {} };
        this.proposed = key;
        return;
      }
      const { names, points } = labelledPoints(state, id);
      const known = names.map((name, n): [string, Place] => [name, points[n]!]);
      const begin = performance.now();
      const answer = this.isSeen(specimen)
        ? await this.found(this.quick, 'propose', () => this.proposalKey === key, await this.grey(specimen), known as Array<[string, Point]>)
        : await ask.propose(this.quick, 'propose', labelledText, candidates, known);
      this.lastMilliseconds = performance.now() - begin;
      const show = ({ points }: ask.Proposal) => {
        if (this.proposalKey !== key) return;
        const open = points.filter(({ name }) => !(name in own.labels));
        // In a picture every proposal is a place that looks right.
        const of = ({ at, candidate, certainty, others }: ask.ProposedPoint) => ({ at, certainty, others, seen: candidate !== null || !candidates.own });
        this.proposal = { specimen: id, points: Object.fromEntries(open.map((point) => [point.name, of(point)])) };
        this.proposed = key;
      };
      show(answer);
      if (!candidates.own || this.proposalKey !== key) return;
      // The names of a table at once; those of the model of the same labels, which takes a second to learn, when it is there.
      this.changed();
      const learned = await this.learnNames(true);
      if (learned !== null && this.proposalKey === key) show(await ask.name(this.slow, learned, candidates.points, known, this.presence));
    });
  }

  /** Whether its points are found by what labelled pictures look like: it has a picture and no points of its own, and so has one that is
   * labelled. */
  private isSeen(specimen: Specimen): boolean {
    return this.pictured.length > 0 && hasOnlyPicture(specimen);
  }

  /** Sends labelled pictures that the other end has not seen, and asks again. Once no one wants the answer, nothing is asked: it would
   * take the place of the newer question. */
  private async shown<T extends object>(lane: Lane, wanted: () => boolean, ask_: () => Promise<T | ask.Missing>): Promise<T> {
    for (;;) {
      if (!wanted()) throw new Superseded();
      const answer = await ask_();
      if (!('missing' in answer)) return answer;
      for (const key of answer.missing) {
        const labelled = this.pictured.find((one) => one.key === key);
        if (labelled === undefined) throw new Superseded();
        await ask.see(lane, key, labelled.points, await this.grey(labelled.specimen));
      }
    }
  }

  private found(
    lane: Lane,
    kind: string,
    wanted: () => boolean,
    grey: ask.GreyLevels,
    known: Array<[string, Point]>,
  ): Promise<ask.Proposal> {
    const keys = this.pictured.map(({ key }) => key);
    return this.shown<ask.Proposal>(lane, wanted, () => ask.find(lane, kind, keys, grey, known, this.judge.told(this.pictured)));
  }

  private async suggest(state: State, id: PairId): Promise<void> {
    const pair = state.pairs[findPair(state, id)];
    const model = this.model;
    if (pair === undefined || model === null) return;
    const key = JSON.stringify([id, model.features, model.learned.name, pair.labels]);
    if (key === this.suggestionKey) return;
    this.suggestionKey = key;
    await this.guarded(async () => {
      const [left, right] = id.map((id) => this.start.specimens.find((specimen) => specimen.id === id)!);
      const points = (specimen: Specimen) => ({ points: pointsOf(specimen, state) });
      const begin = performance.now();
      const known = knownOf(pair.labels);
      const from = (lane: Lane, learned: ask.Learned) => ask.suggest(lane, learned, points(left!), points(right!), known);
      // The linear suggestion at once; the one with edges, which takes a second, when it is there.
      const answer = await from(this.quick, this.models.linear!);
      this.lastMilliseconds = performance.now() - begin;
      if (this.suggestionKey !== key) return;
      this.suggestion = { pair: id, answer, features: 'linear' };
      this.suggested = key;
      if (model.features === 'linear') return;
      this.changed();
      const better = await from(this.slow, model.learned);
      if (this.suggestionKey === key) this.suggestion = { pair: id, answer: better, features: 'edges' };
    });
  }

  /** Tables of points that no one has labelled yet: they can be joined before anybody labels. */
  unlabelled(state: State): Specimen[] {
    return this.start.specimens.filter(({ id, points }) => points.length > 0 && Object.keys(state.specimens[id]?.labels ?? {}).length === 0);
  }

  /** Names for the points of these that belong together. */
  async join(specimens: readonly Specimen[]): Promise<Array<[string, Array<[string, Place]>]>> {
    const { names, points } = await ask.join(this.slow, specimens.map(({ points }) => ({ points })));
    return specimens.map(({ id, points: own }, n) => [id, own.flatMap((at, node) => {
      const called = points[n]![node];
      return called ? [[names[called.name]!, at] as [string, Place]] : [];
    })]);
  }

  /** The model that names points, of the labels as they are now; null if there are none. Quickly: of some of them, if they are many. */
  async learnNames(quickly = false): Promise<ask.LearnedNames | null> {
    const round = this.rounds;
    if (this.labelledText === '[]') return null;
    const known = this.namesAsked;
    if (known?.round !== round || (known.quickly && !quickly && !(await known.learned).all)) {
      const keys = this.pictured.map(({ key }) => key);
      const { labelledText } = this;
      const learned = this.shown<ask.LearnedNames>(this.slow, () => this.rounds === round, () => ask.learnNames(this.slow, labelledText, keys, this.judge.told(this.pictured), quickly));
      this.namesAsked = { round, quickly, learned };
      // Whoever asks after a failure asks anew.
      learned.catch(() => (this.namesAsked = this.namesAsked?.learned === learned ? null : this.namesAsked));
    }
    const learned = await this.namesAsked!.learned;
    if (this.rounds === round && learned.all) this.names = { round, learned };
    return learned;
  }

  /** Whether that is known already. */
  get namesAreNew(): boolean {
    return this.names?.round === this.rounds;
  }

  /** Learns again where the labels that count have changed. */
  private learnAgain(state: State): void {
    if (state === this.seen) return;
    this.seen = state;
    const labelled = this.labelled(state);
    const labelledText = `[${labelled.map(({ text }) => text).join(',')}]`;
    if (labelledText !== this.labelledText) {
      this.labelledText = labelledText;
      this.pictured = labelled
        .filter(({ specimen }) => hasOnlyPicture(specimen))
        .map(({ specimen, text }) => ({ specimen, key: `${specimen.id} ${text}`, points: JSON.parse(text) as ask.NamedPoints }))
        // Two places are the least that a shape has.
        .filter(({ points }) => points.points.length > 1);
      this.sureness.clear();
      this.rounds += 1;
      void this.guarded(() => this.judgeLabels(state, labelled));
    }
    if (state.pairs.length === 0) return;
    // A label in an open pair teaches as soon as the pair is confirmed: the model stays still while a person works on it.
    const data = lessons(this.start, state);
    const pairKey = JSON.stringify((data.pairs ?? []).filter(({ matches }) => matches !== 'unknown'));
    if (pairKey !== this.pairKey) {
      this.pairKey = pairKey;
      void this.guarded(() => this.learnPairs(state, data));
    }
  }

  /** Looks ahead, then holds the labelled specimens against one another. */
  private async judgeLabels(state: State, labelled: readonly Labelled[]): Promise<void> {
    const round = this.rounds;
    this.slow.cancel('look');
    this.judge.cancel();
    if (labelled.length > 0) await this.lookAhead(state, this.labelledText, round);
    await this.judge.judge(state, labelled, this.pictured, () => this.rounds === round);
  }

  /** How sure the model is of some open specimens, so that the next one can be chosen. */
  private async lookAhead(state: State, labelled: string, round: number): Promise<void> {
    const open = this.start.specimens.filter(({ id }) => !state.specimens[id]?.confirmed).slice(0, LOOK);
    for (const specimen of open) {
      const candidates = await this.candidatesOf(specimen);
      if (this.rounds !== round) return;
      const { mean_margin } = this.isSeen(specimen)
        ? await this.found(this.slow, 'look', () => this.rounds === round, await this.grey(specimen), [])
        : await ask.propose(this.slow, 'look', labelled, candidates, []);
      if (mean_margin !== null) this.sureness.set(specimen.id, mean_margin);
      this.changed();
    }
  }

  private async learnPairs(state: State, data: DataSet): Promise<void> {
    const { edges: _, ...linearOnly } = this.models;
    this.models = linearOnly;
    this.models.linear = await ask.learn(this.slow, data, 'linear');
    this.changed();
    await this.reviewPairs(state);
    if (this.models.linear.pairs > 0) this.models.edges = await ask.learn(this.slow, data, 'edges');
  }

  /** Labels that the model disputes, and how sure it is of open pairs. */
  private async reviewPairs(state: State): Promise<void> {
    const model = this.models.linear!;
    const done = state.pairs.filter((pair) => pair.confirmed);
    const pairs = [...done, ...state.pairs.filter((pair) => !pair.confirmed).slice(0, LOOK_PAIRS)];
    const ids = [...new Set(pairs.flatMap(({ left, right }) => [left, right]))];
    const specimens = ids.map((id) => ({
      points: pointsOf(this.start.specimens.find((specimen) => specimen.id === id)!, state),
    }));
    const requests = pairs.map((pair) => ({
      left: ids.indexOf(pair.left),
      right: ids.indexOf(pair.right),
      known: knownOf(pair.labels),
    }));
    const { pairs: answers } = await ask.review(this.slow, model, specimens, requests);
    this.disputedMatches.clear();
    this.pairMargins.clear();
    answers.forEach(({ mean_margin, disputed }, n) => {
      const pair = pairs[n]!;
      const key = pairKeyOf([pair.left, pair.right]);
      if (pair.confirmed && disputed.length > 0) this.disputedMatches.set(key, disputed);
      if (!pair.confirmed && mean_margin !== null) this.pairMargins.set(key, mean_margin);
    });
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof Superseded) return;
      this.failed((error as Error).message);
    }
    this.changed();
  }

  /** The open specimen to label next: the one of least mean certainty, one in ten at random. */
  nextSpecimen(state: State, after: string | null): string | null {
    const open = this.start.specimens.filter(({ id }) => id !== after && !state.specimens[id]?.confirmed);
    return choose(open.map(({ id }) => id), (id) => this.sureness.get(id), state.outcomes.length);
  }

  nextPair(state: State, after: PairId | null): PairId | null {
    const open = state.pairs
      .filter((pair) => !pair.confirmed && !(after && pair.left === after[0] && pair.right === after[1]))
      .map(({ left, right }): PairId => [left, right]);
    return choose(open, (pair) => this.pairMargins.get(pairKeyOf(pair)), state.outcomes.length);
  }
}

const hasOnlyPicture = (specimen: Specimen): boolean => specimen.picture && specimen.points.length === 0;

export const pairKeyOf = (pair: PairId): string => JSON.stringify(pair);
