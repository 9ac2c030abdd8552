// Where things are at any time: frames as they were written, and between two frames the straight way for positions and
// the short way for rotations.
import type { MotionInfo, Place } from '../data/contract.ts';
import type { NumberArray } from '../data/blocks.ts';

export interface Motion {
  count: number;
  components: 2 | 3;
  /** [frame][thing][component]; whole numbers 0..65535 between min and max, or lengths where `scale` is null. */
  positions: NumberArray;
  scale: { min: number[]; max: number[] } | null;
  /** [frame][thing][component], 32767 for 1; two components are (w, z). */
  rotations: NumberArray | null;
  rotationComponents: 2 | 4;
}
export interface Pose {
  x: number; y: number; z: number;
  qw: number; qx: number; qy: number; qz: number;
}
export const newPose = (): Pose => ({ x: 0, y: 0, z: 0, qw: 1, qx: 0, qy: 0, qz: 0 });

export function motionOf(info: MotionInfo, blocks: NumberArray[], frames: number): Motion {
  const positions = blocks[info.positions.block];
  const wanted = frames * info.count * info.positions.components;
  if (!positions || positions.length !== wanted)
    throw new Error(`positions have ${positions?.length ?? 0} numbers where ${wanted} are needed`);
  let rotations: NumberArray | null = null;
  const rotationComponents = info.rotations?.components ?? 4;
  if (info.rotations) {
    rotations = blocks[info.rotations.block] ?? null;
    const needed = frames * info.count * rotationComponents;
    if (rotations?.length !== needed) throw new Error(`rotations have ${rotations?.length ?? 0} numbers where ${needed} are needed`);
  }
  const { min, max } = info.positions;
  return { count: info.count, components: info.positions.components, positions, scale: { min, max }, rotations, rotationComponents };
}

/** The frame before a time, and how far the time lies on the way to the next one, 0 to 1. */
export function frameAt(time: ArrayLike<number>, t: number): { frame: number; part: number } {
  const n = time.length;
  if (n === 0 || t <= time[0]!) return { frame: 0, part: 0 };
  if (t >= time[n - 1]!) return { frame: n - 1, part: 0 };
  let low = 0;
  let high = n - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle]! <= t) low = middle;
    else high = middle;
  }
  const span = time[high]! - time[low]!;
  return { frame: low, part: span > 0 ? (t - time[low]!) / span : 0 };
}

/** The frame nearest to a time; contacts are shown as they were there, never between. */
export function nearestFrame(time: ArrayLike<number>, t: number): number {
  const { frame, part } = frameAt(time, t);
  return part > 0.5 ? frame + 1 : frame;
}

export function coordinate(motion: Motion, frame: number, index: number, component: number): number {
  if (component >= motion.components) return 0;
  const raw = motion.positions[(frame * motion.count + index) * motion.components + component]!;
  if (!motion.scale) return raw;
  const low = motion.scale.min[component]!;
  return low + (raw / 65535) * (motion.scale.max[component]! - low);
}

function quaternion(motion: Motion, frame: number, index: number, out: number[]): void {
  const r = motion.rotations!;
  if (motion.rotationComponents === 2) {
    const at = (frame * motion.count + index) * 2;
    out[0] = r[at]!;
    out[1] = 0;
    out[2] = 0;
    out[3] = r[at + 1]!;
  } else {
    const at = (frame * motion.count + index) * 4;
    for (let k = 0; k < 4; ++k) out[k] = r[at + k]!;
  }
}

const qa = [1, 0, 0, 0];
const qb = [1, 0, 0, 0];

/** Fills `out` with the pose of one thing. */
export function poseAt(motion: Motion, index: number, frame: number, part: number, out: Pose): Pose {
  const next = part > 0 ? frame + 1 : frame;
  const mix = (k: number): number => {
    const a = coordinate(motion, frame, index, k);
    return part > 0 ? a + part * (coordinate(motion, next, index, k) - a) : a;
  };
  out.x = mix(0);
  out.y = mix(1);
  out.z = mix(2);
  if (!motion.rotations) {
    out.qw = 1;
    out.qx = out.qy = out.qz = 0;
    return out;
  }
  quaternion(motion, frame, index, qa);
  if (part > 0) {
    quaternion(motion, next, index, qb);
    const dot = qa[0]! * qb[0]! + qa[1]! * qb[1]! + qa[2]! * qb[2]! + qa[3]! * qb[3]!;
    const sign = dot < 0 ? -1 : 1; // q and -q are the same rotation: take the near one
    for (let k = 0; k < 4; ++k) qa[k] = (1 - part) * qa[k]! + part * sign * qb[k]!;
  }
  const length = Math.hypot(qa[0]!, qa[1]!, qa[2]!, qa[3]!) || 1;
  out.qw = qa[0]! / length;
  out.qx = qa[1]! / length;
  out.qy = qa[2]! / length;
  out.qz = qa[3]! / length;
  return out;
}

export function placeAt(place: Place, motions: Motion[], frame: number, part: number, out: Pose): Pose {
  if ('motion' in place) return poseAt(motions[place.motion]!, place.index, frame, part, out);
  const [x = 0, y = 0, z = 0] = place.position;
  const [w, i, j, k] = place.rotation ?? [1, 0, 0, 0];
  out.x = x; out.y = y; out.z = z;
  out.qw = w; out.qx = i; out.qy = j; out.qz = k;
  return out;
}

/** A point fixed to a pose, in space. */
export function pointOn(pose: Pose, offset: ArrayLike<number> | undefined, out: number[]): number[] {
  if (!offset) {
    out[0] = pose.x; out[1] = pose.y; out[2] = pose.z;
    return out;
  }
  const vx = offset[0] ?? 0, vy = offset[1] ?? 0, vz = offset[2] ?? 0;
  const { qw, qx, qy, qz } = pose;
  const tx = 2 * (qy * vz - qz * vy), ty = 2 * (qz * vx - qx * vz), tz = 2 * (qx * vy - qy * vx);
  out[0] = pose.x + vx + qw * tx + qy * tz - qz * ty;
  out[1] = pose.y + vy + qw * ty + qz * tx - qx * tz;
  out[2] = pose.z + vz + qw * tz + qx * ty - qy * tx;
  return out;
}

/** The same motion in lengths instead of whole numbers: frames of any size can then be added. */
export function inLengths(motion: Motion, frames: number): Motion {
  const positions = new Float32Array(frames * motion.count * motion.components);
  let at = 0;
  for (let f = 0; f < frames; ++f)
    for (let i = 0; i < motion.count; ++i)
      for (let k = 0; k < motion.components; ++k) positions[at++] = coordinate(motion, f, i, k);
  return { ...motion, positions, scale: null, rotations: motion.rotations ? Float32Array.from(motion.rotations) : null };
}
