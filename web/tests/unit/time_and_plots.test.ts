import { describe, expect, it, vi } from 'vitest';
import { Clock, comfortableSpeed, speedChoices } from '../../src/time/clock.ts';
import { ownsKey, press, type KeyActions } from '../../src/time/keys.ts';
import { TimeRange } from '../../src/plot/time_range.ts';
import { plotGroups, stemOf } from '../../src/plot/groups.ts';
import { listed, MOST_LISTED } from '../../src/plot/legend.ts';
import { decadeLabel, decadeRange, decades, linearAxis, linearRange, linearTicks, roomAtEnd, tickLabels, written, type Written } from '../../src/plot/ticks.ts';
import type { ColumnKind } from '../../src/data/contract.ts';
import type { Table } from '../../src/data/report.ts';

describe('clock', () => {
  it('plays, loops and stops at the end', () => {
    const clock = new Clock(0, 10);
    clock.play();
    clock.advance(4);
    expect(clock.t).toBe(4);
    clock.advance(7);
    expect(clock.t).toBe(1);
    clock.setLoop(false);
    clock.advance(20);
    expect([clock.t, clock.playing]).toEqual([10, false]);
    clock.play();
    expect(clock.t).toBe(0);
  });
  it('stays inside and tells only of changes', () => {
    const clock = new Clock(1, 2);
    const heard = vi.fn();
    clock.onTime(heard);
    clock.set(99);
    clock.set(99);
    clock.set(NaN);
    expect(clock.t).toBe(2);
    expect(heard).toHaveBeenCalledTimes(1);
  });
  it('offers the speed that it has', () => {
    for (let power = -12; power < 12; power += 0.37) expect(speedChoices(comfortableSpeed(10 ** power))).toContain(comfortableSpeed(10 ** power));
  });
  it('has a speed at which a run can be watched', () => {
    expect(comfortableSpeed(10)).toBe(1);
    expect(comfortableSpeed(1000)).toBe(100);
    expect(comfortableSpeed(0.01)).toBeCloseTo(0.001, 12);
    expect(comfortableSpeed(0)).toBe(1);
    expect(speedChoices(100)).toContain(1);
  });
});

describe('keys', () => {
  const actions = (): KeyActions => ({
    clock: new Clock(0, 10), stepping: { neighbour: (t, d) => t + d }, range: new TimeRange(0, 10), fit: vi.fn(), fill: vi.fn(), theme: vi.fn(), help: vi.fn(),
  });
  it('move the time', () => {
    const a = actions();
    expect(press('ArrowRight', false, a)).toBe(true);
    expect(a.clock.t).toBe(1);
    press('ArrowRight', true, a);
    expect(a.clock.t).toBe(1.5);
    press('End', false, a);
    expect(a.clock.t).toBe(10);
    press('Home', false, a);
    expect(a.clock.t).toBe(0);
    press(' ', false, a);
    expect(a.clock.playing).toBe(true);
    expect(press('x', false, a)).toBe(false);
  });
  it('zoom plots', () => {
    const a = actions();
    press('+', false, a);
    expect(a.range.to - a.range.from).toBe(5);
    press('0', false, a);
    expect(a.range.whole).toBe(true);
  });
  it('are left to fields that need them', () => {
    expect(ownsKey('INPUT', 'text', 'a')).toBe(true);
    expect(ownsKey('INPUT', 'range', 'Home')).toBe(false);
    expect(ownsKey('BUTTON', '', ' ')).toBe(true);
    expect(ownsKey('BUTTON', '', 'ArrowLeft')).toBe(false);
    expect(ownsKey('SELECT', '', 'ArrowUp')).toBe(true);
    expect(ownsKey('CANVAS', '', ' ')).toBe(false);
  });
});

describe('time range', () => {
  it('zooms around a time, pans and stays inside', () => {
    const range = new TimeRange(0, 10);
    range.zoom(0.5, 2);
    expect([range.from, range.to]).toEqual([1, 6]);
    range.pan(-1);
    expect([range.from, range.to]).toEqual([0, 5]);
    range.set(9, 20);
    expect([range.from, range.to]).toEqual([0, 10]);
    range.set(-5, 3);
    expect([range.from, range.to]).toEqual([0, 8]);
  });
  it('follows a run that grows', () => {
    const range = new TimeRange(0, 10);
    range.extend(12);
    expect(range.to).toBe(12);
    range.set(2, 4);
    range.extend(20);
    expect([range.from, range.to]).toEqual([2, 4]);
  });
});

describe('groups of plots', () => {
  const table = (columns: [string, ColumnKind][]): Table => ({
    info: { name: 'rows', rows: 1, time: 0, columns: [] }, time: new Float64Array(1),
    columns: columns.map(([name, kind]) => ({ name, kind, block: 0, values: new Float64Array(1) })),
  });
  it('gives vectors plots of their own, and both constraint levels one with a logarithmic axis', () => {
    const groups = plotGroups([table([['q1[0]', 'coordinate'], ['q1[1]', 'coordinate'], ['x', 'coordinate'], ['y', 'coordinate'], ['|g|', 'constraint'], ['|Gv|', 'hidden-constraint'], ['H', 'energy']])]);
    expect(groups.map((g) => [g.title, g.columns.length, g.log])).toEqual([
      ['Coordinates: q1', 2, false], ['Coordinates', 2, false], ['Constraints, position and velocity level', 2, true], ['Energy', 1, false]]);
  });
  it('draws a few of thousands', () => {
    const group = plotGroups([table(Array.from({ length: 2000 }, (_, i) => [`disks[${i}][0]`, 'coordinate']))])[0]!;
    expect(group.columns.length).toBe(2000);
    expect(group.shown).toBeLessThan(10);
    expect(listed(group.columns.map((c) => c.name), group.columns.map((_, i) => i < 6), 'disks[17]')).toEqual([17]);
    expect(listed(group.columns.map((c) => c.name), group.columns.map((_, i) => i > 1990), '').length).toBe(MOST_LISTED);
  });
  it('finds stems', () => {
    expect(stemOf("q1'[0]")).toBe("q1'");
    expect(stemOf('energy')).toBe('energy');
  });
});

type Asked = (u: unknown, axis: number, low: number, high: number, increment: number, pixels: number) => number[];
/** As uPlot asks: for increments, then for ticks, then for what stands beside them. */
function drawnAxis(space: number, low: number, high: number, pixels: number): { values: number[]; most: number } & Written {
  let beside: Written = { labels: [], base: '' };
  const axis = linearAxis(space, (ticks) => (beside = written(ticks)).labels);
  const increment = (axis.incrs as unknown as Asked)(null, 0, low, high, pixels, space)[0]!;
  const values = (axis.splits as unknown as Asked)(null, 0, low, high, increment, (pixels * increment) / (high - low));
  const labels = (axis.values as unknown as (u: unknown, values: number[]) => string[])(null, values);
  return { values, labels, base: beside.base, most: Math.floor(pixels / space) };
}
/** Of what is read, base and label together, the number nearest to it: digits are added as they are written. */
function readNumber(...parts: string[]): number {
  const terms = parts.filter((part) => part !== '').map((part) => {
    const [digits, exponent] = part.replace(/−/g, '-').split('e');
    const [whole, rest = ''] = digits!.split('.');
    return { n: BigInt(whole! + rest), power: Number(exponent ?? 0) - rest.length };
  });
  const power = Math.min(...terms.map((term) => term.power));
  return Number(`${terms.reduce((sum, term) => sum + term.n * 10n ** BigInt(term.power - power), 0n)}e${power}`);
}

describe('ticks', () => {
  const beside = (low: number, high: number, gaps: number): Written => written(linearTicks(low, high, gaps));
  it('tell neighbours apart', () => {
    expect(beside(0, 5, 2)).toEqual({ labels: ['0', '2.5', '5.0'], base: '' });
    expect(beside(-2.5e-5, 2.5e-5, 2).labels).toEqual(['−2.5e−5', '0', '2.5e−5']);
    expect(beside(19.6199, 19.62, 1).labels).toEqual(['19.6199', '19.6200']);
    expect(beside(97017001.05, 97017001.06, 3)).toEqual({ labels: ['−0.010', '−0.005', '0'], base: '97017001.06' });
    expect(beside(57.5250305, 57.5250315, 2)).toEqual({ labels: ['−5e−7', '0', '5e−7'], base: '57.525031' });
    expect(tickLabels(linearTicks(57.5250305, 57.5250315, 2))).toEqual(['57.5250305', '57.5250310', '57.5250315']);
    expect(tickLabels(linearTicks(1234567, 1234567.004, 2))).toEqual(['1.234567e6', '1.234567002e6', '1.234567004e6']);
    expect(beside(-3e7, 3e7, 2).labels).toEqual(['0']);
    expect(beside(0, 4000, 4).labels).toEqual(['0', '1000', '2000', '3000', '4000']);
  });
  it('have numbers beside them that are theirs, of axes of any size and span', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    const wrong: string[] = [];
    let longest = 0;
    for (let k = 0; k < 20000; ++k) {
      const size = 10 ** (k % 2 === 0 ? 12 * random() : 24 * random() - 12);
      const middle = (random() < 0.5 ? -1 : 1) * size;
      const span = size * 10 ** (-13 * random());
      const space = random() < 0.5 ? 28 : 60;
      const [low, high] = linearRange(middle - span / 2, middle + span / 2);
      const { values, labels, base, most } = drawnAxis(space, low, high, 100 + 900 * random());
      const places = values.map((value) => (value - low) / (high - low));
      const rounding = 1e-9 + 1e-15 * (size / (high - low));
      const right = labels.length === values.length && new Set(labels).size === values.length
        && values.length > 0.3 * most - 1 && values.length <= most + 1
        && places.every((place, i) => place >= -1e-9 && place <= 1 + 1e-9 && (i < 2 || Math.abs(place - 2 * places[i - 1]! + places[i - 2]!) < rounding))
        && labels.every((label, i) => readNumber(base, label) === values[i]);
      if (!right) wrong.push(`${low} to ${high}: ${values}, '${base}' ${labels}`);
      longest = Math.max(longest, ...labels.map((label) => label.length));
    }
    expect(wrong).toEqual([]);
    expect(longest).toBeLessThanOrEqual(10);
  });
  it('show what rounding has left of a zero as one, and nothing else', () => {
    let seed = 11;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let k = 0; k < 2000; ++k) {
      const size = 10 ** (24 * random() - 12);
      const [a, b] = [random() - 0.5, random() - 0.5].map((x) => x * size * 10 ** -(random() < 0.5 ? 21 + 20 * random() : 18 * random()));
      const [low, high] = [Math.min(a!, b!), Math.max(a!, b!)];
      const own = Math.max(-low, high);
      const range = linearRange(low, high, size);
      if (own < 1e-20 * size) expect(range).toEqual([-0.1 * size, 0.1 * size]);
      else expect(range).toEqual(linearRange(low, high));
    }
    expect(linearRange(0, 0, 0)).toEqual([-1, 1]);
  });
  it('leave room for the last number at their end', () => {
    let seed = 13;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let k = 0; k < 2000; ++k) {
      const [from, width, label] = [1e4 * (random() - 0.5), 200 + 900 * random(), 100 * random()];
      const to = from + 10 ** (8 * random() - 4);
      const last = to - (random() < 0.3 ? 0 : random() ** 3) * (to - from);
      const room = roomAtEnd(label, last, from, to, width, 14);
      expect(room).toBeGreaterThanOrEqual(14);
      expect(((to - last) / (to - from)) * width + room).toBeGreaterThan(label / 2);
    }
  });
  it('are evenly spaced, of numbers of any size', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let k = 0; k < 2000; ++k) {
      const span = 10 ** (580 * random() - 290);
      const low = (random() - 0.5) * span * 10 ** (8 * random() * random());
      const gaps = 2 + Math.floor(20 * random());
      const { values, step, power } = linearTicks(low, low + span, gaps);
      expect(values.length, `${low} + ${span}, ${gaps}: ${values}`).toBeGreaterThan(0.3 * gaps - 1);
      expect(values.length).toBeLessThanOrEqual(gaps + 1);
      for (const x of values) expect(x >= low - 1e-6 * span && x <= low + span * (1 + 1e-6), `${low} + ${span}: ${values}`).toBe(true);
      for (let i = 1; i < values.length; ++i) expect((values[i]! - values[i - 1]!) / Number(`${step}e${power}`)).toBeCloseTo(1, 4);
    }
    expect(linearTicks(0, 1, 5).values).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect([linearTicks(3, 3, 5), linearTicks(0, Infinity, 5), linearTicks(NaN, 1, 5)].map((ticks) => [ticks.values, written(ticks)])).toEqual(
      [1, 2, 3].map(() => [[], { labels: [], base: '' }]));
    expect([beside(19.61, 19.62, 1).base, beside(0, 5, 5).base]).toEqual(['', '']);
  });
  it('are whole decades on logarithmic axes', () => {
    expect(decadeRange(3e-16, 2e-15)).toEqual([1e-16, 1e-14]);
    expect(decadeRange(1, 1)).toEqual([1, 10]);
    expect(decades(1e-16, 1, 6).length).toBeLessThanOrEqual(6);
    expect(decadeLabel(1e-12)).toBe('1e−12');
    expect(decadeLabel(0.01)).toBe('0.01');
  });
});
