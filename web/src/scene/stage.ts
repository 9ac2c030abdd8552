// Renderer, camera, light and controls. Flat models have a camera without perspective that cannot be tilted.
import {
  AmbientLight, ColorManagement, DirectionalLight, LinearSRGBColorSpace, MOUSE, OrthographicCamera, PerspectiveCamera, Scene,
  TOUCH, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Extent } from './extent.ts';
import { Pace } from './pace.ts';

ColorManagement.enabled = false; // colours are mixed as they are written

const FIELD_OF_VIEW = 35;

/** Where the reader has put the camera; `height`: of the picture without perspective, in the model. */
export interface CameraPlace {
  position: number[];
  target: number[];
  height: number;
}

export class Stage {
  readonly scene = new Scene();
  readonly camera: PerspectiveCamera | OrthographicCamera;
  readonly controls: OrbitControls;
  readonly renderer: WebGLRenderer;
  width = 1;
  height = 1;
  /** Something on the stage has changed since it was last drawn. */
  dirty = true;
  /** The reader has moved the camera. */
  moved = false;
  /** Null: always all pixels. */
  pace: Pace | null = new Pace();
  private sharpness = 1;
  private wanted: CameraPlace | null = null;

  constructor(canvas: HTMLCanvasElement, readonly flat: boolean, private up: Vector3, readonly extent: Extent, smooth: boolean) {
    this.renderer = new WebGLRenderer({ canvas, antialias: smooth, alpha: true, powerPreference: 'high-performance' });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.sortObjects = true;
    const r = extent.radius;
    this.camera = flat ? new OrthographicCamera(-1, 1, 1, -1, 0.01 * r, 100 * r) : new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01 * r, 60 * r);
    this.camera.up.copy(flat ? new Vector3(0, 1, 0) : up);
    this.scene.add(this.camera, new AmbientLight(0xffffff, 1.45));
    const sun = new DirectionalLight(0xffffff, 2.0);
    sun.position.set(0.5, 0.9, 0.8);
    this.camera.add(sun);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    if (flat) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.DOLLY, RIGHT: MOUSE.PAN };
      this.controls.touches = { ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
    }
    this.controls.addEventListener('change', () => (this.dirty = true));
    this.controls.addEventListener('start', () => {
      this.moved = true;
      this.wanted = null;
    });
    this.fit();
  }

  /** Everything in the picture, from the usual side. */
  fit(): void {
    this.wanted = null;
    const centre = new Vector3().fromArray(this.extent.centre);
    this.camera.near = 0.01 * this.extent.radius;
    this.camera.far = (this.flat ? 100 : 60) * this.extent.radius;
    this.controls.target.copy(centre);
    if (this.camera instanceof OrthographicCamera) {
      this.camera.position.set(centre.x, centre.y, centre.z + 10 * this.extent.radius);
      this.camera.zoom = 1;
    } else {
      const direction = this.viewDirection();
      this.camera.position.copy(centre).addScaledVector(direction, this.fittingDistance(direction));
    }
    this.project();
    this.controls.update();
    this.dirty = true;
  }

  /** So that all corners of the extent are in the picture. */
  private fittingDistance(direction: Vector3): number {
    const right = new Vector3().crossVectors(this.camera.up, direction).normalize();
    const above = new Vector3().crossVectors(direction, right);
    const vertical = Math.tan((FIELD_OF_VIEW / 2) * (Math.PI / 180)) / 1.2; // room for what is drawn around a point
    const horizontal = vertical * (this.width / this.height);
    const { min, max, centre } = this.extent;
    let distance = this.extent.radius * 0.1;
    for (let corner = 0; corner < 8; ++corner) {
      const [x, y, z] = [0, 1, 2].map((k) => (corner & (1 << k) ? max : min)[k]! - centre[k]!) as [number, number, number];
      const p = new Vector3(x, y, z);
      distance = Math.max(distance, p.dot(direction) + Math.abs(p.dot(right)) / horizontal, p.dot(direction) + Math.abs(p.dot(above)) / vertical);
    }
    return distance;
  }

  private viewDirection(): Vector3 {
    const up = this.up.clone().normalize();
    const reference = Math.abs(up.z) > 0.9 ? new Vector3(0, -1, 0) : new Vector3(0, 0, 1);
    const front = reference.addScaledVector(up, -reference.dot(up)).normalize();
    const right = new Vector3().crossVectors(up, front);
    return front.multiplyScalar(0.86).addScaledVector(right, 0.5).addScaledVector(up, 0.36).normalize();
  }

  private project(): void {
    const aspect = this.width / this.height;
    if (this.camera instanceof OrthographicCamera) {
      const [w, h] = [0, 1].map((k) => Math.max(1e-9, this.extent.max[k]! - this.extent.min[k]!) * 0.56) as [number, number];
      const half = Math.max(h, w / aspect, this.extent.radius * 0.05);
      this.camera.top = half;
      this.camera.bottom = -half;
      this.camera.left = -half * aspect;
      this.camera.right = half * aspect;
    } else this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  resize(width: number, height: number): void {
    if (width < 1 || height < 1) return;
    const narrow = this.width === 1;
    this.width = width;
    this.height = height;
    this.pace?.forget();
    this.sharpen(1);
    this.project();
    if (narrow && !this.wanted) this.fit();
    if (this.wanted) this.goTo(this.wanted);
    this.dirty = true;
  }

  place(): CameraPlace {
    const { camera, controls } = this;
    const height = camera instanceof OrthographicCamera ? (camera.top - camera.bottom) / camera.zoom : 0;
    return { position: camera.position.toArray(), target: controls.target.toArray(), height };
  }
  /** Until the camera is moved again, whatever size the picture gets. */
  goTo(place: CameraPlace): void {
    this.moved = true;
    this.wanted = place;
    if (this.width === 1) return;
    const { camera, controls } = this;
    camera.position.fromArray(place.position);
    controls.target.fromArray(place.target);
    if (camera instanceof OrthographicCamera) camera.zoom = (camera.top - camera.bottom) / place.height;
    camera.updateProjectionMatrix();
    controls.update();
    this.dirty = true;
  }

  private sharpen(sharpness: number): void {
    this.sharpness = sharpness;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1) * sharpness);
    this.renderer.setSize(this.width, this.height, false);
  }
  /** With each frame of the screen, in seconds: has the stage been drawn? Pictures that move too slowly become less sharp. */
  paced(now: number, drawn: boolean): void {
    if (!this.pace) return;
    const next = drawn ? this.pace.drawn(now) : this.pace.resting(now) ? 1 : this.sharpness;
    if (next === this.sharpness) return;
    this.sharpen(next);
    this.draw(); // a canvas of another size is empty
  }

  /** Length in the model of one pixel at distance 1, or anywhere without perspective. */
  perPixel(): number {
    if (this.camera instanceof OrthographicCamera) return (this.camera.top - this.camera.bottom) / this.camera.zoom / this.height;
    return (2 * Math.tan((FIELD_OF_VIEW / 2) * (Math.PI / 180))) / this.height;
  }

  /** The camera goes along with what it follows. */
  shift(by: Vector3): void {
    this.wanted = null;
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.controls.update();
  }

  draw(): void {
    this.renderer.render(this.scene, this.camera);
    this.dirty = false;
  }
}
