import { describe, expect, it } from 'vitest';
import { Pace, SHARPNESS } from '../../src/scene/pace.ts';

/** Draws for some seconds, each frame taking what it takes with the sharpness of the one before; the last sharpness. */
function play(pace: Pace, cost: (sharpness: number) => number, seconds = 5, from = 0): number {
  let sharpness = 1;
  for (let t = from; t < from + seconds; t += cost(sharpness)) sharpness = pace.drawn(t);
  return sharpness;
}

describe('pace', () => {
  it('leaves a picture that moves fast enough as it is', () => {
    expect(play(new Pace(), () => 1 / 30)).toBe(1);
    expect(play(new Pace(), () => 1 / 60)).toBe(1);
  });
  it('draws fewer pixels until the motion is smooth, and no fewer than half', () => {
    const pixels = (full: number) => (s: number): number => 0.01 + full * s * s;
    expect(play(new Pace(), pixels(0.04))).toBe(0.75);
    expect(play(new Pace(), pixels(0.07))).toBe(0.5);
    expect(play(new Pace(), pixels(0.15))).toBe(SHARPNESS.at(-1));
    expect(play(new Pace(), pixels(0.6), 30)).toBe(SHARPNESS.at(-1)); // slower than what counts as rest
  });
  it('is not misled by single long frames', () => {
    let k = 0;
    expect(play(new Pace(), () => (++k % 7 === 0 ? 0.15 : 1 / 60))).toBe(1);
  });
  it('is sharp at rest, and as before when it moves again', () => {
    const pace = new Pace();
    const slow = (s: number): number => 0.05 * s;
    expect(play(pace, slow)).toBe(0.5);
    expect(pace.resting(4.99)).toBe(false);
    expect(pace.resting(5.5)).toBe(true);
    expect(pace.drawn(6)).toBe(1); // the one sharp picture
    expect(pace.drawn(6.02)).toBe(0.5);
    pace.forget();
    expect(pace.drawn(6.04)).toBe(1);
  });
});
