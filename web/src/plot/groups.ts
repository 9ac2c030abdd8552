// Which columns share a plot, in which order plots come, and which of them are open at the start.
import type { ColumnKind } from '../data/contract.ts';
import type { Column, Table } from '../data/report.ts';

export interface PlotGroup {
  id: string;
  title: string;
  section: string;
  log: boolean;
  unit: string;
  table: Table;
  columns: Column[];
  /** How many are drawn at the start; the others can be switched on. */
  shown: number;
  open: boolean;
}

interface KindView {
  title: string;
  section: string;
  log?: boolean;
  open?: boolean;
  /** One plot for each group of names, q1 and q2; else one for all of the kind. */
  split?: boolean;
}

const VIEWS: Record<ColumnKind, KindView> = {
  coordinate: { title: 'Coordinates', section: 'Motion', open: true, split: true },
  velocity: { title: 'Velocities', section: 'Motion', split: true },
  momentum: { title: 'Momenta', section: 'Motion', split: true },
  quantity: { title: 'Quantities', section: 'Quantities', open: true, split: true },
  energy: { title: 'Energy', section: 'Preserved', open: true },
  'energy-error': { title: 'Energy error', section: 'Preserved', open: true },
  'momentum-map': { title: 'Momentum maps', section: 'Preserved', split: true },
  constraint: { title: 'Constraints, position and velocity level', section: 'Preserved', log: true, open: true },
  'hidden-constraint': { title: 'Constraints, position and velocity level', section: 'Preserved', log: true, open: true },
  multiplier: { title: 'Multipliers', section: 'Forces', open: true, split: true },
  reaction: { title: 'Reactions', section: 'Forces', open: true, split: true },
  gap: { title: 'Gaps of contacts', section: 'Preserved', open: true, split: true },
  contacts: { title: 'Contacts', section: 'Forces', split: true },
  step: { title: 'Step size', section: 'Solver', log: true },
  iterations: { title: 'Solver iterations', section: 'Solver' },
  residual: { title: 'Solver residuals', section: 'Solver', log: true, split: true },
};
export const SECTIONS = ['Motion', 'Quantities', 'Preserved', 'Forces', 'Solver'] as const;

export const MOST_SHOWN = 6;
const MOST_OPEN_SPLITS = 2;

/** "q1" for q1[0]; the name itself where there is no index. */
export const stemOf = (name: string): string => /^([^[]+)\[/.exec(name)?.[1] ?? name;

/** Single numbers of a kind share a plot; vectors have their own, unless there are only two numbers in all. */
function splitBy(columns: Column[], split: boolean): Map<string, Column[]> {
  const parts = new Map<string, Column[]>();
  const vectors = new Map<string, number>();
  for (const column of columns) {
    const stem = column.group ?? stemOf(column.name);
    vectors.set(stem, (vectors.get(stem) ?? 0) + 1);
  }
  for (const column of columns) {
    const stem = column.group ?? stemOf(column.name);
    const alone = !split || (vectors.get(stem)! < 2 && column.group === undefined);
    const key = alone ? '' : stem;
    parts.set(key, [...(parts.get(key) ?? []), column]);
  }
  return parts;
}

export function plotGroups(tables: Table[]): PlotGroup[] {
  const groups: PlotGroup[] = [];
  for (const table of tables) {
    const byTitle = new Map<string, Column[]>();
    for (const column of table.columns) {
      const title = VIEWS[column.kind]?.title;
      if (title === undefined) continue;
      byTitle.set(title, [...(byTitle.get(title) ?? []), column]);
    }
    for (const [title, columns] of byTitle) {
      const view = VIEWS[columns[0]!.kind];
      let count = 0;
      for (const [part, members] of splitBy(columns, view.split ?? false)) {
        const units = new Set(members.map((c) => c.unit ?? ''));
        groups.push({
          id: `${table.info.name}/${title}/${part}`,
          title: part === '' ? title : `${title}: ${part}`,
          section: view.section,
          log: view.log ?? false,
          unit: units.size === 1 ? [...units][0]! : '',
          table,
          columns: members,
          shown: Math.min(members.length, MOST_SHOWN),
          open: (view.open ?? false) && count++ < MOST_OPEN_SPLITS,
        });
      }
    }
  }
  const order = (g: PlotGroup): number => SECTIONS.indexOf(g.section as (typeof SECTIONS)[number]);
  return groups.map((g, i) => ({ g, i })).sort((a, b) => order(a.g) - order(b.g) || a.i - b.i).map(({ g }) => g);
}
