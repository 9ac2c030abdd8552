// Elements of the page. Texts become text nodes and nothing else; there is no way here to write html.
import { visibleText } from '../text/visible.ts';

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | boolean | undefined>;

/** `element('p', { class: 'note' }, 'text')`. */
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) if (child) made.append(typeof child === 'string' ? visibleText(child, true) : child);
  return made;
}

/** A text from outside, kept from changing the direction of what surrounds it. */
export const foreign = (text: string): HTMLElement => element('bdi', {}, visibleText(text));

const SVG = 'http://www.w3.org/2000/svg';
export function svg(tag: string, attributes: Record<string, string | number>, ...children: SVGElement[]): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** An icon of 16 by 16 from one path. */
export function icon(path: string, filled = false): SVGElement {
  return svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true', class: 'icon' },
    svg('path', filled ? { d: path, fill: 'currentColor', 'fill-rule': 'evenodd' }
      : { d: path, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.6, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }));
}

export const ICONS = {
  play: 'M4.5 2.5v11l9-5.5z',
  pause: 'M4 2.5h3v11H4zM9 2.5h3v11H9z',
  first: 'M12 3L5 8l7 5M4 3v10',
  last: 'M4 3l7 5-7 5M12 3v10',
  back: 'M10.5 3L4.5 8l6 5',
  forward: 'M5.5 3l6 5-6 5',
  loop: 'M3 8a5 5 0 0 1 8.5-3.5L13 6M13 2.5V6H9.5M13 8a5 5 0 0 1-8.5 3.5L3 10M3 13.5V10h3.5',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  target: 'M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  doubt: 'M8 3v6M8 12.4v.2',
  theme: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 1.6v9.8a4.9 4.9 0 0 0 0-9.8z',
} as const;
