// Planes reach to infinity; here they are cut to the scene. In space a plane is a sheet with a grid, in the plane a line
// with hatches on its solid side.
import {
  BufferGeometry, Color, DoubleSide, Float32BufferAttribute, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial,
  PlaneGeometry, Quaternion, Vector3,
} from 'three';
import type { Extent } from './extent.ts';

/** 1, 2 or 5 times a power of ten, so that about `count` of them fill a length. */
export function gridStep(length: number, count = 12): number {
  const raw = length / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

export interface PlaneColours {
  sheet: string;
  grid: string;
}

export class PlaneSheet {
  readonly group = new Group();
  private sheet: MeshBasicMaterial | null = null;
  private lines: LineBasicMaterial;

  constructor(point: Vector3, normal: Vector3, extent: Extent, flat: boolean) {
    this.lines = new LineBasicMaterial({ transparent: true, opacity: flat ? 0.8 : 0.55, depthTest: !flat });
    const n = normal.clone().normalize();
    const centre = new Vector3().fromArray(extent.centre);
    const onPlane = centre.clone().addScaledVector(n, point.clone().sub(centre).dot(n));
    if (flat) this.hatch(onPlane, n, extent);
    else this.grid(onPlane, n, extent);
  }

  private segments(points: number[], order: number): void {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(points, 3));
    const lines = new LineSegments(geometry, this.lines);
    lines.renderOrder = order;
    this.group.add(lines);
  }

  private hatch(at: Vector3, n: Vector3, extent: Extent): void {
    const along = new Vector3(-n.y, n.x, 0);
    const half = extent.radius * 1.06;
    const step = gridStep(2 * half, 40);
    const points: number[] = [];
    const push = (p: Vector3): void => void points.push(p.x, p.y, 0);
    push(at.clone().addScaledVector(along, -half));
    push(at.clone().addScaledVector(along, half));
    for (let s = -half; s <= half; s += step) {
      const from = at.clone().addScaledVector(along, s);
      push(from);
      push(from.clone().addScaledVector(along, -step * 0.7).addScaledVector(n, -step * 0.9));
    }
    this.segments(points, 0);
  }

  private grid(at: Vector3, n: Vector3, extent: Extent): void {
    const half = extent.radius * 1.15;
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), n);
    this.sheet = new MeshBasicMaterial({ transparent: true, opacity: 0.5, side: DoubleSide, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 1 });
    const mesh = new Mesh(new PlaneGeometry(2 * half, 2 * half), this.sheet);
    mesh.renderOrder = -2;
    this.group.add(mesh);
    const step = gridStep(2 * half);
    const cells = Math.floor(half / step);
    const points: number[] = [];
    for (let i = -cells; i <= cells; ++i) {
      points.push(i * step, -half, 0, i * step, half, 0);
      points.push(-half, i * step, 0, half, i * step, 0);
    }
    this.segments(points, -1);
    this.group.quaternion.copy(turn);
    this.group.position.copy(at);
  }

  setColours(colours: PlaneColours): void {
    this.sheet?.color.copy(new Color(colours.sheet));
    this.lines.color.copy(new Color(colours.grid));
  }
}
