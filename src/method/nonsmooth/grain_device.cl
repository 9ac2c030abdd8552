// The kernels that OpenCL devices run: grain_kernels.cl for every grain, cell, block or contact. A block is swept by one
// group of workers, colour after colour.
//
// GROUP workers make a group where sums are made, LANES where a block is swept.

#define CHUNK 1024  // summed by a group, one after the other in each worker: the same bits in every run

kernel void fill_int(GLOBAL int* x, int value, int n) {
  const int i = get_global_id(0);
  if (i < n) x[i] = value;
}

kernel void k_count_in_cell(int n, GLOBAL const Wide4* x, GrainGrid g, GLOBAL int* cell, GLOBAL int* count) {
  const int i = get_global_id(0);
  if (i < n) count_in_cell(i, x, g, cell, count);
}

// ---- Sums of counts ------------------------------------------------------------------------------------------

// Every group adds up CHUNK counts.
kernel void k_part_sums(int n, GLOBAL const int* counts, GLOBAL int* parts) {
  local int sums[GROUP];
  const int l = get_local_id(0), first = get_group_id(0) * CHUNK;
  int sum = 0;
  for (int i = first + l; i < first + CHUNK && i < n; i += GROUP) sum += counts[i];
  sums[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = GROUP / 2; s > 0; s /= 2) {
    if (l < s) sums[l] += sums[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) parts[get_group_id(0)] = sums[0];
}

// One group: parts[i] becomes the sum of all before it, parts[n] that of all.
kernel void k_add_parts(int n, GLOBAL int* parts) {
  local int sums[GROUP];
  const int l = get_local_id(0), share = (n + GROUP - 1) / GROUP, first = l * share;
  int sum = 0;
  for (int i = first; i < first + share && i < n; ++i) sum += parts[i];
  sums[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  int before = 0;
  for (int k = 0; k < l; ++k) before += sums[k];
  for (int i = first; i < first + share && i < n; ++i) {
    const int here = parts[i];
    parts[i] = before;
    before += here;
  }
  if (l == GROUP - 1) parts[n] = before;
}

// out[i] becomes the sum of all counts before i, out[n] that of all; CHUNK / GROUP counts by each worker.
kernel void k_add_up(int n, GLOBAL const int* counts, GLOBAL const int* parts, GLOBAL int* out) {
  local int sums[GROUP];
  const int l = get_local_id(0), share = CHUNK / GROUP, first = get_group_id(0) * CHUNK + l * share;
  int here[CHUNK / GROUP], sum = 0;
  for (int k = 0; k < share; ++k) {
    here[k] = first + k < n ? counts[first + k] : 0;
    sum += here[k];
  }
  sums[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < GROUP; s *= 2) {
    const int other = l >= s ? sums[l - s] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[l] += other;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  int before = parts[get_group_id(0)] + sums[l] - sum;
  for (int k = 0; k < share; ++k) {
    if (first + k < n) out[first + k] = before;
    before += here[k];
    if (first + k == n - 1) out[n] = before;
  }
}

// ---- Search --------------------------------------------------------------------------------------------------

kernel void k_put_into_cell(int n, GLOBAL const int* cell, GLOBAL const int* start, GLOBAL int* left,
                            GLOBAL int* order) {
  const int i = get_global_id(0);
  if (i < n) put_into_cell(i, cell, start, left, order);
}

kernel void k_sort_cell(int n, GLOBAL const int* start, GLOBAL int* order) {
  const int c = get_global_id(0);
  if (c < n) sort_cell(c, start, order);
}

kernel void k_gather(int n, GLOBAL const int* order, GLOBAL const Wide4* x, GLOBAL const Wide4* v, GLOBAL const Wide4* w,
                     double gx, double gy, double gz, GLOBAL int* place, GLOBAL Wide4* xs, GLOBAL Wide4* free_v,
                     GLOBAL Wide4* free_w, GLOBAL Wide4* vs, GLOBAL Wide4* ws) {
  const int s = get_global_id(0);
  if (s < n) gather(s, order, x, v, w, gx, gy, gz, place, xs, free_v, free_w, vs, ws);
}

kernel void k_count_contacts(int n, GLOBAL const Wide4* xs, GLOBAL const int* order, GLOBAL const int* start,
                             GrainGrid g, CONSTANT GrainPlane* planes, int plane_count, double band,
                             GLOBAL int* count) {
  const int s = get_global_id(0);
  if (s < n) count[s] = contacts_of(s, xs, order, start, g, planes, plane_count, band, 0, 0, 0, 0);
}

kernel void k_list_contacts(int n, GLOBAL const Wide4* xs, GLOBAL const int* order, GLOBAL const int* start, GrainGrid g,
                            CONSTANT GrainPlane* planes, int plane_count, double band, GLOBAL const int* first,
                            GLOBAL int* owner, GLOBAL int* partner, GLOBAL int* partner_id) {
  const int s = get_global_id(0);
  if (s < n) contacts_of(s, xs, order, start, g, planes, plane_count, band, owner, partner, partner_id, first[s]);
}

// ---- Contacts ------------------------------------------------------------------------------------------------

kernel void k_colour_block(int n, int kind, GrainGrid g, GLOBAL const int* start, GLOBAL const int* first,
                           GLOBAL const int* owner, GLOBAL const int* partner, GLOBAL ulong* taken,
                           GLOBAL uchar* colour, GLOBAL int* colour_start, GLOBAL int* colours, GLOBAL int* place) {
  const int k = get_global_id(0);
  if (k >= n) return;
  const int block = block_of_class(k, kind, g);
  const int cells = 1 << 3 * g.shift;
  if (colours[block] >= 0) return;  // as a tile
  colour_block(block, cells, start, first, owner, partner, taken, colour, colour_start, colours, place);
}

kernel void k_make_contact(int n, GLOBAL const int* owner, GLOBAL const int* partner, GLOBAL const int* partner_id,
                           GLOBAL const int* place, GLOBAL const int* order, GLOBAL const Wide4* xs,
                           GLOBAL const Wide4* vs, GLOBAL const Wide4* ws, GLOBAL const double* friction,
                           GLOBAL const double* restitution, CONSTANT GrainPlane* planes, int grains, double h,
                           double gx, double gy, double gz, double speed, GLOBAL Int2* pair,
                           GLOBAL Real4* normal, GLOBAL Real4* data, GLOBAL Real4* reaction, GLOBAL double* gaps,
                           double longer,
                           GLOBAL const int* old_place, GLOBAL const int* old_first, GLOBAL const int* old_partner_id,
                           GLOBAL const int* old_contact_place, GLOBAL const Real4* old_reaction) {
  const int c = get_global_id(0);
  if (c < n)
    make_contact(c, owner, partner, partner_id, place, order, xs, vs, ws, friction, restitution, planes, grains, h,
                 gx, gy, gz, speed, pair,
                 normal, data, reaction, gaps, longer, old_place, old_first, old_partner_id, old_contact_place, old_reaction);
}

// Of the k-th colour of a block: where it begins and ends for this worker. The last of all colours is one worker's.
#define COLOURS_OF_A_BLOCK(work)                                                        \
  const int block = block_of_class(get_group_id(0), kind, g), l = get_local_id(0);      \
  const int count = colours[block];                                                     \
  GLOBAL const int* starts = colour_start + block * (MOST_COLOURS + 1);                 \
  for (int c = 0; c < count; ++c) {                                                     \
    const int end = starts[c + 1];                                                      \
    if (c + 1 < MOST_COLOURS) {                                                         \
      for (int k = starts[c] + l; k < end; k += LANES) work;                            \
    } else if (l == 0) {                                                                \
      for (int k = starts[c]; k < end; ++k) work;                                       \
    }                                                                                   \
    barrier(CLK_GLOBAL_MEM_FENCE);                                                      \
  }

kernel void k_add_reactions(int kind, GrainGrid g, GLOBAL const int* colours, GLOBAL const int* colour_start,
                            GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                            GLOBAL const Real4* reaction, GLOBAL Wide4* v, GLOBAL Wide4* w) {
  COLOURS_OF_A_BLOCK(add_reaction(k, pair, normal, data, reaction, v, w))
}

kernel void k_round(int n, GLOBAL const Wide4* v, GLOBAL const Wide4* w, GLOBAL Real4* rv, GLOBAL Real4* rw) {
  const int s = get_global_id(0);
  if (s >= n) return;
  rv[s] = real4_of((REAL)v[s].x, (REAL)v[s].y, (REAL)v[s].z, (REAL)v[s].w);
  rw[s] = real4_of((REAL)w[s].x, (REAL)w[s].y, (REAL)w[s].z, (REAL)w[s].w);
}

kernel void k_copy(int n, GLOBAL const Wide4* from, GLOBAL Wide4* to) {
  const int s = get_global_id(0);
  if (s < n) to[s] = from[s];
}

kernel void k_stop_pushing(int n, GLOBAL Real4* normal, GLOBAL const Real4* reaction, GLOBAL const double* gaps,
                           double deep, double h, double speed) {
  const int k = get_global_id(0);
  if (k < n) stop_pushing_contact(k, normal, reaction, gaps, deep, h, speed);
}

// ---- The coarse level ---------------------------------------------------------------------------------------

kernel void k_clear(int n, GLOBAL double4* x) {
  const int k = get_global_id(0);
  if (k < n) x[k] = (double4)(0);
}

kernel void k_add_stress(int kind, GrainGrid g, GLOBAL const int* colours, GLOBAL const int* colour_start, int grains,
                         GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                         GLOBAL const Real4* reaction, GLOBAL const Wide4* xs, GLOBAL const Wide4* v,
                         GLOBAL const Wide4* w, GLOBAL double* stress) {
  COLOURS_OF_A_BLOCK(add_stress(k, grains, pair, normal, data, reaction, xs, v, w, stress))
}

kernel void k_sum_of_block(int n, int cells, GrainGrid g, GLOBAL const int* start, GLOBAL const Wide4* xs,
                           GLOBAL const Wide4* free_v, GLOBAL const Wide4* free_w, GLOBAL const Wide4* v,
                           GLOBAL const Wide4* w, GLOBAL const double* stress, GLOBAL double* out) {
  const int b = get_global_id(0);
  if (b < n) sum_of_block(b, cells, g, start, xs, free_v, free_w, v, w, stress, out);
}

kernel void k_sum_of_cell(int n, GrainGrid g, GLOBAL const double* blocks, GLOBAL double* out) {
  const int k = get_global_id(0);
  if (k < n) sum_of_cell(k, g, blocks, out);
}

kernel void k_stretch_at(int n, GLOBAL const Wide4* xs, GrainGrid g, GLOBAL const double* field,
                         GLOBAL double* stretch) {
  const int s = get_global_id(0);
  if (s < n) stretch[s] = stretch_at(s, xs, g, field);
}

kernel void k_stretch(int kind, GrainGrid g, GLOBAL const int* colours, GLOBAL const int* colour_start, int grains,
                      GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                      GLOBAL Real4* reaction, GLOBAL const double* stretch, GLOBAL Wide4* v, GLOBAL Wide4* w) {
  COLOURS_OF_A_BLOCK(stretch_contact(k, grains, pair, normal, data, reaction, stretch, v, w))
}

// ---- Largest and sums ----------------------------------------------------------------------------------------

// The larger, where what is no number is the largest of all.
FUNCTION double raised(double most, double x) { return x <= most ? most : isnan(x) ? (double)INFINITY : x; }

FUNCTION void largest_of_group(double most, LOCAL double* all, GLOBAL double* out) {
  const int l = get_local_id(0);
  all[l] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = GROUP / 2; s > 0; s /= 2) {
    if (l < s) all[l] = raised(all[l], all[l + s]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) *out = all[0];
  barrier(CLK_LOCAL_MEM_FENCE);
}

FUNCTION void sum_of_group(double sum, LOCAL double* all, GLOBAL double* out) {
  const int l = get_local_id(0);
  all[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = GROUP / 2; s > 0; s /= 2) {
    if (l < s) all[l] += all[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) *out = all[0];
  barrier(CLK_LOCAL_MEM_FENCE);
}

#define ITEMS_OF_A_GROUP(i, n) \
  for (int i = get_group_id(0) * CHUNK + get_local_id(0); i < (int)(get_group_id(0) + 1) * CHUNK && i < n; i += GROUP)

kernel void k_size(int n, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                   GLOBAL const Wide4* free_v, GLOBAL const Wide4* free_w, GLOBAL const double* gaps,
                   GLOBAL double* out) {
  local double all[GROUP];
  double q = 0, depth = 0;
  ITEMS_OF_A_GROUP(k, n) {
    q = raised(q, size_of_q(k, pair, normal, data, free_v, free_w));
    depth = raised(depth, -gaps[k]);
  }
  largest_of_group(q, all, out + 2 * get_group_id(0));
  largest_of_group(depth, all, out + 2 * get_group_id(0) + 1);
}

kernel void k_residual(int n, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                       GLOBAL const Real4* reaction, GLOBAL const Wide4* v, GLOBAL const Wide4* w, GLOBAL double* out) {
  local double all[GROUP];
  double most = 0;
  ITEMS_OF_A_GROUP(k, n) most = raised(most, residual_of(k, pair, normal, data, reaction, v, w));
  largest_of_group(most, all, out + get_group_id(0));
}

kernel void k_grain_sums(int n, GLOBAL const Wide4* xs, GLOBAL const Wide4* free_v, GLOBAL const Wide4* v,
                         GLOBAL double* out) {
  local double all[GROUP];
  double fastest = 0, moving = 0, far[6], gained[3] = {0, 0, 0};
  for (int k = 0; k < 6; ++k) far[k] = -INFINITY;
  ITEMS_OF_A_GROUP(s, n) {
    const Wide4 x = xs[s], u = v[s], p = momentum_gained(s, free_v, v);
    const double speed = sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
    fastest = raised(fastest, speed);
    moving += speed * speed;
    far[0] = raised(far[0], -x.x), far[1] = raised(far[1], -x.y), far[2] = raised(far[2], -x.z);
    far[3] = raised(far[3], x.x), far[4] = raised(far[4], x.y), far[5] = raised(far[5], x.z);
    gained[0] += p.x, gained[1] += p.y, gained[2] += p.z;
  }
  GLOBAL double* to = out + 11 * get_group_id(0);
  largest_of_group(fastest, all, to);
  for (int k = 0; k < 6; ++k) largest_of_group(far[k], all, to + 1 + k);
  for (int k = 0; k < 3; ++k) sum_of_group(gained[k], all, to + 7 + k);
  sum_of_group(moving, all, to + 10);
}

kernel void k_contact_sums(int n, int grains, GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data,
                           GLOBAL const Real4* reaction, GLOBAL const Wide4* free_v, GLOBAL const Wide4* free_w,
                           GLOBAL const Wide4* v, GLOBAL const Wide4* w, double gx, double gy, double gz,
                           GLOBAL double* out) {
  local double all[GROUP];
  double sums[6] = {0, 0, 0, 0, 0, 0};
  ITEMS_OF_A_GROUP(k, n) {
    const Wide4 work = work_of(k, pair, normal, data, reaction, free_v, free_w, v, w, gx, gy, gz);
    const Wide4 wall = wall_impulse(k, grains, pair, normal, reaction);
    sums[0] += work.x, sums[1] += work.y, sums[2] += work.z, sums[3] += wall.x, sums[4] += wall.y, sums[5] += wall.z;
  }
  for (int k = 0; k < 6; ++k) sum_of_group(sums[k], all, out + 6 * get_group_id(0) + k);
}

kernel void k_move(int n, double h, GLOBAL const int* order, GLOBAL const Wide4* moving, GLOBAL const Wide4* vs,
                   GLOBAL const Wide4* turning, GLOBAL const Wide4* ws, GLOBAL Wide4* x, GLOBAL Wide4* v,
                   GLOBAL Wide4* w, GLOBAL Wide4* turn) {
  const int s = get_global_id(0);
  if (s < n) move_grain(s, h, order, moving, vs, turning, ws, x, v, w, turn);
}
