// What the reader has set on the page, kept over a reload that the page itself asks for: at the end of a run, where rows were
// thinned, and when another run begins. Buttons, choices and fields by their names, as far as they are not as the page came;
// the time, the stretch of time in plots, the camera, the place on the page and the element under focus.
import type { CameraPlace, Stage } from '../scene/stage.ts';
import type { Clock } from '../time/clock.ts';
import type { TimeRange } from '../plot/time_range.ts';
import type { Theme } from '../page/palette.ts';
import { currentTheme, toggleTheme } from '../page/theme.ts';
import type { RunForm } from './run_form.ts';

export interface PageParts {
  title: string;
  clock: Clock;
  range: TimeRange;
  stage: Stage | null;
  form: RunForm | null;
}
interface Kept {
  title: string;
  controls: [string, string][];
  focus: { name: string; from: number | null; to: number | null } | null;
  /** What the form said, and whether it was sent when it was too late for this page. */
  said: string;
  send: boolean;
  /** Null: it stood at the end, as the page does by itself while a run goes on. */
  clock: { t: number; playing: boolean } | null;
  range: [number, number] | null;
  camera: CameraPlace | null;
  theme: Theme;
  filling: boolean;
  scroll: number;
}
type Control = HTMLButtonElement | HTMLSelectElement | HTMLInputElement;

const PLACE = 'hinge-kept-page';
const CONTROLS = 'button[aria-pressed], button[aria-expanded], select, input:not([type=range])';

/** All controls of the page with a name each, which the same control has after a reload. */
function namedControls(): Map<string, Control> {
  const named = new Map<string, Control>();
  for (const control of document.querySelectorAll<Control>(CONTROLS)) {
    const within = control.closest<HTMLElement>('[data-plot], form, [aria-label]:not(button, select, input)');
    const own = control.getAttribute('aria-label') ?? control.closest('label')?.querySelector('.field-name')?.textContent ?? (control.title || control.textContent);
    const base = `${within?.dataset.plot ?? within?.getAttribute('aria-label') ?? ''}/${own}`;
    let name = base;
    for (let k = 2; named.has(name); ++k) name = `${base} ${k}`;
    named.set(name, control);
  }
  return named;
}

const stateOf = (control: Control): string =>
  control instanceof HTMLButtonElement ? `${control.getAttribute('aria-pressed')}/${control.getAttribute('aria-expanded')}` : control.value;

function bring(control: Control, state: string): void {
  if (stateOf(control) === state) return;
  if (control instanceof HTMLButtonElement) control.click();
  else if (control instanceof HTMLInputElement || [...control.options].some((option) => option.value === state)) {
    control.value = state;
    control.dispatchEvent(new Event(control instanceof HTMLInputElement ? 'input' : 'change'));
  }
}

export class KeptPage {
  private asCame: Map<string, string>;
  private leaving: 'not' | 'same run' | 'other run' = 'not';
  /** The reader had chosen a time. */
  hasTime = false;

  constructor(private parts: PageParts, private shelf: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) {
    this.asCame = new Map([...namedControls()].map(([name, control]) => [name, stateOf(control)]));
    this.restore();
    window.addEventListener('pagehide', () => {
      if (this.leaving !== 'not') this.write(); // not before: until then the reader goes on
    });
  }

  get isLeaving(): boolean {
    return this.leaving !== 'not';
  }

  /** `otherRun`: what stands in the form is what runs now. */
  reload(otherRun: boolean): void {
    if (this.isLeaving) return;
    this.leaving = otherRun ? 'other run' : 'same run';
    location.reload();
  }

  private write(): void {
    const { title, clock, range, stage, form } = this.parts;
    const same = this.leaving === 'same run';
    const named = [...namedControls()];
    const focused = named.find(([, control]) => control === document.activeElement);
    const typed = focused && focused[1] instanceof HTMLInputElement ? focused[1] : null;
    const kept: Kept = {
      title,
      controls: named.filter(([name, control]) => this.asCame.get(name) !== stateOf(control) && (same || control.form === null)).map(([name, control]) => [name, stateOf(control)]),
      focus: focused ? { name: focused[0], from: typed?.selectionStart ?? null, to: typed?.selectionEnd ?? null } : null,
      said: (same && form?.message.textContent) || '',
      send: same && form !== null && form.waiting,
      clock: same && (clock.playing || clock.t < clock.end) ? { t: clock.t, playing: clock.playing } : null,
      range: range.whole ? null : [range.from, range.to],
      camera: stage?.moved ? stage.place() : null,
      theme: currentTheme(),
      filling: document.querySelector('.scene.filling') !== null,
      scroll: window.scrollY,
    };
    try {
      this.shelf.setItem(PLACE, JSON.stringify(kept));
    } catch {
      this.shelf.removeItem(PLACE); // no room: better none than half of it
    }
  }

  private read(): Kept | null {
    try {
      const kept = JSON.parse(this.shelf.getItem(PLACE) ?? 'null') as Kept | null;
      this.shelf.removeItem(PLACE);
      return kept && kept.title === this.parts.title ? kept : null;
    } catch {
      return null;
    }
  }

  private restore(): void {
    const kept = this.read();
    if (!kept) return;
    const { clock, range, stage, form } = this.parts;
    if (currentTheme() !== kept.theme) toggleTheme();
    for (const [name, state] of kept.controls) {
      const control = namedControls().get(name); // anew each time: a method has its own options
      if (control) bring(control, state);
    }
    if (kept.range) range.set(...kept.range);
    if (kept.clock) {
      this.hasTime = true;
      clock.pause();
      clock.set(kept.clock.t);
      if (kept.clock.playing) clock.play();
    }
    if (kept.camera) stage?.goTo(kept.camera);
    if (kept.filling) document.querySelector('.scene')?.classList.add('filling');
    if (form) form.message.textContent = kept.said;
    const focused = kept.focus && namedControls().get(kept.focus.name);
    focused?.focus({ preventScroll: true });
    if (focused instanceof HTMLInputElement && kept.focus!.from !== null) focused.setSelectionRange(kept.focus!.from, kept.focus!.to);
    // when the picture has its size: until then the page may be shorter
    requestAnimationFrame(() => requestAnimationFrame(() => window.scrollTo({ top: kept.scroll })));
    if (kept.send) form?.root.querySelector('form')!.requestSubmit();
  }
}
