// Bodies with their shapes, points, joints and rods: what is a solid thing on the stage.
import {
  BoxGeometry, BufferGeometry, CircleGeometry, CylinderGeometry, DoubleSide, EdgesGeometry, Float32BufferAttribute, Group,
  InstancedMesh, LineBasicMaterial, LineSegments, Material, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, Object3D,
  Quaternion, RingGeometry, SphereGeometry, TorusGeometry, Vector3,
} from 'three';
import type { Anchor, BodyInfo, JointInfo, Place, PointInfo, RodInfo, SceneInfo } from '../data/contract.ts';
import { newPose, placeAt, pointOn, type Motion } from './motion.ts';
import { shapeGeometry } from './shapes.ts';
import { bodyColour } from '../page/palette.ts';
import { PlaneSheet } from './planes.ts';
import type { Extent } from './extent.ts';

interface Moving {
  object: Object3D;
  at: Place;
  offset: number[] | undefined;
}

const pose = newPose();
const point = [0, 0, 0];

export class Solids {
  readonly group = new Group();
  readonly joints = new Group();
  readonly planes: PlaneSheet[] = [];
  private moving: Moving[] = [];
  private inkMaterials: (LineBasicMaterial | MeshBasicMaterial | MeshLambertMaterial)[] = [];
  private rods: { mesh: InstancedMesh; infos: RodInfo[] } | null = null;
  private colour = 0;

  constructor(private scene: SceneInfo, private motions: Motion[], private extent: Extent) {
    for (const body of scene.bodies ?? []) this.addBody(body);
    for (const p of scene.points ?? []) this.addPoint(p);
    for (const joint of scene.joints ?? []) this.addJoint(joint);
    if (!this.flat) this.addRods();
    this.group.add(this.joints);
  }

  private get flat(): boolean {
    return this.scene.dimension === 2;
  }

  private surface(colour: string, order: number): Material {
    const common = { color: colour, depthTest: !this.flat };
    const material = this.flat ? new MeshBasicMaterial({ ...common, side: DoubleSide, transparent: true, opacity: 0.88 }) : new MeshLambertMaterial(common);
    if (this.flat) material.depthWrite = false;
    material.userData.order = order;
    return material;
  }

  private ink(): MeshLambertMaterial | MeshBasicMaterial {
    const material = this.flat ? new MeshBasicMaterial({ depthTest: false, side: DoubleSide, transparent: true }) : new MeshLambertMaterial();
    this.inkMaterials.push(material);
    return material;
  }

  private outline(geometry: BufferGeometry): LineSegments {
    const material = new LineBasicMaterial({ transparent: true, opacity: this.flat ? 0.9 : 0.35, depthTest: !this.flat });
    this.inkMaterials.push(material);
    return new LineSegments(new EdgesGeometry(geometry, 30), material);
  }

  private addBody(body: BodyInfo): void {
    const object = new Group();
    const fixed = !('motion' in body.at);
    const colour = fixed ? '#a3a8ad' : bodyColour(this.colour++);
    for (const shape of body.shapes) {
      if (shape.kind === 'plane') {
        this.addPlane(body, shape.normal, shape.position);
        continue;
      }
      const geometry = shapeGeometry(shape, this.scene.dimension);
      if (!geometry) continue;
      const mesh = new Mesh(geometry, this.surface(colour, 1));
      mesh.renderOrder = 1;
      const edges = this.outline(geometry);
      edges.renderOrder = 2;
      object.add(mesh, edges);
      if (shape.kind === 'sphere') object.add(this.spinMark(shape.radius, shape.position));
    }
    this.place(object, body.at, undefined);
  }

  /** A sphere or a disk shows how it turns. */
  private spinMark(radius: number, position: number[] | undefined): Object3D {
    const material = new LineBasicMaterial({ transparent: true, opacity: 0.75, depthTest: !this.flat });
    this.inkMaterials.push(material);
    const points: number[] = [];
    if (this.flat) points.push(0, 0, 0, radius, 0, 0);
    else
      for (let i = 0; i < 64; ++i)
        for (const k of [i, i + 1]) {
          const angle = (2 * Math.PI * k) / 64;
          points.push(1.004 * radius * Math.cos(angle), 0, 1.004 * radius * Math.sin(angle));
        }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(points, 3));
    const lines = new LineSegments(geometry, material);
    lines.position.fromArray([...(position ?? []), 0, 0, 0].slice(0, 3));
    lines.renderOrder = 2;
    return lines;
  }

  private addPlane(body: BodyInfo, normal: number[], offset: number[] | undefined): void {
    const at = placeAt(body.at, this.motions, 0, 0, pose);
    const turn = new Quaternion(at.qx, at.qy, at.qz, at.qw);
    const n = new Vector3(normal[0], normal[1], normal[2] ?? 0).applyQuaternion(turn);
    const sheet = new PlaneSheet(new Vector3().fromArray(pointOn(at, offset, point)), n, this.extent, this.flat);
    this.planes.push(sheet);
    this.group.add(sheet.group);
  }

  private addPoint(info: PointInfo): void {
    const fixed = !('motion' in info.at);
    const radius = info.radius ?? this.extent.radius * (fixed ? 0.018 : 0.035);
    const material = fixed ? this.ink() : this.surface(bodyColour(this.colour++), 3);
    if (this.flat) (material as MeshBasicMaterial).opacity = 1;
    const mesh = new Mesh(this.flat ? new CircleGeometry(radius, 40) : new SphereGeometry(radius, 32, 20), material);
    mesh.renderOrder = 5;
    this.place(mesh, info.at, undefined);
  }

  private addJoint(info: JointInfo): void {
    const size = this.extent.radius * 0.026;
    let geometry: BufferGeometry;
    if (this.flat) {
      geometry = info.kind === 'prismatic' || info.kind === 'fixed' ? new RingGeometry(size * 0.75, size * 1.2, 4, 1, Math.PI / 4) : new RingGeometry(size * 0.5, size, 40);
    } else if (info.kind === 'revolute' || info.kind === 'cylindrical') geometry = new CylinderGeometry(size, size, size * (info.kind === 'revolute' ? 2.4 : 4), 24);
    else if (info.kind === 'prismatic') geometry = new BoxGeometry(size * 1.4, size * 5, size * 1.4);
    else if (info.kind === 'universal') geometry = new TorusGeometry(size, size * 0.35, 12, 32);
    else if (info.kind === 'fixed') geometry = new BoxGeometry(size * 1.6, size * 1.6, size * 1.6);
    else geometry = new SphereGeometry(size, 24, 16);
    const axis = new Vector3(info.axis?.[0] ?? 0, info.axis?.[1] ?? 0, info.axis?.[2] ?? (info.axis ? 0 : 1)).normalize();
    const turn = new Quaternion();
    if (this.flat && info.kind === 'prismatic') turn.setFromUnitVectors(new Vector3(1, 0, 0), axis.z === 1 ? new Vector3(1, 0, 0) : axis);
    else if (!this.flat) turn.setFromUnitVectors(new Vector3(0, 1, 0), axis);
    geometry.applyQuaternion(turn);
    const mesh = new Mesh(geometry, this.ink());
    mesh.renderOrder = 6;
    const holder = new Group();
    holder.add(mesh);
    this.moving.push({ object: holder, at: info.a.at, offset: info.a.offset });
    this.joints.add(holder);
  }

  private addRods(): void {
    const infos = (this.scene.rods ?? []).filter((rod) => (rod.kind ?? 'rod') === 'rod');
    if (infos.length === 0) return;
    const mesh = new InstancedMesh(new CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0), new MeshLambertMaterial({ color: '#8d939a' }), infos.length);
    mesh.frustumCulled = false;
    this.rods = { mesh, infos };
    this.group.add(mesh);
  }

  private place(object: Object3D, at: Place, offset: number[] | undefined): void {
    this.moving.push({ object, at, offset });
    this.group.add(object);
  }

  private end(anchor: Anchor, frame: number, part: number): Vector3 {
    return new Vector3().fromArray(pointOn(placeAt(anchor.at, this.motions, frame, part, pose), anchor.offset, point));
  }

  update(frame: number, part: number): void {
    for (const { object, at, offset } of this.moving) {
      placeAt(at, this.motions, frame, part, pose);
      object.position.fromArray(pointOn(pose, offset, point));
      object.quaternion.set(pose.qx, pose.qy, pose.qz, pose.qw);
    }
    if (!this.rods) return;
    const thickness = this.extent.radius * 0.009;
    const matrix = new Matrix4();
    this.rods.infos.forEach((rod, i) => {
      const a = this.end(rod.a, frame, part);
      const along = this.end(rod.b, frame, part).sub(a);
      const length = along.length();
      const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), along.divideScalar(length || 1));
      matrix.compose(a, turn, new Vector3(thickness, length, thickness));
      this.rods!.mesh.setMatrixAt(i, matrix);
    });
    this.rods.mesh.instanceMatrix.needsUpdate = true;
  }

  setColours(ink: string, sheet: string, grid: string): void {
    for (const material of this.inkMaterials) material.color.set(ink);
    for (const plane of this.planes) plane.setColours({ sheet, grid });
  }
}
