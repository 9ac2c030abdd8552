// The lines of the run before, kept in the browser from one run of `hinge view` to the next, so that both can be seen in one
// plot. Few points of each: minima and maxima of pixels, as a plot would draw them.
import type { Table } from '../data/report.ts';
import { decimate } from '../plot/decimate.ts';

export interface EarlierLine {
  time: number[];
  values: (number | null)[];
}
export interface EarlierRun {
  /** Of the model. */
  title: string;
  /** What was set in it. */
  settings: string;
  /** By kind and name of the column. */
  lines: Record<string, EarlierLine>;
}
type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const PLACE = 'hinge-earlier-run';
const POINTS = 400;
const MOST_COLUMNS = 60;

export const lineKey = (column: { kind: string; name: string }): string => `${column.kind} ${column.name}`;

export function keepRun(shelf: Shelf, table: Table, title: string, settings: string): void {
  const lines: EarlierRun['lines'] = {};
  const [from, to] = [table.time[0] ?? 0, table.time[table.time.length - 1] ?? 0];
  for (const column of table.columns.slice(0, MOST_COLUMNS)) {
    const thin = decimate(table.time, [column.values], from, to, POINTS);
    lines[lineKey(column)] = { time: thin.time.map((t) => Number(t.toPrecision(9))), values: thin.columns[0]!.map((x) => (x === null ? null : Number(x.toPrecision(7)))) };
  }
  try {
    shelf.setItem(PLACE, JSON.stringify({ title, settings, lines } satisfies EarlierRun));
  } catch {
    shelf.removeItem(PLACE); // no room: better none than half of it
  }
}

/** The run before of this model, if there was one. */
export function earlierRun(shelf: Shelf, title: string): EarlierRun | null {
  try {
    const read = JSON.parse(shelf.getItem(PLACE) ?? 'null') as EarlierRun | null;
    return read && read.title === title && typeof read.lines === 'object' && typeof read.settings === 'string' ? read : null;
  } catch {
    return null;
  }
}

/** Smallest and largest value between two times; null where there is none. */
export function extentBetween(line: EarlierLine, from: number, to: number): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  line.time.forEach((t, i) => {
    const x = line.values[i];
    if (t < from || t > to || x === null || x === undefined) return;
    low = Math.min(low, x);
    high = Math.max(high, x);
  });
  return low <= high ? [low, high] : null;
}
