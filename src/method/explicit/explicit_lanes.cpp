#include "method/explicit/explicit_lanes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hinge {

namespace {

using FourLanes [[gnu::vector_size(32), gnu::may_alias]] = double;
using Four = FourNumbers;

struct LaneTerm {
  std::size_t row;  // where it begins
  double weight;
};
using LaneRow = std::vector<LaneTerm>;

#define HINGE_SHUFFLE __builtin_shufflevector

inline const FourLanes& lanes_of(const Four& x) { return reinterpret_cast<const FourLanes&>(x); }
inline FourLanes& lanes_of(Four& x) { return reinterpret_cast<FourLanes&>(x); }

#ifdef __x86_64__
#define HINGE_FOUR_WIDE [[gnu::target("avx")]]  // there is no machine code without
#else
#define HINGE_FOUR_WIDE
#endif

// The next C numbers of h sum_j w_j k_j, or of x + that.
template <std::size_t C>
[[gnu::always_inline]] inline void next_numbers(const LaneRow& row, const Four* x, const FourLanes& h, const Four* k,
                                                Four* out) {
  FourLanes sum[C] = {};
  for (const LaneTerm& term : row)
    for (std::size_t c = 0; c < C; ++c) sum[c] += term.weight * lanes_of(k[term.row + c]);
  for (std::size_t c = 0; c < C; ++c) lanes_of(out[c]) = x ? lanes_of(x[c]) + h * sum[c] : h * sum[c];
}

HINGE_FOUR_WIDE void move_lanes(const LaneRow& row, const Four* x, const Four& h, const Four* k, int n, Four* out) {
  for (; n >= 12; n -= 12, k += 12, out += 12, x = x ? x + 12 : nullptr) next_numbers<12>(row, x, lanes_of(h), k, out);
  for (; n >= 8; n -= 8, k += 8, out += 8, x = x ? x + 8 : nullptr) next_numbers<8>(row, x, lanes_of(h), k, out);
  for (; n >= 4; n -= 4, k += 4, out += 4, x = x ? x + 4 : nullptr) next_numbers<4>(row, x, lanes_of(h), k, out);
}

HINGE_FOUR_WIDE void add_times(const Four& a, const Four& b, double factor, Four& out) {
  lanes_of(out) = lanes_of(a) + factor * lanes_of(b);
}

// Sums of squares, as StageLoop forms them.
HINGE_FOUR_WIDE void measure_lanes(const Four* first, const Four* second, const Four* x, const Four* x1,
                                   const Four& absolute, const Four& relative, int n, Four& first_sum,
                                   Four& second_sum) {
  FourLanes sums[2] = {};
  for (int i = 0; i < n; ++i) {
    FourLanes a = lanes_of(x[i]), b = lanes_of(x1[i]);
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    const FourLanes inverse = 1 / (lanes_of(absolute) + lanes_of(relative) * (a < b ? b : a) + 1e-300);
    const FourLanes p = lanes_of(first[i]) * inverse, q = lanes_of(second[i]) * inverse;
    sums[0] += p * p;
    sums[1] += q * q;
  }
  lanes_of(first_sum) = sums[0];
  lanes_of(second_sum) = sums[1];
}

// Four numbers of each of four runs become four runs of four numbers.
HINGE_FOUR_WIDE void give_four(const Four* from, int n, const std::array<double*, 4>& to) {
  for (int i = 0; i < n; i += 4, from += 4) {
    const FourLanes a = lanes_of(from[0]), b = lanes_of(from[1]), c = lanes_of(from[2]), d = lanes_of(from[3]);
    const FourLanes ab0 = HINGE_SHUFFLE(a, b, 0, 4, 2, 6), ab1 = HINGE_SHUFFLE(a, b, 1, 5, 3, 7);
    const FourLanes cd0 = HINGE_SHUFFLE(c, d, 0, 4, 2, 6), cd1 = HINGE_SHUFFLE(c, d, 1, 5, 3, 7);
    const FourLanes out[4] = {HINGE_SHUFFLE(ab0, cd0, 0, 1, 4, 5), HINGE_SHUFFLE(ab1, cd1, 0, 1, 4, 5),
                              HINGE_SHUFFLE(ab0, cd0, 2, 3, 6, 7), HINGE_SHUFFLE(ab1, cd1, 2, 3, 6, 7)};
    for (std::size_t l = 0; l < 4; ++l)
      if (to[l]) __builtin_memcpy(to[l] + i, &out[l], sizeof out[l]);
  }
}

// And back.
HINGE_FOUR_WIDE void take_four(const std::array<const double*, 4>& from, int n, Four* to) {
  for (int i = 0; i < n; i += 4, to += 4) {
    FourLanes a, b, c, d;
    __builtin_memcpy(&a, from[0] + i, sizeof a);
    __builtin_memcpy(&b, from[1] + i, sizeof b);
    __builtin_memcpy(&c, from[2] + i, sizeof c);
    __builtin_memcpy(&d, from[3] + i, sizeof d);
    const FourLanes ab0 = HINGE_SHUFFLE(a, b, 0, 4, 2, 6), ab1 = HINGE_SHUFFLE(a, b, 1, 5, 3, 7);
    const FourLanes cd0 = HINGE_SHUFFLE(c, d, 0, 4, 2, 6), cd1 = HINGE_SHUFFLE(c, d, 1, 5, 3, 7);
    lanes_of(to[0]) = HINGE_SHUFFLE(ab0, cd0, 0, 1, 4, 5);
    lanes_of(to[1]) = HINGE_SHUFFLE(ab1, cd1, 0, 1, 4, 5);
    lanes_of(to[2]) = HINGE_SHUFFLE(ab0, cd0, 2, 3, 6, 7);
    lanes_of(to[3]) = HINGE_SHUFFLE(ab1, cd1, 2, 3, 6, 7);
  }
}

HINGE_FOUR_WIDE void copy_lanes(const Four* from, int n, Four* to) {
  for (int i = 0; i < n; ++i) lanes_of(to[i]) = lanes_of(from[i]);
}

// 1 stays where this is 1, too.
HINGE_FOUR_WIDE void note_settled(const Four& here, Four& settled) {
  lanes_of(settled) = lanes_of(here) == 1.0 ? lanes_of(settled) : 0 * lanes_of(settled);
}

int padded_to_four(int n) { return (n + 3) / 4 * 4; }

class ExplicitLanes final : public StepLanes {
 public:
  explicit ExplicitLanes(const ExplicitAhead& like)
      : rates_(like.rates),
        projection_(like.projection),
        n_(like.n),
        ny_(like.ny),
        width_(padded_to_four(like.n)),
        m_(like.m),
        c_(like.tableau->c),
        end_(flat(like.tableau->b())),
        first_(flat(like.tableau->error)),
        second_(flat(like.tableau->second_error)) {
    for (int i = 0; i < like.tableau->stages; ++i)
      stages_.push_back(flat(like.tableau->a[static_cast<std::size_t>(i)]));
    k_.resize(static_cast<std::size_t>(width_) * stages_.size());
    for (auto* x : {&x0_, &stage_, &last_stage_, &x1_, &corrected_, &first_error_, &second_error_})
      x->resize(static_cast<std::size_t>(width_));
    end_rates_.resize(static_cast<std::size_t>(padded_to_four(n_ + m_)));
    rate_code_ = rates_->code();
    scratch_.resize(rate_code_ ? rates_->scratch() : 0);
    if (projection_) projection_code_ = projection_->code();
    if (!projection_code_) projection_ = nullptr;
    if (projection_) projection_scratch_.resize(projection_->scratch());
  }

  void compute(std::span<StepAhead* const> steps) override {
    if (!rate_code_ || !collect(steps)) return;
    go_through_stages();
    give_stages();
    if (projection_) correct();
    give_end();
  }

 private:
  LaneRow flat(const ExplicitTableau::Row& row) const {
    LaneRow list;
    for (const auto& [stage, weight] : row)
      list.push_back({static_cast<std::size_t>(stage) * static_cast<std::size_t>(width_), weight});
    return list;
  }

  // Who asks for nothing gets what another one asks for, and nothing is given back. False where there are too few.
  bool collect(std::span<StepAhead* const> steps) {
    lane_.fill(nullptr);
    ExplicitAhead* any = nullptr;
    int count = 0;
    for (std::size_t l = 0; l < steps.size() && l < most; ++l)
      if ((lane_[l] = static_cast<ExplicitAhead*>(steps[l]))) any = lane_[l], ++count;
    if (count < 2) return false;
    std::array<const double*, most> x0{}, rate0{};
    for (std::size_t l = 0; l < most; ++l) {
      const ExplicitAhead& from = lane_[l] ? *lane_[l] : *any;
      if (serial_[l] != from.serial) take_constants(l, from);
      t_.of[l] = from.t;
      h_.of[l] = from.h;
      absolute_.of[l] = from.tolerance.absolute;
      relative_.of[l] = from.tolerance.relative;
      x0[l] = from.x0;
      rate0[l] = from.rate0;
    }
    take_four(x0, width_, x0_.data());
    take_four(rate0, width_, k_.data());
    return true;
  }

  void take_constants(std::size_t l, const ExplicitAhead& from) {
    const auto take = [l](const CompiledFunction* function, std::vector<Four>& to) {
      if (!function) return;
      const std::vector<double>& scratch = function->scratch();
      for (std::size_t k = 0; k < std::min(scratch.size(), to.size()); ++k) to[k].of[l] = scratch[k];
    };
    take(from.constants, scratch_);
    if (projection_) take(from.projection_constants, projection_scratch_);
    serial_[l] = from.serial;
  }

  // Rates go to a row of their own; what is not settled is noted.
  const Four* rates(const Four& t, const Four* x, Four& settled) {
    const double* const inputs[] = {t.of, x->of, x[ny_].of};
    (*rate_code_)(inputs, scratch_.data()->of);
    const Four* const out = scratch_.data() + rates_->first_output();
    note_settled(out[n_ + m_], settled);
    return out;
  }
  void take_settled(const Four& settled) {
    for (std::size_t l = 0; l < most; ++l) settled_[l] = settled_[l] && settled.of[l] == 1.0;
  }

  void go_through_stages() {
    settled_.fill(true);
    Four settled = ones;
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      Four* const x = (i + 1 == stages_.size() ? last_stage_ : stage_).data();
      move_lanes(stages_[i], x0_.data(), h_, k_.data(), width_, x);
      Four t;
      add_times(t_, h_, c_[i], t);
      copy_lanes(rates(t, x, settled), n_, k_.data() + i * static_cast<std::size_t>(width_));
    }
    take_settled(settled);
    move_lanes(end_, x0_.data(), h_, k_.data(), width_, x1_.data());
    move_lanes(first_, nullptr, h_, k_.data(), width_, first_error_.data());
    move_lanes(second_, nullptr, h_, k_.data(), width_, second_error_.data());
    measure_lanes(first_error_.data(), second_error_.data(), x0_.data(), x1_.data(), absolute_, relative_, n_,
                  first_sum_, second_sum_);
  }

  template <class Place>
  std::array<double*, most> places(const std::array<bool, most>& wanted, Place place) const {
    std::array<double*, most> list{};
    for (std::size_t l = 0; l < most; ++l) list[l] = lane_[l] && wanted[l] ? place(*lane_[l]) : nullptr;
    return list;
  }

  void give_stages() {
    using Ahead = ExplicitAhead;
    std::array<bool, most> all = settled_;
    bool any = false;
    for (std::size_t l = 0; l < most; ++l) any |= all[l] = all[l] && lane_[l] && lane_[l]->all_rows;
    const std::size_t last = stages_.size() - 1;
    for (std::size_t i = any ? 1 : last; i <= last; ++i)
      give_four(k_.data() + i * static_cast<std::size_t>(width_), width_,
                places(i == last ? settled_ : all,
                       [&](Ahead& a) { return a.rows + static_cast<std::ptrdiff_t>(i) * a.stride; }));
    give_four(last_stage_.data(), width_, places(settled_, [](Ahead& a) { return a.last_stage.data(); }));
    give_four(x1_.data(), width_, places(settled_, [](Ahead& a) { return a.x1.data(); }));
    for (std::size_t l = 0; l < most; ++l) {
      if (!lane_[l] || !settled_[l]) continue;
      lane_[l]->errors = {first_sum_.of[l], second_sum_.of[l]};
      lane_[l]->made = true;
      lane_[l]->finished = false;
    }
  }

  void correct() {
    Four t;
    add_times(t_, h_, 1, t);
    const double* const inputs[] = {t.of, x1_.data()->of, x1_[static_cast<std::size_t>(ny_)].of};
    (*projection_code_)(inputs, projection_scratch_.data()->of);
    const Four* const out = projection_scratch_.data() + projection_->first_output();
    copy_lanes(out, n_, corrected_.data());
    take_settled(out[n_]);
  }

  void give_end() {
    const std::vector<Four>& end = projection_ ? corrected_ : x1_;
    Four t;
    add_times(t_, h_, 1, t);
    Four settled = ones;
    copy_lanes(rates(t, end.data(), settled), n_ + m_, end_rates_.data());
    take_settled(settled);
    for (std::size_t l = 0; l < most; ++l)
      settled_[l] = settled_[l] && lane_[l] && lane_[l]->can_finish && lane_[l]->projection == projection_;
    give_four(end.data(), width_, places(settled_, [](ExplicitAhead& a) { return a.end.data(); }));
    give_four(end_rates_.data(), padded_to_four(n_ + m_),
              places(settled_, [](ExplicitAhead& a) { return a.rates_at_end.data(); }));
    for (std::size_t l = 0; l < most; ++l)
      if (settled_[l]) lane_[l]->finished = true;
  }

  static constexpr Four ones{{1, 1, 1, 1}};

  std::shared_ptr<LaneCode> rates_, projection_;  // and their kind stays theirs
  const NativeCode *rate_code_ = nullptr, *projection_code_ = nullptr;
  int n_, ny_, width_, m_;
  std::vector<double> c_;
  std::vector<LaneRow> stages_;
  LaneRow end_, first_, second_;
  std::array<ExplicitAhead*, most> lane_{};
  std::array<std::uint64_t, most> serial_{};
  std::array<bool, most> settled_{};
  Four t_{}, h_{}, absolute_{}, relative_{}, first_sum_{}, second_sum_{};
  std::vector<Four> k_, x0_, stage_, last_stage_, x1_, corrected_, first_error_, second_error_, end_rates_, scratch_,
      projection_scratch_;
};

}  // namespace

std::unique_ptr<StepLanes> ExplicitAhead::make_lanes() const { return std::make_unique<ExplicitLanes>(*this); }

bool ExplicitAhead::take(double from, double length, const Tolerance& wanted) {
  return std::exchange(made, false) && t == from && h == length && tolerance.absolute == wanted.absolute &&
         tolerance.relative == wanted.relative;
}

}  // namespace hinge
