// What was learned: the error against the number of labels, suggestions that were wrong, weights; and the results as files.

import type { App } from './app';
import { barChart, lineChart } from './chart';
import { type DataSet, landmarkData, pairData } from './data';
import { h, percent, replace } from './dom';
import { type Lane, Superseded } from './learner';
import type { Pictures } from './pictures';
import * as ask from './requests';
import type { Point, State } from './state';

export class ModelView {
  readonly element = h('section', { className: 'model' });

  constructor(
    private readonly app: App,
    private readonly lane: Lane,
    private readonly pictures: Pictures,
  ) {}

  /** The labels that names are being learned from. */
  private asked: State | null = null;

  update(): void {
    this.learnNames();
    const { outcomes } = this.app.state;
    const { learning } = this.app;
    const wrong = outcomes.filter((outcome) => outcome.wrong > 0);
    const model = learning.model?.learned;
    const label = (name: string) => h('h2', {}, name);
    const suggested = outcomes.reduce((sum, outcome) => sum + outcome.suggested, 0);
    const corrected = outcomes.reduce((sum, outcome) => sum + outcome.wrong, 0);
    replace(
      this.element,
      h('div', { className: 'card' },
        label('Error against labels'),
        outcomes.length === 0
          ? h('p', { className: 'note' }, 'Shows the error of suggestions, once specimens or pairs with suggestions are confirmed.')
          : lineChart(
              [
                { name: 'suggestions put right', className: 'line wrong', points: outcomes.map((o) => [o.before, o.wrong / o.suggested] as const) },
                { name: 'estimated by cross-validation', className: 'line expected', points: outcomes.filter((o) => o.estimate !== null).map((o) => [o.before, o.estimate!] as const) },
              ],
              'confirmed before',
            ),
        outcomes.length > 0 && h('p', {}, `${suggested - corrected} of ${suggested} suggestions were accepted as they were.`),
      ),
      h('div', { className: 'card' },
        label('Suggestions that were wrong'),
        wrong.length === 0
          ? h('p', { className: 'note' }, 'None so far.')
          : h('ul', { className: 'wrong' }, ...wrong.slice(-12).reverse().map((o) => h('li', {}, `${o.of}: ${o.wrong} of ${o.suggested}`))),
      ),
      model !== undefined && this.app.state.pairs.length > 0 && h('div', { className: 'card' },
        label('Weights'),
        h('p', {}, model.sentence),
        h('figure', {}, barChart(model.weights) as unknown as Node),
        h('p', { className: 'note' }, `${model.weights.length} weights in the order of the model file, from “${model.weights[0]?.[0] ?? ''}” to “${model.weights.at(-1)?.[0] ?? ''}”.`),
      ),
      this.names(),
      this.exports(),
    );
  }

  /** Asks for the model that names points, once for the labels as they are. */
  private learnNames(): void {
    const { learning, state } = this.app;
    if (state.pairs.length > 0 || this.asked === state || learning.namesAreNew) return;
    this.asked = state;
    learning.learnNames().then(() => this.app.changed(), (error: Error) => error instanceof Superseded || this.app.tell(`The learner: ${error.message}`));
  }

  private names(): HTMLElement | null {
    const { learning, state } = this.app;
    const learned = learning.names?.learned;
    if (learned === undefined || state.pairs.length > 0) return null;
    const [first, last] = [learned.strays[0], learned.strays.at(-1)];
    return h('div', { className: 'card' },
      h('h2', {}, 'Learned landmarks'),
      h('p', {}, learned.sentence),
      h('figure', {}, barChart(learned.strays) as unknown as Node),
      h('p', { className: 'note' }, `How far each varies around its mean place, from “${first?.[0]}” (${percent(first?.[1] ?? 0)} of the radius) to “${last?.[0]}” (${percent(last?.[1] ?? 0)}).`),
    );
  }

  private async modelText(): Promise<string> {
    const { learning, state } = this.app;
    const learned = state.pairs.length > 0 ? learning.model?.learned : await learning.learnNames();
    if (!learned) throw new Error('there is nothing to learn from yet');
    return learned.model;
  }

  /** Of the pictures of confirmed specimens; one that cannot be read has none. */
  private async sizes(): Promise<Map<string, Point>> {
    const { state, start } = this.app;
    const sizes = new Map<string, Point>();
    for (const specimen of start.specimens) {
      if (!specimen.picture || !state.specimens[specimen.id]?.confirmed) continue;
      await this.pictures.size(specimen).then((size) => sizes.set(specimen.id, size), () => undefined);
    }
    return sizes;
  }

  private exports(): HTMLElement {
    const { state, start } = this.app;
    const named = Object.values(state.specimens).some((specimen) => specimen.confirmed);
    const paired = state.pairs.some((pair) => Object.keys(pair.labels).length > 0);
    const row = (name: string, what: string, possible: boolean, text: () => Promise<string>) =>
      h('li', {}, h('button', { disabled: !possible, data: { export: name }, onclick: () => void this.write(name, text) }, name), h('span', {}, what));
    const file = (data: () => Promise<DataSet>, format: ask.FileFormat) => async () => (await ask.write(this.lane, await data(), format)).text;
    const landmarks = async () => landmarkData(start, state, await this.sizes());
    const everything = async () => (state.pairs.length > 0 ? pairData(start, state) : landmarks());
    return h('div', { className: 'card' },
      h('h2', {}, 'Results'),
      h('ul', { className: 'exports' },
        row('data.json', 'the data set: train and evaluate on it', named || paired, file(everything, 'data-set')),
        row('landmarks.csv', 'named points of confirmed specimens', named, file(landmarks, 'landmarks')),
        row('landmarks.tps', 'the same for morphometrics programs', named, file(landmarks, 'tps')),
        row('matches.csv', 'labelled matches', paired, file(async () => pairData(start, state), 'matches')),
        row('model.json', state.pairs.length > 0 ? 'the model, for homolog match' : 'the model, for homolog name', state.pairs.length > 0 ? this.app.learning.model !== null : named, () => this.modelText()),
      ),
      h('p', { className: 'note' }, `They are written to ${this.app.store.place}.`),
    );
  }

  private async write(name: string, text: () => Promise<string>): Promise<void> {
    try {
      const place = await this.app.store.write(name, await text(), this.app.saver.version);
      this.app.tell(`Written: ${place}`);
    } catch (error) {
      this.app.tell(`${name} was not written: ${(error as Error).message || 'someone else changed this project; reload first'}`);
    }
  }
}
