// Numbers beside the axes.

/** Labels of evenly spaced ticks: as many decimals as tell neighbours apart. */
export function tickLabels(values: (number | null)[], step: number): string[] {
  const sizes = values.map((v) => Math.abs(v ?? 0));
  const most = Math.max(...sizes, 0);
  let decimals = 0;
  while (decimals < 15 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6 * step * 10 ** decimals) ++decimals;
  return values.map((v) => {
    if (v === null) return '';
    if (v === 0 || Math.abs(v) < step * 1e-6) return '0';
    if (most >= 1e6 || most < 1e-3) {
      let digits = 0;
      while (digits < 6 && Math.abs(Number(v.toExponential(digits)) - v) > 1e-3 * step) ++digits;
      return v.toExponential(digits).replace('e+', 'e').replace(/-/g, '−');
    }
    return v.toFixed(decimals).replace('-', '−');
  });
}

/** At most `most` round numbers between two, of any size, evenly spaced. */
export function linearSplits(low: number, high: number, most: number): number[] {
  const least = (high - low) / Math.max(1, most);
  if (!(least > 0) || !Number.isFinite(least)) return [low];
  const power = 10 ** Math.floor(Math.log10(least));
  const step = (power > 0 ? [1, 2, 2.5, 5, 10].map((lead) => lead * power).find((x) => x >= least * (1 - 1e-9)) : undefined) ?? least;
  const out: number[] = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let i = 0; i <= most && (first + i) * step <= high + 1e-9 * step; ++i) out.push(Number(((first + i) * step).toPrecision(15)));
  return out;
}

export const stepOf = (splits: number[]): number => (splits.length > 1 ? splits[1]! - splits[0]! : Math.abs(splits[0] ?? 1) || 1);

const LONGEST_LABEL = 8; // what there is room for

/** Numbers that differ in late digits only are labelled by their distance from this one, else from 0. */
export function tickBase(values: (number | null)[], step: number): number {
  const known = values.filter((v): v is number => v !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  if (tickLabels(values, step).every((label) => label.length <= LONGEST_LABEL)) return 0;
  const unit = 10 ** Math.ceil(Math.log10(Math.max(high - low, step)));
  return Number((Math.round((low + high) / 2 / unit) * unit).toPrecision(15));
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
