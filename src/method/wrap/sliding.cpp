#include "method/wrap/sliding.hpp"

#include <algorithm>
#include <cmath>

#include "expression/derivative.hpp"
#include "method/wrap/smooth_piece.hpp"

namespace hinge {

namespace {
constexpr double clearly = 1e-3;  // part of the rate with which the root is passed
// One is no proof where several roots are passed at once.
constexpr int most_in_a_row = 8;
}  // namespace

Sliding::Sliding(const SymbolicSystem& whole, const Branches& branches)
    : ny_(whole.ny()), is_dae_(whole.structure().is_dae) {
  const Equations& eq = whole.equations();
  Graph graph = branches.graph();
  std::vector<Node> variables{eq.t};
  variables.insert(variables.end(), eq.y.begin(), eq.y.end());
  variables.insert(variables.end(), eq.z.begin(), eq.z.end());
  SparseExpressions by = jacobian(graph, branches.roots(), variables);
  derivatives_ = eq.tape(graph, by.entries);
  scratch_ = derivatives_->make_scratch();
  for (std::size_t k = 0; k < branches.size(); ++k) of_table_.push_back(branches.table(k) != nullptr);
  values_.resize(by.entries.size());
  rate_.resize(variables.size());
  pattern_ = {by.rows, by.columns, std::move(by.row_start), std::move(by.column)};
}

bool Sliding::has_begun(const System& from, const System& beyond, const State& at, const Branches::Sides& before,
                        const Branches::Sides& after) {
  bool back = false, clear = false;
  int passed = 0;
  if (find_rates(from, at, before_) && find_rates(beyond, at, beyond_))
    for (std::size_t k = 0; k < after.size(); ++k) {
      if (before[k] == after[k]) continue;
      const bool rising = of_table_[k] ? before_[k] > 0 : after[k] != 0;
      const double there = rising ? before_[k] : -before_[k], on = rising ? beyond_[k] : -beyond_[k];
      ++passed;
      back = back || on < 0;
      clear = there > 0 && on < -clearly * there;
    }
  in_a_row_ = back ? in_a_row_ + 1 : 0;
  return (passed == 1 && clear && !is_dae_) || in_a_row_ > most_in_a_row;
}

bool Sliding::find_rates(const System& along, const State& at, std::vector<double>& out) {
  double *v = rate_.data() + 1, *a = v + ny_;
  rate_[0] = 1;
  if (is_dae_) {
    std::copy(at.z.begin(), at.z.end(), v);
  } else {
    std::vector<double> psi = at.psi;
    if (!Acceleration(along).compute(at.t, at.y.data(), at.z.data(), psi.data(), v, a)) return false;
  }
  const double* const inputs[] = {&at.t, at.y.data(), at.z.data(), at.psi.data()};
  derivatives_->evaluate(inputs, scratch_.data(), values_.data());
  out.assign(static_cast<std::size_t>(pattern_.rows), 0.0);
  for (std::size_t k = 0; k < out.size(); ++k)
    for (auto e = static_cast<std::size_t>(pattern_.row_start[k]);
         e < static_cast<std::size_t>(pattern_.row_start[k + 1]); ++e) {
      const auto j = static_cast<std::size_t>(pattern_.column[e]);
      if (is_dae_ && static_cast<int>(j) > ny_) {  // x'' is not at hand
        out[k] = 0;
        break;
      }
      out[k] += values_[e] * rate_[j];
    }
  return true;
}

bool slides_within(std::shared_ptr<const SymbolicSystem> system, const State& from, double h) {
  constexpr double nearby = 2;  // ways in a time h
  PieceSource source(system);
  if (source.branches.size() == 0) return false;
  Branches::Sides sides(source.branches.size(), 1);
  source.find_sides(from, sides);
  Sliding sliding(*system, source.branches);
  std::vector<double> here, beyond;
  if (!sliding.find_rates(SmoothPiece(source, sides).system(), from, here)) return false;
  for (std::size_t k = 0; k < sides.size(); ++k) {
    const double root = (*source.roots)[k];
    if (source.branches.table(k) || !(here[k] * root <= 0 && std::abs(root) <= nearby * h * std::abs(here[k])))
      continue;
    Branches::Sides after = sides;
    after[k] = !after[k];
    if (sliding.find_rates(SmoothPiece(source, after).system(), from, beyond) && beyond[k] * here[k] < 0) return true;
  }
  return false;
}

}  // namespace hinge
