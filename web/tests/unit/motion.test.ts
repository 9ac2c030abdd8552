import { describe, expect, it } from 'vitest';
import { coordinate, frameAt, inLengths, motionOf, nearestFrame, newPose, placeAt, pointOn, poseAt } from '../../src/scene/motion.ts';
import { Assembly } from '../../fixtures/assemble.ts';
import { decodeBlock } from '../../src/data/blocks.ts';
import { extentOf, sceneExtent } from '../../src/scene/extent.ts';
import { trailFrames, TRAIL_PIECES, zigzag } from '../../src/scene/strokes.ts';
import { largeForce } from '../../src/scene/contact_view.ts';
import { gridStep } from '../../src/scene/planes.ts';
import { hullInPlane, reachOf } from '../../src/scene/shapes.ts';

async function made(positions: number[], frames: number, quaternions?: number[]) {
  const assembly = new Assembly();
  const info = assembly.motion(positions.length / frames / 3, positions, 3, quaternions ? { quaternions } : undefined);
  const blocks = await Promise.all(assembly.blocks.infos.map((b, i) => decodeBlock(b, assembly.blocks.texts[i]!)));
  return motionOf(info, blocks, frames);
}

describe('motion', () => {
  it('is exact at the bounds and within half a step of 65535 between', async () => {
    const motion = await made([0, 0, 0, 1, 2, 10, 0.3333, 0.1, 7], 3);
    expect(coordinate(motion, 1, 0, 2)).toBe(10);
    expect(coordinate(motion, 0, 0, 2)).toBe(0);
    expect(Math.abs(coordinate(motion, 2, 0, 0) - 0.3333)).toBeLessThanOrEqual(0.5 / 65535 + 1e-12);
  });

  it('goes straight between frames', async () => {
    const motion = await made([0, 0, 0, 2, 4, 6], 2);
    const pose = poseAt(motion, 0, 0, 0.25, newPose());
    expect([pose.x, pose.y, pose.z]).toEqual([0.5, 1, 1.5]);
    expect(pose.qw).toBe(1);
  });

  it('turns the short way, also between q and -q', async () => {
    const half = Math.PI / 8;
    const motion = await made([0, 0, 0, 0, 0, 0], 2, [1, 0, 0, 0, -Math.cos(half), 0, 0, -Math.sin(half)]);
    const pose = poseAt(motion, 0, 0, 0.5, newPose());
    const angle = 2 * Math.atan2(Math.abs(pose.qz), Math.abs(pose.qw));
    expect(angle).toBeCloseTo(Math.PI / 8, 4);
    expect(Math.hypot(pose.qw, pose.qx, pose.qy, pose.qz)).toBeCloseTo(1, 12);
  });

  it('finds frames at, between, before and after all times', () => {
    const time = [0, 1, 1, 4];
    expect(frameAt(time, -1)).toEqual({ frame: 0, part: 0 });
    expect(frameAt(time, 0.5)).toEqual({ frame: 0, part: 0.5 });
    expect(frameAt(time, 2.5)).toEqual({ frame: 2, part: 0.5 });
    expect(frameAt(time, 9)).toEqual({ frame: 3, part: 0 });
    expect(frameAt([], 1)).toEqual({ frame: 0, part: 0 });
    expect(nearestFrame(time, 0.6)).toBe(1);
    expect(nearestFrame(time, 0.4)).toBe(0);
  });

  it('carries points along: a quarter turn about z', () => {
    const s = Math.SQRT1_2;
    const pose = placeAt({ position: [1, 2, 3], rotation: [s, 0, 0, s] }, [], 0, 0, newPose());
    const p = pointOn(pose, [1, 0, 0.5], [0, 0, 0]);
    [1, 3, 3.5].forEach((x, k) => expect(p[k]).toBeCloseTo(x, 12));
  });

  it('is the same in lengths', async () => {
    const motion = await made([0, 0, 0, 2, 4, 6, 1, 1, 1, 0, 1, 0], 2);
    const plain = inLengths(motion, 2);
    for (let f = 0; f < 2; ++f) for (let i = 0; i < 2; ++i) for (let k = 0; k < 3; ++k) expect(coordinate(plain, f, i, k)).toBeCloseTo(coordinate(motion, f, i, k), 5);
  });

  it('refuses blocks that do not fit', () => {
    expect(() => motionOf({ count: 2, positions: { block: 0, components: 3, min: [0, 0, 0], max: [1, 1, 1] } }, [new Uint16Array(5)], 1)).toThrow(/6 are needed/);
  });
});

describe('pieces of the scene', () => {
  it('has room around a single point that rests', () => {
    const still = { dimension: 2 as const, frames: { count: 1, time: 0 }, motions: [], points: [{ name: 'p', at: { position: [3, 4] } }] };
    expect(sceneExtent(still, [], 1, [])).toMatchObject({ min: [2, 3, 0], max: [4, 5, 0] });
  });
  it('has a size even where nothing moves', () => expect(extentOf([1, 1, 1], [1, 1, 1]).radius).toBe(1));
  it('limits trails', () => {
    expect(trailFrames(3)).toEqual([0, 1, 2, 3]);
    expect(trailFrames(5000).length).toBe(TRAIL_PIECES + 1);
    expect(trailFrames(5000).at(-1)).toBe(5000);
  });
  it('draws springs from end to end', () => {
    const corners = zigzag([0, 0, 0], [2, 0, 0], 0.1);
    expect(corners[0]).toEqual([0, 0, 0]);
    expect(corners.at(-1)).toEqual([2, 0, 0]);
    expect(Math.max(...corners.map((c) => c[1]!))).toBeCloseTo(0.1, 12);
  });
  it('is not ruled by one large force', () => {
    const forces = Array.from({ length: 1000 }, (_, i) => i / 1000);
    forces[3] = 1e9;
    expect(largeForce(forces)).toBeLessThan(1.1);
    expect(largeForce([0, 0])).toBe(0);
  });
  it('has round grid steps', () => {
    expect(gridStep(12)).toBe(1);
    expect(gridStep(30)).toBe(2);
    expect(gridStep(0.5)).toBeCloseTo(0.05, 12);
  });
  it('finds hulls and reaches', () => {
    expect(hullInPlane([[0, 0], [1, 0], [0.5, 0.2], [1, 1], [0, 1], [0.5, 0.5]])).toEqual([[0, 0], [1, 0], [1, 1], [0, 1]]);
    expect(reachOf({ kind: 'box', size: [2, 0, 0] })).toBe(1);
    expect(reachOf({ kind: 'sphere', radius: 1, position: [3, 4, 0] })).toBe(6);
  });
});
