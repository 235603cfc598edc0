// What to label next.

/** One in so many is chosen at random, in case the model is sure of something wrong. */
const RANDOM = 10;

/** The one of least value; the first if nothing is known; every tenth time one at random, the same in every run. */
export function choose<T>(open: readonly T[], value: (one: T) => number | undefined, round: number): T | null {
  if (open.length === 0) return null;
  if (round % RANDOM === RANDOM - 1) return open[mixed(round) % open.length]!;
  let best: T = open[0]!;
  let least = Infinity;
  for (const one of open) {
    const now = value(one);
    if (now !== undefined && now < least) [best, least] = [one, now];
  }
  return best;
}

/** A number that looks drawn at random, always the same for a round. */
function mixed(round: number): number {
  let bits = Math.imul(round + 1, 0x9e3779b1);
  bits = Math.imul(bits ^ (bits >>> 15), 0x85ebca6b);
  return (bits ^ (bits >>> 13)) >>> 0;
}
