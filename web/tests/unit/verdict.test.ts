import { describe, expect, it } from 'vitest';
import { gaugePart } from '../../src/verdict/gauge.ts';
import { methodLine, numbersKept, standingOf } from '../../src/verdict/verdict_panel.ts';
import { lineColour, lineDash, forceColour } from '../../src/page/palette.ts';
import type { Summary } from '../../src/data/contract.ts';

const summary: Summary = { title: '', status: 'finished', method: { name: 'radau' }, time: { start: 0, end: 1, steps: 1234 } };

describe('verdict', () => {
  it('is sound only where nothing is doubtful', () => {
    expect(standingOf({ ...summary, verdict: { sound: true, doubts: [] } })).toBe('sound');
    expect(standingOf({ ...summary, verdict: { sound: true, doubts: [{ cause: 'x', value: 1, remedy: 'y' }] } })).toBe('doubtful');
    expect(standingOf({ ...summary, verdict: { sound: false, doubts: [] } })).toBe('doubtful');
    expect(standingOf({ ...summary, status: 'failed', verdict: { sound: true, doubts: [] } })).toBe('failed');
    expect(standingOf({ ...summary, status: 'running' })).toBe('running');
    expect(standingOf(summary)).toBe('unknown');
  });
  it('tells the method in a line', () => {
    const text = methodLine({ ...summary, time: { ...summary.time, tolerance: { relative: 1e-6, absolute: 1e-9 }, shortest: 1e-4, longest: 0.1, rejected: 3 } });
    expect(text).toContain('relative tolerance 1e−6');
    expect(text).toContain('3 rejected');
  });
  it('places errors on the gauge', () => {
    expect(gaugePart(0)).toBe(0);
    expect(gaugePart(1e-8)).toBeCloseTo(0.5, 12);
    expect(gaugePart(NaN)).toBe(1);
    expect(gaugePart(1e9)).toBe(1);
  });
});

/** Contrast of two colours as the accessibility guidelines measure it. */
function contrast(a: string, b: string): number {
  const light = (hex: string): number => {
    const [r, g, bl] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * bl!;
  };
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p) as [number, number];
  return (x + 0.05) / (y + 0.05);
}

describe('colours', () => {
  it('stand out from their ground', () => {
    for (let i = 0; i < 7; ++i) {
      expect(contrast(lineColour(i, 'light'), '#ffffff')).toBeGreaterThan(3); // measured 3.8 to 9.7
      expect(contrast(lineColour(i, 'dark'), '#1a1e22')).toBeGreaterThan(5);
    }
  });
  it('come with dashes once they repeat', () => {
    expect(lineDash(0)).toEqual([]);
    expect(lineDash(7)).not.toEqual([]);
    expect(lineColour(7, 'light')).toBe(lineColour(0, 'light'));
  });
  it('tell larger forces by lightness alone', () => {
    const lightness = (p: number, theme: 'light' | 'dark') => { const [r, g, b] = forceColour(p, theme); return 0.3 * r! + 0.6 * g! + 0.1 * b!; };
    for (const [theme, sign] of [['light', -1], ['dark', 1]] as const)
      for (let i = 0; i < 10; ++i) expect(sign * (lightness((i + 1) / 10, theme) - lightness(i / 10, theme))).toBeGreaterThan(0);
  });
});

describe('numbers in notes', () => {
  it('have minus signs, and nothing else is changed', () => {
    let seed = 5;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let k = 0; k < 1000; ++k) {
      const x = (random() - 0.5) * 10 ** (40 * random() - 20);
      expect(numbersKept(`energy at the end ${x}`)).toBe(`energy at the end ${String(x).replace(/-/g, '−')}`);
    }
    for (const text of ['a half-open interval', '--end 3 is shorter', 'gauss-lobatto, step-2', 'H - H0', 'e-mail', 'q-1']) expect(numbersKept(text)).toBe(text);
  });
});
