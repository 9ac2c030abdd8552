// What a sweep does with a contact, and what is left to do, one text for all: the host includes it with REAL as one number (grain_host.hpp) and as
// several lanes (grain_lanes.cpp), devices with the words of OpenCL. So there are no branches but `none`: of a choice
// both sides are computed.

// One contact solved for the others held fixed: its reaction and the velocities of its grains after it. False where
// nothing changes; they are not to be used then.
FUNCTION TRUTH solve_contact(const Real4* normal, const Real4* data, Real4* reaction, Real4* va, Real4* wa, Real4* vb,
                             Real4* wb) {
  const Real4 n = *normal, q = *data, r = *reaction;
  const REAL dx = va->x - vb->x, dy = va->y - vb->y, dz = va->z - vb->z;
  const REAL un = n.x * dx + n.y * dy + n.z * dz;
  const REAL off = r.x - (un + n.w) / (va->w + vb->w), rn = off > 0 ? off : 0;
  const REAL sx = q.x * wa->x + q.y * wb->x, sy = q.x * wa->y + q.y * wb->y, sz = q.x * wa->z + q.y * wb->z;
  // u_T = v - n u_N + n x s
  REAL tx = r.y - (dx - un * n.x + (n.y * sz - n.z * sy)) * q.w;
  REAL ty = r.z - (dy - un * n.y + (n.z * sx - n.x * sz)) * q.w;
  REAL tz = r.w - (dz - un * n.z + (n.x * sy - n.y * sx)) * q.w;
  const REAL along = n.x * tx + n.y * ty + n.z * tz;  // rounding
  tx -= along * n.x, ty -= along * n.y, tz -= along * n.z;
  const REAL square = tx * tx + ty * ty + tz * tz, limit = q.z * rn;
  const REAL part = square > limit * limit ? limit / sqrt(square) : 1;
  tx *= part, ty *= part, tz *= part;
  const REAL dn = rn - r.x, ex = tx - r.y, ey = ty - r.z, ez = tz - r.w;
  const TRUTH changed = (dn != 0) | (ex != 0) | (ey != 0) | (ez != 0);
  if (none(changed)) return changed;
  *reaction = real4_of(rn, tx, ty, tz);
  const REAL fx = dn * n.x + ex, fy = dn * n.y + ey, fz = dn * n.z + ez;
  const REAL mx = n.y * ez - n.z * ey, my = n.z * ex - n.x * ez, mz = n.x * ey - n.y * ex;  // n x change
  const REAL turn_a = q.x * wa->w, turn_b = q.y * wb->w;
  *va = real4_of(va->x + va->w * fx, va->y + va->w * fy, va->z + va->w * fz, va->w);
  *wa = real4_of(wa->x - turn_a * mx, wa->y - turn_a * my, wa->z - turn_a * mz, wa->w);
  *vb = real4_of(vb->x - vb->w * fx, vb->y - vb->w * fy, vb->z - vb->w * fz, vb->w);
  *wb = real4_of(wb->x - turn_b * mx, wb->y - turn_b * my, wb->z - turn_b * mz, wb->w);
  return changed;
}

// Nesterov's way on: a sweep that leads from y to x1 after one that ended at x0 begins at y = x0 + beta (x0 - x_-1).
// Velocities are linear in the reactions, and go with them.
FUNCTION Real4 further_on(REAL beta, Real4 x, Real4 last) {
  return real4_of(x.x + beta * (x.x - last.x), x.y + beta * (x.y - last.y), x.z + beta * (x.z - last.z),
                  x.w + beta * (x.w - last.w));
}

// u of a contact: x is u_N without the gap, y, z, w are u_T.
FUNCTION Wide4 velocity_between(const Real4* n, const Real4* q, const Wide4* va, const Wide4* wa, const Wide4* vb,
                                const Wide4* wb) {
  const WIDE nx = n->x, ny = n->y, nz = n->z, la = q->x, lb = q->y;
  const WIDE dx = va->x - vb->x, dy = va->y - vb->y, dz = va->z - vb->z;
  const WIDE un = nx * dx + ny * dy + nz * dz;
  const WIDE sx = la * wa->x + lb * wb->x, sy = la * wa->y + lb * wb->y, sz = la * wa->z + lb * wb->z;
  return wide4_of(un, dx - un * nx + (ny * sz - nz * sy), dy - un * ny + (nz * sx - nx * sz),
                  dz - un * nz + (nx * sy - ny * sx));
}

// |F| / rho of a contact, F = r - P_K(r - rho (u + mu |u_T| n)), rho = 3 / trace(W_ii).
FUNCTION WIDE residual_between(const Real4* normal, const Real4* data, const Real4* reaction, const Wide4* va,
                               const Wide4* wa, const Wide4* vb, const Wide4* wb) {
  const Wide4 u = velocity_between(normal, data, va, wa, vb, wb);
  const WIDE rx = reaction->x, ry = reaction->y, rz = reaction->z, rw = reaction->w;
  const WIDE mu = data->z, across = data->w, w = normal->w, mass = va->w + vb->w;
  const WIDE rho = 3 / (mass + 2 / across);
  const WIDE n = rx - rho * (u.x + w + mu * sqrt(u.y * u.y + u.z * u.z + u.w * u.w));
  const WIDE tx = ry - rho * u.y, ty = rz - rho * u.z, tz = rw - rho * u.w;
  const WIDE t = sqrt(tx * tx + ty * ty + tz * tz);
  const TRUTH open = mu * t <= -n, slides = t > mu * n;
  const WIDE pn = open ? 0 : slides ? (n + mu * t) / (1 + mu * mu) : n;
  const WIDE part = open ? 0 : slides ? mu * pn / t : 1;
  const WIDE fn = rx - pn, fx = ry - part * tx, fy = rz - part * ty, fz = rw - part * tz;
  return sqrt(fn * fn + fx * fx + fy * fy + fz * fz) / rho;
}
