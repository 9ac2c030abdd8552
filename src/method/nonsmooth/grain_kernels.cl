// What is done with every grain and every contact of a step, once for the host and once for OpenCL devices: the host
// includes this file as C++ (grain_host.cpp), devices compile it when a run begins (grain_device.cpp).
//
// A grain a touches a grain b, or a wall, which is one without inverse mass and comes after all grains. With the normal n from b to a and arms l along it, u = v_a - v_b + n x (l_a w_a +
// l_b w_b), and W_ii is diagonal: 1/m_a + 1/m_b along n, that + l_a^2/J_a + l_b^2/J_b across. The contact alone is then
// solved by
//
//   r_N = max(0, r_N - u_N / W_N),   r_T = the nearest of r_T - u_T / W_T with |r_T| <= mu r_N
//
// Space is cut into cells as wide as two grains can be apart, and wound around (a cell and the one n further are the same);
// 4 x 4 x 4 cells are a block, or 2 x 2 x 2 where grains are crowded in them. Grains are in the order of their cells, those of a block one after the other. A contact
// belongs to the block of its grain a, whose cell comes first, and reaches into neighbouring cells only: blocks that
// are both even or both odd along every axis share no grain, and are swept at the same time. Contacts within a block are
// coloured, so that those of one colour share no grain either. The order depends on the positions alone.
//
// REAL is the number that sweeps are done with; all geometry, forces and residuals are double.

FUNCTION double larger(double a, double b) { return a > b ? a : b; }

// ---- Cells ---------------------------------------------------------------------------------------------------

FUNCTION int wrapped_cell(double x, int n) {
  const double c = floor(x);
  if (c >= 0 && c < n) return (int)c;
  const double m = c - n * floor(c / n);
  return m >= 0 && m < n ? (int)m : 0;
}

FUNCTION int neighbour(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

FUNCTION int place_of_cell(int x, int y, int z, GrainGrid g) {
  const int last = (1 << g.shift) - 1;
  const int block = ((z >> g.shift) * g.by + (y >> g.shift)) * g.bx + (x >> g.shift);
  return (((((block << g.shift) + (z & last)) << g.shift) + (y & last)) << g.shift) + (x & last);
}

FUNCTION int cell_of(double px, double py, double pz, GrainGrid g) {
  return place_of_cell(wrapped_cell((px - g.x) / g.width, g.nx), wrapped_cell((py - g.y) / g.width, g.ny),
                       wrapped_cell((pz - g.z) / g.width, g.nz), g);
}

// Number of the k-th block of a class: one of eight, even or odd along each axis.
FUNCTION int block_of_class(int k, int kind, GrainGrid g) {
  const int hx = g.bx / 2, hy = g.by / 2;
  const int x = 2 * (k % hx) + (kind & 1), y = 2 * (k / hx % hy) + (kind >> 1 & 1), z = 2 * (k / (hx * hy)) + (kind >> 2);
  return (z * g.by + y) * g.bx + x;
}

FUNCTION void count_in_cell(int i, GLOBAL const Wide4* x, GrainGrid g, GLOBAL int* cell, GLOBAL int* count) {
  const int c = cell_of(x[i].x, x[i].y, x[i].z, g);
  cell[i] = c;
  atomic_inc(count + c);
}

// Counts grains down from `left`; then a cell has its grains, in any order.
FUNCTION void put_into_cell(int i, GLOBAL const int* cell, GLOBAL const int* start, GLOBAL int* left, GLOBAL int* order) {
  const int c = cell[i];
  order[start[c] + atomic_dec(left + c) - 1] = i;
}

FUNCTION void sort_cell(int c, GLOBAL const int* start, GLOBAL int* order) {
  const int first = start[c], last = start[c + 1];
  for (int i = first + 1; i < last; ++i) {
    const int id = order[i];
    int k = i;
    for (; k > first && order[k - 1] > id; --k) order[k] = order[k - 1];
    order[k] = id;
  }
}

// The grain at place s: where it is, and its velocity at the end of the step without contacts.
FUNCTION void gather(int s, GLOBAL const int* order, GLOBAL const Wide4* x, GLOBAL const Wide4* v, GLOBAL const Wide4* w,
                     double gx, double gy, double gz, GLOBAL int* place, GLOBAL Wide4* xs, GLOBAL Wide4* free_v,
                     GLOBAL Wide4* free_w, GLOBAL Wide4* vs, GLOBAL Wide4* ws) {
  const int i = order[s];
  place[i] = s;
  xs[s] = x[i];
  Wide4 to = v[i];
  to.x += gx, to.y += gy, to.z += gz;  // h times gravity
  free_v[s] = vs[s] = to;
  free_w[s] = ws[s] = w[i];
}

// ---- Walls -----------------------------------------------------------------------------------------------------

// The normal from a wall to a grain, and the gap in w: far away where there is nothing to touch.
FUNCTION Wide4 wall_at(GrainPlane p, double x, double y, double z, double r) {
  const double height = p.x * x + p.y * y + p.z * z - p.offset;
  if (p.kind == WALL_PLANE) return wide4_of(p.x, p.y, p.z, height - r);
  const double ex = x - p.cx, ey = y - p.cy, ez = z - p.cz, along = p.x * ex + p.y * ey + p.z * ez;
  const double dx = ex - along * p.x, dy = ey - along * p.y, dz = ez - along * p.z;  // from the axis
  const double rho = sqrt(dx * dx + dy * dy + dz * dz);
  if (p.kind == WALL_DRUM) {
    if (!(rho > 0)) return wide4_of(0, 0, 1, p.radius - r);
    return wide4_of(-dx / rho, -dy / rho, -dz / rho, p.radius - rho - r);
  }
  if (rho >= p.radius) return wide4_of(p.x, p.y, p.z, height > 0 ? height - r : 1e300);
  // the nearest point of the rim
  const double inward = p.radius - rho, distance = sqrt(height * height + inward * inward);
  if (!(distance > 0)) return wide4_of(p.x, p.y, p.z, -r);
  double tx = dx, ty = dy, tz = dz, length = rho;
  if (!(rho > 1e-12 * p.radius)) {  // in the middle any point of the rim is
    const int steep = p.z * p.z > 0.5;
    tx = steep ? p.z : p.y, ty = steep ? 0 : -p.x, tz = steep ? -p.x : 0;  // across the normal
    length = sqrt(tx * tx + ty * ty + tz * tz);
  }
  const double k = inward / length;
  return wide4_of((height * p.x - k * tx) / distance, (height * p.y - k * ty) / distance,
                  (height * p.z - k * tz) / distance, distance - r);
}

// ---- Pairs ---------------------------------------------------------------------------------------------------

// Contacts of the grain at s as grain a: how many, and where `partner` is given which, from `at` on.
FUNCTION int contacts_of(int s, GLOBAL const Wide4* xs, GLOBAL const int* order, GLOBAL const int* start, GrainGrid g,
                         CONSTANT GrainPlane* planes, int plane_count, double band, GLOBAL int* owner,
                         GLOBAL int* partner, GLOBAL int* partner_id, int at) {
  const Wide4 x = xs[s];
  const int cx = wrapped_cell((x.x - g.x) / g.width, g.nx), cy = wrapped_cell((x.y - g.y) / g.width, g.ny),
            cz = wrapped_cell((x.z - g.z) / g.width, g.nz);
  int found = 0;
  for (int p = 0; p < plane_count; ++p) {
    if (!(wall_at(planes[p], x.x, x.y, x.z, x.w).w <= band)) continue;
    if (partner) owner[at + found] = s, partner[at + found] = partner_id[at + found] = -1 - p;
    ++found;
  }
  // its own cell, and the half of the neighbours that comes behind it
  for (int k = 13; k < 27; ++k) {
    const int c = place_of_cell(neighbour(cx + k % 3 - 1, g.nx), neighbour(cy + k / 3 % 3 - 1, g.ny),
                                neighbour(cz + k / 9 - 1, g.nz), g);
    for (int t = k == 13 ? s + 1 : start[c]; t < start[c + 1]; ++t) {
      const Wide4 o = xs[t];
      const double ex = x.x - o.x, ey = x.y - o.y, ez = x.z - o.z, reach = x.w + o.w + band;
      if (!(ex * ex + ey * ey + ez * ez <= reach * reach)) continue;
      if (partner) owner[at + found] = s, partner[at + found] = t, partner_id[at + found] = order[t];
      ++found;
    }
  }
  return found;
}

// Greedy colours of the contacts of a block, and where each one goes: `colour_start` has MOST_COLOURS + 1 per block.
FUNCTION void colour_block(int block, int cells, GLOBAL const int* start, GLOBAL const int* first, GLOBAL const int* owner,
                           GLOBAL const int* partner, GLOBAL ulong* taken, GLOBAL uchar* colour,
                           GLOBAL int* colour_start, GLOBAL int* colours, GLOBAL int* place) {
  const int begin = first[start[block * cells]], end = first[start[(block + 1) * cells]];
  colours[block] = 0;
  if (begin == end) return;
  for (int c = begin; c < end; ++c) {
    taken[owner[c]] = 0;
    if (partner[c] >= 0) taken[partner[c]] = 0;
  }
  int count[MOST_COLOURS];
  for (int k = 0; k < MOST_COLOURS; ++k) count[k] = 0;
  int most = 0;
  for (int c = begin; c < end; ++c) {
    const int a = owner[c], b = partner[c];
    const ulong at_a = taken[a], used = at_a | (b >= 0 ? taken[b] : 0);
    int k = 0;
    while (k < MOST_COLOURS - 1 && (used >> k & 1) != 0) ++k;
    colour[c] = (uchar)k;
    ++count[k];
    if (k + 1 > most) most = k + 1;
    taken[a] = at_a | (ulong)1 << k;
    if (b >= 0) taken[b] |= (ulong)1 << k;
  }
  colours[block] = most;
  GLOBAL int* starts = colour_start + block * (MOST_COLOURS + 1);
  int sum = begin;
  for (int k = 0; k < most; ++k) {
    starts[k] = sum;
    sum += count[k];
    count[k] = starts[k];
  }
  starts[most] = sum;
  for (int c = begin; c < end; ++c) place[c] = count[colour[c]]++;
}

// ---- Contacts ------------------------------------------------------------------------------------------------

// Contact c from its pair, at its place k: normal and the gap as a velocity; arms, friction, 1/W_T; the reaction that it
// had in the last step, in the new tangent plane, on the cone of now.
FUNCTION void make_contact(int c, GLOBAL const int* owner, GLOBAL const int* partner, GLOBAL const int* partner_id,
                           GLOBAL const int* place, GLOBAL const int* order, GLOBAL const Wide4* xs,
                           GLOBAL const Wide4* vs, GLOBAL const Wide4* ws, GLOBAL const double* friction,
                           GLOBAL const double* restitution, CONSTANT GrainPlane* planes, int grains, double h,
                           double gx, double gy, double gz, double speed, GLOBAL Int2* pair,
                           GLOBAL Real4* normal, GLOBAL Real4* data, GLOBAL Real4* reaction, GLOBAL double* gaps,
                           // of the last step: 0 or how much longer this one is; where its grains were, ...
                           double longer, GLOBAL const int* old_place, GLOBAL const int* old_first,
                           GLOBAL const int* old_partner_id, GLOBAL const int* old_contact_place,
                           GLOBAL const Real4* old_reaction) {
  const int a = owner[c], b = partner[c], k = place[c], id = order[a];
  const Wide4 x = xs[a];
  double nx, ny, nz, gap, mu, arm_b = 0, mass = vs[a].w, turn = 0, e = restitution[id], fall = 0;
  if (b < 0) {
    const GrainPlane p = planes[-1 - b];
    const Wide4 wall = wall_at(p, x.x, x.y, x.z, x.w);
    nx = wall.x, ny = wall.y, nz = wall.z, gap = wall.w;
    if (p.kind == WALL_DRUM) arm_b = -p.radius;  // a sphere from within: it turns about its axis
    mu = sqrt(friction[id] * p.friction);
    e = larger(e, p.restitution);
    fall = gx * nx + gy * ny + gz * nz;  // which is in the velocities already
  } else {
    const Wide4 o = xs[b];
    nx = x.x - o.x, ny = x.y - o.y, nz = x.z - o.z;
    const double d = sqrt(nx * nx + ny * ny + nz * nz);
    gap = d - x.w - o.w;
    if (d > 1e-150) {
      nx /= d, ny /= d, nz /= d;
    } else {
      nx = ny = 0, nz = 1;
    }
    arm_b = o.w + gap / 2;
    mu = sqrt(friction[id] * friction[order[b]]);
    e = larger(e, restitution[order[b]]);
    mass += vs[b].w;
    turn = arm_b * arm_b * ws[b].w;
  }
  const double arm_a = x.w + gap / 2;
  turn += arm_a * arm_a * ws[a].w;
  // of an old penetration, what need not be undone now
  const double left = speed > 0 ? larger(0, -gap / h - speed) : 0;
  double demanded = gap / h + left;
  const int other_end = b < 0 ? grains - 1 - b : b;  // walls come after all grains
  if (e > 0) {
    // Newton's law, where it strikes within the step, and faster than gravity makes it in two: u1 >= -e u0
    const Wide4 va = vs[a], vb = vs[other_end];
    const double u0 = nx * (va.x - vb.x) + ny * (va.y - vb.y) + nz * (va.z - vb.z) - fall;
    if (gap + h * u0 <= 0 && u0 < -2 * sqrt(gx * gx + gy * gy + gz * gz)) {
      demanded = e * u0;  // and it is not pushed out besides
    }
  }
  pair[k] = int2_of(a, other_end);
  normal[k] = real4_of((REAL)nx, (REAL)ny, (REAL)nz, (REAL)demanded);
  data[k] = real4_of((REAL)arm_a, (REAL)arm_b, (REAL)mu, (REAL)(1 / (mass + turn)));
  gaps[k] = gap;
  Real4 r = real4_of(0, 0, 0, 0);
  if (longer > 0) {
    // it was that of a with b, or of b with a: then r acted on the other
    const int other = partner_id[c];
    int found = -1;
    double sign = longer;
    for (int o = old_first[old_place[id]]; o < old_first[old_place[id] + 1]; ++o)
      if (old_partner_id[o] == other) found = o;
    if (found < 0 && other >= 0)
      for (int o = old_first[old_place[other]]; o < old_first[old_place[other] + 1]; ++o)
        if (old_partner_id[o] == id) found = o, sign = -longer;
    if (found >= 0) {
      r = old_reaction[old_contact_place[found]];
      const double along = r.y * nx + r.z * ny + r.w * nz;
      double tx = sign * (r.y - along * nx), ty = sign * (r.z - along * ny), tz = sign * (r.w - along * nz);
      const double n = longer * r.x, size = sqrt(tx * tx + ty * ty + tz * tz);
      if (size > mu * n) tx *= mu * n / size, ty *= mu * n / size, tz *= mu * n / size;
      r = real4_of((REAL)n, (REAL)tx, (REAL)ty, (REAL)tz);
    }
  }
  reaction[k] = r;
}

// v += M^-1 H^T r of one contact.
FUNCTION void add_force(Int2 ab, const Real4 n, const Real4 q, const Real4 r, GLOBAL Wide4* v, GLOBAL Wide4* w) {
  const double fn = r.x, tx = r.y, ty = r.z, tz = r.w, nx = n.x, ny = n.y, nz = n.z;
  const double fx = fn * nx + tx, fy = fn * ny + ty, fz = fn * nz + tz;
  const double mx = ny * tz - nz * ty, my = nz * tx - nx * tz, mz = nx * ty - ny * tx;  // n x r
  Wide4 va = v[ab.x], wa = w[ab.x];
  const double turn_a = (double)q.x * wa.w;
  va.x += va.w * fx, va.y += va.w * fy, va.z += va.w * fz;
  wa.x -= turn_a * mx, wa.y -= turn_a * my, wa.z -= turn_a * mz;
  v[ab.x] = va, w[ab.x] = wa;
  Wide4 vb = v[ab.y], wb = w[ab.y];
  if (vb.w == 0) return;
  const double turn_b = (double)q.y * wb.w;
  vb.x -= vb.w * fx, vb.y -= vb.w * fy, vb.z -= vb.w * fz;
  wb.x -= turn_b * mx, wb.y -= turn_b * my, wb.z -= turn_b * mz;
  v[ab.y] = vb, w[ab.y] = wb;
}

FUNCTION void add_reaction(int k, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                           GLOBAL const Real4* reaction, GLOBAL Wide4* v, GLOBAL Wide4* w) {
  const Real4 r = reaction[k];
  if (r.x == 0 && r.y == 0 && r.z == 0 && r.w == 0) return;
  add_force(pair[k], normal[k], data[k], r, v, w);
}

FUNCTION void go_further(int s, REAL beta, GLOBAL Real4* x, GLOBAL Real4* last) {
  const Real4 now = x[s];
  if (beta != 0) x[s] = further_on(beta, now, last[s]);
  last[s] = now;
}

// `to` has the reactions before `reaction`, and gets those after it; or it is the same.
FUNCTION void update_contact(int k, REAL beta, GLOBAL const Int2* pair, GLOBAL const Real4* normal,
                             GLOBAL const Real4* data, GLOBAL const Real4* reaction, GLOBAL Real4* to, GLOBAL Real4* v,
                             GLOBAL Real4* w) {
  const Int2 ab = pair[k];
  const Real4 n = normal[k], q = data[k];
  Real4 r = reaction[k], va = v[ab.x], wa = w[ab.x], vb = v[ab.y], wb = w[ab.y];
  if (beta != 0) r = further_on(beta, r, to[k]);
  const int changed = solve_contact(&n, &q, &r, &va, &wa, &vb, &wb);
  if (changed || to != reaction) to[k] = r;
  if (!changed) return;
  v[ab.x] = va, w[ab.x] = wa;
  if (vb.w != 0) v[ab.y] = vb, w[ab.y] = wb;  // a wall does not yield
}

// u of a contact: x is u_N without the gap, y, z, w are u_T.
FUNCTION Wide4 contact_velocity(int k, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                                GLOBAL const Wide4* v, GLOBAL const Wide4* w) {
  const Int2 ab = pair[k];
  const Real4 n = normal[k], q = data[k];
  const Wide4 va = v[ab.x], wa = w[ab.x], vb = v[ab.y], wb = w[ab.y];
  return velocity_between(&n, &q, &va, &wa, &vb, &wb);
}

// What the residual is relative to: the largest entry of q in any tangents is at least this.
FUNCTION double size_of_q(int k, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                          GLOBAL const Wide4* free_v, GLOBAL const Wide4* free_w) {
  const Wide4 q = contact_velocity(k, pair, normal, data, free_v, free_w);
  const double n = fabs(q.x + (double)normal[k].w), t = sqrt((q.y * q.y + q.z * q.z + q.w * q.w) / 2);
  return n > t ? n : t;
}

FUNCTION double residual_of(int k, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                            GLOBAL const Real4* reaction, GLOBAL const Wide4* v, GLOBAL const Wide4* w) {
  const Int2 ab = pair[k];
  const Real4 n = normal[k], q = data[k], r = reaction[k];
  const Wide4 va = v[ab.x], wa = w[ab.x], vb = v[ab.y], wb = w[ab.y];
  return residual_between(&n, &q, &r, &va, &wa, &vb, &wb);
}

// A contact that was pushed out of an old penetration loses that part of what it demands; one that strikes demands
// something else. True where it is one.
FUNCTION int stop_pushing_contact(int k, GLOBAL Real4* normal, GLOBAL const Real4* reaction, GLOBAL const double* gaps,
                          double deep, double h, double speed) {
  if (gaps[k] >= -deep || !(reaction[k].x > 0)) return 0;
  const double push = gaps[k] / h + (speed > 0 ? larger(0, -gaps[k] / h - speed) : 0), other = normal[k].w - push;
  if (larger(other, -other) > -1e-6 * push) return 0;
  normal[k].w = 0;
  return 1;
}

// Work of the normal and the tangential reaction, r (u0 + u1) / 2, where u0 is that of the velocities before.
FUNCTION Wide4 work_of(int k, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                       GLOBAL const Real4* reaction, GLOBAL const Wide4* free_v, GLOBAL const Wide4* free_w,
                       GLOBAL const Wide4* v, GLOBAL const Wide4* w, double gx, double gy, double gz) {
  const Int2 ab = pair[k];
  const Real4 r = reaction[k], n = normal[k];
  const Wide4 u1 = contact_velocity(k, pair, normal, data, v, w);
  Wide4 u0 = contact_velocity(k, pair, normal, data, free_v, free_w);
  if (v[ab.y].w == 0) {  // gravity has no part in velocities between grains
    const double along = gx * n.x + gy * n.y + gz * n.z;
    u0.x -= along, u0.y -= gx - along * n.x, u0.z -= gy - along * n.y, u0.w -= gz - along * n.z;
  }
  const double normal_work = r.x * (u0.x + u1.x) / 2;
  const double across = (r.y * (u0.y + u1.y) + r.z * (u0.z + u1.z) + r.w * (u0.w + u1.w)) / 2;
  return wide4_of(normal_work, across, r.x > 0 ? 1 : 0, 0);
}

// What walls give to the grains.
FUNCTION Wide4 wall_impulse(int k, int grains, GLOBAL const Int2* pair, GLOBAL const Real4* normal,
                            GLOBAL const Real4* reaction) {
  if (pair[k].y < grains) return wide4_of(0, 0, 0, 0);
  const Real4 n = normal[k], r = reaction[k];
  const double fn = r.x;
  return wide4_of(fn * n.x + r.y, fn * n.y + r.z, fn * n.z + r.w, 0);
}

// m (v - v_free) of a grain, and its mass.
FUNCTION Wide4 momentum_gained(int s, GLOBAL const Wide4* free_v, GLOBAL const Wide4* v) {
  const Wide4 a = v[s], b = free_v[s];
  return wide4_of((a.x - b.x) / a.w, (a.y - b.y) / a.w, (a.z - b.z) / a.w, 1 / a.w);
}

// ---- Motion --------------------------------------------------------------------------------------------------

// x + h v, and rotations by their exponential; `moving` are the velocities that positions move with. Returns the speed.
FUNCTION double move_grain(int s, double h, GLOBAL const int* order, GLOBAL const Wide4* moving, GLOBAL const Wide4* vs,
                           GLOBAL const Wide4* turning, GLOBAL const Wide4* ws, GLOBAL Wide4* x, GLOBAL Wide4* v,
                           GLOBAL Wide4* w, GLOBAL Wide4* turn) {
  const int i = order[s];
  const Wide4 m = moving[s], t = turning[s], to = vs[s];
  Wide4 at = x[i], q = turn[i];
  at.x += h * m.x, at.y += h * m.y, at.z += h * m.z;
  x[i] = at;
  v[i] = to;
  w[i] = ws[s];
  const double speed = sqrt(t.x * t.x + t.y * t.y + t.z * t.z), angle = h * speed / 2;
  const double c = cos(angle), k = fabs(angle) < 1e-4 ? h / 2 * (1 - angle * angle / 6) : sin(angle) / speed;
  const double a = k * t.x, b = k * t.y, d = k * t.z;
  // the turn in space comes first: (c, a, b, d) q, where q = (x, y, z, w) has its real part in front
  const Wide4 n = wide4_of(c * q.x - a * q.y - b * q.z - d * q.w, c * q.y + a * q.x + b * q.w - d * q.z,
                           c * q.z + b * q.x + d * q.y - a * q.w, c * q.w + d * q.x + a * q.z - b * q.y);
  const double scale = 1 / sqrt(n.x * n.x + n.y * n.y + n.z * n.z + n.w * n.w);
  turn[i] = wide4_of(n.x * scale, n.y * scale, n.z * scale, n.w * scale);
  return sqrt(to.x * to.x + to.y * to.y + to.z * to.z);
}
