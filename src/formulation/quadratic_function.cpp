#include "formulation/quadratic_function.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "expression/derivative.hpp"
#include "system/symbolic.hpp"

namespace hinge {

bool QuadraticFunction::invariant_under(const AffineMotion& motion) const {
  struct Sum {
    double value = 0, size = 0;
  };
  std::map<std::pair<int, int>, Sum> coefficient;  // of q_k q_j, of q_j (k = -1) and 1 (both)
  const auto add = [&](int k, int j, double x) {
    Sum& sum = coefficient[std::minmax(k, j)];
    sum.value += x;
    sum.size += std::abs(x);
  };
  for (const Entry& e : a)
    for (const AffineMotion::Entry& m : motion.row(e.i)) add(m.column, e.j, m.factor * e.value);
  for (const auto& [i, value] : b)
    for (const AffineMotion::Entry& m : motion.row(i)) add(m.column, -1, m.factor * value);
  return std::all_of(coefficient.begin(), coefficient.end(),
                     [](const auto& c) { return std::abs(c.second.value) <= coefficient_rounding * c.second.size; });
}

std::vector<QuadraticFunction> quadratics(const ConstantMassForm& form, const std::vector<Node>& functions) {
  const Equations& eq = form.system->equations();
  const SparseExpressions slopes = jacobian(*form.graph, functions, eq.y);
  const SparseExpressions second = jacobian(*form.graph, slopes.entries, eq.y);
  std::vector<Node> wanted = slopes.entries;
  wanted.insert(wanted.end(), second.entries.begin(), second.entries.end());
  const std::vector<Node> inputs[] = {eq.y};
  const auto tape = make_tape(*form.graph, inputs, wanted);
  std::vector<double> scratch = tape->make_scratch(), values(wanted.size());
  const std::vector<double> zero(static_cast<std::size_t>(form.n), 0.0);
  const double* const at[] = {zero.data()};
  tape->evaluate(at, scratch.data(), values.data());
  std::vector<QuadraticFunction> list(functions.size());
  for (std::size_t f = 0; f < functions.size(); ++f)
    for (int k = slopes.row_start[f]; k < slopes.row_start[f + 1]; ++k) {
      const auto row = static_cast<std::size_t>(k);
      const int i = slopes.column[row];
      if (values[row] != 0) list[f].b.emplace_back(i, values[row]);
      for (int l = second.row_start[row]; l < second.row_start[row + 1]; ++l) {
        const auto entry = static_cast<std::size_t>(l);
        const double value = values[slopes.entries.size() + entry];
        if (value != 0) list[f].a.push_back({i, second.column[entry], value});
      }
    }
  return list;
}

QuadraticFunction kinetic_energy(const ConstantMassForm& form) {
  QuadraticFunction t;
  const Pattern& p = form.mass_pattern;
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      t.a.push_back({i, p.column[static_cast<std::size_t>(k)], form.mass[static_cast<std::size_t>(k)]});
  return t;
}

}  // namespace hinge
