// Light or dark: as the system says until the reader chooses.
import type { Theme } from './palette.ts';

const listeners: ((theme: Theme) => void)[] = [];
const system = window.matchMedia('(prefers-color-scheme: dark)');
let chosen: Theme | null = null;

export const currentTheme = (): Theme => chosen ?? (system.matches ? 'dark' : 'light');

function apply(): void {
  const theme = currentTheme();
  document.documentElement.dataset.theme = theme;
  for (const listener of listeners) listener(theme);
}

export function startTheme(): void {
  system.addEventListener('change', apply);
  apply();
}
export function toggleTheme(): void {
  chosen = currentTheme() === 'dark' ? 'light' : 'dark';
  apply();
}
/** Called at each change, not at once. */
export function onTheme(listener: (theme: Theme) => void): void {
  listeners.push(listener);
}
export const styleColour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const reducedMotion = (): boolean => window.matchMedia('(prefers-reduced-motion: reduce)').matches;
