// All plots of the page in their sections, with the buttons that act on all of them.
import type { Table } from '../data/report.ts';
import { element } from '../page/element.ts';
import { shortText } from '../text/visible.ts';
import { PlotCard, type PlotContext } from './plot_card.ts';
import { plotGroups, SECTIONS } from './groups.ts';

export class PlotColumn {
  readonly root: HTMLElement;
  readonly cards: PlotCard[];

  constructor(tables: Table[], private context: PlotContext) {
    this.cards = plotGroups(tables).map((group) => new PlotCard(group, context));
    const { range, clock } = context;
    const button = (label: string, title: string, action: () => void): HTMLButtonElement => {
      const made = element('button', { type: 'button', class: 'small-button', title, 'aria-label': title }, label);
      made.addEventListener('click', action);
      return made;
    };
    const whole = button('whole run', 'Show the whole run (0)', () => range.reset());
    const showWhole = (): void => void (whole.disabled = range.whole);
    range.onChange(showWhole);
    showWhole();
    const tools = element('div', { class: 'plot-tools', role: 'toolbar', 'aria-label': 'Plots' },
      element('span', { class: 'hint' }, 'drag: zoom · shift-drag: pan · click: go to time'),
      ...this.earlierButton(),
      button('−', 'Zoom out (−)', () => range.zoom(2, clock.t)), button('+', 'Zoom in (+)', () => range.zoom(0.5, clock.t)), whole);
    const sections = SECTIONS.map((title) => {
      const cards = this.cards.filter((card) => card.group.section === title);
      return cards.length > 0 && element('section', { class: 'plot-section' }, element('h3', {}, title), ...cards.map((card) => card.root));
    });
    this.root = element('div', { class: 'plots' }, tools, ...sections,
      this.cards.length === 0 && element('p', { class: 'plain' }, 'No rows were recorded.'));
  }

  /** Shows or hides the run before; with what was set in it. */
  private earlierButton(): HTMLElement[] {
    const earlier = this.context.earlier();
    if (!earlier) return [];
    let shown = true;
    this.context.earlier = () => (shown ? earlier : null);
    const said = earlier.settings === '' ? 'as in the file' : shortText(earlier.settings, 60);
    const made = element('button', { type: 'button', class: 'small-button', 'aria-pressed': 'true', title: `Thin lines: the run before, ${said}` }, 'run before');
    made.addEventListener('click', () => {
      shown = !shown;
      made.setAttribute('aria-pressed', String(shown));
      this.restyle();
    });
    return [made];
  }

  /** After the column is in the page: widths are known then. */
  start(): void {
    for (const card of this.cards) card.apply();
  }
  restyle(): void {
    for (const card of this.cards) card.restyle();
  }
  grown(): void {
    for (const card of this.cards) card.grown();
    this.context.clock.set(this.context.clock.t);
  }
}
