// The scenes of the exam by engines from npm, with their default settings.
//
//   node npm_column.mjs ENGINE FOLDER < scene.json > rows.csv      ENGINE: rapier or jolt, in FOLDER/node_modules
//
// A row: the time, then of each body that moves x, q = (w, x, y, z), v, w. The last line: steps and seconds of the processor.
// Damping belongs to the scene, which has none; everything else is as the engine has it.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [engine, folder] = process.argv.slice(2);
const load = async (name) => import(pathToFileURL(createRequire(resolve(folder) + '/').resolve(name)).href);
let text = '';
for await (const chunk of process.stdin) text += chunk;
const scene = JSON.parse(text);
const moving = scene.bodies.map((b, k) => k).filter((k) => !scene.bodies[k].fixed);

// about x, from y to z: cylinders of these engines lie along y
const upright = [Math.SQRT1_2, Math.SQRT1_2, 0, 0];
const times = (a, b) => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]];
const rotate = ([w, x, y, z], v) => {
  const p = times(times([w, x, y, z], [0, ...v]), [w, -x, -y, -z]);
  return p.slice(1);
};
const local = (body, point) => {  // of a point in space at the start
  const [w, x, y, z] = body.rotation;
  return rotate([w, -x, -y, -z], point.map((p, k) => p - body.position[k]));
};

async function rapier() {
  const R = (await load('@dimforge/rapier3d-compat')).default;
  await R.init();
  const xyz = ([x, y, z]) => ({ x, y, z });
  const world = new R.World(xyz(scene.gravity));
  world.timestep = scene.step;
  const bodies = scene.bodies.map((b) => {
    const kind = b.fixed ? R.RigidBodyDesc.fixed() : b.turned ? R.RigidBodyDesc.kinematicVelocityBased() : R.RigidBodyDesc.dynamic();
    const [w, x, y, z] = b.rotation;
    kind.setTranslation(...b.position).setRotation({ w, x, y, z }).setLinvel(...b.velocity).setAngvel(xyz(b.angular_velocity));
    if (!b.fixed && !b.turned)
      kind.setAdditionalMassProperties(b.mass, { x: 0, y: 0, z: 0 }, xyz(b.inertia), { w: 1, x: 0, y: 0, z: 0 });
    const body = world.createRigidBody(kind);
    if (b.collide) {
      const s = b.size;
      const shape = b.shape === 'sphere' ? R.ColliderDesc.ball(s[0]) : b.shape === 'box' ? R.ColliderDesc.cuboid(s[0] / 2, s[1] / 2, s[2] / 2)
        : b.shape === 'cylinder' ? R.ColliderDesc.cylinder(s[1] / 2, s[0]).setRotation({ w: upright[0], x: upright[1], y: 0, z: 0 })
        : R.ColliderDesc.convexHull(new Float32Array(b.points.flat()));
      world.createCollider(shape.setDensity(0).setFriction(scene.friction).setRestitution(scene.restitution), body);
    }
    if (b.force.some((f) => f !== 0)) body.addForce(xyz(b.force), true);
    return body;
  });
  const ground = world.createRigidBody(R.RigidBodyDesc.fixed());
  const still = { position: [0, 0, 0], rotation: [1, 0, 0, 0] };
  for (const j of scene.joints) {
    const [a, b] = [j.a < 0 ? still : scene.bodies[j.a], scene.bodies[j.b]];
    const points = [xyz(local(a, j.point)), xyz(local(b, j.point))];
    // axes are parallel to those of the bodies in these scenes: z, or x
    const axis = xyz(j.axis);
    const data = j.type === 'spherical' ? R.JointData.spherical(...points) : j.type === 'revolute' ? R.JointData.revolute(...points, axis)
      : R.JointData.prismatic(...points, axis);
    world.createImpulseJoint(data, j.a < 0 ? ground : bodies[j.a], bodies[j.b], true);
  }
  const list = ({ x, y, z }) => [x, y, z];
  return {
    step: () => world.step(),
    row: () => moving.flatMap((k) => {
      const q = bodies[k].rotation();
      return [...list(bodies[k].translation()), q.w, q.x, q.y, q.z, ...list(bodies[k].linvel()), ...list(bodies[k].angvel())];
    }),
  };
}

async function jolt() {
  const J = await (await load('jolt-physics')).default();
  const settings = new J.JoltSettings();
  settings.mMaxWorkerThreads = 0;
  const pairs = new J.ObjectLayerPairFilterTable(2);  // 0 touches 0; 1 touches nothing
  pairs.EnableCollision(0, 0);
  const layer = new J.BroadPhaseLayer(0);
  const layers = new J.BroadPhaseLayerInterfaceTable(2, 1);
  for (const k of [0, 1]) layers.MapObjectToBroadPhaseLayer(k, layer);
  settings.mObjectLayerPairFilter = pairs;
  settings.mBroadPhaseLayerInterface = layers;
  settings.mObjectVsBroadPhaseLayerFilter = new J.ObjectVsBroadPhaseLayerFilterTable(layers, 1, pairs, 2);
  const world = new J.JoltInterface(settings);
  const system = world.GetPhysicsSystem();
  const interfaceOfBodies = system.GetBodyInterface();
  const vec = ([x, y, z]) => new J.Vec3(x, y, z);
  const place = ([x, y, z]) => new J.RVec3(x, y, z);
  const quat = ([w, x, y, z]) => new J.Quat(x, y, z, w);
  system.SetGravity(vec(scene.gravity));
  const shapeOf = (b) => {
    const s = b.size;
    if (b.shape === 'sphere') return new J.SphereShape(s[0]);
    if (b.shape === 'box') return new J.BoxShape(vec(s.map((x) => x / 2)), Math.min(0.05, Math.min(...s) / 2));
    if (b.shape === 'cylinder') return new J.CylinderShape(s[1] / 2, s[0], Math.min(0.05, s[1] / 2));
    const hull = new J.ConvexHullShapeSettings();
    for (const p of b.points) hull.mPoints.push_back(vec(p));
    return hull.Create().Get();
  };
  const make = (b, kind) => {
    const q = b.shape === 'cylinder' ? times(b.rotation, upright) : b.rotation;
    const o = new J.BodyCreationSettings(shapeOf(b), place(b.position), quat(q), kind, b.collide ? 0 : 1);
    o.mFriction = scene.friction;
    o.mRestitution = scene.restitution;
    o.mLinearDamping = o.mAngularDamping = 0;
    if (kind === J.EMotionType_Dynamic) {
      o.mOverrideMassProperties = J.EOverrideMassProperties_MassAndInertiaProvided;
      o.mMassPropertiesOverride.mMass = b.mass;
      o.mMassPropertiesOverride.mInertia = J.Mat44.prototype.sScaleVec3(vec(b.inertia));
    }
    const body = interfaceOfBodies.CreateBody(o);
    interfaceOfBodies.AddBody(body.GetID(), kind === J.EMotionType_Static ? J.EActivation_DontActivate : J.EActivation_Activate);
    if (kind !== J.EMotionType_Static) {
      body.SetLinearVelocity(vec(b.velocity));
      body.SetAngularVelocity(vec(b.angular_velocity));
    }
    return body;
  };
  const bodies = scene.bodies.map((b) => make(b, b.fixed ? J.EMotionType_Static : b.turned ? J.EMotionType_Kinematic : J.EMotionType_Dynamic));
  const ground = scene.joints.length === 0 ? null
    : make({ shape: 'sphere', size: [0.01], position: [0, 0, 0], rotation: [1, 0, 0, 0], collide: false }, J.EMotionType_Static);
  for (const j of scene.joints) {
    const o = j.type === 'spherical' ? new J.PointConstraintSettings() : j.type === 'revolute' ? new J.HingeConstraintSettings() : new J.SliderConstraintSettings();
    o.mPoint1 = o.mPoint2 = place(j.point);
    const across = j.axis[0] !== 0 ? [0, 1, 0] : [1, 0, 0];
    if (j.type === 'revolute') o.mHingeAxis1 = o.mHingeAxis2 = vec(j.axis);
    if (j.type === 'prismatic') o.mSliderAxis1 = o.mSliderAxis2 = vec(j.axis);
    if (j.type !== 'spherical') o.mNormalAxis1 = o.mNormalAxis2 = vec(across);
    system.AddConstraint(o.Create(j.a < 0 ? ground : bodies[j.a], bodies[j.b]));
  }
  const list = (v) => [v.GetX(), v.GetY(), v.GetZ()];
  return {
    step: () => {
      scene.bodies.forEach((b, k) => {
        if (b.force.some((f) => f !== 0)) bodies[k].AddForce(vec(b.force));
      });
      world.Step(scene.step, 1);
    },
    row: () => moving.flatMap((k) => {
      const q = bodies[k].GetRotation();
      return [...list(bodies[k].GetPosition()), q.GetW(), q.GetX(), q.GetY(), q.GetZ(), ...list(bodies[k].GetLinearVelocity()),
        ...list(bodies[k].GetAngularVelocity())];
    }),
  };
}

const world = await (engine === 'rapier' ? rapier() : jolt());
const out = [];
const keep = (t) => out.push([t, ...world.row()].join(','));
keep(0);
let microseconds = 0;
for (let k = 1; k <= scene.steps; ++k) {
  const before = process.cpuUsage();
  world.step();
  const used = process.cpuUsage(before);
  microseconds += used.user + used.system;
  if (k % scene.every === 0 || k === scene.steps) keep(k * scene.step);
}
out.push(`${scene.steps},${microseconds / 1e6}`);
console.log(out.join('\n'));
