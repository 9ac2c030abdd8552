// The box that everything that moves stays in: cameras are placed and planes are cut by it.
import type { SceneInfo } from '../data/contract.ts';
import type { NumberArray } from '../data/blocks.ts';
import { coordinate, type Motion } from './motion.ts';
import { reachOf } from './shapes.ts';

export interface Extent {
  min: number[];
  max: number[];
  centre: number[];
  /** Half of the diagonal; never zero. */
  radius: number;
}

export function extentOf(min: number[], max: number[]): Extent {
  const centre = min.map((x, k) => (x + max[k]!) / 2);
  const radius = Math.hypot(...min.map((x, k) => (max[k]! - x) / 2));
  return { min, max, centre, radius: radius > 0 ? radius : 1 };
}

/** Of a single place. */
const around = (place: number[], dimension: number): Extent => {
  const room = (k: number): number => (dimension === 2 && k === 2 ? 0 : 1);
  return extentOf(place.map((x, k) => x - room(k)), place.map((x, k) => x + room(k)));
};

const three = (v: number[]): number[] => [v[0] ?? 0, v[1] ?? 0, v[2] ?? 0];

/** Bounds of one thing over all frames; at most a thousand frames are looked at. */
function cover(motion: Motion, index: number, frames: number, reach: number, take: (p: number[], r: number) => void): void {
  const stride = Math.max(1, Math.floor(frames / 1000));
  for (let f = 0; f < frames; f += stride) take([0, 1, 2].map((k) => coordinate(motion, f, index, k)), reach);
}

export function sceneExtent(scene: SceneInfo, motions: Motion[], frames: number, blocks: NumberArray[]): Extent {
  if (scene.bounds && scene.bounds.min.some((x, k) => x < scene.bounds!.max[k]!)) return extentOf(three(scene.bounds.min), three(scene.bounds.max));
  const min = [Infinity, Infinity, Infinity];
  const max = [-Infinity, -Infinity, -Infinity];
  const take = (p: number[], r: number): void => {
    for (let k = 0; k < 3; ++k) {
      const reach = scene.dimension === 2 && k === 2 ? 0 : r;
      min[k] = Math.min(min[k]!, p[k]! - reach);
      max[k] = Math.max(max[k]!, p[k]! + reach);
    }
  };
  for (const group of scene.particles ?? []) {
    const motion = motions[group.motion]!;
    let reach = group.radius ?? 0;
    for (const r of group.radii === undefined ? [] : blocks[group.radii] ?? []) reach = Math.max(reach, r);
    if (motion.scale) {
      take(three(motion.scale.min), reach);
      take(three(motion.scale.max), reach);
    } else for (let i = 0; i < motion.count; ++i) cover(motion, i, Math.min(frames, 3), reach, take);
  }
  for (const body of scene.bodies ?? []) {
    const reach = Math.max(0, ...body.shapes.map(reachOf));
    const solid = body.shapes.some((s) => s.kind !== 'plane');
    if ('motion' in body.at) cover(motions[body.at.motion]!, body.at.index, frames, reach, take);
    else if (solid) take(three(body.at.position), reach);
  }
  for (const point of scene.points ?? []) {
    if ('motion' in point.at) cover(motions[point.at.motion]!, point.at.index, frames, point.radius ?? 0, take);
    else take(three(point.at.position), point.radius ?? 0);
  }
  for (const rod of scene.rods ?? [])
    for (const end of [rod.a, rod.b]) {
      if ('motion' in end.at) cover(motions[end.at.motion]!, end.at.index, frames, 0, take);
      else take(three(end.at.position).map((x, k) => x + (end.offset?.[k] ?? 0)), 0);
    }
  for (const surface of scene.surfaces ?? []) {
    if (surface.kind === 'sphere' && !('motion' in surface.centre.at)) take(three(surface.centre.at.position), surface.radius);
    if (surface.kind === 'grid' || surface.kind === 'curve') {
      const points = blocks[surface.points] ?? [];
      for (let i = 0; i + 2 < points.length; i += 3) take([points[i]!, points[i + 1]!, points[i + 2]!], 0);
    }
  }
  if (!Number.isFinite(min[0]!)) return around([0, 0, 0], scene.dimension);
  return min.every((x, k) => x === max[k]) ? around(min, scene.dimension) : extentOf(min, max);
}

/** So that it holds later frames as well; by a good part more, so that it does not have to grow with each of them. */
export function growExtent(extent: Extent, motions: Motion[], first: number, end: number): boolean {
  const min = [...extent.min];
  const max = [...extent.max];
  const stride = Math.max(1, Math.floor((end - first) / 50));
  for (const motion of motions)
    for (let f = first; f < end; f += stride)
      for (let i = 0; i < motion.count; ++i)
        for (let k = 0; k < 3; ++k) {
          const x = coordinate(motion, f, i, k);
          if (x < min[k]!) min[k] = x - 0.2 * extent.radius;
          if (x > max[k]!) max[k] = x + 0.2 * extent.radius;
        }
  const grown = min.some((x, k) => x < extent.min[k]!) || max.some((x, k) => x > extent.max[k]!);
  if (grown) Object.assign(extent, extentOf(min, max));
  return grown;
}
