#include "method/wrap/smooth_piece.hpp"

#include <array>
#include <cmath>

namespace hinge {

namespace {

template <class E>
auto lists(E& eq) {
  return std::array{&eq.v, &eq.p, &eq.f, &eq.r, &eq.g, &eq.acceleration_force, &eq.residual};
}

}  // namespace

std::vector<Node> functions_of(const Equations& equations) {
  std::vector<Node> all;
  for (const auto* list : lists(equations)) all.insert(all.end(), list->begin(), list->end());
  return all;
}

SmoothPiece::SmoothPiece(const SymbolicSystem& whole, Branches& branches, const Branches::Sides& sides) {
  Equations eq = whole.equations();
  const Branches::Frozen frozen = branches.freeze(functions_of(eq), sides);
  auto at = frozen.functions.begin();
  for (auto* list : lists(eq))
    for (Node& n : *list) n = *at++;
  if (eq.energy != no_node) eq.energy = branches.freeze(std::span(&eq.energy, 1), sides).functions[0];
  active_ = frozen.active;
  for (const std::size_t k : active_) upper_.push_back(sides[k]);
  std::vector<Node> motion = eq.y;
  motion.insert(motion.end(), eq.z.begin(), eq.z.end());
  Graph graph = branches.graph();
  eq.graph = std::make_shared<const Graph>(graph);
  eq.source = nullptr;
  const SparseExpressions slopes = jacobian(graph, frozen.roots, motion);
  pattern_ = {slopes.rows, slopes.columns, slopes.row_start, slopes.column};
  roots_ = eq.tape(graph, frozen.roots);
  scratch_ = roots_->make_scratch();
  values_.resize(frozen.roots.size());
  slopes_ = eq.tape(graph, slopes.entries);
  slope_scratch_ = slopes_->make_scratch();
  slope_values_.resize(slopes.entries.size());
  system_ = std::make_shared<SymbolicSystem>(whole.layout(), std::move(eq));
}

void SmoothPiece::evaluate(const State& s) {
  const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data()};
  roots_->evaluate(inputs, scratch_.data(), values_.data());
}

bool SmoothPiece::is_any_beyond() const {
  for (std::size_t k = 0; k < active_.size(); ++k)
    if (is_beyond(k)) return true;
  return false;
}

std::vector<double> SmoothPiece::distances(const State& s, const Tolerance& tolerance) {
  const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data()};
  slopes_->evaluate(inputs, slope_scratch_.data(), slope_values_.data());
  std::vector<double> result;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    double moves = 0;
    for (auto j = static_cast<std::size_t>(pattern_.row_start[k]);
         j < static_cast<std::size_t>(pattern_.row_start[k + 1]); ++j) {
      const auto at = static_cast<std::size_t>(pattern_.column[j]);
      const double x = std::abs(at < s.y.size() ? s.y[at] : s.z[at - s.y.size()]);
      moves += std::abs(slope_values_[j]) * (tolerance.relative * x + tolerance.absolute);
    }
    result.push_back(moves > 0 ? std::abs(values_[k]) / moves : INFINITY);
  }
  return result;
}

}  // namespace hinge
