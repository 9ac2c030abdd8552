// The moving picture: everything of the scene put together, drawn when something has changed.
import { Vector3 } from 'three';
import type { Place, SceneInfo } from '../data/contract.ts';
import type { NumberArray } from '../data/blocks.ts';
import { ContactView } from './contact_view.ts';
import { growExtent, sceneExtent, type Extent } from './extent.ts';
import { frameAt, inLengths, motionOf, nearestFrame, newPose, placeAt, type Motion } from './motion.ts';
import { Solids } from './solids.ts';
import { SphereCloud } from './sphere_cloud.ts';
import { Stage } from './stage.ts';
import { Strokes } from './strokes.ts';
import { Surfaces } from './surfaces.ts';
import { bodyColour, type Theme } from '../page/palette.ts';
import type { NewContacts } from '../live/protocol.ts';

export interface SceneColours {
  ink: string;
  sheet: string;
  grid: string;
  particles: string;
}
export interface Followed {
  name: string;
  at: Place;
}
export type Layer = 'trails' | 'joints' | 'contacts' | 'forces' | 'surfaces';

const MANY = 3000; // particles: beyond, edges are not smoothed

export class SceneView {
  readonly stage: Stage;
  readonly contacts: ContactView | null = null;
  readonly extent: Extent;
  private motions: Motion[];
  private clouds: SphereCloud[] = [];
  private solids: Solids;
  private strokes: Strokes;
  private surfaces: Surfaces;
  private followed: Place | null = null;
  private followedAt = new Vector3();
  private t = NaN;
  private pose = newPose();
  private shown = -1;
  framesDrawn = 0;

  constructor(canvas: HTMLCanvasElement, private info: SceneInfo, blocks: NumberArray[], public time: NumberArray,
    live = false) {
    const flat = info.dimension === 2;
    this.motions = info.motions.map((motion) => motionOf(motion, blocks, info.frames.count));
    if (live) this.motions = this.motions.map((motion) => inLengths(motion, info.frames.count));
    this.extent = sceneExtent(info, this.motions, time.length, blocks);
    const total = (info.particles ?? []).reduce((n, group) => n + this.motions[group.motion]!.count, 0);
    const [ux = 0, uy = 0, uz = 0] = info.up ?? [0, 0, 1];
    this.stage = new Stage(canvas, flat, new Vector3(ux, uy, uz), this.extent, total <= MANY);
    this.solids = new Solids(info, this.motions, this.extent);
    this.strokes = new Strokes(info, this.motions, this.extent);
    this.surfaces = new Surfaces(info, blocks, this.motions, this.extent);
    const { scene } = this.stage;
    scene.add(this.surfaces.group, this.solids.group, this.strokes.trails.mesh, this.strokes.links.mesh);
    let grain = 0;
    (info.particles ?? []).forEach((group) => {
      const motion = this.motions[group.motion]!;
      const radii = group.radii === undefined ? new Float32Array(motion.count).fill(group.radius ?? 0.01) : blocks[group.radii]!;
      const cloud = new SphereCloud(motion, radii, bodyColour(0), flat);
      cloud.mesh.renderOrder = 1;
      for (let i = 0; i < radii.length; ++i) grain += radii[i]! / total;
      this.clouds.push(cloud);
      scene.add(cloud.mesh);
    });
    if (info.contacts) {
      const particleMotions = new Set((info.particles ?? []).map((group) => group.motion));
      this.contacts = new ContactView(info.contacts, blocks, this.motions, particleMotions, this.extent, flat, grain);
      scene.add(this.contacts.dots.mesh, this.contacts.forces.mesh);
      this.contacts.dots.mesh.visible = false;
    }
  }

  /** What the camera can go with. At most two hundred: nobody looks through a longer list. */
  followable(): Followed[] {
    const things = [...(this.info.bodies ?? []), ...(this.info.points ?? [])].filter((thing) => 'motion' in thing.at);
    const list: Followed[] = things.map(({ name, at }) => ({ name, at }));
    for (const group of this.info.particles ?? [])
      for (let i = 0; i < Math.min(20, this.motions[group.motion]!.count); ++i)
        list.push({ name: `${group.name}[${i}]`, at: { motion: group.motion, index: i } });
    return list.slice(0, 200);
  }

  layers(): Layer[] {
    const has: Record<Layer, boolean> = {
      trails: (this.info.trails?.length ?? 0) > 0,
      joints: (this.info.joints?.length ?? 0) > 0,
      contacts: this.contacts !== null,
      forces: this.contacts !== null,
      surfaces: (this.info.surfaces?.length ?? 0) + this.solids.planes.length > 0,
    };
    return (Object.keys(has) as Layer[]).filter((layer) => has[layer]);
  }

  isShown(layer: Layer): boolean {
    return this.objects(layer)[0]?.visible ?? false;
  }
  show(layer: Layer, visible: boolean): void {
    for (const object of this.objects(layer)) object.visible = visible;
    this.stage.dirty = true;
  }
  private objects(layer: Layer): { visible: boolean }[] {
    switch (layer) {
      case 'trails': return [this.strokes.trails.mesh];
      case 'joints': return [this.solids.joints];
      case 'contacts': return this.contacts ? [this.contacts.dots.mesh] : [];
      case 'forces': return this.contacts ? [this.contacts.forces.mesh] : [];
      case 'surfaces': return [this.surfaces.group, ...this.solids.planes.map((plane) => plane.group)];
    }
  }

  follow(place: Place | null): void {
    this.followed = place;
    if (place) this.followedAt.copy(this.positionOf(place, this.t));
  }
  private positionOf(place: Place, t: number): Vector3 {
    const { frame, part } = frameAt(this.time, t);
    placeAt(place, this.motions, frame, part, this.pose);
    return new Vector3(this.pose.x, this.pose.y, this.pose.z);
  }

  setTime(t: number): void {
    if (t === this.t) return;
    this.t = t;
    if (this.followed) {
      const now = this.positionOf(this.followed, t);
      this.stage.shift(now.clone().sub(this.followedAt));
      this.followedAt.copy(now);
    }
    this.stage.dirty = true;
  }

  setTheme(theme: Theme, colours: SceneColours): void {
    this.solids.setColours(colours.ink, colours.sheet, colours.grid);
    this.surfaces.setColours(colours.ink, colours.sheet, colours.grid);
    this.strokes.setInk(colours.ink);
    for (const cloud of this.clouds) cloud.setColours(colours.particles, colours.ink, theme === 'dark' ? 0.92 : 1);
    if (this.contacts) this.contacts.theme = theme;
    this.shown = -1;
    this.stage.dirty = true;
  }

  /** Later frames of a run that goes on. */
  grow(time: NumberArray, motions: Motion[], contacts: NewContacts | null = null): void {
    const before = this.time.length;
    this.time = time;
    motions.forEach((motion, i) => Object.assign(this.motions[i]!, motion));
    for (const cloud of this.clouds) cloud.refresh();
    if (contacts) this.contacts?.grow(contacts);
    if (growExtent(this.extent, this.motions, before, time.length) && !this.stage.moved) this.stage.fit();
    this.shown = -1;
    this.stage.dirty = true;
  }
  get motionList(): readonly Motion[] {
    return this.motions;
  }

  /** Draws if needed; true if it has drawn. */
  draw(): boolean {
    if (!this.stage.dirty || this.time.length === 0) return false;
    const { frame, part } = frameAt(this.time, Number.isNaN(this.t) ? this.time[0]! : this.t);
    const perPixel = this.stage.perPixel();
    if (this.t !== this.shown) {
      this.solids.update(frame, part);
      this.strokes.update(frame, part);
      this.surfaces.update(frame, part);
      this.contacts?.update(nearestFrame(this.time, this.t), frame, part, perPixel);
      this.shown = this.t;
    }
    for (const cloud of this.clouds) cloud.update(frame, part, this.time.length, this.stage.camera, this.stage.width, this.stage.height);
    for (const ribbons of [this.strokes.trails, this.strokes.links, this.surfaces.curves, this.contacts?.dots, this.contacts?.forces]) ribbons?.setPerPixel(perPixel);
    this.stage.draw();
    ++this.framesDrawn;
    return true;
  }
}
