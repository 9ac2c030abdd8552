// Numbers beside the axes. Ticks are whole multiples of a power of ten, so that what is written there is exact, however
// many digits neighbours have in common.
import type uPlot from 'uplot';

export interface Ticks {
  values: number[];
  /** Of each value, in units of 10^power. */
  whole: bigint[];
  /** From one to the next, in the same units. */
  step: bigint;
  power: number;
}

const LEADS = [[1n, 0], [2n, 0], [25n, -1], [5n, 0], [1n, 1]] as const; // 1, 2, 2.5, 5, 10
const numberOf = (whole: bigint, power: number): number => Number(`${whole}e${power}`);
const sizeOf = (whole: bigint): bigint => (whole < 0n ? -whole : whole);

/** Round numbers between two, of any size, evenly spaced, with at most `gaps` gaps between them. */
export function linearTicks(low: number, high: number, gaps: number): Ticks {
  const least = (high - low) / Math.max(1, gaps);
  const ticks: Ticks = { values: [], whole: [], step: 1n, power: 0 };
  if (!(least > 0) || !Number.isFinite(least)) return ticks;
  const exponent = Math.floor(Math.log10(least));
  const [lead, shift] = LEADS.find(([whole, more]) => numberOf(whole, exponent + more) >= least * (1 - 1e-9)) ?? LEADS[4];
  ticks.step = lead;
  ticks.power = exponent + shift;
  const step = numberOf(lead, ticks.power);
  const first = BigInt(Math.ceil(low / step)) - 1n; // the quotient is rounded
  for (let i = 0; i <= gaps + 2; ++i) {
    const whole = (first + BigInt(i)) * lead;
    const value = numberOf(whole, ticks.power);
    if (value < low - 1e-9 * step || value > high + 1e-9 * step || value === ticks.values.at(-1)) continue;
    ticks.values.push(value);
    ticks.whole.push(whole);
  }
  return ticks;
}

/** As many digits as tell neighbours apart; `base` is what the numbers are written less. */
export function tickLabels({ whole, power }: Ticks, base = 0n): string[] {
  const rest = whole.map((n) => n - base);
  const most = Math.max(...rest.map((n) => Math.abs(numberOf(n, power))), 0);
  return rest.map((n) => {
    if (n === 0n) return '0';
    const sign = n < 0n ? '−' : '';
    const digits = String(sizeOf(n));
    if (most >= 1e6 || most < 1e-3) {
      const kept = digits.replace(/0+$/, '');
      const exponent = String(digits.length - 1 + power).replace('-', '−');
      return `${sign}${kept[0]}${kept.length > 1 ? '.' : ''}${kept.slice(1)}e${exponent}`;
    }
    if (power >= 0) return sign + digits + '0'.repeat(power);
    const padded = digits.padStart(1 - power, '0');
    return `${sign}${padded.slice(0, power)}.${padded.slice(power)}`;
  });
}

const LONGEST_LABEL = 8; // what there is room for

/** Numbers that differ in late digits only are labelled by their distance from this one, else from 0. */
export function tickBase(ticks: Ticks): bigint {
  const { whole, step } = ticks;
  if (whole.length === 0 || tickLabels(ticks).every((label) => label.length <= LONGEST_LABEL)) return 0n;
  const [low, high] = [whole[0]!, whole.at(-1)!];
  let unit = 1n;
  while (unit < high - low || unit < step) unit *= 10n;
  const twice = low + high;
  return ((twice + (twice < 0n ? -unit : unit)) / (2n * unit)) * unit;
}

export interface Written {
  labels: string[];
  /** What all of them have in common, '' where that is nothing. */
  base: string;
}
export function written(ticks: Ticks): Written {
  const base = tickBase(ticks);
  return { labels: tickLabels(ticks, base), base: base === 0n ? '' : String(numberOf(base, ticks.power)).replace(/-/g, '−') };
}

/** Ticks of our own, a number of pixels apart: uPlot has none for very small and very large numbers. What it is given as
 * increments is only there to pass its search for one; it asks for what is written beside ticks after asking for them. */
export function linearAxis(space: number, label: (ticks: Ticks) => string[]): Pick<uPlot.Axis, 'space' | 'incrs' | 'splits' | 'values'> {
  let ticks: Ticks = { values: [], whole: [], step: 1n, power: 0 };
  return {
    space,
    incrs: (_u, _axis, low, high, pixels) => [Math.max(5, (1.001 * space * (high - low)) / Math.max(1, pixels))],
    splits: (_u, _axis, low, high, increment, pixels) => {
      ticks = linearTicks(low, high, Math.floor((pixels / increment) * ((high - low) / space) + 1e-9));
      return ticks.values;
    },
    values: () => label(ticks),
  };
}

/** Beside numbers of size 1 nothing but what rounding has left of a zero. */
const ROUNDING = 1e-20;

/** A little room above and below; around a constant, enough to see that it is one. `size`: of what stands beside it in the
 * same unit; what is nothing but rounding beside that is drawn as a zero. */
export function linearRange(low: number | null, high: number | null, size = 0): [number, number] {
  if (low === null || high === null) return [0, 1];
  const span = high - low;
  const own = Math.max(Math.abs(low), Math.abs(high));
  if (size > 0 && own <= ROUNDING * size) return [-0.1 * size, 0.1 * size];
  if (span <= 1e-14 * own) {
    const room = own > 0 ? own * 0.1 : 1;
    return [low - room, high + room];
  }
  return [low - 0.06 * span, high + 0.06 * span];
}

/** How far the plot has to stay from the right end, in pixels, so that the last number below it is not cut off. */
export function roomAtEnd(labelWidth: number, last: number, from: number, to: number, width: number, least: number): number {
  const beside = to > from ? ((to - last) / (to - from)) * width : 0;
  return Math.max(least, Math.ceil(labelWidth / 2 - beside + 1));
}

/** Powers of ten between two positive numbers, at most `most` of them, evenly chosen. */
export function decades(low: number, high: number, most: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, most)));
  const out: number[] = [];
  for (let power = Math.ceil(first / step) * step; power <= last; power += step) out.push(10 ** power);
  return out;
}

export const decadeLabel = (value: number): string => {
  const power = Math.round(Math.log10(value));
  if (power >= -2 && power <= 3) return String(Number((10 ** power).toPrecision(3)));
  return `1e${power}`.replace('-', '−');
};

/** Whole decades around the numbers, at least one. */
export function decadeRange(low: number, high: number): [number, number] {
  if (!(low > 0) || !(high > 0)) return [1e-16, 1];
  const a = Math.floor(Math.log10(low) + 1e-9);
  const b = Math.ceil(Math.log10(high) - 1e-9);
  return [10 ** a, 10 ** (b > a ? b : a + 1)];
}
