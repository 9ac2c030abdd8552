// Contacts of the nearest frame. Between particles forces are chains from centre to centre; where a larger body takes part
// they are strokes at the point of contact. Width and colour grow with the force.
import type { ContactsInfo } from '../data/contract.ts';
import type { NumberArray } from '../data/blocks.ts';
import type { Extent } from './extent.ts';
import { coordinate, inLengths, type Motion } from './motion.ts';
import { growingDoubles, growingFloats, type Growing } from '../live/growing.ts';
import type { NewContacts } from '../live/protocol.ts';
import { Ribbons } from './ribbons.ts';
import { forceColour, type Theme } from '../page/palette.ts';

interface Thing {
  motion: Motion;
  index: number;
  particle: boolean;
}

/** The force that counts as large: that which 99 of 100 loaded contacts of the run stay below. */
export function largeForce(sizes: ArrayLike<number>): number {
  const loaded: number[] = [];
  const stride = Math.max(1, Math.floor(sizes.length / 50000));
  for (let i = 0; i < sizes.length; i += stride) if (sizes[i]! > 0) loaded.push(sizes[i]!);
  loaded.sort((a, b) => a - b);
  return loaded[Math.min(loaded.length - 1, Math.floor(loaded.length * 0.99))] ?? 0;
}

export class ContactView {
  readonly dots: Ribbons;
  readonly forces: Ribbons;
  scale = 0;
  readonly unit: string;
  private starts: NumberArray;
  private bodies: NumberArray;
  private sizes = new Float32Array(0);
  private vectors: NumberArray;
  private vectorSize: number;
  private points: Motion;
  private things: Thing[] = [];
  private chainWidth: number;
  private growth: Record<'starts' | 'bodies', Growing<Float64Array>> & Record<'vectors' | 'points', Growing<Float32Array>> | null = null;
  theme: Theme = 'light';
  shownContacts = 0;

  constructor(info: ContactsInfo, blocks: NumberArray[], motions: Motion[], particleMotions: Set<number>, private extent: Extent,
    flat: boolean, grain: number) {
    this.starts = blocks[info.start]!;
    this.bodies = blocks[info.bodies]!;
    this.vectors = blocks[info.forces.block]!;
    this.vectorSize = info.forces.components;
    this.unit = info.unit ?? '';
    this.chainWidth = grain > 0 ? 1.1 * grain : extent.radius * 0.02;
    const total = this.starts[this.starts.length - 1] ?? 0;
    if (this.bodies.length !== 2 * total || this.vectors.length !== this.vectorSize * total)
      throw new Error('contacts have blocks of different lengths');
    this.points = {
      count: 1, components: info.points.components, positions: blocks[info.points.block]!, scale: info.points, rotations: null, rotationComponents: 4,
    };
    motions.forEach((motion, m) => {
      for (let i = 0; i < motion.count; ++i) this.things.push({ motion, index: i, particle: particleMotions.has(m) });
    });
    this.dots = new Ribbons(16, true, flat);
    this.forces = new Ribbons(16, false, flat);
    this.dots.mesh.renderOrder = 9;
    this.forces.mesh.renderOrder = 8;
    this.measure();
  }

  /** Sizes of all forces, the largest, and room for the contacts of any frame. */
  private measure(): void {
    const total = this.bodies.length / 2;
    this.sizes = new Float32Array(total);
    let most = 0;
    for (let c = 0; c < total; ++c) {
      let square = 0;
      for (let k = 0; k < this.vectorSize; ++k) square += this.vectors[c * this.vectorSize + k]! ** 2;
      this.sizes[c] = Math.sqrt(square);
    }
    for (let f = 0; f + 1 < this.starts.length; ++f) most = Math.max(most, this.starts[f + 1]! - this.starts[f]!);
    this.scale = largeForce(this.sizes);
    this.dots.reserve(most);
    this.forces.reserve(2 * most);
  }

  /** Contacts of later frames of a run that goes on. */
  grow(more: NewContacts): void {
    this.growth ??= {
      starts: growingDoubles(this.starts), bodies: growingDoubles(this.bodies), vectors: growingFloats(this.vectors),
      points: growingFloats(inLengths(this.points, this.bodies.length / 2).positions),
    };
    const { starts, bodies, vectors, points } = this.growth;
    const before = bodies.length / 2;
    starts.append(Array.from(more.start.subarray(1), (n) => n + before));
    bodies.append(more.bodies);
    vectors.append(more.forces);
    points.append(more.points);
    this.starts = starts.view();
    this.bodies = bodies.view();
    this.vectors = vectors.view();
    this.points = { ...this.points, positions: points.view(), scale: null };
    this.measure();
  }

  private centre(thing: Thing, frame: number, part: number): number[] {
    return [0, 1, 2].map((k) => {
      const a = coordinate(thing.motion, frame, thing.index, k);
      return part > 0 ? a + part * (coordinate(thing.motion, frame + 1, thing.index, k) - a) : a;
    });
  }

  /** `nearest` is the frame whose contacts are shown; chains move with the bodies. */
  update(nearest: number, frame: number, part: number, perPixel: number): void {
    this.dots.clear();
    this.forces.clear();
    const first = this.starts[nearest] ?? 0;
    const last = this.starts[nearest + 1] ?? first;
    this.shownContacts = 0;
    for (let c = first; c < last; ++c) {
      const size = this.sizes[c]!;
      const p = [0, 1, 2].map((k) => coordinate(this.points, c, 0, k));
      const share = this.scale > 0 ? size / this.scale : 0;
      const colour = forceColour(Math.min(1, share) ** 0.7, this.theme);
      if (size > 0) ++this.shownContacts;
      const reach = this.extent.radius * 0.004;
      this.dots.add([p[0]! - reach, p[1]!, p[2]!], [p[0]! + reach, p[1]!, p[2]!], Math.max(3, (2 * reach) / perPixel / 400), colour, size > 0 ? 1 : 0.45);
      if (!(size > 0)) continue;
      const a = this.things[this.bodies[2 * c]!];
      const b = this.things[this.bodies[2 * c + 1]!];
      if ((a?.particle ?? true) && (b?.particle ?? true) && (a || b)) {
        const from = a ? this.centre(a, frame, part) : p;
        const to = b ? this.centre(b, frame, part) : p;
        this.forces.add(from, to, this.chainWidth * Math.min(1.6, 0.06 + share), colour, Math.min(1, 0.35 + share));
      } else {
        const length = (this.extent.radius * 0.35 * Math.min(2, share)) / size;
        const at = (part: number): number[] => p.map((x, k) => x + (k < this.vectorSize ? this.vectors[c * this.vectorSize + k]! : 0) * length * part);
        const neck = at(1 - Math.min(0.5, 0.09 / Math.min(2, share)));
        this.forces.add(p, neck, this.extent.radius * 0.012, colour, 0.95);
        this.forces.add(neck, at(1), this.extent.radius * 0.036, colour, 0.95, 0); // the head of an arrow
      }
    }
    this.dots.show();
    this.forces.show();
  }
}
