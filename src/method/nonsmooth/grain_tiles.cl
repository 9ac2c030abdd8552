// Sweeps over blocks whose grains fit into local memory: a tile. The order of the contacts, and with it every bit, is that
// of a sweep in global memory, which larger blocks get.
//
// The grains of a block are numbered from 0: its own, which follow each other in memory, then those of other blocks and the
// walls that its contacts reach, which are listed in `others` from the number of its first contact on.

#define TILE_CONTACTS 768
#define COLOURED_GRAINS 1024  // a tile may be coloured in local memory, and yet be too large to be swept there
#define TABLE 1024            // places for others, a power of two
#define WALL 0x8000u

// colour_block for tiles: loaded by all workers, coloured by one, without a way to memory for every contact. Blocks that
// are too large for it are given -1 colours.
kernel void k_colour_tile(int grains, int cells, GLOBAL const int* start, GLOBAL const int* first,
                          GLOBAL const int* owner, GLOBAL const int* partner, GLOBAL int* colour_start,
                          GLOBAL int* colours, GLOBAL int* place, GLOBAL int4* tile, GLOBAL int* others,
                          GLOBAL uint* ends, GLOBAL int* rounds) {
  local int name[TABLE], count[MOST_COLOURS], found;
  local ushort number[TABLE], end_of[2 * TILE_CONTACTS], rank[TILE_CONTACTS];
  local ulong taken[COLOURED_GRAINS];
  const int block = get_group_id(0), l = get_local_id(0);
  const int s0 = start[block * cells], own = start[(block + 1) * cells] - s0;
  const int begin = first[s0], n = first[s0 + own] - begin;
  if (n == 0 || n > TILE_CONTACTS || own > COLOURED_GRAINS) {
    if (l == 0) colours[block] = n == 0 ? 0 : -1, tile[block] = (int4)(s0, own, begin, -1);
    return;
  }
  for (int t = l; t < TABLE; t += LANES) name[t] = -1;
  for (int t = l; t < COLOURED_GRAINS; t += LANES) taken[t] = 0;
  for (int k = l; k < MOST_COLOURS; k += LANES) count[k] = 0;
  if (l == 0) found = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  // who comes first gets the next number, whichever that is: no sum depends on it
  for (int c = l; c < n; c += LANES) {
    const int b = partner[begin + c], s = b < 0 ? grains - 1 - b : b;
    if (s >= s0 && s < s0 + own) continue;
    for (uint t = ((uint)s * 2654435761u) >> 22;; t = (t + 1) & (TABLE - 1)) {
      const int there = atomic_cmpxchg(name + t, -1, s);
      if (there == -1) {
        const int next = atomic_inc(&found);
        number[t] = (ushort)(own + next);
        others[begin + next] = s;
      }
      if (there == -1 || there == s) break;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (own + found > COLOURED_GRAINS) {
    if (l == 0) colours[block] = -1, tile[block] = (int4)(s0, own, begin, -1);
    return;
  }
  for (int c = l; c < n; c += LANES) {
    const int b = partner[begin + c], s = b < 0 ? grains - 1 - b : b;
    int e = s - s0;
    if (e < 0 || e >= own) {
      uint t = ((uint)s * 2654435761u) >> 22;
      while (name[t] != s) t = (t + 1) & (TABLE - 1);
      e = number[t];
    }
    end_of[2 * c] = (ushort)(owner[begin + c] - s0);
    end_of[2 * c + 1] = (ushort)(b < 0 ? e | WALL : e);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    int most = 0;
    for (int c = 0; c < n; ++c) {
      const int a = end_of[2 * c], b = end_of[2 * c + 1];
      const ulong at_a = taken[a], used = at_a | (b < WALL ? taken[b] : 0);
      const int free_one = (int)popcount(~used & (used + 1) ? (~used & (used + 1)) - 1 : ~(ulong)0);
      const int k = free_one < MOST_COLOURS ? free_one : MOST_COLOURS - 1;
      rank[c] = (ushort)k;
      ++count[k];
      if (k + 1 > most) most = k + 1;
      taken[a] = at_a | (ulong)1 << k;
      if (b < WALL) taken[b] |= (ulong)1 << k;
    }
    colours[block] = most;
    GLOBAL int* starts = colour_start + block * (MOST_COLOURS + 1);
    int sum = 0;
    for (int k = 0; k < most; ++k) {
      starts[k] = begin + sum;
      sum += count[k];
      count[k] = sum - count[k];
    }
    starts[most] = begin + sum;
    for (int c = 0; c < n; ++c) rank[c] = (ushort)count[rank[c]]++;
    // a round: as many contacts of a colour as there are workers
    int made = 0;
    for (int k = 0, from = 0; k < most; from = count[k++])
      for (; from < count[k] && made <= MOST_COLOURS; from += LANES, ++made)
        if (made < MOST_COLOURS) rounds[block * (MOST_COLOURS + 1) + made] = begin + from;
    const int fits = own + found <= TILE_GRAINS && most < MOST_COLOURS && made <= MOST_COLOURS;
    if (fits) rounds[block * (MOST_COLOURS + 1) + made] = begin + n;
    tile[block] = (int4)(s0, own, begin, fits ? found | made << 16 : -1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int c = l; c < n; c += LANES) {
    const int k = begin + rank[c];
    place[begin + c] = k;
    ends[k] = (uint)end_of[2 * c] | (uint)(end_of[2 * c + 1] & ~WALL) << 16;
  }
}

typedef struct {
  uint ends;
  Real4 normal, data, reaction, last;
} Loaded;

FUNCTION Loaded load_contact(int k, REAL beta, GLOBAL const uint* ends, GLOBAL const Real4* normal,
                             GLOBAL const Real4* data, GLOBAL const Real4* reaction, GLOBAL const Real4* last) {
  Loaded c;
  c.ends = ends[k], c.normal = normal[k], c.data = data[k], c.reaction = c.last = reaction[k];
  if (beta != 0) c.last = last[k];
  return c;
}

FUNCTION void update_in_tile(int k, REAL beta, const Loaded* c, int elsewhere, GLOBAL Real4* to, LOCAL Real4* v,
                             LOCAL Real4* w) {
  const uint a = c->ends & 0xffffu, b = c->ends >> 16;
  Real4 r = c->reaction, va = v[a], wa = w[a], vb = v[b], wb = w[b];
  if (beta != 0) r = further_on(beta, r, c->last);
  const int changed = solve_contact(&c->normal, &c->data, &r, &va, &wa, &vb, &wb);
  if (changed || elsewhere) to[k] = r;
  if (!changed) return;
  v[a] = va, w[a] = wa;
  if (vb.w != 0) v[b] = vb, w[b] = wb;
}

// Blocks of one class. What a worker needs of its next contact is on the way while it works on one (of the next three it
// was slower on an H200). There is room for LANES contacts behind the last one, which are loaded and not used.
kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void k_sweep(
    int kind, REAL beta, GrainGrid g, GLOBAL const int* colours, GLOBAL const int* colour_start,
    GLOBAL const Int2* pair, GLOBAL const Real4* normal, GLOBAL const Real4* data, GLOBAL const Real4* reaction,
    GLOBAL Real4* to, GLOBAL Real4* v, GLOBAL Real4* w, GLOBAL const int4* tile, GLOBAL const int* others,
    GLOBAL const uint* ends, GLOBAL const int* rounds) {
  local Real4 tv[TILE_GRAINS], tw[TILE_GRAINS];
  local int starts[MOST_COLOURS + 1];
  const int block = block_of_class(get_group_id(0), kind, g), l = get_local_id(0);
  const int4 t = tile[block];
  if (colours[block] == 0) return;
  if (t.w < 0) {
    COLOURS_OF_A_BLOCK(update_contact(k, beta, pair, normal, data, reaction, to, v, w))
    return;
  }
  const int own = t.y, reached = t.w & 0xffff, count = t.w >> 16;
  Loaded now = load_contact(t.z + l, beta, ends, normal, data, reaction, to);
  for (int k = l; k <= count; k += LANES) starts[k] = rounds[block * (MOST_COLOURS + 1) + k];
  for (int s = l; s < own; s += LANES) tv[s] = v[t.x + s], tw[s] = w[t.x + s];
  for (int s = l; s < reached; s += LANES) {
    const int from = others[t.z + s];
    tv[own + s] = v[from], tw[own + s] = w[from];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < count; ++i) {
    const int k = starts[i] + l, following = starts[i + 1];
    const Loaded next = load_contact(following + l, beta, ends, normal, data, reaction, to);
    if (k < following) update_in_tile(k, beta, &now, to != reaction, to, tv, tw);
    now = next;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int s = l; s < own; s += LANES) v[t.x + s] = tv[s], w[t.x + s] = tw[s];
  for (int s = l; s < reached; s += LANES)
    if (tv[own + s].w != 0) {
      const int back = others[t.z + s];
      v[back] = tv[own + s], w[back] = tw[own + s];
    }
}

kernel void k_go_further(int n, REAL beta, GLOBAL Real4* v, GLOBAL Real4* last_v, GLOBAL Real4* w, GLOBAL Real4* last_w) {
  const int s = get_global_id(0);
  if (s >= n) return;
  go_further(s, beta, v, last_v);
  go_further(s, beta, w, last_w);
}
