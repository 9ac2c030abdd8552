// Many spheres, or disks in the plane, in one draw call. Each is a triangle around its disk, turned to the viewer and shaded
// as a sphere; the two frames around the time go to the graphics card as they are in the page, 16 bits for a number, and
// are decoded and mixed there. In space they are drawn from the front to the back, without those that are hidden. The
// corners of all triangles lie in plain arrays: renderers in software take instances one by one, which is many times slower.
import {
  BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Mesh, ShaderMaterial, Sphere, Vector3,
  type Matrix4, type OrthographicCamera, type PerspectiveCamera,
} from 'three';
import { SphereSorter } from './hidden_spheres.ts';
import { coordinate, type Motion } from './motion.ts';
import type { NumberArray } from '../data/blocks.ts';

const VERTEX = `
attribute vec2 corner; attribute vec3 placeB; attribute vec2 turnA; attribute vec2 turnB; attribute float radius; attribute float tone;
uniform vec3 low; uniform vec3 span; uniform float part;
varying vec2 vUv; varying float vTone; varying vec2 vTurn;
void main() {
  vec4 c = modelViewMatrix * vec4(low + span * mix(position, placeB, part), 1.0);
  bool straight = projectionMatrix[3][3] == 1.0;
  vec3 view = straight ? vec3(0.0, 0.0, 1.0) : normalize(-c.xyz);
  vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), view));
  vec3 up = cross(view, right);
  float far = length(c.xyz);
  float grow = straight ? 1.0 : (far - radius) / sqrt(max(far * far - radius * radius, 1e-12));
  vec3 front = c.xyz + view * radius + (right * corner.x + up * corner.y) * radius * grow;
  gl_Position = projectionMatrix * vec4(front, 1.0);
  vUv = corner; vTone = tone;
  float s = dot(turnA, turnB) < 0.0 ? -1.0 : 1.0;
  vTurn = normalize(mix(turnA, s * turnB, part) + vec2(1e-9, 0.0));
}`;
const FRAGMENT_SPACE = `
uniform vec3 colour; uniform float dim;
varying vec2 vUv; varying float vTone;
void main() {
  float square = dot(vUv, vUv);
  if (square > 1.0) discard;
  float z = sqrt(1.0 - square);
  float light = 0.56 + 0.3 * (0.35 * vUv.x + 0.7 * vUv.y) + 0.46 * z;
  gl_FragColor = vec4(colour * light * vTone * dim, 1.0);
}`;
const FRAGMENT_FLAT = `
uniform vec3 colour; uniform vec3 edge; uniform float spokes;
varying vec2 vUv; varying float vTone; varying vec2 vTurn;
void main() {
  float r = length(vUv);
  float soft = fwidth(r);
  float cover = 1.0 - smoothstep(1.0 - soft, 1.0, r);
  if (cover <= 0.0) discard;
  vec2 axis = vec2(vTurn.x * vTurn.x - vTurn.y * vTurn.y, 2.0 * vTurn.x * vTurn.y);
  float along = dot(axis, vUv), across = abs(axis.x * vUv.y - axis.y * vUv.x);
  float mark = spokes * step(0.0, along) * (1.0 - smoothstep(0.05, 0.12, across));
  float rim = smoothstep(0.80, 0.9, r);
  gl_FragColor = vec4(mix(colour * vTone, edge, max(0.55 * rim, 0.6 * mark)), cover);
}`;

/** A stable grey step for each sphere, so that neighbours can be told apart. */
const toneOf = (i: number): number => 0.88 + 0.24 * ((Math.imul(i + 1, 2654435761) >>> 8) / 0x1000000);

function mixed(motion: Motion, frame: number, next: number, part: number, index: number, component: number): number {
  const a = coordinate(motion, frame, index, component);
  return part > 0 ? a + part * (coordinate(motion, next, index, component) - a) : a;
}

export class SphereCloud {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  private places: BufferAttribute[] = [];
  private turns: BufferAttribute[] = [];
  private frame = -1;
  private sorter: SphereSorter | null;
  private screen: Float32Array[] = [];
  private seen: Uint32Array;
  private index: BufferAttribute;

  constructor(private motion: Motion, private radii: ArrayLike<number>, colour: string, private flat: boolean) {
    const n = motion.count;
    this.sorter = !flat && n > 500 ? new SphereSorter(n) : null;
    this.seen = new Uint32Array(this.sorter ? n : 0);
    if (this.sorter) this.screen = [0, 1, 2, 3].map(() => new Float32Array(n));
    const geometry = new BufferGeometry();
    const corners = new Float32Array(6 * n);
    const index = new Uint32Array(3 * n);
    for (let i = 0; i < n; ++i) {
      corners.set([-Math.sqrt(3), -1, Math.sqrt(3), -1, 0, 2], 6 * i);
      index.set([3 * i, 3 * i + 1, 3 * i + 2], 3 * i);
    }
    geometry.setAttribute('corner', new BufferAttribute(corners, 2));
    this.index = new BufferAttribute(index, 1);
    this.index.setUsage(DynamicDrawUsage);
    geometry.setIndex(this.index);
    const dynamic = (name: string, array: NumberArray, size: number, normalised: boolean): BufferAttribute => {
      const attribute = new BufferAttribute(array, size, normalised);
      attribute.setUsage(DynamicDrawUsage);
      geometry.setAttribute(name, attribute);
      return attribute;
    };
    const c = motion.components;
    const quantised = motion.scale !== null;
    for (const name of ['position', 'placeB'])
      this.places.push(dynamic(name, quantised ? new Uint16Array(3 * n * c) : new Float32Array(3 * n * c), c, quantised));
    for (const name of ['turnA', 'turnB']) this.turns.push(dynamic(name, new Float32Array(6 * n).fill(1), 2, false));
    dynamic('radius', Float32Array.from({ length: 3 * n }, (_, i) => radii[Math.floor(i / 3)]!), 1, false);
    dynamic('tone', Float32Array.from({ length: 3 * n }, (_, i) => toneOf(Math.floor(i / 3))), 1, false);
    const low = new Vector3();
    const span = new Vector3(1, 1, 1);
    if (motion.scale) {
      low.fromArray([...motion.scale.min, 0, 0].slice(0, 3));
      span.fromArray([0, 1, 2].map((k) => (motion.scale!.max[k] ?? 0) - (motion.scale!.min[k] ?? 0)));
    }
    const material = new ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: flat ? FRAGMENT_FLAT : FRAGMENT_SPACE, depthTest: !flat, depthWrite: !flat, transparent: flat,
      uniforms: {
        low: { value: low }, span: { value: span }, part: { value: 0 }, colour: { value: new Color(colour) },
        edge: { value: new Color('#222') }, spokes: { value: motion.rotations && flat ? 1 : 0 }, dim: { value: 1 },
      },
    });
    geometry.boundingSphere = new Sphere(new Vector3(), 1); // positions are no lengths: never look at them
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  setColours(colour: string, edge: string, dim: number): void {
    (this.mesh.material.uniforms.colour!.value as Color).set(colour);
    (this.mesh.material.uniforms.edge!.value as Color).set(edge);
    this.mesh.material.uniforms.dim!.value = dim;
  }

  private copyFrame(frame: number, place: BufferAttribute, turn: BufferAttribute): void {
    const { count: n, components: c, positions, rotations, rotationComponents: rc } = this.motion;
    const base = frame * n;
    for (let k = 0; k < n; ++k) {
      const i = base + k;
      for (let d = 0; d < c; ++d) {
        const x = positions[i * c + d]!;
        for (let corner = 3 * k; corner < 3 * k + 3; ++corner) place.array[corner * c + d] = x;
      }
    }
    place.needsUpdate = true;
    if (!rotations || !this.flat) return;
    for (let k = 0; k < n; ++k) {
      const i = (base + k) * rc;
      for (let corner = 3 * k; corner < 3 * k + 3; ++corner) {
        turn.array[2 * corner] = rotations[i]! / 32767;
        turn.array[2 * corner + 1] = rotations[i + rc - 1]! / 32767;
      }
    }
    turn.needsUpdate = true;
  }

  /** Only those that are seen are drawn, nearest first. */
  private choose(frame: number, part: number, frames: number, camera: PerspectiveCamera | OrthographicCamera, width: number, height: number): void {
    camera.updateMatrixWorld();
    const view = camera.matrixWorldInverse.elements as Matrix4['elements'];
    const scale = (camera.projectionMatrix.elements[5]! * height) / 2;
    const [x, y, r, depth] = this.screen as [Float32Array, Float32Array, Float32Array, Float32Array];
    const next = Math.min(frame + 1, frames - 1);
    for (let i = 0; i < this.motion.count; ++i) {
      const px = mixed(this.motion, frame, next, part, i, 0);
      const py = mixed(this.motion, frame, next, part, i, 1);
      const pz = mixed(this.motion, frame, next, part, i, 2);
      const cx = view[0]! * px + view[4]! * py + view[8]! * pz + view[12]!;
      const cy = view[1]! * px + view[5]! * py + view[9]! * pz + view[13]!;
      const away = -(view[2]! * px + view[6]! * py + view[10]! * pz + view[14]!);
      x[i] = width / 2 + (scale * cx) / away;
      y[i] = height / 2 - (scale * cy) / away;
      r[i] = (scale * this.radii[i]!) / away;
      depth[i] = away;
    }
    const count = this.sorter!.visible(x, y, r, depth, width, height, this.seen);
    const index = this.index.array;
    for (let k = 0; k < count; ++k) {
      const first = 3 * this.seen[k]!;
      index[3 * k] = first;
      index[3 * k + 1] = first + 1;
      index[3 * k + 2] = first + 2;
    }
    this.index.clearUpdateRanges();
    this.index.addUpdateRange(0, 3 * count);
    this.index.needsUpdate = true;
    this.mesh.geometry.setDrawRange(0, 3 * count);
  }

  update(frame: number, part: number, frames: number, camera: PerspectiveCamera | OrthographicCamera, width: number, height: number): void {
    if (frame !== this.frame) {
      this.copyFrame(frame, this.places[0]!, this.turns[0]!);
      this.copyFrame(Math.min(frame + 1, frames - 1), this.places[1]!, this.turns[1]!);
      this.frame = frame;
    }
    if (this.sorter) this.choose(frame, part, frames, camera, width, height);
    this.mesh.material.uniforms.part!.value = part;
  }

  /** Frames were added to the motion. */
  refresh(): void {
    this.frame = -1;
  }
}
