// One plot: uPlot with the page's time range, the time cursor and a legend with values.
import uPlot from 'uplot';
import type { ColumnKind } from '../data/contract.ts';
import type { Clock } from '../time/clock.ts';
import type { TimeRange } from './time_range.ts';
import { decimate, logFloor, lowerBound, sizesAbove } from './decimate.ts';
import type { PlotGroup } from './groups.ts';
import { Legend } from './legend.ts';
import { decadeLabel, decadeRange, decades, linearAxis, linearRange, roomAtEnd, tickLabels, written, type Ticks } from './ticks.ts';
import { formatCount } from '../data/numbers.ts';
import { element, foreign } from '../page/element.ts';
import { lineColour, lineDash, type Theme } from '../page/palette.ts';
import { styleColour } from '../page/theme.ts';
import { extentBetween, lineKey, type EarlierLine, type EarlierRun } from '../live/earlier_run.ts';

const HEIGHT = 176;
export const AXIS_WIDTH = 72;
const RIGHT = 14;
const FONT = '11px system-ui, sans-serif';
const MEASURED: ColumnKind[] = ['coordinate', 'velocity', 'momentum', 'multiplier', 'reaction'];

const brush = document.createElement('canvas').getContext('2d');
function labelWidth(label: string): number {
  if (!brush) return 7 * label.length;
  brush.font = FONT;
  return brush.measureText(label).width;
}

export interface PlotContext {
  clock: Clock;
  range: TimeRange;
  theme: () => Theme;
  /** Lines of the run before, thin behind those of this one; null: there is none, or it is not to be seen. */
  earlier: () => EarlierRun | null;
}

export class PlotCard {
  readonly root: HTMLElement;
  private area = element('div', { class: 'plot-area' });
  private line = element('div', { class: 'time-line' });
  private base = element('span', { class: 'axis-base', hidden: true });
  private note = element('span', { class: 'plot-note' });
  private legend: Legend;
  private plot: uPlot | null = null;
  private on: boolean[];
  private log: boolean;
  private floor: number | null = null;
  private size: number | null = null;
  private hovered: number | null = null;
  private lastTime = { at: 0, label: '' };
  open: boolean;

  constructor(readonly group: PlotGroup, private context: PlotContext) {
    this.open = group.open;
    this.log = group.log;
    this.on = group.columns.map((_, i) => i < group.shown);
    this.legend = new Legend(group.columns, this.on, (index, alone) => this.toggleLine(index, alone));
    const fold = element('button', { type: 'button', class: 'fold', 'aria-expanded': String(this.open) }, foreign(group.title));
    const scale = element('button', { type: 'button', class: 'small-button', 'aria-pressed': String(this.log), title: 'Logarithmic axis' }, 'log');
    const body = element('div', { class: 'plot-body' }, this.area, this.legend.root);
    this.root = element('article', { class: 'plot-card', 'data-plot': group.id },
      element('header', {}, element('h4', {}, fold), group.unit !== '' && element('span', { class: 'unit' }, foreign(group.unit)), this.note, scale), body);
    fold.addEventListener('click', () => {
      this.open = !this.open;
      fold.setAttribute('aria-expanded', String(this.open));
      this.apply();
    });
    scale.addEventListener('click', () => {
      this.log = !this.log;
      scale.setAttribute('aria-pressed', String(this.log));
      this.build();
    });
    context.range.onChange(() => this.refresh());
    context.clock.onTime(() => this.moveLine());
    new ResizeObserver(() => {
      if (this.plot && this.area.clientWidth > 0 && this.area.clientWidth !== this.plot.width) {
        this.plot.setSize({ width: this.area.clientWidth, height: HEIGHT });
        this.refresh();
      }
    }).observe(this.area);
  }

  /** After it is in the page, and when it was opened or closed. */
  apply(): void {
    this.root.classList.toggle('closed', !this.open);
    if (this.open) this.build();
    else {
      this.plot?.destroy();
      this.plot = null;
    }
  }

  private toggleLine(index: number, alone: boolean): void {
    if (alone) this.on.fill(false);
    this.on[index] = alone ? true : !this.on[index];
    this.build();
  }

  private data(): uPlot.AlignedData {
    const { table, columns } = this.group;
    const { from, to } = this.context.range;
    const width = Math.max(100, this.area.clientWidth - AXIS_WIDTH);
    const active = columns.filter((_, i) => this.on[i]);
    const thin = decimate(table.time, active.map((c) => c.values), from, to, Math.floor(width));
    let lines = thin.columns;
    if (this.log) {
      this.floor ??= logFloor(columns.map((c) => c.values));
      lines = lines.map((line) => sizesAbove(line, this.floor!));
    }
    const thinned = table.info.thinned;
    this.note.textContent =
      thinned ? `${formatCount(thinned.from)} samples, every ${thinned.bucket} as min and max`
      : thin.time.length < thin.rows ? `${formatCount(thin.rows)} samples, min and max kept` : '';
    return [thin.time, ...lines] as uPlot.AlignedData;
  }

  /** Of the vertical axis; what all of them have in common stands above. */
  private labels(ticks: Ticks): string[] {
    const { labels, base } = written(ticks);
    this.base.hidden = base === '';
    this.base.textContent = `${base} +`;
    return labels;
  }

  private timeLabels(ticks: Ticks): string[] {
    const labels = tickLabels(ticks);
    this.lastTime = { at: ticks.values.at(-1) ?? 0, label: labels.at(-1) ?? '' };
    return labels;
  }
  private roomAtEnd(width: number): number {
    const { from, to } = this.context.range;
    return roomAtEnd(labelWidth(this.lastTime.label), this.lastTime.at, from, to, width - AXIS_WIDTH - RIGHT, RIGHT);
  }

  /** The largest number of this kind, in all plots: of some rows. Kinds whose numbers have one unit, more or less. */
  private sizeBeside(): number {
    const { table, columns } = this.group;
    const kind = columns[0]?.kind ?? 'quantity';
    if (!MEASURED.includes(kind)) return 0;
    if (this.size !== null) return this.size;
    this.size = 0;
    const stride = Math.ceil(table.time.length / 500);
    for (const column of table.columns)
      if (column.kind === kind) for (let i = 0; i < table.time.length; i += stride) this.size = Math.max(this.size, Math.abs(column.values[i]!) || 0);
    return this.size;
  }

  private build(): void {
    if (!this.open) return;
    const theme = this.context.theme();
    this.plot?.destroy();
    const width = Math.max(200, this.area.clientWidth);
    const grid = { stroke: styleColour('--plot-grid'), width: 1 };
    const axis = { stroke: styleColour('--plot-text'), font: FONT, grid, ticks: { ...grid, size: 4 } };
    const active = this.group.columns.map((column, i) => ({ column, i })).filter(({ i }) => this.on[i]);
    const few = this.group.table.info.rows < 40;
    const options: uPlot.Options = {
      width, height: HEIGHT, legend: { show: false }, padding: [8, () => this.roomAtEnd(width), 0, 0], pxAlign: 0,
      scales: {
        x: { time: false, range: () => [this.context.range.from, this.context.range.to] },
        y: this.log ? { distr: 3, range: (_u, low, high) => decadeRange(low, high) } : { range: (_u, low, high) => linearRange(...this.withEarlier(low, high), this.sizeBeside()) },
      },
      axes: [
        { ...axis, ...linearAxis(60, (ticks) => this.timeLabels(ticks)), size: 26, gap: 3 },
        this.log
          ? { ...axis, size: AXIS_WIDTH, gap: 4, splits: (u) => decades(u.scales.y!.min ?? 1e-16, u.scales.y!.max ?? 1, 6), values: (_u, splits) => splits.map(decadeLabel), filter: (_u, splits) => splits }
          : { ...axis, ...linearAxis(28, (ticks) => this.labels(ticks)), size: AXIS_WIDTH, gap: 4 },
      ],
      series: [{}, ...active.map(({ column, i }) => ({
        label: column.name, stroke: lineColour(i, theme), width: 1.5, dash: lineDash(i), points: { show: few, size: 5 }, spanGaps: false,
      }))],
      cursor: {
        sync: { key: 'hinge-time' }, y: false, drag: { x: true, y: false, setScale: false }, points: { size: 6 },
        bind: { dblclick: () => () => { this.context.range.reset(); return null; } },
      },
      hooks: {
        setSelect: [(u) => this.selected(u)],
        setCursor: [(u) => this.hover(u)],
        drawAxes: [(u) => this.drawEarlier(u, theme)],
      },
    };
    this.base.hidden = true;
    this.area.replaceChildren(this.base);
    this.plot = new uPlot(options, this.data(), this.area);
    this.plot.over.append(this.line);
    this.area.setAttribute('role', 'img');
    this.area.setAttribute('aria-label', `Plot over time of ${active.map(({ column }) => column.name).join(', ') || 'nothing'}`);
    this.listen(this.plot.over);
    this.legend.draw(theme);
    this.moveLine();
  }

  /** Lines of the run before, of columns that are switched on. */
  private earlierLines(): { line: EarlierLine; index: number }[] {
    const lines = this.context.earlier()?.lines ?? {};
    return this.group.columns.flatMap((column, index) => {
      const line = this.on[index] ? lines[lineKey(column)] : undefined;
      return line ? [{ line, index }] : [];
    });
  }
  private withEarlier(low: number | null, high: number | null): [number | null, number | null] {
    const { from, to } = this.context.range;
    for (const { line } of this.earlierLines()) {
      const reach = extentBetween(line, from, to);
      if (reach) [low, high] = [Math.min(low ?? reach[0], reach[0]), Math.max(high ?? reach[1], reach[1])];
    }
    return [low, high];
  }
  private drawEarlier(u: uPlot, theme: Theme): void {
    const { ctx } = u;
    const lines = this.earlierLines();
    if (lines.length === 0) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    ctx.globalAlpha = 0.45;
    ctx.lineWidth = window.devicePixelRatio || 1;
    for (const { line, index } of lines) {
      ctx.strokeStyle = lineColour(index, theme);
      ctx.beginPath();
      let down = false;
      line.time.forEach((t, i) => {
        const x = line.values[i];
        const value = x === null || x === undefined ? NaN : this.log ? Math.max(Math.abs(x), this.floor ?? 1e-16) : x;
        if (Number.isNaN(value)) down = false;
        else {
          const at: [number, number] = [u.valToPos(t, 'x', true), u.valToPos(value, 'y', true)];
          if (down) ctx.lineTo(...at);
          else ctx.moveTo(...at);
          down = true;
        }
      });
      ctx.stroke();
    }
    ctx.restore();
  }

  private selected(u: uPlot): void {
    if (u.select.width < 4) return;
    const from = u.posToVal(u.select.left, 'x');
    const to = u.posToVal(u.select.left + u.select.width, 'x');
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.context.range.set(from, to);
  }

  private hover(u: uPlot): void {
    const left = u.cursor.left ?? -1;
    this.hovered = left >= 0 ? u.posToVal(left, 'x') : null;
    this.root.classList.toggle('hovered', this.hovered !== null);
    this.showValues();
  }

  /** Click: the scene goes there. Shift or middle button: pan. Control and wheel: zoom. */
  private listen(over: HTMLElement): void {
    const { clock, range } = this.context;
    let downAt = NaN;
    over.addEventListener('mousedown', (event) => {
      downAt = event.clientX;
      if (!event.shiftKey && event.button !== 1) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      let last = event.clientX;
      const move = (e: MouseEvent): void => {
        range.pan((last - e.clientX) / over.clientWidth);
        last = e.clientX;
      };
      const up = (): void => {
        window.removeEventListener('mousemove', move);
        window.removeEventListener('mouseup', up);
      };
      window.addEventListener('mousemove', move);
      window.addEventListener('mouseup', up);
    }, { capture: true });
    over.addEventListener('click', (event) => {
      if (Math.abs(event.clientX - downAt) > 3 || event.shiftKey || !this.plot) return;
      clock.pause();
      clock.set(this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, 'x'));
    });
    over.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.altKey) return;
      event.preventDefault();
      const at = this.plot!.posToVal(event.clientX - over.getBoundingClientRect().left, 'x');
      range.zoom(Math.exp(Math.sign(event.deltaY) * 0.25), at);
    }, { passive: false });
  }

  /** Data of the range anew: after zoom, pan, resize, and when rows have come. */
  refresh(): void {
    if (!this.plot) return;
    this.plot.setData(this.data());
    this.moveLine();
  }
  restyle(): void {
    if (this.open) this.build();
  }
  grown(): void {
    this.floor = this.size = null;
    this.refresh();
  }

  private moveLine(): void {
    if (!this.plot) return;
    const { clock, range } = this.context;
    const inside = clock.t >= range.from && clock.t <= range.to;
    this.line.hidden = !inside;
    if (inside) this.line.style.transform = `translateX(${this.plot.valToPos(clock.t, 'x').toFixed(1)}px)`;
    this.showValues();
  }

  private showValues(): void {
    const time = this.group.table.time;
    const t = this.hovered ?? this.context.clock.t;
    let row = lowerBound(time, t);
    if (row > 0 && (row >= time.length || t - time[row - 1]! < time[row]! - t)) --row;
    this.legend.show(row);
  }
}
