// Small charts as SVG: lines over a number of labels, and bars of weights.

const SVG = 'http://www.w3.org/2000/svg';

function s(tag: string, attributes: Record<string, string | number>, ...children: Array<Node | string>): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export interface Series {
  name: string;
  className: string;
  points: ReadonlyArray<readonly [number, number]>;
}

/** Shares, from 0, over counts. */
export function lineChart(series: readonly Series[], xTitle: string): SVGElement {
  const [width, height, left, bottom, top, right] = [520, 240, 52, 44, 26, 14];
  const all = series.flatMap(({ points }) => points);
  const xs = all.map(([x]) => x);
  const [low, high] = [Math.min(...xs, 0), Math.max(...xs, 1)];
  const most = Math.max(...all.map(([, y]) => y), 0.05) * 1.1;
  const x = (value: number) => left + ((value - low) / (high - low)) * (width - left - right);
  const y = (value: number) => height - bottom - (value / most) * (height - bottom - top);
  const chart = s('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': `${series.map(({ name }) => name).join(', ')} by ${xTitle}` });
  const decimals = most < 0.3 ? 1 : 0;
  for (let n = 0; n <= 4; n++) {
    const value = (most / 4) * n;
    chart.append(
      s('line', { x1: left, x2: width - right, y1: y(value), y2: y(value), class: 'grid' }),
      s('text', { x: left - 6, y: y(value) + 4, class: 'tick end' }, `${(100 * value).toFixed(decimals)} %`),
    );
  }
  const steps = Math.min(8, Math.round(high - low)) || 1;
  for (let n = 0; n <= steps; n++) {
    const value = Math.round(low + ((high - low) / steps) * n);
    chart.append(s('text', { x: x(value), y: height - bottom + 18, class: 'tick middle' }, String(value)));
  }
  chart.append(s('text', { x: (left + width - right) / 2, y: height - 6, class: 'title middle' }, xTitle));
  series.forEach(({ name, className, points }, n) => {
    if (points.length > 0) chart.append(s('polyline', { points: points.map(([px, py]) => `${x(px)},${y(py)}`).join(' '), class: className }));
    for (const [px, py] of points) chart.append(s('circle', { cx: x(px), cy: y(py), r: 3, class: className }));
    chart.append(
      s('line', { x1: left + n * 230, x2: left + n * 230 + 22, y1: 12, y2: 12, class: className }),
      s('text', { x: left + n * 230 + 28, y: 16, class: 'tick' }, name),
    );
  });
  return chart;
}

/** One bar for each weight, in order, around zero. */
export function barChart(values: ReadonlyArray<readonly [string, number]>): SVGElement {
  const [width, height] = [520, 150];
  const middle = values.some(([, value]) => value < 0) ? height / 2 : height - 2;
  const most = Math.max(...values.map(([, value]) => Math.abs(value)), 1e-12);
  const step = (width - 8) / Math.max(values.length, 1);
  const chart = s('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': `${values.length} bars, the longest ${most.toPrecision(2)}` });
  chart.append(s('line', { x1: 0, x2: width, y1: middle, y2: middle, class: 'grid' }));
  values.forEach(([name, value], n) => {
    const size = (Math.abs(value) / most) * (middle - 6);
    const bar = s('rect', { x: 4 + n * step, width: Math.max(step - 1, 0.5), y: value > 0 ? middle - size : middle, height: size, class: value > 0 ? 'bar' : 'bar negative' });
    bar.append(s('title', {}, `${name}: ${value.toPrecision(4)}`));
    chart.append(bar);
  });
  return chart;
}
