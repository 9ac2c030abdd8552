// How sharp the picture is while it moves. Where frames take longer than 1/30 s, fewer pixels are drawn, until the motion is
// smooth; a picture that stands is always drawn with all of them.

/** Parts of the full resolution, in each direction. */
export const SHARPNESS = [1, 0.75, 0.5];
const SLOW = 1 / 28; // seconds; a little longer than a frame, for the noise of measuring
const SAMPLES = 16;
const REST = 0.2; // seconds without a new picture

export class Pace {
  private level = 0;
  private intervals: number[] = [];
  private last = -Infinity;
  private moving = false;

  /** A picture of something that moves was drawn at this time, in seconds; returns the sharpness of the next one. */
  drawn(now: number): number {
    const interval = now - this.last;
    this.last = now;
    if (!this.moving) {
      this.moving = true;
      this.intervals = [];
      return 1; // something begins to move, or was shown once
    }
    this.intervals.push(interval);
    if (this.intervals.length === SAMPLES) {
      const middle = this.intervals.sort((a, b) => a - b)[SAMPLES / 2]!; // a single long one is no fault of the picture
      this.intervals = [];
      if (middle > SLOW && this.level + 1 < SHARPNESS.length) ++this.level;
    }
    return SHARPNESS[this.level]!;
  }

  /** Nothing was drawn with this frame of the screen: has nothing moved for a while? However slow pictures are, those that move are drawn
   *  with every frame of the screen. */
  resting(now: number): boolean {
    if (now - this.last >= REST) this.moving = false;
    return !this.moving;
  }
  /** The picture has another size: what was learnt does not hold any more. */
  forget(): void {
    this.level = 0;
    this.intervals = [];
  }
}
