// Fewer points for the same picture. Rows are gathered by time into as many buckets as there are pixels; a bucket of more
// than two rows becomes two points, at the times of its first and last row, with the minimum and the maximum of each
// column in the order in which they occur. No extreme value is lost, and none is invented.
import type { NumberArray } from '../data/blocks.ts';

/** The first index with time >= t. Times do not decrease. */
export function lowerBound(time: ArrayLike<number>, t: number): number {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle]! < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Decimated {
  time: number[];
  columns: (number | null)[][];
  /** Rows in the range, before. */
  rows: number;
}

/** The rows of [first, last) that each bucket begins with; ends with `last`. */
function bucketStarts(time: ArrayLike<number>, first: number, last: number, buckets: number): Int32Array {
  const t0 = time[first]!;
  const span = time[last - 1]! - t0;
  if (!(span > 0)) return Int32Array.of(first, last);
  const starts: number[] = [];
  let current = -1;
  for (let i = first; i < last; ++i) {
    const bucket = Math.min(buckets - 1, Math.floor(((time[i]! - t0) / span) * buckets));
    if (bucket !== current) {
      starts.push(i);
      current = bucket;
    }
  }
  starts.push(last);
  return Int32Array.from(starts);
}

/** Minimum and maximum of a bucket in order of occurrence; rows that are not finite count only where all are. */
function extremes(values: NumberArray, first: number, last: number): [number | null, number | null] {
  let low = Infinity;
  let high = -Infinity;
  let lowAt = -1;
  let highAt = -1;
  for (let i = first; i < last; ++i) {
    const x = values[i]!;
    if (x < low && x !== -Infinity) {
      low = x;
      lowAt = i;
    }
    if (x > high && x !== Infinity) {
      high = x;
      highAt = i;
    }
  }
  if (lowAt < 0) return [null, null];
  return lowAt <= highAt ? [low, high] : [high, low];
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);

/** The rows between two times, with one more on each side so that lines run out of the picture. */
export function decimate(time: NumberArray, columns: NumberArray[], from: number, to: number, buckets: number): Decimated {
  const first = Math.max(0, lowerBound(time, from) - 1);
  let last = lowerBound(time, to);
  while (last < time.length && time[last]! <= to) ++last;
  last = Math.min(time.length, last + 1);
  const rows = Math.max(0, last - first);
  if (rows <= 2 * buckets) {
    const outTime: number[] = [];
    for (let i = first; i < last; ++i) outTime.push(time[i]!);
    return {
      time: outTime,
      columns: columns.map((values) => outTime.map((_, i) => finite(values[first + i]!))),
      rows,
    };
  }
  const starts = bucketStarts(time, first, last, buckets);
  const outTime: number[] = [];
  const out: (number | null)[][] = columns.map(() => []);
  for (let b = 0; b + 1 < starts.length; ++b) {
    const begin = starts[b]!;
    const end = starts[b + 1]!;
    outTime.push(time[begin]!);
    if (end - begin > 1) outTime.push(time[end - 1]!);
    for (let c = 0; c < columns.length; ++c) {
      const values = columns[c]!;
      if (end - begin <= 2) {
        for (let i = begin; i < end; ++i) out[c]!.push(finite(values[i]!));
      } else {
        const [a, z] = extremes(values, begin, end);
        out[c]!.push(a, z);
      }
    }
  }
  return { time: outTime, columns: out, rows };
}

/** For a logarithmic axis: sizes, and zeros at `floor`, which the axis shows as its lower end. */
export function sizesAbove(column: (number | null)[], floor: number): (number | null)[] {
  return column.map((x) => (x === null ? null : Math.max(Math.abs(x), floor)));
}

/** The lower end of a logarithmic axis: a power of ten at or below everything that is not zero, never above 1e-16. */
export function logFloor(columns: NumberArray[]): number {
  let least = 1e-16;
  for (const values of columns)
    for (let i = 0; i < values.length; ++i) {
      const size = Math.abs(values[i]!);
      if (size > 0 && size < least) least = size;
    }
  return Math.max(1e-30, 10 ** Math.floor(Math.log10(least)));
}
