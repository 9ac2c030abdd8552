import { describe, expect, it, vi } from 'vitest';
import { Clock, comfortableSpeed, speedChoices } from '../../src/time/clock.ts';
import { ownsKey, press, type KeyActions } from '../../src/time/keys.ts';
import { TimeRange } from '../../src/plot/time_range.ts';
import { plotGroups, stemOf } from '../../src/plot/groups.ts';
import { listed, MOST_LISTED } from '../../src/plot/legend.ts';
import { decadeLabel, decadeRange, decades, linearSplits, stepOf, tickBase, tickLabels } from '../../src/plot/ticks.ts';
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

describe('ticks', () => {
  it('tell neighbours apart', () => {
    expect(tickLabels([0, 2.5, 5], 2.5)).toEqual(['0', '2.5', '5.0']);
    expect(tickLabels([-2.5e-5, 0, 2.5e-5], 2.5e-5)).toEqual(['−2.5e−5', '0', '2.5e−5']);
    expect(tickLabels([19.6199, 19.62], 0.0001)).toEqual(['19.6199', '19.6200']);
    expect(tickLabels([null], 1)).toEqual(['']);
  });
  it('tell neighbours apart, whatever their size and step', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let k = 0; k < 2000; ++k) {
      const step = [1, 2, 2.5, 5][Math.floor(4 * random())]! * 10 ** Math.floor(30 * random() - 16);
      const first = Math.round((random() - 0.5) * 10 ** (12 * random()));
      const values = [0, 1, 2, 3, 4].map((i) => (first + i) * step);
      const base = tickBase(values, step);
      const labels = tickLabels(values.map((v) => v - base), step);
      expect(new Set(labels).size, `${values} by ${step}: ${labels}`).toBe(5);
      labels.forEach((label, i) => {
        expect(label.length, `${values} by ${step}: ${labels}`).toBeLessThanOrEqual(10);
        expect(Math.abs(Number(label.replace(/−/g, '-')) + base - values[i]!), `${values}: ${base} ${label}`).toBeLessThan(0.01 * step + 1e-15 * Math.abs(base));
      });
    }
    for (let k = 0; k < 2000; ++k) {
      const span = 10 ** (580 * random() - 290);
      const low = (random() - 0.5) * span * 10 ** (8 * random() * random());
      const most = 2 + Math.floor(20 * random());
      const splits = linearSplits(low, low + span, most);
      expect(splits.length, `${low} + ${span}, ${most}: ${splits}`).toBeGreaterThan(0.3 * most - 1);
      expect(splits.length).toBeLessThanOrEqual(most + 1);
      for (const x of splits) expect(x >= low - 1e-6 * span && x <= low + span * (1 + 1e-6), `${low} + ${span}: ${splits}`).toBe(true);
      for (let i = 1; i < splits.length; ++i) expect((splits[i]! - splits[i - 1]!) / stepOf(splits)).toBeCloseTo(1, 4);
    }
    expect(linearSplits(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect([linearSplits(3, 3, 5), linearSplits(0, Infinity, 5), linearSplits(NaN, 1, 5)]).toEqual([[3], [0], [NaN]]);
    expect(tickLabels([57.5250305, 57.525031, 57.5250315], 5e-7)).toEqual(['57.5250305', '57.5250310', '57.5250315']);
    expect(tickBase([57.5250305, 57.525031], 5e-7)).toBe(57.525031);
    expect(tickBase([19.61, 19.62], 0.01)).toBe(0);
    expect([tickBase([0, 5], 1), tickBase([null], 1), tickBase([], 1)]).toEqual([0, 0, 0]);
  });
  it('are whole decades on logarithmic axes', () => {
    expect(decadeRange(3e-16, 2e-15)).toEqual([1e-16, 1e-14]);
    expect(decadeRange(1, 1)).toEqual([1, 10]);
    expect(decades(1e-16, 1, 6).length).toBeLessThanOrEqual(6);
    expect(decadeLabel(1e-12)).toBe('1e−12');
    expect(decadeLabel(0.01)).toBe('0.01');
  });
});
