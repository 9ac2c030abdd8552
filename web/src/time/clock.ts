// The one time of the page: it plays, stands, jumps and loops. Scene and plots follow it.

export type ClockListener = (t: number) => void;

/** Seconds of the model for each second of the reader, so that a whole run takes about this many seconds. */
const COMFORTABLE_SECONDS = 12;

export class Clock {
  private listeners: ClockListener[] = [];
  private stateListeners: (() => void)[] = [];
  t: number;
  playing = false;
  loop = true;
  speed = 1;

  constructor(public start: number, public end: number) {
    this.t = start;
  }

  get span(): number {
    return Math.max(0, this.end - this.start);
  }

  onTime(listener: ClockListener): void {
    this.listeners.push(listener);
  }
  onState(listener: () => void): void {
    this.stateListeners.push(listener);
  }
  private stateChanged(): void {
    for (const listener of this.stateListeners) listener();
  }

  set(t: number): void {
    const next = Math.min(Math.max(t, this.start), this.end);
    if (!Number.isFinite(next) || next === this.t) return;
    this.t = next;
    for (const listener of this.listeners) listener(next);
  }

  play(): void {
    if (this.span === 0) return;
    if (this.t >= this.end) this.set(this.start);
    this.playing = true;
    this.stateChanged();
  }
  pause(): void {
    this.playing = false;
    this.stateChanged();
  }
  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }
  setSpeed(speed: number): void {
    this.speed = speed;
    this.stateChanged();
  }
  setLoop(loop: boolean): void {
    this.loop = loop;
    this.stateChanged();
  }

  /** Real time has passed. */
  advance(seconds: number): void {
    if (!this.playing || this.span === 0) return;
    const next = this.t + seconds * this.speed;
    if (next < this.end) this.set(next);
    else if (this.loop) this.set(this.start + ((next - this.start) % this.span));
    else {
      this.set(this.end);
      this.pause();
    }
  }
}

/** 1, 2 or 5 times a power of ten: 1 where the run is neither too short nor too long to watch as it is. */
export function comfortableSpeed(span: number): number {
  if (!(span > 0)) return 1;
  const wanted = span / COMFORTABLE_SECONDS;
  if (wanted > 1 / 6 && wanted < 3) return 1;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const lead = wanted / power;
  return Number((power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10)).toPrecision(3));
}

/** What the reader can choose: around the comfortable speed, and true speed. */
export function speedChoices(comfortable: number): number[] {
  const choices = new Set([0.1, 0.25, 0.5, 1, 2, 4, 10].map((f) => Number((comfortable * f).toPrecision(3))));
  choices.add(1);
  return [...choices].sort((a, b) => a - b);
}
