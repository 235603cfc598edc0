// What was learned: the error against the number of labels, suggestions that were wrong, weights; and the results as files.

import type { App } from './app';
import { barChart, lineChart } from './chart';
import { type DataSet, landmarkData, pairData } from './data';
import { h, replace } from './dom';
import type { Lane } from './learner';
import * as ask from './requests';

export class ModelView {
  readonly element = h('section', { className: 'model' });

  constructor(
    private readonly app: App,
    private readonly lane: Lane,
  ) {}

  update(): void {
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
          ? h('p', { className: 'note' }, 'Here a curve grows with every specimen or pair that is confirmed after a suggestion.')
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
      this.exports(),
    );
  }

  private exports(): HTMLElement {
    const { state, start } = this.app;
    const named = Object.values(state.specimens).some((specimen) => specimen.confirmed);
    const paired = state.pairs.some((pair) => Object.keys(pair.labels).length > 0);
    const row = (name: string, what: string, possible: boolean, text: () => Promise<string>) =>
      h('li', {}, h('button', { disabled: !possible, data: { export: name }, onclick: () => void this.write(name, text) }, name), h('span', {}, what));
    const file = (data: () => DataSet, format: ask.FileFormat) => async () => (await ask.write(this.lane, data(), format)).text;
    const landmarks = () => landmarkData(start, state);
    const everything = () => (state.pairs.length > 0 ? pairData(start, state) : landmarks());
    return h('div', { className: 'card' },
      h('h2', {}, 'Results'),
      h('ul', { className: 'exports' },
        row('data.json', 'the data set: train and evaluate on it', named || paired, file(everything, 'data-set')),
        row('landmarks.csv', 'named points of confirmed specimens', named, file(landmarks, 'landmarks')),
        row('landmarks.tps', 'the same for morphometrics programs', named, file(landmarks, 'tps')),
        row('matches.csv', 'labelled matches', paired, file(() => pairData(start, state), 'matches')),
        row('model.json', 'the model, for homolog match', this.app.learning.model !== null, async () => this.app.learning.model!.learned.model),
      ),
      h('p', { className: 'note' }, `They go to ${this.app.store.place}.`),
    );
  }

  private async write(name: string, text: () => Promise<string>): Promise<void> {
    try {
      const place = await this.app.store.write(name, await text(), this.app.saver.version);
      this.app.tell(`Written: ${place}`);
    } catch (error) {
      this.app.tell(`${name} was not written: ${(error as Error).message || 'somebody else changed this project; reload first'}`);
    }
  }
}
