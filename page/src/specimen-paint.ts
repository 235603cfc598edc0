// How a specimen looks: its picture or its points, marks with their names, and in space the small standard views.

import type { Viewport } from './board';
import { type Box, type Style, type Theme, drawMark, drawName, drawPicture } from './paint';
import { STANDARD, words } from './space';
import type { Place } from './state';

/** A named point as it is shown. */
export interface Shown {
  name: string;
  at: Place;
  style: Style;
}

export interface Scene {
  /** The points of a table. */
  points: readonly Place[];
  /** Corners of the picture, while they are wanted. */
  corners: readonly Place[];
  /** Where something should be that is elsewhere. */
  expected: readonly Place[];
  /** The chosen one last, on top. */
  marks: readonly Shown[];
  names: boolean;
}

export function drawScene(context: CanvasRenderingContext2D, viewport: Viewport, scene: Scene, theme: Theme): void {
  drawPicture(context, viewport, theme);
  const far = (a: Place, b: Place) => (viewport.depth(a) ?? 0) - (viewport.depth(b) ?? 0);
  const mark = (at: Place, style: Style) => drawMark(context, viewport.toScreen(at), { ...style, depth: viewport.depth(at) }, theme);
  for (const at of [...scene.points].sort(far)) mark(at, { kind: 'point', colour: theme.faint });
  for (const at of scene.corners) mark(at, { kind: 'corner', colour: theme.faint });
  for (const at of scene.expected) mark(at, { kind: 'dashed', colour: theme.check });
  const last = scene.marks.find(({ style }) => style.selected);
  for (const { at, style } of scene.marks.filter((one) => one !== last).sort((a, b) => far(a.at, b.at))) mark(at, style);
  if (last !== undefined) mark(last.at, last.style);
  // The chosen one's name first, then those nearest to the eye, as far as they find room.
  const taken: Box[] = [];
  const named = [...(last === undefined ? [] : [last]), ...scene.marks.filter((one) => one !== last).sort((a, b) => far(b.at, a.at))];
  for (const one of named) {
    if (scene.names || one === last) drawName(context, viewport.toScreen(one.at), one.name, one === last, taken, theme);
  }
}

/** The standard views beside the one that can be turned. */
export function drawSmall(context: CanvasRenderingContext2D, small: readonly Viewport[], scene: Scene, theme: Theme): void {
  small.forEach((viewport, n) => {
    const { rect, turn } = viewport;
    if (turn === null || rect.height === 0) return;
    context.save();
    context.beginPath();
    context.rect(rect.x, rect.y, rect.width, rect.height);
    context.clip();
    // Names would cover what is small.
    const tiny = ({ at, style }: Shown) => ({ name: '', at, style: { ...style, kind: style.kind === 'dashed' ? style.kind : ('point' as const) } });
    drawScene(context, viewport, { ...scene, marks: scene.marks.map(tiny), corners: [], expected: [], names: false }, theme);
    context.strokeStyle = theme.faint;
    context.strokeRect(rect.x + 0.5, rect.y + 0.5, rect.width - 1, rect.height - 1);
    context.fillStyle = theme.text;
    context.font = '11px system-ui, sans-serif';
    context.fillText(`${STANDARD[n]}: ${words(turn.axes)}`, rect.x + 7, rect.y + 15);
    context.restore();
  });
}
