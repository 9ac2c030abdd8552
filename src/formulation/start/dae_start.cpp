#include "formulation/start/dae_start.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "formulation/implicit/dae_structure.hpp"
#include "formulation/implicit/derivative_array.hpp"
#include "formulation/implicit/system_jacobian.hpp"
#include "formulation/start/start_refusals.hpp"
#include "formulation/typed_precision.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "solve/linear/rank.hpp"

namespace hinge {

namespace {

using Values = std::vector<double>;
constexpr double free_scale = 1e3;         // values that were not given may move this much more readily
constexpr double polish_above = 1e-13;     // relative residuals that typed numbers leave
constexpr double number_rounding = 1e-16;  // and where the numbers themselves vanish
constexpr double nothing = 1e-28;          // what is left of a cancellation
constexpr double typed_rounding = 1e-14;
constexpr double need_not_move = 1e-15;  // given values that change by less: rounding
constexpr int largest_for_kernel = 600;  // numbers in X
constexpr double off_a_root = 1e-22,
                 off_relative = 1e-12;  // where derivatives are infinite: of all numbers, of this one

const char* times_text(int order) {
  static const char* const words[] = {"", ", differentiated once", ", differentiated twice",
                                      ", differentiated three times"};
  return order < 4 ? words[order] : ", differentiated many times";
}

class DaeStart {
 public:
  DaeStart(const SymbolicSystem& system, double t, const Start& start)
      : system_(system),
        t_(t),
        start_(start),
        n_(system.ny()),
        point_{t, start.position, start.velocity, {}},
        structure_((fill(), analyse_dae(system, &point_))),
        array_(structure_) {
    scale_.assign(at(array_.size()), 1.0);
    for (int k = 0; k < array_.size(); ++k) {
      const auto [j, order] = array_.places()[at(k)];
      const bool given = order == 0 ? given_[at(j)] : order == 1 && given_rate_[at(j)];
      given_places_.push_back(given);
      fixed_places_.push_back(order == 0 && !start.fixed.empty() && start.fixed[at(j)]);
      x_.push_back(order == 0 ? point_.y[at(j)] : order == 1 ? point_.z[at(j)] : 0.0);
      if (!given) scale_[at(k)] = free_scale;
    }
  }

  State find(std::vector<std::string>* remarks) {
    refuse_undefined();
    leave_vertical_roots();
    Values x = x_;
    bool consistent = array_.solve(t_, x, given_places_, Values(scale_.size(), 1.0));
    for (const double guess : {1.0, 0.1, -1.0}) {
      if (consistent || all_given()) break;
      Values other = x_;
      for (std::size_t k = 0; k < other.size(); ++k)
        if (!given_places_[k] && x_[k] == 0) other[k] = guess;
      if (array_.solve(t_, other, given_places_, Values(scale_.size(), 1.0))) x = other, consistent = true;
    }
    if (consistent) {
      polish(x);
    } else {
      const Values best = x;
      x = x_;
      const bool found = find_nearest(x);
      if (!found || (start_.consistent == Consistency::check && !moved(x).empty())) refuse(best, x, found);
    }
    const State state = state_of(x);
    refuse_singular(state, x);
    if (!off_.empty()) refuse_undriven(state, x);
    if (remarks) describe(x, *remarks);
    return state;
  }

 private:
  bool fill() {
    given_.assign(at(n_), 1);
    given_rate_.assign(at(n_), point_.z.empty() ? 0 : 1);
    if (!start_.given.empty()) given_ = start_.given;
    if (!start_.given_velocity.empty()) given_rate_ = start_.given_velocity;
    point_.z.resize(at(n_), 0.0);
    return true;
  }
  bool all_given() const {
    return std::all_of(given_.begin(), given_.end(), [](char g) { return g != 0; });
  }

  void refuse_undefined() {
    Values f(array_.rows().size());
    array_.residual(t_, x_.data(), f.data());
    for (std::size_t i = 0; i < f.size(); ++i)
      if (const auto [equation, order] = array_.rows()[i]; order == 0 && !std::isfinite(f[i]) && all_given())
        throw InputError(fmt::format(
            "equation {} is {} at the initial values; start elsewhere, or change the expressions so that they are "
            "defined there",
            structure_.names[at(equation)], std::isnan(f[i]) ? "not a number" : "infinite"));
  }

  // Given values at which derivatives are infinite, as of sqrt(h) at h = 0, go a little to the side where they are not.
  struct OffRoot {
    int place;
    double way;
  };
  bool finite_slopes(const Values& x, int place) {
    Values f_x(array_.pattern().entries());
    array_.jacobian(t_, x.data(), f_x.data());
    for (std::size_t k = 0; k < f_x.size(); ++k)
      if (array_.pattern().column[k] == place && !std::isfinite(f_x[k])) return false;
    return true;
  }
  void leave_vertical_roots() {
    const double size = largest_given();
    for (int k = 0; k < array_.size(); ++k) {
      const double x = x_[at(k)];
      if (!given_places_[at(k)] || fixed_places_[at(k)] || finite_slopes(x_, k)) continue;
      for (const double side : {1.0, -1.0}) {
        const double way = side * std::max(off_a_root * (size > 0 ? size : 1.0), off_relative * std::abs(x));
        x_[at(k)] = x + way;
        if (finite_slopes(x_, k)) {
          off_.push_back({k, way});
          break;
        }
        x_[at(k)] = x;
      }
    }
  }
  // Only what is driven away from there, at a rate that does not come from the root itself, has one way to go on.
  void refuse_undriven(const State& state, const Values& x) {
    constexpr double further = 100;
    Values other = x;
    for (const OffRoot& off : off_) other[at(off.place)] += (further - 1) * off.way;
    const bool found = array_.solve(t_, other, given_places_, Values(scale_.size(), 1.0));
    const State there = found ? state_of(other) : state;
    for (const OffRoot& off : off_) {
      const auto [j, order] = array_.places()[at(off.place)];
      const double rate = state.z[at(j)];
      if (order > 0 || (found && rate * off.way > 0 && std::abs(there.z[at(j)] - rate) < 0.5 * std::abs(rate)))
        continue;
      throw InputError(fmt::format(
          "at the initial {} an equation has an infinite derivative (of a root, say), and nothing drives {} "
          "away from there: no solution, or more than one, begins there; start elsewhere",
          structure_.jet.name(j, 0), structure_.jet.name(j, 0)));
    }
  }

  // The least change of the given values. Others may move a thousand times more readily, and where they have to go far
  // they would still draw the given ones with them: so again, from where the others are now. Given values that need not
  // move stay as they are.
  bool find_nearest(Values& x) {
    if (!array_.solve(t_, x, fixed_places_, scale_)) return false;
    constexpr int most_passes = 30;
    bool drawn = true;
    for (int pass = 0; drawn && pass < most_passes; ++pass) {
      Values other = x;
      for (std::size_t k = 0; k < x.size(); ++k)
        if (given_places_[k]) other[k] = x_[k];
      if (!array_.solve(t_, other, fixed_places_, scale_)) break;
      drawn = false;
      for (std::size_t k = 0; k < x.size(); ++k)
        drawn = drawn || (given_places_[k] && std::abs(other[k] - x[k]) > typed_rounding * std::abs(x[k]));
      x = std::move(other);
    }
    std::vector<char> keep = fixed_places_;
    Values other = x;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (given_places_[k] && std::abs(x[k] - x_[k]) <= need_not_move * (std::abs(x_[k]) + largest_given())) {
        keep[k] = 1;
        other[k] = x_[k];
      }
    if (array_.solve(t_, other, keep, scale_)) x = std::move(other);
    return true;
  }

  // Given values that are no longer what was given, beyond the rounding of typed numbers.
  std::vector<int> moved(const Values& x) const {
    std::vector<int> list;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (given_places_[k] && !(std::abs(x[k] - x_[k]) <=
                                typed_precision * std::abs(x_[k]) + typed_rounding * std::max(1.0, largest_given())))
        list.push_back(static_cast<int>(k));
    return list;
  }
  double largest_given() const {
    double largest = 0;
    for (std::size_t k = 0; k < x_.size(); ++k)
      if (given_places_[k]) largest = std::max(largest, std::abs(x_[k]));
    return largest;
  }

  // What rounding of typed numbers has left is taken away, mostly from the values that were not given.
  void polish(Values& x) {
    Values f(array_.rows().size()), f_x(array_.pattern().entries());
    array_.residual(t_, x.data(), f.data());
    array_.jacobian(t_, x.data(), f_x.data());
    const Pattern& p = array_.pattern();
    bool needed = false;
    for (std::size_t i = 0; i < f.size(); ++i) {
      double allowed = 0;
      for (auto k = at(p.row_start[i]); k < at(p.row_start[i + 1]); ++k)
        allowed += std::abs(f_x[k]) * (polish_above * std::abs(x[at(p.column[k])]) + number_rounding);
      needed = needed || std::abs(f[i]) > allowed;
    }
    Values other = x;
    if (needed && array_.solve(t_, other, fixed_places_, scale_)) x = other;
  }

  State state_of(const Values& x) {
    State s{t_, Values(at(n_)), Values(at(n_)), {}};
    Values rate(at(array_.size()), 0.0);
    const bool known = array_.rates(t_, x.data(), rate.data());
    for (int j = 0; j < n_; ++j) {
      const int first = array_.first(j);
      s.y[at(j)] = x[at(first)];
      s.z[at(j)] = array_.highest(j) > 0 ? x[at(first) + 1] : known ? rate[at(first)] : 0.0;
      if (!given_[at(j)] && std::abs(s.y[at(j)]) < nothing) s.y[at(j)] = 0;
      if (std::abs(s.z[at(j)]) < nothing) s.z[at(j)] = 0;
    }
    return s;
  }

  void refuse_singular(const State& state, const Values& x) {
    refuse_singular_pencil(system_, state);
    if (!structure_.regular) return;  // not so anywhere: said in a remark
    const SystemJacobian j(structure_.jet, structure_.equations, structure_.c, structure_.d);
    Eigen::MatrixXd value;
    const auto higher = [&](int unknown, int order) {
      return order <= array_.highest(unknown) ? x[at(array_.first(unknown) + order)] : 0.0;
    };
    if (j.is_regular_at(state, higher, value)) return;
    std::vector<int> equations, unknowns;
    if (value.size() > 0) {
      const auto left = left_kernel(value), right = left_kernel(value.transpose());
      for (int i = 0; i < n_; ++i) {
        if (!left.empty() && std::abs(left[0][i]) > 1e-6) equations.push_back(i);
        if (!right.empty() && std::abs(right[0][i]) > 1e-6) unknowns.push_back(i);
      }
    }
    throw SingularDae(fmt::format(
        "the DAE is singular at the initial values, and only there: the equations {} do not determine {} at this point "
        "(an impasse, or a point where solutions meet); start elsewhere",
        equations.empty() ? "" : structure_.equation_list(equations),
        unknowns.empty() ? "the unknowns" : structure_.unknown_list(unknowns)));
  }

  std::string values_text(const Values& x) const {
    Values unknowns;
    for (int j = 0; j < n_; ++j) unknowns.push_back(x[at(array_.first(j))]);
    return "\n    unknowns = " + list_values(system_.layout().y, unknowns, 2000);
  }

  [[noreturn]] void refuse(const Values& best, const Values& nearest, bool found) {
    auto broken = array_.violations(t_, best.data());
    std::stable_sort(broken.begin(), broken.end(), [&](const auto& a, const auto& b) {
      const int order_a = array_.rows()[at(a.row)].order, order_b = array_.rows()[at(b.row)].order;
      return order_a != order_b ? order_a < order_b : a.amount > b.amount;
    });
    std::string text = "the initial values are inconsistent:";
    constexpr std::size_t most = 6;
    for (std::size_t k = 0; k < std::min(broken.size(), most); ++k) {
      const auto [equation, order] = array_.rows()[at(broken[k].row)];
      text += fmt::format("\n  equation {}{} is violated by {:.6g}", structure_.names[at(equation)], times_text(order),
                          broken[k].amount);
    }
    if (broken.size() > most) text += fmt::format("\n  and {} more", broken.size() - most);
    if (!found) {
      std::vector<int> fixed;
      for (int j = 0; j < n_; ++j)
        if (!start_.fixed.empty() && start_.fixed[at(j)]) fixed.push_back(j);
      text += fmt::format(
          "\n  and no consistent values were found{}: these equations cannot hold together near them. "
          "Give values that fit better{}",
          fixed.empty() ? " near them" : " with " + structure_.unknown_list(fixed) + " fixed",
          fixed.empty() ? ", or a guess for those that are not given" : ", or fix fewer");
    } else {
      text += "\n  The nearest consistent values are" + values_text(nearest) +
              "\n  Put these into [initial], leave some out to have them computed, or set consistent = \"project\" "
              "there to use them.";
    }
    throw InconsistentStart(text);
  }

  // Unknowns that were not given, and which other values could have had: in the kernel of the array's Jacobian.
  std::vector<int> undetermined(const Values& x, int& freedom) {
    std::vector<int> list;
    freedom = 0;
    if (array_.size() > largest_for_kernel) return list;
    std::vector<int> columns;
    for (int k = 0; k < array_.size(); ++k)
      if (!given_places_[at(k)]) columns.push_back(k);
    if (columns.empty()) return list;
    Values f_x(array_.pattern().entries());
    array_.jacobian(t_, x.data(), f_x.data());
    const Pattern& p = array_.pattern();
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(p.rows, array_.size());
    for (int i = 0; i < p.rows; ++i) {
      double size = 0;
      for (auto k = at(p.row_start[at(i)]); k < at(p.row_start[at(i) + 1]); ++k)
        size = std::max(size, std::abs(f_x[k]));
      for (auto k = at(p.row_start[at(i)]); k < at(p.row_start[at(i) + 1]); ++k)
        a(i, p.column[k]) = size > 0 ? f_x[k] / size : 0.0;
    }
    const Eigen::MatrixXd free = kernel(a(Eigen::all, columns), 1e-11);
    freedom = static_cast<int>(free.cols());
    if (freedom == 0) return list;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const auto [j, order] = array_.places()[at(columns[k])];
      if (order == 0 && free.row(static_cast<Eigen::Index>(k)).cwiseAbs().maxCoeff() > 1e-9) list.push_back(j);
    }
    return list;
  }

  void describe(const Values& x, std::vector<std::string>& remarks) {
    std::string changed;
    for (const int k : moved(x)) {
      const auto [j, order] = array_.places()[at(k)];
      changed += fmt::format("{}{} {:.10g} -> {:.10g}", changed.empty() ? "" : ", ", structure_.jet.name(j, order),
                             x_[at(k)], x[at(k)]);
    }
    if (!changed.empty()) remarks.push_back("initial values changed: " + changed);
    int freedom = 0;
    const std::vector<int> free = undetermined(x, freedom);
    std::vector<int> computed;
    for (int j = 0; j < n_; ++j)
      if (!given_[at(j)] && std::find(free.begin(), free.end(), j) == free.end()) computed.push_back(j);
    if (!computed.empty()) remarks.push_back("initial values computed: " + structure_.unknown_list(computed, 12));
    if (!free.empty())
      remarks.push_back(fmt::format(
          "initial values free: {}; {} more may be given, and those nearest to the guess (0 where there is none) were "
          "taken",
          structure_.unknown_list(free, 12), freedom));
    if (!structure_.regular && !structure_.singular.empty())
      remarks.push_back("the structure of the DAE hides its index: " + structure_.singular);
  }

  const SymbolicSystem& system_;
  double t_;
  const Start& start_;
  int n_;
  State point_;
  std::vector<char> given_, given_rate_;
  DaeStructure structure_;
  DerivativeArray array_;
  std::vector<char> given_places_, fixed_places_;
  Values x_, scale_;
  std::vector<OffRoot> off_;
};

}  // namespace

State consistent_dae_start(const SymbolicSystem& system, double t, const Start& start,
                           std::vector<std::string>* remarks) {
  const auto expect = [&](std::size_t count, const char* what) {
    if (count != 0 && count != at(system.ny()))
      throw InputError(fmt::format("{} has {} numbers; the system has {} unknowns", what, count, system.ny()));
  };
  if (start.position.empty()) throw InputError("the initial unknowns are missing");
  expect(start.position.size(), "the initial values");
  expect(start.velocity.size(), "the list of initial derivatives");
  expect(start.given.size(), "the list of given values");
  expect(start.given_velocity.size(), "the list of given derivatives");
  expect(start.fixed.size(), "the list of fixed values");
  for (const auto* list : {&start.position, &start.velocity})
    for (const double v : *list)
      if (!std::isfinite(v)) throw InputError("an initial value is not a finite number");
  return DaeStart(system, t, start).find(remarks);
}

}  // namespace hinge
