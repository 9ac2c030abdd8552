// Shapes of bodies as geometry, centred and turned as the model says. Planes are not here: they are cut to the scene.
import {
  BoxGeometry, BufferGeometry, CapsuleGeometry, CircleGeometry, CylinderGeometry, Float32BufferAttribute, Matrix4, Quaternion,
  Shape, ShapeGeometry, SphereGeometry, Vector2, Vector3,
} from 'three';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';
import type { Quat, ShapeInfo } from '../data/contract.ts';

export function placement(position: number[] | undefined, rotation: Quat | undefined): Matrix4 {
  const [x = 0, y = 0, z = 0] = position ?? [];
  const [w, i, j, k] = rotation ?? [1, 0, 0, 0];
  return new Matrix4().compose(new Vector3(x, y, z), new Quaternion(i, j, k, w).normalize(), new Vector3(1, 1, 1));
}

/** Corners of the convex hull of points in the plane, counter-clockwise. */
export function hullInPlane(points: number[][]): number[][] {
  const sorted = [...points].sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
  const turn = (o: number[], a: number[], b: number[]): number =>
    (a[0]! - o[0]!) * (b[1]! - o[1]!) - (a[1]! - o[1]!) * (b[0]! - o[0]!);
  const half = (list: number[][]): number[][] => {
    const chain: number[][] = [];
    for (const p of list) {
      while (chain.length > 1 && turn(chain[chain.length - 2]!, chain[chain.length - 1]!, p) <= 0) chain.pop();
      chain.push(p);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

const polygon = (points: number[][]): BufferGeometry =>
  new ShapeGeometry(new Shape(points.map((p) => new Vector2(p[0]!, p[1]!))));

function capsuleInPlane(radius: number, length: number): BufferGeometry {
  const points: number[][] = [];
  for (let i = 0; i <= 24; ++i) points.push([radius * Math.cos((Math.PI * i) / 24), length / 2 + radius * Math.sin((Math.PI * i) / 24)]);
  for (let i = 0; i <= 24; ++i) points.push([-radius * Math.cos((Math.PI * i) / 24), -length / 2 - radius * Math.sin((Math.PI * i) / 24)]);
  return polygon(points);
}

function triangles(vertices: number[][], faces: number[][]): BufferGeometry {
  const geometry = new BufferGeometry();
  const corners: number[] = [];
  for (const face of faces) for (const i of face.slice(0, 3)) corners.push(...(vertices[i] ?? [0, 0, 0]));
  geometry.setAttribute('position', new Float32BufferAttribute(corners, 3));
  geometry.computeVertexNormals();
  return geometry;
}

/** Null for a plane, and for a kind that this page does not know. */
export function shapeGeometry(shape: ShapeInfo, dimension: 2 | 3): BufferGeometry | null {
  const flat = dimension === 2;
  let geometry: BufferGeometry;
  switch (shape.kind) {
    case 'sphere':
      geometry = flat ? new CircleGeometry(shape.radius, 64) : new SphereGeometry(shape.radius, 40, 24);
      break;
    case 'box': {
      const [a = 1, b = 1, c = 1] = shape.size;
      geometry = flat ? polygon([[-a / 2, -b / 2], [a / 2, -b / 2], [a / 2, b / 2], [-a / 2, b / 2]]) : new BoxGeometry(a, b, c);
      break;
    }
    case 'cylinder':
      geometry = new CylinderGeometry(shape.radius, shape.radius, shape.length, 48).rotateX(Math.PI / 2);
      break;
    case 'capsule':
      geometry = flat ? capsuleInPlane(shape.radius, shape.length)
        : new CapsuleGeometry(shape.radius, shape.length, 10, 32).rotateX(Math.PI / 2);
      break;
    case 'mesh':
      if (flat) geometry = polygon(hullInPlane(shape.vertices));
      else if (shape.triangles) geometry = triangles(shape.vertices, shape.triangles);
      else geometry = new ConvexGeometry(shape.vertices.map((v) => new Vector3(v[0], v[1], v[2])));
      break;
    default:
      return null;
  }
  return geometry.applyMatrix4(placement(shape.position, shape.rotation));
}

/** How far a shape reaches from the origin of its body. */
export function reachOf(shape: ShapeInfo): number {
  const away = Math.hypot(...(shape.position ?? [0]));
  switch (shape.kind) {
    case 'sphere': return away + shape.radius;
    case 'box': return away + Math.hypot(...shape.size) / 2;
    case 'cylinder': return away + Math.hypot(shape.radius, shape.length / 2);
    case 'capsule': return away + shape.radius + shape.length / 2;
    case 'mesh': return away + Math.max(0, ...shape.vertices.map((v) => Math.hypot(...v)));
    case 'plane': return 0;
    default: return 0;
  }
}
