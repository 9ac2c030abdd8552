// Numbers beside the axes.

/** Labels of evenly spaced ticks: as many decimals as tell neighbours apart. */
export function tickLabels(values: (number | null)[], step: number): string[] {
  const sizes = values.map((v) => Math.abs(v ?? 0));
  const most = Math.max(...sizes, 0);
  let decimals = 0;
  while (decimals < 10 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) ++decimals;
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
