import { describe, expect, it } from 'vitest';
import { SphereSorter } from '../../src/scene/hidden_spheres.ts';
import { random } from '../../fixtures/assemble.ts';

const visible = (spheres: [number, number, number, number][]): number[] => {
  const part = (k: number): Float32Array => Float32Array.from(spheres, (s) => s[k]!);
  const out = new Uint32Array(spheres.length);
  const count = new SphereSorter(spheres.length).visible(part(0), part(1), part(2), part(3), 200, 100, out);
  return Array.from(out.subarray(0, count));
};

describe('hidden spheres', () => {
  it('are left out behind a larger one, and only there', () => {
    expect(visible([[50, 50, 5, 9], [50, 50, 30, 1]])).toEqual([1]);
    expect(visible([[50, 50, 5, 1], [50, 50, 30, 9]])).toEqual([0, 1]);
    expect(visible([[50, 50, 5, 9], [90, 50, 30, 1]])).toEqual([1, 0]);
  });
  it('are those outside the picture or behind the viewer, too', () => {
    expect(visible([[-50, 50, 5, 1], [50, 300, 5, 1], [50, 50, 5, -1], [50, 50, 5, 2]])).toEqual([3]);
  });
  it('never include one with a pixel that is seen', () => {
    const rand = random(5);
    const spheres = Array.from({ length: 400 }, () => [rand() * 200, rand() * 100, 3 + 8 * rand(), 1 + rand()] as [number, number, number, number]);
    const kept = new Set(visible(spheres));
    const nearest = new Set<number>();
    for (let px = 0.5; px < 200; px += 2)
      for (let py = 0.5; py < 100; py += 2) {
        let best = -1;
        spheres.forEach(([x, y, r, d], i) => {
          if ((px - x) ** 2 + (py - y) ** 2 < r * r && (best < 0 || d < spheres[best]![3])) best = i;
        });
        if (best >= 0) nearest.add(best);
      }
    // spheres nearer to each other than a bucket of depth may change places: a part in 2048 of the depth
    const missing = [...nearest].filter((i) => !kept.has(i));
    expect(missing.length).toBeLessThanOrEqual(3);
    expect(kept.size).toBeLessThan(400);
  });
});
