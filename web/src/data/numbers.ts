// Numbers as a person reads them.
import type { Num } from './contract.ts';

export function numberOf(value: Num | undefined): number {
  if (value === 'Infinity') return Infinity;
  if (value === '-Infinity') return -Infinity;
  return typeof value === 'number' ? value : NaN;
}

/** Up to `digits` significant digits; powers of ten where that is shorter to read. */
export function formatNumber(x: number, digits = 6): string {
  if (Number.isNaN(x)) return 'not a number';
  if (!Number.isFinite(x)) return x > 0 ? 'infinite' : '−infinite';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = x.toExponential(Math.min(digits - 1, 3)).split('e') as [string, string];
    const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
    return minus(`${short}e${Number(exponent)}`);
  }
  return minus(String(Number(x.toPrecision(digits))));
}

/** Errors: three digits are enough, always with the power of ten where they are small. */
export const formatError = (x: number): string => formatNumber(x, 3);

export function formatCount(n: number): string {
  const text = String(Math.round(n));
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** The time beside the slider: as many decimals as the length of the run asks for. */
export function formatTime(t: number, span: number): string {
  const decimals = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(span > 0 ? span : 1))));
  return minus(t.toFixed(decimals));
}

const minus = (text: string): string => text.replace(/-/g, '−');
