// How pictures, points, names and the loupe look.

import type { Viewport } from './board';
import type { Point } from './state';

export interface Theme {
  ground: string;
  text: string;
  halo: string;
  label: string;
  unsure: string;
  sure: string;
  faint: string;
  check: string;
}

export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: value('board'),
    text: value('text'),
    halo: value('halo'),
    label: value('label'),
    unsure: value('unsure'),
    sure: value('sure'),
    faint: value('faint'),
    check: value('check'),
  };
}

/** From unsure (0) to sure (1): orange to blue, told apart by everybody. */
export function certaintyColour(theme: Theme, certainty: number): string {
  const share = Math.round(100 * Math.min(Math.max(certainty, 0), 1));
  return `color-mix(in oklab, ${theme.sure} ${share}%, ${theme.unsure})`;
}

export function drawPicture(context: CanvasRenderingContext2D, viewport: Viewport, theme: Theme): void {
  const { rect, picture, scale } = viewport;
  context.save();
  context.beginPath();
  context.rect(rect.x, rect.y, rect.width, rect.height);
  context.clip();
  context.fillStyle = theme.ground;
  context.fillRect(rect.x, rect.y, rect.width, rect.height);
  if (picture !== null) {
    // The centre of the upper left pixel is (0, 0).
    const [x, y] = viewport.toScreen([-0.5, -0.5]);
    context.imageSmoothingEnabled = scale < 3;
    context.drawImage(picture, x, y, picture.width * scale, picture.height * scale);
  }
  context.restore();
}

export interface Style {
  colour: string;
  /** A label is filled, a suggestion is a ring, its runner-up a dashed one. */
  kind: 'label' | 'suggestion' | 'dashed' | 'corner' | 'point';
  /** In space: from 0, far away, to 1, near. */
  depth?: number | undefined;
  selected?: boolean;
  name?: string;
}

export function drawMark(context: CanvasRenderingContext2D, [x, y]: Point, style: Style, theme: Theme): void {
  context.save();
  context.lineJoin = 'round';
  if (style.kind === 'corner') {
    context.strokeStyle = theme.faint;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x - 2.5, y);
    context.lineTo(x + 2.5, y);
    context.moveTo(x, y - 2.5);
    context.lineTo(x, y + 2.5);
    context.stroke();
    context.restore();
    return;
  }
  // What is near is larger and darker.
  const near = style.depth ?? 0.5;
  const radius = (style.selected ? 7 : style.kind === 'point' ? 3.2 : 5) * (0.6 + 0.8 * near);
  if (style.depth !== undefined && !style.selected) context.globalAlpha = 0.35 + 0.65 * near;
  if (style.kind === 'point') {
    context.fillStyle = style.colour;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.restore();
    return;
  }
  if (style.kind === 'dashed') context.setLineDash([3, 3]);
  const ring = (colour: string, width: number) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  };
  ring(theme.halo, style.kind === 'label' ? 4 : 4.5);
  if (style.kind === 'label') {
    context.fillStyle = style.colour;
    context.beginPath();
    context.arc(x, y, radius - 0.5, 0, 2 * Math.PI);
    context.fill();
    ring(theme.halo, 1);
    context.fillStyle = theme.halo;
    context.beginPath();
    context.arc(x, y, 1.2, 0, 2 * Math.PI);
    context.fill();
  } else {
    ring(style.colour, 2);
  }
  context.setLineDash([]);
  if (style.selected) {
    context.strokeStyle = theme.halo;
    for (const [width, colour] of [[3.5, theme.halo], [1.5, style.colour]] as const) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]] as const) {
        context.moveTo(x + dx * (radius + 3), y + dy * (radius + 3));
        context.lineTo(x + dx * (radius + 11), y + dy * (radius + 11));
      }
      context.stroke();
    }
  }
  if (style.name !== undefined) drawName(context, [x, y], style.name, style.selected ?? false, [], theme);
  context.restore();
}

/** Left, top, right, bottom. */
export type Box = readonly [number, number, number, number];

/** Writes a name beside its point, if it covers none that already exists. */
export function drawName(context: CanvasRenderingContext2D, [x, y]: Point, name: string, strong: boolean, taken: Box[], theme: Theme): void {
  context.save();
  context.font = `${strong ? 600 : 400} 12px system-ui, sans-serif`;
  const [left, base] = [x + 11, y - 8];
  const box: Box = [left - 2, base - 11, left + context.measureText(name).width + 2, base + 4];
  const covers = taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
  if (!covers) {
    taken.push(box);
    context.lineWidth = 3.5;
    context.lineJoin = 'round';
    context.strokeStyle = theme.halo;
    context.fillStyle = theme.text;
    context.strokeText(name, left, base);
    context.fillText(name, left, base);
  }
  context.restore();
}

export function drawLine(context: CanvasRenderingContext2D, from: Point, to: Point, colour: string, width: number, dash: number[] = []): void {
  context.save();
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
  context.restore();
}

const LOUPE = 74;

/** The surroundings of a place of the picture, four times as large, in the corner away from it. */
export function drawLoupe(context: CanvasRenderingContext2D, viewport: Viewport, at: Point, theme: Theme): void {
  const { rect, picture } = viewport;
  if (picture === null) return;
  const [x, y] = viewport.toScreen(at);
  const right = x < rect.x + rect.width / 2;
  const centre: Point = [right ? rect.x + rect.width - LOUPE - 14 : rect.x + LOUPE + 14, rect.y + LOUPE + 14];
  if (y < rect.y + 2 * LOUPE + 28 && Math.abs(x - centre[0]) < 2 * LOUPE) {
    (centre as [number, number])[1] = rect.y + rect.height - LOUPE - 14;
  }
  const scale = Math.max(viewport.scale * 4, 4);
  context.save();
  context.beginPath();
  context.arc(centre[0], centre[1], LOUPE, 0, 2 * Math.PI);
  context.fillStyle = theme.ground;
  context.fill();
  context.save();
  context.clip();
  context.imageSmoothingEnabled = false;
  const corner: Point = [centre[0] - (at[0] + 0.5) * scale, centre[1] - (at[1] + 0.5) * scale];
  context.drawImage(picture, corner[0], corner[1], picture.width * scale, picture.height * scale);
  for (const [width, colour] of [[3, theme.halo], [1, theme.text]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]] as const) {
      context.moveTo(centre[0] + dx * 5, centre[1] + dy * 5);
      context.lineTo(centre[0] + dx * 22, centre[1] + dy * 22);
    }
    context.stroke();
  }
  context.restore();
  context.lineWidth = 2;
  context.strokeStyle = theme.faint;
  context.stroke();
  context.restore();
}
