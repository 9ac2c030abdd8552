// Straight strokes in one draw call: trails, force chains, springs, axes, and rods in the plane. Each has two ends, a
// width and a colour, and is turned to the viewer.
import {
  DynamicDrawUsage, InstancedBufferAttribute, InstancedBufferGeometry, BufferAttribute, Mesh, ShaderMaterial, DoubleSide,
} from 'three';

const VERTEX = `
attribute vec3 endA; attribute vec3 endB; attribute float width; attribute vec4 colour; attribute float tip;
uniform float perPixel; uniform bool pixels;
varying vec4 vColour;
void main() {
  vec4 a = modelViewMatrix * vec4(endA, 1.0), b = modelViewMatrix * vec4(endB, 1.0);
  bool straight = projectionMatrix[3][3] == 1.0;
  vec3 along = b.xyz - a.xyz;
  vec3 middle = mix(a.xyz, b.xyz, position.x);
  vec3 view = straight ? vec3(0.0, 0.0, 1.0) : normalize(-middle);
  vec3 side = cross(along, view);
  float size = length(side);
  side = size > 1e-12 ? side / size : vec3(1.0, 0.0, 0.0);
  float w = pixels ? width * perPixel * (straight ? 1.0 : -middle.z) : width;
  gl_Position = projectionMatrix * vec4(middle + side * position.y * w * mix(1.0, tip, position.x), 1.0);
  vColour = colour;
}`;
const FRAGMENT = `
varying vec4 vColour;
void main() { gl_FragColor = vColour; }`;

export class Ribbons {
  readonly mesh: Mesh<InstancedBufferGeometry, ShaderMaterial>;
  private ends!: [InstancedBufferAttribute, InstancedBufferAttribute];
  private widths!: InstancedBufferAttribute;
  private colours!: InstancedBufferAttribute;
  private tips!: InstancedBufferAttribute;
  private used = 0;

  constructor(private capacity: number, pixels: boolean, flat: boolean) {
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array([0, -0.5, 0, 1, -0.5, 0, 1, 0.5, 0, 0, 0.5, 0]), 3));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    this.fill(geometry);
    geometry.instanceCount = 0;
    const material = new ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT, transparent: true, depthWrite: false, depthTest: !flat, side: DoubleSide,
      uniforms: { perPixel: { value: 0.001 }, pixels: { value: pixels } },
    });
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  /** Room for so many. */
  reserve(count: number): void {
    if (count <= this.capacity) return;
    this.capacity = Math.max(count, 2 * this.capacity);
    const { geometry } = this.mesh;
    geometry.dispose(); // its buffers have another length
    this.fill(geometry);
  }

  private fill(geometry: InstancedBufferGeometry): void {
    this.ends = [this.attribute(geometry, 'endA', 3), this.attribute(geometry, 'endB', 3)];
    this.widths = this.attribute(geometry, 'width', 1);
    this.colours = this.attribute(geometry, 'colour', 4);
    this.tips = this.attribute(geometry, 'tip', 1);
  }

  private attribute(geometry: InstancedBufferGeometry, name: string, size: number): InstancedBufferAttribute {
    const attribute = new InstancedBufferAttribute(new Float32Array(this.capacity * size), size);
    attribute.setUsage(DynamicDrawUsage);
    geometry.setAttribute(name, attribute);
    return attribute;
  }

  clear(): void {
    this.used = 0;
  }

  /** `tip`: the width at b as a part of that at a. */
  add(a: ArrayLike<number>, b: ArrayLike<number>, width: number, colour: ArrayLike<number>, alpha: number, tip = 1): void {
    if (this.used >= this.capacity) return;
    const i = this.used++;
    const [endA, endB] = this.ends;
    for (let k = 0; k < 3; ++k) {
      endA.array[3 * i + k] = a[k]!;
      endB.array[3 * i + k] = b[k]!;
      this.colours.array[4 * i + k] = colour[k]!;
    }
    this.colours.array[4 * i + 3] = alpha;
    this.widths.array[i] = width;
    this.tips.array[i] = tip;
  }

  /** What was added since clear() is what is seen. */
  show(): void {
    this.mesh.geometry.instanceCount = this.used;
    for (const attribute of [...this.ends, this.widths, this.colours, this.tips]) {
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.used * attribute.itemSize);
      attribute.needsUpdate = true;
    }
  }

  setPerPixel(value: number): void {
    this.mesh.material.uniforms.perPixel!.value = value;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
