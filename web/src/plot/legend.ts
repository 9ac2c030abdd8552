// Names of lines with their values; each switches its line on and off. Long lists are searched.
import type { Column } from '../data/report.ts';
import { formatNumber } from '../data/numbers.ts';
import { element } from '../page/element.ts';
import { lineColour, lineDash, type Theme } from '../page/palette.ts';
import { svg } from '../page/element.ts';
import { shortText, visibleText } from '../text/visible.ts';

export const MOST_LISTED = 24;

/** Which columns a search finds, by index; those that are on come first. */
export function listed(names: string[], on: boolean[], search: string): number[] {
  const wanted = search.trim().toLowerCase();
  const all = names.map((_, i) => i).filter((i) => wanted === '' || names[i]!.toLowerCase().includes(wanted));
  return [...all.filter((i) => on[i]), ...all.filter((i) => !on[i])].slice(0, MOST_LISTED).sort((a, b) => a - b);
}

export class Legend {
  readonly root: HTMLElement;
  private list = element('ul', { class: 'legend' });
  private values = new Map<number, HTMLElement>();
  private search = '';
  private theme: Theme = 'light';

  constructor(private columns: Column[], private on: boolean[], private toggle: (index: number, alone: boolean) => void) {
    this.root = element('div', { class: 'legend-box' });
    if (columns.length > MOST_LISTED) {
      const input = element('input', { type: 'search', placeholder: `search ${columns.length} columns`, 'aria-label': 'Search columns' });
      input.addEventListener('input', () => {
        this.search = input.value;
        this.draw(this.theme);
      });
      this.root.append(input);
    }
    this.root.append(this.list);
  }

  draw(theme: Theme): void {
    this.theme = theme;
    this.values.clear();
    const rows = listed(this.columns.map((c) => c.name), this.on, this.search).map((index) => {
      const column = this.columns[index]!;
      const sample = svg('svg', { viewBox: '0 0 22 8', width: 22, height: 8, class: 'sample', 'aria-hidden': 'true' },
        svg('line', { x1: 0, x2: 22, y1: 4, y2: 4, stroke: lineColour(index, theme), 'stroke-width': 2.5, 'stroke-dasharray': lineDash(index).join(' ') || 'none' }));
      const value = element('span', { class: 'number value' });
      this.values.set(index, value);
      const button = element('button', {
        type: 'button', class: 'legend-item', 'aria-pressed': String(this.on[index]), title: `${visibleText(column.name)}: click to switch, shift-click for this one alone`,
      }, sample, element('bdi', { class: 'name' }, shortText(column.name, 40)), value);
      button.addEventListener('click', (event) => this.toggle(index, event.shiftKey));
      return element('li', {}, button);
    });
    this.list.replaceChildren(...rows);
  }

  show(row: number): void {
    for (const [index, cell] of this.values) {
      const x = this.columns[index]!.values[row];
      cell.textContent = x === undefined || !this.on[index] ? '' : formatNumber(x, 6);
    }
  }
}
