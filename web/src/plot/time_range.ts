// The stretch of time that all plots show. One for the page: zooming one plot zooms all.

export type RangeListener = (from: number, to: number) => void;

export class TimeRange {
  private listeners: RangeListener[] = [];
  from: number;
  to: number;

  constructor(public start: number, public end: number) {
    if (!(end > start)) this.end = start + 1;
    this.from = this.start;
    this.to = this.end;
  }

  onChange(listener: RangeListener): void {
    this.listeners.push(listener);
  }

  get whole(): boolean {
    return this.from === this.start && this.to === this.end;
  }

  set(from: number, to: number): void {
    const span = this.end - this.start;
    const width = Math.min(span, Math.max(to - from, span * 1e-9));
    const begin = Math.min(Math.max(from, this.start), this.end - width);
    if (!Number.isFinite(begin) || (begin === this.from && begin + width === this.to)) return;
    this.from = begin;
    this.to = width === span ? this.end : begin + width;
    for (const listener of this.listeners) listener(this.from, this.to);
  }

  reset(): void {
    this.set(this.start, this.end);
  }

  /** By a factor below 1: closer, with `at` staying where it is on the screen. */
  zoom(factor: number, at: number): void {
    const centre = Math.min(Math.max(at, this.from), this.to);
    this.set(centre - (centre - this.from) * factor, centre + (this.to - centre) * factor);
  }

  /** By a part of the width: 0.1 moves to later times. */
  pan(part: number): void {
    const shift = (this.to - this.from) * part;
    this.set(this.from + shift, this.to + shift);
  }

  /** The run has grown: what showed the end goes on showing it. */
  extend(end: number): void {
    if (end <= this.end) return;
    const followed = this.to === this.end;
    const whole = this.whole;
    this.end = end;
    if (whole) this.set(this.start, end);
    else if (followed) this.set(end - (this.to - this.from), end);
  }
}
