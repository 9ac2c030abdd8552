// The keyboard, for the whole page. A key that an element under focus needs itself is left to it.
import type { Clock } from './clock.ts';
import type { Stepping } from './transport.ts';
import type { TimeRange } from '../plot/time_range.ts';

export interface KeyActions {
  clock: Clock;
  stepping: Stepping;
  range: TimeRange;
  fit: () => void;
  fill: () => void;
  theme: () => void;
  help: () => void;
}

/** True where the element types or chooses with this key itself. */
export function ownsKey(tag: string, type: string, key: string): boolean {
  if (tag === 'TEXTAREA') return true;
  if (tag === 'SELECT') return key !== 'Escape';
  if (tag === 'INPUT') return type === 'range' ? false : type === 'checkbox' ? key === ' ' : true;
  if (tag === 'BUTTON' || tag === 'A' || tag === 'SUMMARY') return key === ' ' || key === 'Enter';
  return false;
}

/** False where the key means nothing here. */
export function press(key: string, shift: boolean, actions: KeyActions): boolean {
  const { clock, stepping, range } = actions;
  const jump = (t: number): void => {
    clock.pause();
    clock.set(t);
  };
  const step = (direction: 1 | -1): void => {
    if (shift) jump(clock.t + direction * clock.span * 0.05);
    else jump(stepping.neighbour(clock.t, direction));
  };
  switch (key) {
    case ' ': clock.toggle(); return true;
    case 'ArrowLeft': step(-1); return true;
    case 'ArrowRight': step(1); return true;
    case 'Home': jump(clock.start); return true;
    case 'End': jump(clock.end); return true;
    case 'l': case 'L': clock.setLoop(!clock.loop); return true;
    case '+': case '=': range.zoom(0.5, clock.t); return true;
    case '-': range.zoom(2, clock.t); return true;
    case ',': range.pan(-0.2); return true;
    case '.': range.pan(0.2); return true;
    case '0': range.reset(); return true;
    case 'f': case 'F': actions.fit(); return true;
    case 'w': case 'W': actions.fill(); return true;
    case 't': case 'T': actions.theme(); return true;
    case '?': actions.help(); return true;
    default: return false;
  }
}

export const KEY_HELP: [string, string][] = [
  ['space', 'play or pause'], ['← →', 'one frame back or on; with shift 5 % of the run'], ['home end', 'first or last frame'],
  ['L', 'loop'], ['+ −', 'zoom plots in time'], [', .', 'pan plots'], ['0', 'whole run in plots'], ['F', 'fit the scene'], ['W', 'scene fills the window'],
  ['T', 'light or dark'], ['?', 'these keys'],
];

export function listenToKeys(actions: KeyActions): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement | null;
    if (target && ownsKey(target.tagName, target.getAttribute('type') ?? '', event.key)) return;
    if (press(event.key, event.shiftKey, actions)) event.preventDefault();
  });
}
