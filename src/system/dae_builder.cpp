// Dae: equations F(t, x, x') = 0 and pairs, as many as unknowns, into a system.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "solve/linear/matching.hpp"
#include "solve/linear/sparse.hpp"
#include "system/builders.hpp"

namespace hinge {

Vector Dae::unknowns(const std::string& name, std::vector<int> shape) {
  Vector x = declare(blocks_, n_, x_, name, std::move(shape));
  declare_rates(graph_, blocks_.back(), rates_);
  return x;
}
Expression Dae::unknown(const std::string& name) { return unknowns(name, {})[0]; }
Vector Dae::derivative(const Vector& x) const { return rates_of(x, x_, rates_, *graph_); }
Expression Dae::derivative(const Expression& x) const { return derivative(Vector{x})[0]; }

void Dae::equation(const Expression& f, std::string name) {
  equations_.push_back(f);
  equation_names_.push_back(name.empty() ? fmt::format("{} ({} = 0)", equations_.size() - 1, f.text())
                                         : std::move(name));
}

void Dae::noise(const Vector& column) { noise_.push_back(column); }

// Not as many equations as unknowns: says where too many or too few are.
void Dae::refuse_count() const {
  Graph& graph = *graph_;
  std::vector<Node> all = nodes_of(x_, graph);
  const std::vector<Node> rates = nodes_of(rates_, graph);
  all.insert(all.end(), rates.begin(), rates.end());
  // a pair is an equation of everything in it
  std::vector<Node> equations = nodes_of(equations_, graph);
  for (const auto& [a, b] : pairs_) equations.push_back(graph.add(a.node_in(graph), b.node_in(graph)));
  std::vector<std::string> equation_names = equation_names_;
  equation_names.insert(equation_names.end(), pair_names_.begin(), pair_names_.end());
  const SparseExpressions f = jacobian(graph, equations, all);
  const int n = static_cast<int>(x_.size());
  PatternBuilder builder(static_cast<int>(equations.size()), n);
  for (int i = 0; i < f.rows; ++i)
    for (int k = f.row_start[static_cast<std::size_t>(i)]; k < f.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      builder.add(i, f.column[static_cast<std::size_t>(k)] % n);
  std::vector<int> place;
  const Pattern pattern = builder.build(place);
  const SingularParts parts = singular_parts(pattern, maximum_matching(pattern));
  const bool under = equations.size() < x_.size();
  std::string names;
  constexpr std::size_t most = 8;
  const std::vector<int>& list = under ? parts.under_columns : parts.over_rows;
  for (std::size_t k = 0; k < std::min(list.size(), most); ++k) {
    const auto at = static_cast<std::size_t>(list[k]);
    names += (k > 0 ? ", " : "") + (under ? x_[at].text() : equation_names[at]);
  }
  if (list.size() > most) names += fmt::format(" and {} more", list.size() - most);
  throw SingularDae(fmt::format(
      "{} equation{}{} for {} unknown{}: the system is {}. A DAE needs as many equations as unknowns; {}: {}",
      equations_.size(), equations_.size() == 1 ? "" : "s",
      pairs_.empty() ? "" : fmt::format(" and {} pair{}", pairs_.size(), pairs_.size() == 1 ? "" : "s"), x_.size(),
      x_.size() == 1 ? "" : "s", under ? "underdetermined" : "overdetermined",
      under ? "an equation is missing among these unknowns" : "one of these equations is too many", names));
}

void Dae::complementarity(const Expression& a, const Expression& b, std::string name) {
  pair_names_.push_back(name.empty() ? fmt::format("{} (0 <= {} _|_ {} >= 0)", pairs_.size(), a.text(), b.text())
                                     : std::move(name));
  pairs_.emplace_back(a, b);
}

std::shared_ptr<const System> Dae::assemble() const {
  if (x_.empty()) throw InputError("a DAE needs unknowns");
  if (equations_.size() + pairs_.size() != x_.size()) refuse_count();
  if (!constraints_.empty()) throw InputError("a DAE has equations only; give its constraints as equations");
  Graph& graph = *graph_;
  auto [layout, eq] = draft(SystemKind::dae, blocks_, x_, renamed_rates(blocks_), rates_);
  eq.v = eq.p = eq.z;
  eq.f = eq.r = std::vector<Node>(x_.size(), graph.constant(0));
  eq.residual = nodes_of(equations_, graph);
  eq.residual_names = equation_names_;
  for (std::size_t k = 0; k < pairs_.size(); ++k)
    eq.pairs.push_back({pairs_[k].first.node_in(graph), pairs_[k].second.node_in(graph), pair_names_[k]});
  for (const Vector& column : noise_) {
    if (column.size() != equations_.size())
      throw InputError(fmt::format("a column of noise has {} entries; there are {} equations, and each needs one",
                                   column.size(), equations_.size()));
    eq.noise.push_back(nodes_of({column.begin(), column.end()}, graph));
  }
  return freeze(graph_, std::move(layout), std::move(eq));
}

}  // namespace hinge
