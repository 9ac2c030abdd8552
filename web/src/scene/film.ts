// For films (`hinge movie`): the scene alone fills the window, and is drawn at the times that are asked for.
import { formatNumber } from '../data/numbers.ts';
import type { Clock } from '../time/clock.ts';
import type { SceneView } from './scene_view.ts';

export interface Film {
  /** Start and end of the motion. */
  begin(): Promise<[number, number]>;
  /** Draws one picture; done when it is on the screen. */
  frame(t: number): Promise<void>;
}

const shown = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

export function film(view: SceneView, clock: Clock, label: HTMLElement): Film {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(clock.span > 0 ? clock.span : 1)));
  return {
    async begin() {
      clock.pause();
      document.documentElement.dataset.film = 'yes';
      await shown(); // the stage has its size
      view.stage.fit();
      await shown();
      return [clock.start, clock.end];
    },
    async frame(t) {
      clock.set(t);
      label.textContent = `t = ${digits < 8 ? t.toFixed(digits) : formatNumber(t, 3)}`;
      view.stage.dirty = true;
      view.draw();
      await shown();
    },
  };
}
