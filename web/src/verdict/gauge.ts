// The size of an error on a scale of powers of ten, from round-off to one.
import { svg } from '../page/element.ts';

const LEAST = -17;
const MOST = 1;
const WIDTH = 150;

/** Where a value stands on the scale, 0 to 1; zero stands at the left end. */
export function gaugePart(value: number): number {
  const size = Math.abs(value);
  if (Number.isNaN(size) || size === Infinity) return 1;
  if (size === 0) return 0;
  return Math.min(1, Math.max(0, (Math.log10(size) - LEAST) / (MOST - LEAST)));
}

export function gauge(value: number): SVGElement {
  const x = (part: number): number => 5 + part * (WIDTH - 10);
  const ticks: SVGElement[] = [];
  for (let power = LEAST + 1; power <= 0; ++power) {
    const major = power % 4 === 0;
    const at = x(gaugePart(10 ** power)).toFixed(1);
    ticks.push(svg('line', { x1: at, x2: at, y1: major ? 4 : 7, y2: 10, class: major ? 'major' : 'minor' }));
    if (power % 8 === 0) {
      const label = svg('text', { x: at, y: 25, 'text-anchor': 'middle' });
      label.textContent = power === 0 ? '1' : `1e${power}`.replace('-', '−');
      ticks.push(label);
    }
  }
  const mark = x(gaugePart(value)).toFixed(1);
  return svg('svg', { class: 'gauge', viewBox: `0 0 ${WIDTH} 28`, width: WIDTH, height: 28, 'aria-hidden': 'true' },
    svg('line', { x1: x(0), x2: x(1), y1: 10, y2: 10, class: 'scale' }), ...ticks,
    svg('line', { x1: x(0), x2: mark, y1: 10, y2: 10, class: 'filled' }),
    svg('circle', { cx: mark, cy: 10, r: 4, class: 'mark' }));
}
