// The coarse level of the sweeps: a smooth field over space by which the reactions of all contacts are stretched.
//
// Sweeps bring a load from grain to grain, and through a heap of many layers only after very many of them. What they
// leave behind is smooth: reactions that nearly balance each other at every grain, too weak or too strong in whole
// regions. With hat functions phi_j on a grid of coarse cells (two blocks along every axis) the field is
// S(x) = sum_j s_j phi_j(x), and the reaction of a contact between a and b becomes (1 + (S(x_a) + S(x_b))/2) r: it
// stays in its cone. Of all such fields the one is taken that solves
//
//   min  1/2 |d v|^2_M + sum_c S_c r_c . (u_c + n g_c/h + n mu |u_Tc|),   dv = M^-1 H^T (S r)
//
// whose linear part vanishes at the solution. On a grain, where S is nearly linear,
//
//   m dv = S F + G grad S,   F = sum of its reactions,   G = 1/2 sum of (force) (x_b - x_a)^T  over its contacts
//
// and so with torques. The matrix of the s_j is summed up by coarse cells, of 8 corners each.

// The place of x in units of coarse cells along an axis with n cells of a block's grid.
FUNCTION double coarse_place(double x, double corner, double width, int n, int edge, int* cell) {
  const double c = (x - corner) / (width * edge);
  *cell = wrapped_cell(c, n / edge);
  return c - floor(c);
}

typedef struct {
  int node[8];
  double part[8];
} Corners;

FUNCTION Corners corners_of(double x, double y, double z, GrainGrid g) {
  const int edge = COARSE_EDGE << g.shift, nx = g.nx / edge, ny = g.ny / edge, nz = g.nz / edge;
  int ix, iy, iz;
  const double tx = coarse_place(x, g.x, g.width, g.nx, edge, &ix), ty = coarse_place(y, g.y, g.width, g.ny, edge, &iy),
               tz = coarse_place(z, g.z, g.width, g.nz, edge, &iz);
  const int jx = ix + 1 == nx ? 0 : ix + 1, jy = iy + 1 == ny ? 0 : iy + 1, jz = iz + 1 == nz ? 0 : iz + 1;
  Corners c;
  for (int k = 0; k < 8; ++k) {
    c.node[k] = ((k & 4 ? jz : iz) * ny + (k & 2 ? jy : iy)) * nx + (k & 1 ? jx : ix);
    c.part[k] = (k & 1 ? tx : 1 - tx) * (k & 2 ? ty : 1 - ty) * (k & 4 ? tz : 1 - tz);
  }
  return c;
}

// S at the grain s.
FUNCTION double stretch_at(int s, GLOBAL const Wide4* xs, GrainGrid g, GLOBAL const double* stretch) {
  const Corners c = corners_of(xs[s].x, xs[s].y, xs[s].z, g);
  double sum = 0;
  for (int k = 0; k < 8; ++k) sum += c.part[k] * stretch[c.node[k]];
  return sum;
}

// What a contact gives to G of its grains, and to the work that S = 1 would do at them.
FUNCTION void add_stress(int k, int grains, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                         GLOBAL const Real4* reaction, GLOBAL const Wide4* xs, GLOBAL const Wide4* v,
                         GLOBAL const Wide4* w, GLOBAL double* stress) {
  const Real4 r = reaction[k];
  if (r.x == 0) return;
  const Int2 ab = pair[k];
  const Real4 n = normal[k], q = data[k];
  const Wide4 u = contact_velocity(k, pair, normal, data, v, w);
  const double work = r.x * (u.x + n.w) + (r.y * u.y + r.z * u.z + r.w * u.w) +
                      q.z * r.x * sqrt(u.y * u.y + u.z * u.z + u.w * u.w);
  GLOBAL double* a = stress + (long)STRESS_NUMBERS * ab.x;
  if (ab.y >= grains) {
    a[18] += work;
    return;
  }
  GLOBAL double* b = stress + (long)STRESS_NUMBERS * ab.y;
  a[18] += work / 2, b[18] += work / 2;
  const Wide4 xa = xs[ab.x], xb = xs[ab.y];
  const double d[3] = {(xb.x - xa.x) / 2, (xb.y - xa.y) / 2, (xb.z - xa.z) / 2};
  const double f[3] = {r.x * n.x + r.y, r.x * n.y + r.z, r.x * n.z + r.w};
  const double t[3] = {n.y * r.w - n.z * r.z, n.z * r.y - n.x * r.w, n.x * r.z - n.y * r.y};  // n x r
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      a[6 * i + j] += d[i] * f[j], b[6 * i + j] += d[i] * f[j];
      a[6 * i + 3 + j] -= q.x * d[i] * t[j], b[6 * i + 3 + j] += q.y * d[i] * t[j];
    }
}

// What a grain gives to the sums of its block.
FUNCTION void add_coarse(int s, GrainGrid g, GLOBAL const Wide4* xs, GLOBAL const Wide4* free_v,
                         GLOBAL const Wide4* free_w, GLOBAL const Wide4* v, GLOBAL const Wide4* w,
                         GLOBAL const double* stress, double* sums) {
  const int edge = COARSE_EDGE << g.shift;
  int cell;
  const Wide4 x = xs[s], v1 = v[s], v0 = free_v[s], w1 = w[s], w0 = free_w[s];
  const double t[3] = {coarse_place(x.x, g.x, g.width, g.nx, edge, &cell), coarse_place(x.y, g.y, g.width, g.ny, edge, &cell),
                       coarse_place(x.z, g.z, g.width, g.nz, edge, &cell)};
  GLOBAL const double* G = stress + (long)STRESS_NUMBERS * s;
  // by the roots of the inverse masses, so that the matrix is a product with itself
  const double m = sqrt(v1.w), j = sqrt(w1.w), per = 1 / (g.width * edge);
  const double all[6] = {(v1.x - v0.x) / m, (v1.y - v0.y) / m, (v1.z - v0.z) / m,
                         (w1.x - w0.x) / j, (w1.y - w0.y) / j, (w1.z - w0.z) / j};
  double y[8][6];
  for (int k = 0; k < 8; ++k) {
    const double px = k & 1 ? t[0] : 1 - t[0], py = k & 2 ? t[1] : 1 - t[1], pz = k & 4 ? t[2] : 1 - t[2];
    const double p = px * py * pz, dx = (k & 1 ? per : -per) * py * pz, dy = (k & 2 ? per : -per) * px * pz,
                 dz = (k & 4 ? per : -per) * px * py;
    for (int i = 0; i < 6; ++i) y[k][i] = p * all[i] + (i < 3 ? m : j) * (dx * G[i] + dy * G[6 + i] + dz * G[12 + i]);
    sums[36 + k] += p * G[18];
  }
  int at = 0;
  for (int k = 0; k < 8; ++k)
    for (int l = k; l < 8; ++l, ++at) {
      double sum = 0;
      for (int i = 0; i < 6; ++i) sum += y[k][i] * y[l][i];
      sums[at] += sum;
    }
}

FUNCTION void sum_of_block(int block, int cells, GrainGrid g, GLOBAL const int* start, GLOBAL const Wide4* xs,
                           GLOBAL const Wide4* free_v, GLOBAL const Wide4* free_w, GLOBAL const Wide4* v,
                           GLOBAL const Wide4* w, GLOBAL const double* stress, GLOBAL double* out) {
  double sums[COARSE_SUMS];
  for (int i = 0; i < COARSE_SUMS; ++i) sums[i] = 0;
  for (int s = start[block * cells]; s < start[(block + 1) * cells]; ++s)
    add_coarse(s, g, xs, free_v, free_w, v, w, stress, sums);
  for (int i = 0; i < COARSE_SUMS; ++i) out[COARSE_SUMS * block + i] = sums[i];
}

// The k-th number of all: one of those of a coarse cell, from its blocks.
FUNCTION void sum_of_cell(int k, GrainGrid g, GLOBAL const double* blocks, GLOBAL double* out) {
  const int cell = k / COARSE_SUMS, nx = g.bx / COARSE_EDGE, ny = g.by / COARSE_EDGE;
  const int x = COARSE_EDGE * (cell % nx), y = COARSE_EDGE * (cell / nx % ny), z = COARSE_EDGE * (cell / (nx * ny));
  double sum = 0;
  for (int i = 0; i < COARSE_EDGE * COARSE_EDGE * COARSE_EDGE; ++i)
    sum += blocks[COARSE_SUMS * (((z + i / 4) * g.by + y + i / 2 % 2) * g.bx + x + i % 2) + k % COARSE_SUMS];
  out[k] = sum;
}

// The contact takes part in the stretching, and its grains feel it.
FUNCTION void stretch_contact(int k, int grains, GLOBAL const Int2* pair, GLOBAL const Real4* normal,
                              GLOBAL const Real4* data, GLOBAL Real4* reaction, GLOBAL const double* stretch,
                              GLOBAL Wide4* v, GLOBAL Wide4* w) {
  const Real4 r = reaction[k];
  if (r.x == 0) return;
  const Int2 ab = pair[k];
  const double s = ab.y >= grains ? stretch[ab.x] : (stretch[ab.x] + stretch[ab.y]) / 2;
  const Real4 more = real4_of((REAL)(s * r.x), (REAL)(s * r.y), (REAL)(s * r.z), (REAL)(s * r.w));
  reaction[k] = real4_of(r.x + more.x, r.y + more.y, r.z + more.z, r.w + more.w);
  add_force(ab, normal[k], data[k], more, v, w);
}
