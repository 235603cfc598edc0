// What the labelled specimens say about one another: how wrong proposals are, each specimen proposed from the others; and what looks wrong
// in them, as `homolog check` lists it.

import { labelledPoints } from './data';
import type { Lane } from './learner';
import * as ask from './requests';
import type { Specimen, SpecimenState, State } from './state';

/** Fewer labelled specimens than this say nothing about the error. */
export const LEAST_FOR_ESTIMATE = 2;
/** So many labelled specimens are held against one another at a time. */
const GROUP = 40;
/** How many labelled pictures are looked at again after a change. */
const LOOK = 12;

/** A labelled specimen and its labels as JSON. */
export interface Labelled {
  specimen: Specimen;
  text: string;
}

/** A labelled picture, with the key that it is sent under. */
export interface Pictured {
  specimen: Specimen;
  key: string;
  points: ask.NamedPoints;
}

/** What the judge asks others for. */
export interface Around {
  candidatesOf(specimen: Specimen): Promise<ask.Candidates>;
  grey(specimen: Specimen): Promise<ask.GreyLevels>;
  /** Asks with labelled pictures, which are sent if the other end does not have them. */
  shown<T extends object>(lane: Lane, wanted: () => boolean, question: () => Promise<T | ask.Missing>): Promise<T>;
  changed(): void;
}

export class Judge {
  /** The share of proposals that are wrong; null if it is not known yet. */
  expected: ask.Expected | null = null;
  /** What looks wrong, surest first, with the labels that it is about. */
  findings: ReadonlyArray<{ finding: ask.Finding; labels: SpecimenState['labels'] }> = [];
  /** The share of labels of a picture that the others put elsewhere, and what that tells about confidences, by key. */
  private readonly pictures = new Map<string, { wrong: number; told: ask.Told }>();
  private turns = 0;

  constructor(
    private readonly lane: Lane,
    private readonly around: Around,
  ) {}

  /** Gives up what is being asked. */
  cancel(): void {
    for (const kind of ['estimate', 'check']) this.lane.cancel(kind);
  }

  async judge(state: State, labelled: readonly Labelled[], pictured: readonly Pictured[], wanted: () => boolean): Promise<void> {
    if (labelled.length < LEAST_FOR_ESTIMATE) {
      this.expected = null;
      this.findings = [];
      return;
    }
    await this.check(state, labelled, wanted);
    if (pictured.length === labelled.length) await this.judgePictures(pictured, wanted);
    else await this.judgeTables(labelled, wanted);
  }

  /** Lists what looks wrong; a specimen that only lacks points is none of it. */
  private async check(state: State, labelled: readonly Labelled[], wanted: () => boolean): Promise<void> {
    const specimens = labelled.map(({ specimen: { id } }) => ({ id, ...labelledPoints(state, id) }));
    const { findings } = await ask.check(this.lane, specimens);
    if (!wanted()) return;
    const wrong = findings.filter(({ kind }) => kind !== 'missing');
    this.findings = wrong.map((finding) => ({ finding, labels: state.specimens[finding.specimen]!.labels }));
    this.around.changed();
  }

  /** In groups from all parts of the list, another one first each time: a person who confirms quickly interrupts the later ones. */
  private async judgeTables(labelled: readonly Labelled[], wanted: () => boolean): Promise<void> {
    const count = Math.ceil(labelled.length / GROUP);
    this.turns += 1;
    const errors: number[] = [];
    for (let turn = 0; turn < count; turn++) {
      const group = labelled.filter((_, n) => n % count === (this.turns + turn) % count);
      const candidates = [];
      for (const { specimen } of group) candidates.push(await this.around.candidatesOf(specimen));
      if (!wanted()) return;
      errors.push(...(await ask.estimate(this.lane, `[${group.map(({ text }) => text).join(',')}]`, candidates)).errors);
      await this.expect(errors, wanted);
      if (!wanted()) return;
    }
  }

  /** Looks at some labelled pictures as if they were new, the newest first; those looked at before keep what was said of them. */
  private async judgePictures(all: readonly Pictured[], wanted: () => boolean): Promise<void> {
    for (const one of all.slice(-LOOK).reverse()) {
      const keys = all.filter((other) => other !== one).map(({ key }) => key);
      const grey = await this.around.grey(one.specimen);
      if (!wanted()) return;
      const { compared, disputed, told } = await this.around.shown<ask.PictureCheck>(this.lane, wanted, () => ask.checkPicture(this.lane, keys, one.points, grey));
      if (!wanted()) return;
      if (compared > 0) this.pictures.set(one.key, { wrong: disputed.length / compared, told });
      await this.expect(all.flatMap(({ key }) => this.pictures.get(key)?.wrong ?? []), wanted);
      if (!wanted()) return;
    }
  }

  /** What labelled pictures, each looked at as if it were new, tell about confidences. */
  told(pictured: readonly Pictured[]): ask.Told {
    return pictured.flatMap(({ key }) => this.pictures.get(key)?.told ?? []);
  }

  private async expect(errors: number[], wanted: () => boolean): Promise<void> {
    if (!wanted()) return;
    const expected = await ask.expect(this.lane, errors);
    if (!wanted()) return;
    this.expected = expected;
    this.around.changed();
  }
}
