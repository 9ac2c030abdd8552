import { describe, expect, it } from 'vitest';
import { earlierRun, extentBetween, keepRun, lineKey } from '../../src/live/earlier_run.ts';
import type { Table } from '../../src/data/report.ts';

class Shelf {
  private texts = new Map<string, string>();
  constructor(private most = Infinity) {}
  getItem(key: string): string | null {
    return this.texts.get(key) ?? null;
  }
  setItem(key: string, text: string): void {
    if (text.length > this.most) throw new DOMException('full', 'QuotaExceededError');
    this.texts.set(key, text);
  }
  removeItem(key: string): void {
    this.texts.delete(key);
  }
}

function table(rows: number): Table {
  const time = Float64Array.from({ length: rows }, (_, i) => i * 0.01);
  const values = Float64Array.from(time, (t) => Math.sin(t) + (t === 0.37 * rows * 0.01 ? 5 : 0));
  values[Math.floor(rows / 3)] = 9;
  values[7] = NaN;
  return { info: { name: 'rows', rows, time: 0, columns: [] }, time, columns: [{ name: 'q[0]', kind: 'coordinate', block: 1, values }] };
}

describe('the run before', () => {
  it('is there again with its extremes and settings', () => {
    const shelf = new Shelf();
    expect(earlierRun(shelf, 'swing')).toBeNull();
    keepRun(shelf, table(30000), 'swing', 'parameters.l=2');
    const run = earlierRun(shelf, 'swing')!;
    expect(run.settings).toBe('parameters.l=2');
    expect(earlierRun(shelf, 'other model')).toBeNull();
    const line = run.lines[lineKey({ kind: 'coordinate', name: 'q[0]' })]!;
    expect(line.time.length).toBeLessThan(1000);
    expect(line.time.length).toBe(line.values.length);
    expect(extentBetween(line, -1, 1e9)![1]).toBe(9);
    expect(extentBetween(line, 0, 0.5)![1]).toBeLessThan(1.001);
    expect(extentBetween(line, 1e6, 2e6)).toBeNull();
  });
  it('is left out where there is no room, and where something else lies in its place', () => {
    const small = new Shelf(100);
    keepRun(small, table(3000), 'swing', '');
    expect(earlierRun(small, 'swing')).toBeNull();
    const odd = new Shelf();
    odd.setItem('hinge-earlier-run', '{"x": 1');
    expect(earlierRun(odd, 'swing')).toBeNull();
    odd.setItem('hinge-earlier-run', '{"title": "swing", "settings": 1, "lines": {}}');
    expect(earlierRun(odd, 'swing')).toBeNull();
  });
});
