// Many spheres, or disks in the plane, in one draw call. Each is a small polygon that faces the viewer and is shaded as a
// sphere; the two frames around the time go to the graphics card as they are in the page, 16 bits for a number, and are
// decoded and mixed there. In space they are drawn from the front to the back, so that hidden ones cost nothing.
import {
  BufferAttribute, Color, DynamicDrawUsage, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, ShaderMaterial, Vector3,
  type Camera,
} from 'three';
import { coordinate, type Motion } from './motion.ts';
import type { NumberArray } from '../data/blocks.ts';

const VERTEX = `
attribute vec3 placeA; attribute vec3 placeB; attribute vec2 turnA; attribute vec2 turnB; attribute float radius; attribute float tone;
uniform vec3 low; uniform vec3 span; uniform float part;
varying vec2 vUv; varying float vTone; varying vec2 vTurn;
void main() {
  vec4 c = modelViewMatrix * vec4(low + span * mix(placeA, placeB, part), 1.0);
  bool straight = projectionMatrix[3][3] == 1.0;
  vec3 view = straight ? vec3(0.0, 0.0, 1.0) : normalize(-c.xyz);
  vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), view));
  vec3 up = cross(view, right);
  float far = length(c.xyz);
  float grow = straight ? 1.0 : (far - radius) / sqrt(max(far * far - radius * radius, 1e-12));
  vec3 front = c.xyz + view * radius + (right * position.x + up * position.y) * radius * grow;
  gl_Position = projectionMatrix * vec4(front, 1.0);
  vUv = position.xy; vTone = tone;
  float s = dot(turnA, turnB) < 0.0 ? -1.0 : 1.0;
  vTurn = normalize(mix(turnA, s * turnB, part) + vec2(1e-9, 0.0));
}`;
const FRAGMENT_SPACE = `
uniform vec3 colour; uniform float dim;
varying vec2 vUv; varying float vTone;
void main() {
  float z = sqrt(max(0.0, 1.0 - dot(vUv, vUv)));
  float light = 0.5 + 0.34 * (0.35 * vUv.x + 0.6 * vUv.y) + 0.28 * z;
  gl_FragColor = vec4(colour * light * vTone * dim, 1.0);
}`;
const FRAGMENT_FLAT = `
uniform vec3 colour; uniform vec3 edge; uniform float spokes;
varying vec2 vUv; varying float vTone; varying vec2 vTurn;
void main() {
  float r = length(vUv);
  vec2 axis = vec2(vTurn.x * vTurn.x - vTurn.y * vTurn.y, 2.0 * vTurn.x * vTurn.y);
  float along = dot(axis, vUv), across = abs(axis.x * vUv.y - axis.y * vUv.x);
  float mark = spokes * step(0.0, along) * (1.0 - smoothstep(0.05, 0.12, across));
  float rim = smoothstep(0.80, 0.9, r);
  gl_FragColor = vec4(mix(colour * vTone, edge, max(0.55 * rim, 0.6 * mark)), 1.0);
}`;

/** A stable grey step for each sphere, so that neighbours can be told apart. */
const toneOf = (i: number): number => 0.88 + 0.24 * ((Math.imul(i + 1, 2654435761) >>> 8) / 0x1000000);

export class SphereCloud {
  readonly mesh: Mesh<InstancedBufferGeometry, ShaderMaterial>;
  private places: InstancedBufferAttribute[] = [];
  private turns: InstancedBufferAttribute[] = [];
  private radiusAttribute: InstancedBufferAttribute;
  private toneAttribute: InstancedBufferAttribute;
  private order: Uint32Array;
  private frame = -1;
  private viewUsed = new Vector3();
  private readonly sorted: boolean;

  constructor(private motion: Motion, private radii: ArrayLike<number>, colour: string, private flat: boolean) {
    const n = motion.count;
    this.order = Uint32Array.from({ length: n }, (_, i) => i);
    this.sorted = !flat && n > 500;
    const geometry = new InstancedBufferGeometry();
    const corners = n > 3000 ? 12 : 32;
    const ring = [0, 0, 0];
    const index: number[] = [];
    for (let i = 0; i < corners; ++i) {
      const angle = (2 * Math.PI * i) / corners;
      ring.push(Math.cos(angle), Math.sin(angle), 0);
      index.push(0, 1 + i, 1 + ((i + 1) % corners));
    }
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(ring), 3));
    geometry.setIndex(index);
    const instanced = (name: string, array: NumberArray, size: number, normalised: boolean): InstancedBufferAttribute => {
      const attribute = new InstancedBufferAttribute(array, size, normalised);
      attribute.setUsage(DynamicDrawUsage);
      geometry.setAttribute(name, attribute);
      return attribute;
    };
    const c = motion.components;
    const quantised = motion.scale !== null;
    for (const name of ['placeA', 'placeB'])
      this.places.push(instanced(name, quantised ? new Uint16Array(n * c) : new Float32Array(n * c), c, quantised));
    for (const name of ['turnA', 'turnB']) this.turns.push(instanced(name, new Float32Array(2 * n).fill(1), 2, false));
    this.radiusAttribute = instanced('radius', Float32Array.from({ length: n }, (_, i) => radii[i]!), 1, false);
    this.toneAttribute = instanced('tone', Float32Array.from({ length: n }, (_, i) => toneOf(i)), 1, false);
    geometry.instanceCount = n;
    const low = new Vector3();
    const span = new Vector3(1, 1, 1);
    if (motion.scale) {
      low.fromArray([...motion.scale.min, 0, 0].slice(0, 3));
      span.fromArray([0, 1, 2].map((k) => (motion.scale!.max[k] ?? 0) - (motion.scale!.min[k] ?? 0)));
    }
    const material = new ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: flat ? FRAGMENT_FLAT : FRAGMENT_SPACE, depthTest: !flat, depthWrite: !flat,
      uniforms: {
        low: { value: low }, span: { value: span }, part: { value: 0 }, colour: { value: new Color(colour) },
        edge: { value: new Color('#222') }, spokes: { value: motion.rotations && flat ? 1 : 0 }, dim: { value: 1 },
      },
    });
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  setColours(colour: string, edge: string, dim: number): void {
    (this.mesh.material.uniforms.colour!.value as Color).set(colour);
    (this.mesh.material.uniforms.edge!.value as Color).set(edge);
    this.mesh.material.uniforms.dim!.value = dim;
  }

  /** Bucket sort by depth along the view; good enough, and quick. */
  private sort(frame: number, direction: Vector3): void {
    const n = this.motion.count;
    const depth = new Float32Array(n);
    let low = Infinity;
    let high = -Infinity;
    for (let i = 0; i < n; ++i) {
      const d = coordinate(this.motion, frame, i, 0) * direction.x + coordinate(this.motion, frame, i, 1) * direction.y +
        coordinate(this.motion, frame, i, 2) * direction.z;
      depth[i] = d;
      if (d < low) low = d;
      if (d > high) high = d;
    }
    const buckets = 1024;
    const scale = high > low ? (buckets - 1) / (high - low) : 0;
    const starts = new Uint32Array(buckets + 1);
    for (let i = 0; i < n; ++i) ++starts[1 + Math.floor((depth[i]! - low) * scale)]!;
    for (let b = 0; b < buckets; ++b) starts[b + 1]! += starts[b]!;
    for (let i = 0; i < n; ++i) this.order[starts[Math.floor((depth[i]! - low) * scale)]!++] = i;
  }

  private copyFrame(frame: number, place: InstancedBufferAttribute, turn: InstancedBufferAttribute): void {
    const { count: n, components: c, positions, rotations, rotationComponents: rc } = this.motion;
    const base = frame * n;
    for (let k = 0; k < n; ++k) {
      const i = base + this.order[k]!;
      for (let d = 0; d < c; ++d) place.array[k * c + d] = positions[i * c + d]!;
    }
    place.needsUpdate = true;
    if (!rotations || !this.flat) return;
    for (let k = 0; k < n; ++k) {
      const i = (base + this.order[k]!) * rc;
      turn.array[2 * k] = rotations[i]! / 32767;
      turn.array[2 * k + 1] = rotations[i + rc - 1]! / 32767;
    }
    turn.needsUpdate = true;
  }

  update(frame: number, part: number, frames: number, camera: Camera): void {
    const direction = camera.getWorldDirection(new Vector3());
    const turned = this.sorted && direction.dot(this.viewUsed) < 0.985;
    if (frame !== this.frame || turned) {
      if (this.sorted) {
        this.sort(frame, direction);
        this.viewUsed.copy(direction);
        for (let k = 0; k < this.motion.count; ++k) {
          this.radiusAttribute.array[k] = this.radii[this.order[k]!]!;
          this.toneAttribute.array[k] = toneOf(this.order[k]!);
        }
        this.radiusAttribute.needsUpdate = this.toneAttribute.needsUpdate = true;
      }
      this.copyFrame(frame, this.places[0]!, this.turns[0]!);
      this.copyFrame(Math.min(frame + 1, frames - 1), this.places[1]!, this.turns[1]!);
      this.frame = frame;
    }
    this.mesh.material.uniforms.part!.value = part;
  }

  /** Frames were added to the motion. */
  refresh(): void {
    this.frame = -1;
  }
}
