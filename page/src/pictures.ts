// Pictures as bitmaps to show and grey levels to look at, each decoded once and a few kept.

import type { GreyLevels } from './requests';
import type { Viewport } from './board';
import { type Axes, Turn } from './space';
import type { Place, Point, Specimen } from './state';
import type { Store } from './store';

/** How many decoded pictures are kept. */
const KEPT = 24;
/** No side of a picture is longer than this, in pixels. */
const LONGEST_SIDE = 16_384;

export class Pictures {
  private readonly bitmaps = new Map<string, Promise<ImageBitmap>>();
  private readonly sizes = new Map<string, Point>();

  constructor(
    private readonly store: Store,
    /** The number that the store knows a specimen's picture by. */
    private readonly numbers: ReadonlyMap<string, number>,
  ) {}

  /** Width and height. */
  async size(specimen: Specimen): Promise<Point> {
    const known = this.sizes.get(specimen.id);
    if (known !== undefined) return known;
    const { width, height } = await this.bitmap(specimen);
    this.sizes.set(specimen.id, [width, height]);
    return [width, height];
  }

  bitmap(specimen: Specimen): Promise<ImageBitmap> {
    const kept = this.bitmaps.get(specimen.id);
    if (kept !== undefined) {
      // The newest at the end.
      this.bitmaps.delete(specimen.id);
      this.bitmaps.set(specimen.id, kept);
      return kept;
    }
    const bitmap = this.load(specimen);
    this.bitmaps.set(specimen.id, bitmap);
    bitmap.catch(() => this.bitmaps.delete(specimen.id));
    const oldest = this.bitmaps.keys().next().value;
    if (this.bitmaps.size > KEPT && oldest !== undefined) this.bitmaps.delete(oldest);
    return bitmap;
  }

  private async load(specimen: Specimen): Promise<ImageBitmap> {
    const number = this.numbers.get(specimen.id);
    if (number === undefined) throw new Error(`${specimen.id} has no picture`);
    const blob = await this.store.picture(number);
    // Points are in pixels of the file: no rotation by what a camera noted, as the program reads it.
    const bitmap = await createImageBitmap(blob, { imageOrientation: 'none' } as unknown as ImageBitmapOptions).catch(() => {
      throw new Error(`the picture of ${specimen.id} cannot be read`);
    });
    if (Math.max(bitmap.width, bitmap.height) > LONGEST_SIDE) throw new Error(`the picture of ${specimen.id} is too large`);
    return bitmap;
  }

  async grey(specimen: Specimen): Promise<GreyLevels> {
    const bitmap = await this.bitmap(specimen);
    const { width, height } = bitmap;
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d', { willReadFrequently: true })!;
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const pixels = new Uint8Array(width * height);
    // Rec. 709, as the program has it.
    for (let n = 0; n < pixels.length; n++) {
      pixels[n] = Math.round(0.2126 * data[4 * n]! + 0.7152 * data[4 * n + 1]! + 0.0722 * data[4 * n + 2]!);
    }
    return { width, height, pixels };
  }
}

/** What is to be seen: the whole picture, or the points with some room around them. */
export function boundsOf(picture: { width: number; height: number } | null, points: readonly Place[]): { low: Point; high: Point } {
  if (picture !== null) return { low: [-0.5, -0.5], high: [picture.width - 0.5, picture.height - 0.5] };
  if (points.length === 0) return { low: [0, 0], high: [100, 100] };
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [low, high] = [[Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)]] as [Point, Point];
  const room = 0.06 * Math.max(high[0] - low[0], high[1] - low[1], 1e-6);
  return { low: [low[0] - room, low[1] - room], high: [high[0] + room, high[1] + room] };
}

/** Shows points without a picture: in the plane as they are, in space turned so that these axes go to the right, up and towards the eye. */
export function showPoints(viewport: Viewport, points: readonly Place[], axes: Axes): void {
  viewport.picture = null;
  viewport.turn = points.some((point) => point.length === 3) ? Turn.around(points, axes) : null;
  const radius = viewport.turn?.radius;
  viewport.bounds = radius === undefined ? boundsOf(null, points) : { low: [-radius, -radius], high: [radius, radius] };
  viewport.fit();
}
