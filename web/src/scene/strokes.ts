// Trails behind points, springs, lines, and rods of flat models.
import { Color } from 'three';
import type { Anchor, SceneInfo } from '../data/contract.ts';
import type { Extent } from './extent.ts';
import { newPose, placeAt, pointOn, type Motion } from './motion.ts';
import { Ribbons } from './ribbons.ts';
import { bodyColour } from '../page/palette.ts';

export const TRAIL_PIECES = 400;
const COILS = 9;
const pose = newPose();

/** The frames that a trail is drawn through, oldest first: at most TRAIL_PIECES, the last one just before the time. */
export function trailFrames(frame: number, most = TRAIL_PIECES): number[] {
  const first = Math.max(0, frame - most);
  return Array.from({ length: frame - first + 1 }, (_, i) => first + i);
}

/** Corners of a zigzag between two points, beginning and ending on them. */
export function zigzag(a: number[], b: number[], width: number): number[][] {
  const along = [0, 1, 2].map((k) => b[k]! - a[k]!);
  const flatLength = Math.hypot(along[0]!, along[1]!);
  const side = flatLength > 1e-9 * Math.hypot(...along) && flatLength > 0 ? [-along[1]! / flatLength, along[0]! / flatLength, 0] : [1, 0, 0];
  const corners = [a];
  for (let i = 0; i < 2 * COILS; ++i) {
    const s = 0.15 + (0.7 * (i + 0.5)) / (2 * COILS);
    corners.push([0, 1, 2].map((k) => a[k]! + s * along[k]! + (i % 2 === 0 ? 1 : -1) * width * side[k]!));
  }
  corners.push(b);
  return corners;
}

export class Strokes {
  readonly trails: Ribbons;
  readonly links: Ribbons;
  private ink = new Color('#555');

  constructor(private scene: SceneInfo, private motions: Motion[], private extent: Extent) {
    const flat = scene.dimension === 2;
    this.trails = new Ribbons((scene.trails?.length ?? 0) * (TRAIL_PIECES + 2) + 1, true, flat);
    this.links = new Ribbons((scene.rods?.length ?? 0) * (2 * COILS + 2) + 1, false, flat);
    this.trails.mesh.renderOrder = 3;
    this.links.mesh.renderOrder = 4;
  }

  private at(anchor: Anchor, frame: number, part: number): number[] {
    return pointOn(placeAt(anchor.at, this.motions, frame, part, pose), anchor.offset, [0, 0, 0]);
  }

  private trailColour(anchor: Anchor, index: number): Color {
    const solids = [...(this.scene.bodies ?? []), ...(this.scene.points ?? [])].filter((s) => 'motion' in s.at);
    const owner = solids.findIndex((s) => 'motion' in s.at && 'motion' in anchor.at && s.at.motion === anchor.at.motion && s.at.index === anchor.at.index);
    return new Color(bodyColour(owner < 0 ? index : owner));
  }

  update(frame: number, part: number): void {
    this.trails.clear();
    (this.scene.trails ?? []).forEach((trail, i) => {
      const colour = this.trailColour(trail.of, i).toArray();
      const frames = trailFrames(frame);
      let before = this.at(trail.of, frames[0]!, 0);
      const pieces = frames.length;
      for (let k = 1; k <= pieces; ++k) {
        const next = k < pieces ? this.at(trail.of, frames[k]!, 0) : part > 0 ? this.at(trail.of, frame, part) : before;
        const age = Math.max(0, 1 - (pieces - k) / TRAIL_PIECES);
        this.trails.add(before, next, 2, colour, 0.08 + 0.8 * age * age);
        before = next;
      }
    });
    this.trails.show();
    this.links.clear();
    for (const rod of this.scene.rods ?? []) {
      const kind = rod.kind ?? 'rod';
      if (kind === 'rod' && this.scene.dimension === 3) continue;
      const a = this.at(rod.a, frame, part);
      const b = this.at(rod.b, frame, part);
      const r = this.extent.radius;
      const corners = kind === 'spring' ? zigzag(a, b, r * 0.03) : [a, b];
      const width = kind === 'rod' ? r * 0.022 : r * 0.007;
      for (let k = 0; k + 1 < corners.length; ++k) this.links.add(corners[k]!, corners[k + 1]!, width, this.ink.toArray(), kind === 'line' ? 0.6 : 1);
    }
    this.links.show();
  }

  setInk(colour: string): void {
    this.ink.set(colour);
  }
}
