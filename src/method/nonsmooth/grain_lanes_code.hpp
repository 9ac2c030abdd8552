// The code of grain_lanes.cpp, once for each width of registers: WIDTH lanes. It is included into a namespace of its
// own, between pragmas that allow the instructions.

typedef double Numbers __attribute__((vector_size(8 * WIDTH)));
typedef long Truths __attribute__((vector_size(8 * WIDTH)));

struct Real4 {
  Numbers x, y, z, w;
};
#define real4_of(a, b, c, d) \
  Real4 { a, b, c, d }
#define SHUFFLE __builtin_shufflevector

// A row has the four numbers of one grain or contact, or of two, l and l + 4.
#if WIDTH == 8
inline Numbers sqrt(Numbers x) { return _mm512_maskz_sqrt_pd(0xff, x); }
inline bool none(Truths x) {
  return _mm512_test_epi64_mask(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(x)) == 0;
}
inline Numbers row_of(const Wide4* from, const int* at, int l) {
  const __m256d a = _mm256_load_pd(&from[at[l]].x), b = _mm256_load_pd(&from[at[l + 4]].x);
  return SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}
inline void give_row(Numbers row, Wide4* to, const int* at, int l) {
  _mm256_store_pd(&to[at[l]].x, SHUFFLE(row, row, 0, 1, 2, 3));
  _mm256_store_pd(&to[at[l + 4]].x, SHUFFLE(row, row, 4, 5, 6, 7));
}
#define EVEN 0, 8, 2, 10, 4, 12, 6, 14
#define ODD 1, 9, 3, 11, 5, 13, 7, 15
#define LOWER 0, 1, 8, 9, 4, 5, 12, 13
#define UPPER 2, 3, 10, 11, 6, 7, 14, 15
#else
inline Numbers sqrt(Numbers x) { return _mm256_sqrt_pd(x); }
inline bool none(Truths x) {
  return _mm256_testz_si256(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(x)) != 0;
}
inline Numbers row_of(const Wide4* from, const int* at, int l) { return _mm256_load_pd(&from[at[l]].x); }
inline void give_row(Numbers row, Wide4* to, const int* at, int l) { _mm256_store_pd(&to[at[l]].x, row); }
#define EVEN 0, 4, 2, 6
#define ODD 1, 5, 3, 7
#define LOWER 0, 1, 4, 5
#define UPPER 2, 3, 6, 7
#endif

// Rows become components, and components rows.
inline Real4 turned(const Real4& r) {
  const Numbers a = SHUFFLE(r.x, r.y, EVEN), b = SHUFFLE(r.x, r.y, ODD), c = SHUFFLE(r.z, r.w, EVEN),
                d = SHUFFLE(r.z, r.w, ODD);
  return {SHUFFLE(a, c, LOWER), SHUFFLE(b, d, LOWER), SHUFFLE(a, c, UPPER), SHUFFLE(b, d, UPPER)};
}
// Lane l is from[at[l]], and goes to to[at[l]].
inline Real4 load(const Wide4* from, const int* at) {
  return turned({row_of(from, at, 0), row_of(from, at, 1), row_of(from, at, 2), row_of(from, at, 3)});
}
inline void store(const Real4& x, Wide4* to, const int* at) {
  const Real4 r = turned(x);
  give_row(r.x, to, at, 0), give_row(r.y, to, at, 1), give_row(r.z, to, at, 2), give_row(r.w, to, at, 3);
}
inline Real4 chosen(Truths which, const Real4& a, const Real4& b) {
  return {which ? a.x : b.x, which ? a.y : b.y, which ? a.z : b.z, which ? a.w : b.w};
}

#define FUNCTION inline
#define Wide4 Real4
#define wide4_of real4_of
#define REAL Numbers
#define WIDE Numbers
#define TRUTH Truths
#include "method/nonsmooth/grain_contact.cl"
#undef FUNCTION
#undef Wide4
#undef wide4_of
#undef REAL
#undef WIDE
#undef TRUTH

// Of the contacts from k on; where there are no more, the last one once more.
inline void places(const LaneSweep& s, int k, int end, int* at, int* a, int* b) {
  for (int l = 0; l < WIDTH; ++l) {
    at[l] = k + l < end ? k + l : end - 1;
    a[l] = s.pair[at[l]].x, b[l] = s.pair[at[l]].y;
  }
}

void sweep_colour(const LaneSweep& s, int first, int end) {
  constexpr int in_order[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Numbers beta = s.beta + Numbers{};
  for (int k = first; k < end; k += WIDTH) {
    int at[WIDTH], a[WIDTH], b[WIDTH];
    places(s, k, end, at, a, b);
    const Real4 n = load(s.normal, at), q = load(s.data, at);
    Real4 before = load(s.reaction, at);
    if (s.beta != 0) before = further_on(beta, before, load(s.to, at));
    const Real4 va = load(s.v, a), wa = load(s.w, a), vb = load(s.v, b), wb = load(s.w, b);
    Real4 r = before, va1 = va, wa1 = wa, vb1 = vb, wb1 = wb;
    const Truths changed = solve_contact(&n, &q, &r, &va1, &wa1, &vb1, &wb1);
    store(chosen(changed, r, before), s.to, at);
    if (none(changed)) continue;
    store(chosen(changed, va1, va), s.v, a);
    store(chosen(changed, wa1, wa), s.w, a);
    vb1 = chosen(changed, vb1, vb), wb1 = chosen(changed, wb1, wb);
    if (none(vb.w == 0)) {
      store(vb1, s.v, b);
      store(wb1, s.w, b);
      continue;
    }
    Wide4 v[WIDTH], w[WIDTH];  // a wall does not yield, and other threads read it
    store(vb1, v, in_order);
    store(wb1, w, in_order);
    for (int l = 0; l < WIDTH; ++l)
      if (v[l].w != 0) s.v[b[l]] = v[l], s.w[b[l]] = w[l];
  }
}

double largest_residual(const LaneSweep& s, int first, int end) {
  Numbers most{}, wrong{};
  for (int k = first; k < end; k += WIDTH) {
    int at[WIDTH], a[WIDTH], b[WIDTH];
    places(s, k, end, at, a, b);
    const Real4 n = load(s.normal, at), q = load(s.data, at), r = load(s.reaction, at);
    const Real4 va = load(s.v, a), wa = load(s.w, a), vb = load(s.v, b), wb = load(s.w, b);
    const Numbers here = residual_between(&n, &q, &r, &va, &wa, &vb, &wb);
    most = here > most ? here : most;
    wrong = here == here ? wrong : 1;
  }
  double largest = none(wrong != 0) ? 0 : __builtin_huge_val();
  for (int l = 0; l < WIDTH; ++l) largest = most[l] > largest ? most[l] : largest;
  return largest;
}

#undef real4_of
#undef SHUFFLE
#undef EVEN
#undef ODD
#undef LOWER
#undef UPPER
