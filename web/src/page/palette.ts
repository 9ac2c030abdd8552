// Colours of lines and bodies: the eight of Okabe and Ito, which differ for all common kinds of colour vision, with the
// pale ones darkened on light ground and the dark ones lightened on dark ground.

export type Theme = 'light' | 'dark';

const LINES: Record<Theme, string[]> = {
  light: ['#0072b2', '#c84e00', '#00805d', '#b0568a', '#9a6a00', '#3089bd', '#444444'],
  dark: ['#4fa8e0', '#f0823c', '#2fc198', '#de93bd', '#e8b23a', '#8fd0f5', '#c8c8c8'],
};
const DASHES: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

export const lineColour = (index: number, theme: Theme): string => LINES[theme][index % LINES[theme].length]!;
/** Beyond the colours there are dashes: a line is told apart without its colour too. */
export const lineDash = (index: number): number[] => DASHES[Math.floor(index / LINES.light.length) % DASHES.length]!;

const BODIES = ['#4b8fbf', '#d9884a', '#4ea78b', '#c088ab', '#c9a545', '#86b9d9', '#9a9a9a'];
export const bodyColour = (index: number): string => BODIES[index % BODIES.length]!;

const mix = (a: number[], b: number[], t: number): number[] => a.map((x, i) => x + t * (b[i]! - x));

/** Small forces recede into the ground, large ones stand out: lightness grows or falls evenly, hue from blue to orange. */
export function forceColour(part: number, theme: Theme): number[] {
  const t = Math.min(1, Math.max(0, part));
  const stops =
    theme === 'light'
      ? [[0.52, 0.64, 0.74], [0.78, 0.42, 0.2], [0.45, 0.1, 0.02]]
      : [[0.24, 0.36, 0.48], [0.85, 0.5, 0.2], [1.0, 0.93, 0.7]];
  return t < 0.5 ? mix(stops[0]!, stops[1]!, 2 * t) : mix(stops[1]!, stops[2]!, 2 * t - 1);
}
