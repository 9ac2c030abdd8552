// What constraints keep points on: spheres, planes, grids of points, curves. Seen through, so that the motion stays visible.
import {
  BufferGeometry, CircleGeometry, Color, DoubleSide, EdgesGeometry, Float32BufferAttribute, Group, Line, LineBasicMaterial, LineLoop,
  LineSegments, Mesh, MeshLambertMaterial, SphereGeometry, Vector3, WireframeGeometry, type Object3D,
} from 'three';
import type { Anchor, SceneInfo } from '../data/contract.ts';
import type { NumberArray } from '../data/blocks.ts';
import type { Extent } from './extent.ts';
import { newPose, placeAt, pointOn, type Motion } from './motion.ts';
import { PlaneSheet } from './planes.ts';
import { Ribbons } from './ribbons.ts';

const pose = newPose();

export class Surfaces {
  readonly group = new Group();
  readonly planes: PlaneSheet[] = [];
  private lines: LineBasicMaterial;
  private sheet = new MeshLambertMaterial({ transparent: true, opacity: 0.18, side: DoubleSide, depthWrite: false });
  readonly curves: Ribbons;
  private pieces: { points: NumberArray; ends: NumberArray }[] = [];
  private moving: { object: Object3D; anchor: Anchor }[] = [];

  constructor(scene: SceneInfo, blocks: NumberArray[], private motions: Motion[], extent: Extent) {
    const flat = scene.dimension === 2;
    this.lines = new LineBasicMaterial({ transparent: true, opacity: flat ? 0.8 : 0.2, depthTest: !flat });
    for (const surface of scene.surfaces ?? []) {
      if (surface.kind === 'plane') {
        const [px = 0, py = 0, pz = 0] = surface.point;
        const [nx = 0, ny = 0, nz = 0] = surface.normal;
        const sheet = new PlaneSheet(new Vector3(px, py, pz), new Vector3(nx, ny, nz), extent, flat);
        this.planes.push(sheet);
        this.group.add(sheet.group);
      } else if (surface.kind === 'sphere') {
        const holder = new Group();
        if (flat) holder.add(new LineSegments(new EdgesGeometry(new CircleGeometry(surface.radius, 96)), this.lines));
        else {
          holder.add(new Mesh(new SphereGeometry(surface.radius, 48, 32), this.sheet));
          holder.add(new LineSegments(new WireframeGeometry(new SphereGeometry(surface.radius, 24, 12)), this.lines));
        }
        this.moving.push({ object: holder, anchor: surface.centre });
        this.group.add(holder);
      } else {
        const points = blocks[surface.points];
        if (!points) throw new Error(`surface '${surface.name}' has no points`);
        const geometry = new BufferGeometry();
        geometry.setAttribute('position', new Float32BufferAttribute(Array.from(points), 3));
        if (surface.kind === 'curve') this.group.add(surface.closed ? new LineLoop(geometry, this.lines) : new Line(geometry, this.lines));
        else if (surface.kind === 'mesh' && surface.lines !== undefined) this.pieces.push({ points, ends: blocks[surface.lines]! });
        else if (surface.kind === 'mesh') this.addMesh(geometry, blocks[surface.triangles ?? -1]);
        else this.addGrid(geometry, surface.rows, surface.columns);
      }
    }
    this.curves = new Ribbons(this.pieces.reduce((n, piece) => n + piece.ends.length / 2, 0), true, flat);
    this.group.add(this.curves.mesh);
  }

  private drawCurves(ink: string): void {
    const colour = new Color(ink).toArray();
    this.curves.clear();
    for (const { points, ends } of this.pieces)
      for (let k = 0; k + 1 < ends.length; k += 2) {
        const [a, b] = [ends[k]!, ends[k + 1]!];
        this.curves.add(points.subarray(3 * a, 3 * a + 3), points.subarray(3 * b, 3 * b + 3), 1.6, colour, 0.75);
      }
    this.curves.show();
  }

  private addMesh(geometry: BufferGeometry, corners: NumberArray | undefined): void {
    if (!corners) throw new Error('a surface has no triangles');
    geometry.setIndex(Array.from(corners));
    geometry.computeVertexNormals();
    this.group.add(new Mesh(geometry, this.sheet));
  }

  private addGrid(geometry: BufferGeometry, rows: number, columns: number): void {
    const index: number[] = [];
    const edges: number[] = [];
    for (let i = 0; i < rows; ++i)
      for (let j = 0; j < columns; ++j) {
        const at = i * columns + j;
        if (j + 1 < columns) edges.push(at, at + 1);
        if (i + 1 < rows) edges.push(at, at + columns);
        if (i + 1 < rows && j + 1 < columns) index.push(at, at + 1, at + columns, at + 1, at + columns + 1, at + columns);
      }
    const lines = geometry.clone();
    lines.setIndex(edges);
    geometry.setIndex(index);
    geometry.computeVertexNormals();
    this.group.add(new Mesh(geometry, this.sheet), new LineSegments(lines, this.lines));
  }

  update(frame: number, part: number): void {
    for (const { object, anchor } of this.moving)
      object.position.fromArray(pointOn(placeAt(anchor.at, this.motions, frame, part, pose), anchor.offset, [0, 0, 0]));
  }

  setColours(ink: string, sheet: string, grid: string): void {
    this.lines.color.set(ink);
    this.drawCurves(ink);
    this.sheet.color.set(sheet);
    for (const plane of this.planes) plane.setColours({ sheet, grid });
  }
}
