#include "method/explicit/weighted_sum.hpp"

#include <cstddef>

namespace hinge {

namespace {

using Lane [[gnu::vector_size(32)]] = double;

// The next L lanes, all in registers.
template <int L>
[[gnu::always_inline]] inline void next_lanes(const ExplicitTableau::Row& row, const double* x, double h,
                                              const double* k, int stride, double* out) {
  Lane sum[static_cast<std::size_t>(L)] = {};
  for (const ExplicitTableau::Term& term : row) {
    const double* from = k + static_cast<std::ptrdiff_t>(term.stage) * stride;
    for (int l = 0; l < L; ++l) {
      Lane rate;
      __builtin_memcpy(&rate, from + 4 * l, sizeof rate);
      sum[l] += term.weight * rate;
    }
  }
  for (int l = 0; l < L; ++l) {
    Lane result = h * sum[l];
    if (x) {
      Lane start;
      __builtin_memcpy(&start, x + 4 * l, sizeof start);
      result = start + result;
    }
    __builtin_memcpy(out + 4 * l, &result, sizeof result);
  }
}

[[gnu::always_inline]] inline void all_lanes(const ExplicitTableau::Row& row, const double* x, double h,
                                             const double* k, int stride, int n, double* out) {
  int i = 0;
  for (; i + 16 <= n; i += 16) next_lanes<4>(row, x ? x + i : nullptr, h, k + i, stride, out + i);
  x = x ? x + i : nullptr, k += i, out += i;
  switch ((n - i) / 4) {
    case 1: return next_lanes<1>(row, x, h, k, stride, out);
    case 2: return next_lanes<2>(row, x, h, k, stride, out);
    case 3: return next_lanes<3>(row, x, h, k, stride, out);
    default: return;
  }
}

}  // namespace

// Friend of the loop: compiled for wide registers below.
struct StageLoopBody {
  using Row = StageLoop::Row;

  // The last rates have just been written, one by one: they are read so, which does not wait for the memory.
  template <int L>
  [[gnu::always_inline]] static void sum(const Row& row, const double* k, Lane* total) {
    const StageLoop::Term* term = row.data();
    for (const StageLoop::Term* const last = term + row.size() - 1; term != last; ++term)
      for (int l = 0; l < L; ++l) {
        Lane rate;
        __builtin_memcpy(&rate, k + term->row + 4 * l, sizeof rate);
        total[l] += term->weight * rate;
      }
    const volatile double* const from = k + term->row;
    for (int l = 0; l < L; ++l)
      total[l] += term->weight * Lane{from[4 * l], from[4 * l + 1], from[4 * l + 2], from[4 * l + 3]};
  }

  template <int L>
  [[gnu::always_inline]] static void move(const Row& row, const double* x, double h, const double* k, double* out) {
    Lane total[static_cast<std::size_t>(L)] = {};
    sum<L>(row, k, total);
    for (int l = 0; l < L; ++l) {
      Lane start;
      __builtin_memcpy(&start, x + 4 * l, sizeof start);
      const Lane result = start + h * total[l];
      __builtin_memcpy(out + 4 * l, &result, sizeof result);
    }
  }

  template <int L>
  [[gnu::always_inline]] static int stages(const StageLoop& loop, double t, double h, const double* x, double* stage,
                                           double* last_stage) {
    const NativeCode& code = *loop.code_;
    double at = t;
    const double* inputs[] = {&at, stage, stage + loop.ny_};
    const double* const k = loop.rates_;
    const int count = static_cast<int>(loop.stages_.size()), settled = loop.settled_;
    double* row = loop.rows_;
    for (int i = 1; i < count; ++i) {
      row += loop.stride_;
      const bool last = i + 1 == count;
      double* const place = last ? last_stage : stage;
      if (last) inputs[1] = place, inputs[2] = place + loop.ny_;
      move<L>(loop.stages_[static_cast<std::size_t>(i)], x, h, k, place);
      at = t + loop.c_[static_cast<std::size_t>(i)] * h;
      code(inputs, row);
      if (row[settled] != 1.0) return i;
    }
    return count;
  }

  static bool rates(const StageLoop& loop, double t, const double* x, int stage) {
    const double* const inputs[] = {&t, x, x + loop.ny_};
    double* const row = loop.rows_ + static_cast<std::ptrdiff_t>(stage) * loop.stride_;
    (*loop.code_)(inputs, row);
    return row[loop.settled_] == 1.0;
  }

  template <int L>
  [[gnu::always_inline]] static StageLoop::Errors end(const StageLoop& loop, double h, double absolute, double relative,
                                                      const double* x, double* x1) {
    const double* const k = loop.rates_;
    move<L>(loop.end_, x, h, k, x1);
    Lane first[static_cast<std::size_t>(L)] = {}, second[static_cast<std::size_t>(L)] = {};
    sum<L>(loop.first_, k, first);
    sum<L>(loop.second_, k, second);
    double squares[2][static_cast<std::size_t>(4 * L)];
    for (int l = 0; l < L; ++l) {
      Lane a, b;
      __builtin_memcpy(&a, x + 4 * l, sizeof a);
      __builtin_memcpy(&b, x1 + 4 * l, sizeof b);
      a = a < 0 ? -a : a;
      b = b < 0 ? -b : b;
      const Lane inverse = 1 / (absolute + relative * (a < b ? b : a) + 1e-300);
      const Lane p = h * first[l] * inverse, q = h * second[l] * inverse;
      const Lane pp = p * p, qq = q * q;
      __builtin_memcpy(squares[0] + 4 * l, &pp, sizeof pp);
      __builtin_memcpy(squares[1] + 4 * l, &qq, sizeof qq);
    }
    StageLoop::Errors errors{0, 0};
    for (int i = 0; i < loop.n_; ++i) errors.first += squares[0][i], errors.second += squares[1][i];
    return errors;
  }
};

namespace {

#ifdef __x86_64__
#define HINGE_WIDE [[gnu::target("avx")]]  // there is no machine code without
#else
#define HINGE_WIDE
#endif

HINGE_WIDE int stages_of_any_size(const StageLoop& loop, int lanes, double t, double h, const double* x, double* stage,
                                  double* last_stage) {
  switch (lanes) {
    case 1: return StageLoopBody::stages<1>(loop, t, h, x, stage, last_stage);
    case 2: return StageLoopBody::stages<2>(loop, t, h, x, stage, last_stage);
    case 3: return StageLoopBody::stages<3>(loop, t, h, x, stage, last_stage);
    default: return StageLoopBody::stages<4>(loop, t, h, x, stage, last_stage);
  }
}

HINGE_WIDE StageLoop::Errors end_of_any_size(const StageLoop& loop, int lanes, double h, double absolute,
                                             double relative, const double* x, double* x1) {
  switch (lanes) {
    case 1: return StageLoopBody::end<1>(loop, h, absolute, relative, x, x1);
    case 2: return StageLoopBody::end<2>(loop, h, absolute, relative, x, x1);
    case 3: return StageLoopBody::end<3>(loop, h, absolute, relative, x, x1);
    default: return StageLoopBody::end<4>(loop, h, absolute, relative, x, x1);
  }
}

void narrow_sum(const ExplicitTableau::Row& row, const double* x, double h, const double* k, int stride, int n,
                double* out) {
  all_lanes(row, x, h, k, stride, n, out);
}

#ifdef __x86_64__
[[gnu::target("avx")]] void wide_sum(const ExplicitTableau::Row& row, const double* x, double h, const double* k,
                                     int stride, int n, double* out) {
  all_lanes(row, x, h, k, stride, n, out);
}
const auto best_sum = __builtin_cpu_supports("avx") ? wide_sum : narrow_sum;
#else
const auto best_sum = narrow_sum;
#endif

}  // namespace

void weighted_sum(const ExplicitTableau::Row& row, const double* x, double h, const double* k, int stride, int n,
                  double* out) {
  best_sum(row, x, h, k, stride, n, out);
}

StageLoop::StageLoop(const ExplicitTableau& tableau, const NativeCode& code, int n, int ny, double* rows, int stride,
                     int rates, int settled)
    : code_(&code),
      n_(n),
      padded_(padded(n)),
      ny_(ny),
      stride_(stride),
      settled_(settled),
      rows_(rows),
      rates_(rows + rates),
      c_(tableau.c),
      end_(flat(tableau.b())),
      first_(flat(tableau.error)),
      second_(flat(tableau.second_error)) {
  for (int i = 0; i < tableau.stages; ++i) stages_.push_back(flat(tableau.a[static_cast<std::size_t>(i)]));
}

StageLoop::Row StageLoop::flat(const ExplicitTableau::Row& row) const {
  Row list;
  for (const auto& [stage, weight] : row) list.push_back({static_cast<std::ptrdiff_t>(stage) * stride_, weight});
  return list;
}

int StageLoop::stages(double t, double h, const double* x, double* stage, double* last_stage) const {
  return stages_of_any_size(*this, padded_ / 4, t, h, x, stage, last_stage);
}

bool StageLoop::rates(double t, const double* x, int stage) const { return StageLoopBody::rates(*this, t, x, stage); }

StageLoop::Errors StageLoop::end(double h, double absolute, double relative, const double* x, double* x1) const {
  return end_of_any_size(*this, padded_ / 4, h, absolute, relative, x, x1);
}

}  // namespace hinge
