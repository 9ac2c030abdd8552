import { describe, expect, it } from 'vitest';
import { decimate, logFloor, lowerBound, sizesAbove } from '../../src/plot/decimate.ts';
import { random } from '../../fixtures/assemble.ts';

const even = (n: number): Float64Array => Float64Array.from({ length: n }, (_, i) => i);

describe('decimation', () => {
  it('leaves few rows as they are, with one more on each side', () => {
    const time = even(100);
    const thin = decimate(time, [time], 10, 20, 500);
    expect(thin.time).toEqual([9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
    expect(thin.columns[0]).toEqual(thin.time);
  });

  it('keeps every bucket extreme and invents none', () => {
    const n = 100_000;
    const rand = random(1);
    const time = even(n);
    const values = Float64Array.from({ length: n }, () => rand() - 0.5);
    for (const at of [0, 777, 50_001, n - 1]) values[at] = at % 2 ? 9 : -9;
    const thin = decimate(time, [values], 0, n, 600);
    expect(thin.rows).toBe(n);
    expect(thin.time.length).toBeLessThanOrEqual(1200);
    const all = new Set(values);
    for (const x of thin.columns[0]!) expect(all.has(x!)).toBe(true);
    expect(Math.max(...(thin.columns[0] as number[]))).toBe(9);
    expect(Math.min(...(thin.columns[0] as number[]))).toBe(-9);
    // each piece of a sixth hundredth of the time has the same extremes before and after
    for (let part = 0; part < 20; ++part) {
      const [from, to] = [part * 5000, part * 5000 + 5000];
      const raw = values.subarray(from + 200, to - 200);
      const kept = thin.columns[0]!.filter((_, i) => thin.time[i]! >= from && thin.time[i]! < to) as number[];
      expect(Math.max(...kept)).toBeGreaterThanOrEqual(Math.max(...raw));
      expect(Math.min(...kept)).toBeLessThanOrEqual(Math.min(...raw));
    }
  });

  it('keeps times in order and a single spike visible in every column', () => {
    const n = 1_000_000;
    const time = even(n);
    const flat = new Float32Array(n);
    const spiked = new Float32Array(n);
    spiked[654_321] = 7.5;
    const started = performance.now();
    const thin = decimate(time, [flat, spiked], 0, n, 1000);
    expect(performance.now() - started).toBeLessThan(5000); // measured 60 to 400
    for (let i = 1; i < thin.time.length; ++i) expect(thin.time[i]!).toBeGreaterThanOrEqual(thin.time[i - 1]!);
    expect(thin.columns[1]!.filter((x) => x === 7.5).length).toBe(1);
    expect(thin.columns[0]!.every((x) => x === 0)).toBe(true);
  });

  it('does not spread rows of uneven steps over the picture', () => {
    // a million rows in the first thousandth of the time, two afterwards
    const time = Float64Array.from({ length: 10_002 }, (_, i) => (i < 10_000 ? i * 1e-7 : i - 9_999));
    const thin = decimate(time, [time], 0, 2, 100);
    expect(thin.time.slice(-2)).toEqual([1, 2]);
    expect(thin.time.length).toBeLessThan(10);
  });

  it('shows gaps where nothing is finite, and only there', () => {
    const time = even(1000);
    const values = Float64Array.from(time, (_, i) => (i < 500 ? NaN : i % 10 === 0 ? Infinity : 1));
    const column = decimate(time, [values], 0, 1000, 50).columns[0]!;
    expect(column[0]).toBeNull();
    expect(column.at(-1)).toBe(1);
    expect(column.some((x) => x !== null && !Number.isFinite(x))).toBe(false);
  });

  it('copes with nothing, one row and equal times', () => {
    expect(decimate(even(0), [even(0)], 0, 1, 10).time).toEqual([]);
    expect(decimate(even(1), [even(1)], 0, 1, 10).time).toEqual([0]);
    const same = new Float64Array(100).fill(3);
    expect(decimate(same, [even(100)], 0, 5, 10).columns[0]).toEqual([0, 99]);
  });

  it('finds the first row at or after a time', () => {
    expect(lowerBound([1, 2, 2, 3], 2)).toBe(1);
    expect(lowerBound([1, 2, 2, 3], 4)).toBe(4);
    expect(lowerBound([], 4)).toBe(0);
  });

  it('draws zeros at the floor of a logarithmic axis', () => {
    expect(logFloor([Float64Array.of(0, 3e-16, 1)])).toBe(1e-16);
    expect(logFloor([Float64Array.of(0, -4e-18)])).toBe(1e-18);
    expect(sizesAbove([0, -2, null], 1e-16)).toEqual([1e-16, 2, null]);
  });
});
