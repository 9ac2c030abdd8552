// The scene with its buttons: layers, follow camera, fit, playback.
import type { SceneView, Layer } from './scene_view.ts';
import type { Clock } from '../time/clock.ts';
import { frameAt } from './motion.ts';
import { transport, iconButton, type Stepping } from '../time/transport.ts';
import { element, ICONS } from '../page/element.ts';
import { formatNumber } from '../data/numbers.ts';
import { shortText } from '../text/visible.ts';
import { forceColour, type Theme } from '../page/palette.ts';

const LAYER_NAMES: Record<Layer, string> = { trails: 'trails', joints: 'joints', contacts: 'contacts', forces: 'forces', surfaces: 'surfaces' };

/** From frame to frame; between two frames to the nearer end in the direction. */
export function steppingOver(time: () => ArrayLike<number>): Stepping {
  return {
    neighbour(t, direction) {
      const times = time();
      if (times.length === 0) return t;
      const { frame, part } = frameAt(times, t);
      const next = direction > 0 ? frame + 1 : part > 1e-9 ? frame : frame - 1;
      return times[Math.min(times.length - 1, Math.max(0, next))]!;
    },
  };
}

function forceKey(view: SceneView, theme: Theme): HTMLElement {
  const stops = Array.from({ length: 7 }, (_, i) => {
    const share = i / 6;
    const [r, g, b] = forceColour(share ** 0.7, theme).map((x) => Math.round(x * 255));
    return `rgb(${r} ${g} ${b}) ${Math.round(share * 100)}%`;
  });
  const bar = element('span', { class: 'force-bar' });
  bar.style.background = `linear-gradient(90deg, ${stops.join(', ')})`;
  const unit = view.contacts!.unit;
  return element('div', { class: 'force-key' }, 'force 0', bar, `${formatNumber(view.contacts!.scale, 3)}${unit ? ` ${shortText(unit, 12)}` : ''}`);
}

export function scenePanel(canvas: HTMLCanvasElement, view: SceneView, clock: Clock, stepping: Stepping, theme: () => Theme): { root: HTMLElement; label: HTMLElement; restyle: () => void } {
  const layers = view.layers().map((layer) => {
    const button = element('button', { type: 'button', class: 'small-button', 'aria-pressed': String(view.isShown(layer)), 'data-layer': layer }, LAYER_NAMES[layer]);
    button.addEventListener('click', () => {
      view.show(layer, !view.isShown(layer));
      button.setAttribute('aria-pressed', String(view.isShown(layer)));
    });
    return button;
  });
  const follow = element('select', { 'aria-label': 'Follow with the camera', class: 'follow' }, element('option', { value: '' }, 'camera stays'));
  const things = view.followable();
  things.forEach((thing, i) => follow.append(element('option', { value: String(i) }, `follow ${shortText(thing.name, 24)}`)));
  follow.addEventListener('change', () => view.follow(follow.value === '' ? null : things[Number(follow.value)]!.at));
  const key = element('div', { class: 'key-place' });
  const restyle = (): void => {
    if (view.contacts && view.contacts.scale > 0) key.replaceChildren(forceKey(view, theme()));
  };
  restyle();
  const label = element('div', { class: 'film-time' });
  const holder = element('div', { class: 'canvas-box' }, canvas, key, label);
  const root: HTMLElement = element('section', { class: 'panel scene', 'aria-label': 'Scene' },
    element('div', { class: 'scene-tools', role: 'toolbar', 'aria-label': 'Scene' }, ...layers, element('span', { class: 'spring' }), things.length > 0 && follow,
      iconButton('Fit the scene (F)', ICONS.target, () => view.stage.fit()),
      iconButton('Scene fills the window (W)', ICONS.fit, () => root.classList.toggle('filling'))),
    holder, transport(clock, stepping));
  new ResizeObserver(() => view.stage.resize(holder.clientWidth, holder.clientHeight)).observe(holder);
  const controls = root.lastElementChild as HTMLElement;
  // the first screen shows the picture with its buttons, whatever stands above
  new ResizeObserver(() => {
    const above = root.closest('.bench')!.getBoundingClientRect().top + window.scrollY + (holder.offsetTop - root.offsetTop) + controls.offsetHeight + 14;
    if (window.innerWidth > 1000) root.style.setProperty('--above', `${Math.ceil(above)}px`);
    else root.style.removeProperty('--above');
  }).observe(document.body);
  return { root, label, restyle };
}
