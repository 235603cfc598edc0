// What the page asks the learner, with the types of question and answer: crates/homolog/src/labelling/requests.rs in TypeScript.

import type { DataSet } from './data';
import type { Lane } from './learner';
import type { Place, Point } from './state';

export interface NamedPoints {
  points: readonly Place[];
  names?: readonly string[];
}

export interface GreyLevels {
  width: number;
  height: number;
  pixels: Uint8Array;
}

export interface Candidates {
  points: readonly Place[];
  /** They are the specimen's own points, not corners of its picture. */
  own: boolean;
}

export interface ProposedPoint {
  name: string;
  at: Place;
  /** The candidate that it is; null: where the other specimens say that it should be. */
  candidate: number | null;
  /** From 0 to 1. */
  certainty: number;
  /** Other names that the point may have. */
  others: string[];
}

export interface Proposal {
  points: ProposedPoint[];
  mean_margin: number | null;
}

export interface Estimate {
  /** The share of wrong names in each specimen. */
  errors: number[];
}

export interface Expected {
  error: number;
  /** Holds the error on new specimens nine times in ten. */
  interval: [number, number];
}

/** Something that looks wrong, as `homolog check` lists it. */
export interface Finding {
  specimen: string;
  kind: string;
  /** In words. */
  why: string;
  landmarks: string[];
  /** Names at the wrong points: whose point each of the landmarks should have. */
  points_of?: string[];
  /** Where a displaced landmark should be. */
  should_be?: number[];
}

export type FeatureSet = 'linear' | 'edges';

export interface Learned {
  /** What requests call the model. */
  name: string;
  model: string;
  error: number | null;
  unlearned: number | null;
  pairs: number;
  /** What learning brought. */
  sentence: string;
  weights: Array<[string, number]>;
}

/** A model that names points. */
export interface LearnedNames {
  /** What requests call the model. */
  name: string;
  model: string;
  /** How far each point strays from its mean place, as a share of the radius, the farthest first. */
  strays: Array<[string, number]>;
  sentence: string;
  /** Whether it is learned from all labelled specimens. */
  all: boolean;
}

export interface Known {
  left: number;
  right: number | null;
}

export interface SuggestedMatch {
  left: number;
  right: number | null;
  margin: number | null;
  alternatives: number[];
}

export interface Suggestion {
  matches: SuggestedMatch[];
  mean_margin: number | null;
  proven: boolean;
  disputed: number[];
}

export interface Review {
  /** For each pair how sure the model is, and which labels it would not give. */
  pairs: Array<{ mean_margin: number | null; disputed: number[] }>;
}

export type FileFormat = 'data-set' | 'landmarks' | 'matches' | 'tps';

export const detect = (lane: Lane, width: number, height: number, pixels: Uint8Array) =>
  lane.ask<{ points: Point[] }>(null, { detect: { width, height, at_most: 200 } }, { pixels });

export const propose = (
  lane: Lane,
  kind: string | null,
  /** The JSON of a list of named points: the same text is learned from once. */
  labelled: string,
  candidates: Candidates,
  known: Array<[string, Place]>,
) => lane.ask<Proposal>(kind, { propose: { labelled, candidates, known } });

/** Whether a specimen has every landmark and no other point; auto: decided for each. */
export type Presence = 'auto' | 'complete' | 'partial';

/** The points of a table, named by the model that `homolog name --presence` would use. */
export const name = (lane: Lane, learned: LearnedNames, points: readonly Place[], known: Array<[string, Place]>, presence: Presence) =>
  lane.ask<Proposal>('name', { name: { model: learned.name, points, known, presence: presence === 'auto' ? null : presence } }, { model: learned });

/** One naming of the points of several specimens: the names, and for each specimen which of them each point has. */
export const join = (lane: Lane, specimens: NamedPoints[]) =>
  lane.ask<{ names: string[]; points: Array<Array<{ name: number } | null>> }>('join', { join: { specimens } });

/** What looks wrong in labelled specimens, surest first. */
export const check = (lane: Lane, specimens: Array<NamedPoints & { id: string }>) =>
  lane.ask<{ findings: Finding[] }>('check', { check: { specimens } });

export const estimate = (lane: Lane, labelled: string, candidates: Candidates[]) =>
  lane.ask<Estimate>('estimate', { estimate: { labelled, candidates } });

/** The error to expect on new specimens, from the shares of wrong proposals in labelled ones. */
export const expect = (lane: Lane, errors: number[]) => lane.ask<Expected | null>('estimate', { expect: { errors } });

/** Labelled pictures that the other end has not seen yet, by their keys. */
export interface Missing {
  missing: string[];
}

/** The evidence for places in labelled pictures, and whether they are right: what confidences are learned from. */
export type Told = Array<[number, boolean]>;

export interface PictureCheck {
  /** How many names were compared. */
  compared: number;
  /** Names that the other pictures would put elsewhere, with how far, in pixels. */
  disputed: Array<[string, number]>;
  told: Told;
}

/** Looks at a labelled picture; from then on its key says what it looks like. */
export const see = (lane: Lane, key: string, specimen: NamedPoints, { width, height, pixels }: GreyLevels) =>
  lane.ask<object>(null, { see: { key, specimen, width, height } }, { pixels });

/** The named points of a picture, by what labelled pictures look like. */
export const find = (lane: Lane, kind: string, labelled: string[], { width, height, pixels }: GreyLevels, known: Array<[string, Point]>, told: Told) =>
  lane.ask<Proposal | Missing>(kind, { find: { labelled, width, height, known, told } }, { pixels });

/** The labels of a picture beside what the other labelled pictures say. */
export const checkPicture = (lane: Lane, labelled: string[], specimen: NamedPoints, { width, height, pixels }: GreyLevels) =>
  lane.ask<PictureCheck | Missing>('estimate', { 'check-picture': { labelled, specimen, width, height } }, { pixels });

/** Quickly: from some of them, if they are many. */
export const learnNames = (lane: Lane, labelled: string, seen: string[], told: Told, quickly: boolean) =>
  lane.ask<LearnedNames | Missing>(quickly ? 'learn-names-quickly' : 'learn-names', { 'learn-names': { labelled, seen, told, quickly } });

export const learn = (lane: Lane, data: DataSet, features: FeatureSet) =>
  lane.ask<Learned>('learn', { learn: { data, features } });

export const suggest = (lane: Lane, learned: Learned, left: NamedPoints, right: NamedPoints, known: Known[]) =>
  lane.ask<Suggestion>('suggest', { suggest: { model: learned.name, left, right, known } }, { model: learned });

export const review = (
  lane: Lane,
  learned: Learned,
  specimens: NamedPoints[],
  pairs: Array<{ left: number; right: number; known: Known[] }>,
) => lane.ask<Review>('review', { review: { model: learned.name, specimens, pairs } }, { model: learned });

export const read = (lane: Lane, name: string, text: string) =>
  lane.ask<{ data: DataSet }>(null, { read: { name, text } });

export const write = (lane: Lane, data: DataSet, format: FileFormat) =>
  lane.ask<{ text: string }>(null, { write: { data, format } });
