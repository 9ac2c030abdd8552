#include "formulation/symmetries.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "expression/polynomial.hpp"
#include "formulation/discrete_gradient.hpp"
#include "system/symbolic.hpp"

namespace hinge {

std::vector<PointPlace> points_of(const Layout& layout, std::string* other) {
  std::vector<PointPlace> points;
  for (const Block& b : layout.y) {
    const int width = b.shape.empty() ? 1 : b.shape.back();
    if (width == 2 || width == 3)
      for (int k = 0; k < b.size(); k += width) points.push_back({b.first + k, width});
    else if (other && other->empty())
      *other = b.name;
  }
  return points;
}

void Motion::at(const double* q, std::vector<double>& xi) const {
  std::fill(xi.begin(), xi.end(), 0.0);
  for (const Term& t : terms) xi[static_cast<std::size_t>(t.row)] += t.factor * (t.column < 0 ? 1 : q[t.column]);
}

double Motion::momentum(const double* q, const double* p) const {
  double sum = 0;
  for (const Term& t : terms) sum += t.factor * (t.column < 0 ? 1 : q[t.column]) * p[t.row];
  return sum;
}

Motion rotation(const std::vector<PointPlace>& points, const std::vector<double>& axis,
                const std::vector<double>& point) {
  Motion motion;
  const auto add = [&](const PointPlace& at, int row, int column, double factor) {
    if (factor == 0 || row >= at.width) return;
    if (column < at.width) motion.terms.push_back({at.first + row, at.first + column, factor});
    const double offset = point[static_cast<std::size_t>(column)];
    if (offset != 0) motion.terms.push_back({at.first + row, -1, -factor * offset});
  };
  for (const PointPlace& at : points)
    for (int k = 0; k < 3; ++k) {
      // (axis x q)_k = axis_i q_j - axis_j q_i with (k, i, j) cyclic
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      add(at, k, j, axis[static_cast<std::size_t>(i)]);
      add(at, k, i, -axis[static_cast<std::size_t>(j)]);
    }
  return motion;
}

Motion translation(const std::vector<PointPlace>& points, const std::vector<double>& direction) {
  Motion motion;
  for (const PointPlace& at : points)
    for (int k = 0; k < at.width; ++k)
      if (const double d = direction[static_cast<std::size_t>(k)]; d != 0)
        motion.terms.push_back({at.first + k, -1, d});
  return motion;
}

namespace {

constexpr int samples = 6;

// Numbers that look random and are always the same.
class Numbers {
 public:
  double next() { return x_ = 3.9 * x_ * (1 - x_); }
  // Positive ones in every other sample, where roots and logarithms may want them.
  std::vector<double> point(int n, int sample) {
    std::vector<double> q(static_cast<std::size_t>(n));
    for (double& value : q) value = sample % 2 == 0 ? 0.2 + next() : 3 * next() - 1.5;
    return q;
  }

 private:
  double x_ = 0.37;
};

// Covectors, row by row, at sample points; each row is to be orthogonal to a motion.
struct Covectors {
  std::vector<int> row_start{0}, column{};
  std::vector<double> point[samples], values[samples];

  bool vanish_on(const Motion& motion, std::size_t row) const {
    bool seen = false;
    for (int s = 0; s < samples; ++s) {
      std::vector<double> xi(point[s].size());
      motion.at(point[s].data(), xi);
      double sum = 0, size = 0;
      for (int k = row_start[row]; k < row_start[row + 1]; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double term = values[s][at] * xi[static_cast<std::size_t>(column[at])];
        sum += term;
        size += std::abs(term);
      }
      if (!std::isfinite(sum)) continue;  // not defined there
      seen = true;
      if (std::abs(sum) > 1e-9 * size) return false;
    }
    return seen;
  }
};

// Df of each function.
Covectors gradients(const ConstantMassForm& form, const std::vector<Node>& functions) {
  const Equations& eq = form.system->equations();
  const SparseExpressions slopes = jacobian(*eq.graph, functions, eq.y);
  const std::vector<Node> inputs[] = {eq.y};
  const auto tape = make_tape(*eq.graph, inputs, slopes.entries);
  std::vector<double> scratch = tape->make_scratch();
  Covectors rows{slopes.row_start, slopes.column, {}, {}};
  Numbers numbers;
  for (int s = 0; s < samples; ++s) {
    rows.point[s] = numbers.point(form.n, s);
    rows.values[s].resize(slopes.entries.size());
    const double* const at[] = {rows.point[s].data()};
    tape->evaluate(at, scratch.data(), rows.values[s].data());
  }
  return rows;
}

// dd f of each function over a step, with its middle as the point: p1.xi(q1) - p0.xi(q0) = -h dd f.xi(mid).
Covectors discrete_gradients_of(const ConstantMassForm& form, const std::vector<Node>& functions) {
  const Equations& eq = form.system->equations();
  Graph graph;
  std::vector<Node> q0, u;
  for (int k = 0; k < form.n; ++k) q0.push_back(graph.variable("q0")), u.push_back(graph.variable("u"));
  Increment step(graph, q0, u);
  const std::vector<InvariantForm> forms = invariant_forms(*eq.graph, functions, eq.y, eq.invariants);
  const SparseExpressions dd = discrete_gradients(*eq.graph, forms, eq.y, step);
  Covectors rows{dd.row_start, dd.column, {}, {}};
  const std::vector<Node> inputs[] = {q0, u};
  const auto tape = make_tape(graph, inputs, dd.entries);
  std::vector<double> scratch = tape->make_scratch();
  Numbers numbers;
  for (int s = 0; s < samples; ++s) {
    const std::vector<double> from = numbers.point(form.n, s);
    std::vector<double> by(from.size());
    rows.point[s] = from;
    for (std::size_t k = 0; k < by.size(); ++k) {
      by[k] = 0.6 * (numbers.next() - 0.5);
      rows.point[s][k] += by[k] / 2;
    }
    rows.values[s].resize(dd.entries.size());
    const double* const at[] = {from.data(), by.data()};
    tape->evaluate(at, scratch.data(), rows.values[s].data());
  }
  return rows;
}

// The linear part A of the motion leaves v.Mv/2 as it is: v.M A v = 0 for all v.
bool mass_allows(const ConstantMassForm& form, const Motion& motion) {
  Motion linear = motion;
  std::erase_if(linear.terms, [](const Motion::Term& t) { return t.column < 0; });
  std::vector<double> xi(static_cast<std::size_t>(form.n)), p(xi.size());
  Numbers numbers;
  for (int s = 0; s < samples; ++s) {
    const std::vector<double> v = numbers.point(form.n, s);
    std::fill(p.begin(), p.end(), 0.0);
    multiply_add(form.mass_pattern, form.mass.data(), v.data(), 1.0, p.data());
    linear.at(v.data(), xi);
    double sum = 0, size = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      sum += p[k] * xi[k];
      size += std::abs(p[k] * xi[k]);
    }
    if (std::abs(sum) > 1e-9 * size) return false;
  }
  return true;
}

// The first term of a function that is not written in quantities invariant under the motion.
Node first_unsuitable_term(const ConstantMassForm& form, Node function, const Motion& motion) {
  const Equations& eq = form.system->equations();
  for (const InvariantForm::Composed& term : invariant_form(*eq.graph, function, eq.y, eq.invariants).composed) {
    const Covectors slopes = gradients(form, term.parts);
    for (std::size_t k = 0; k < term.parts.size(); ++k)
      if (!slopes.vanish_on(motion, k)) return term.function;
  }
  return function;
}

struct NamedMotion {
  std::string momentum, written_in;
  Motion motion;
};

std::vector<NamedMotion> motions_of(const Layout& layout) {
  const std::vector<PointPlace> points = points_of(layout);
  if (points.empty()) return {};
  const bool plane = std::none_of(points.begin(), points.end(), [](const PointPlace& p) { return p.width == 3; });
  std::vector<NamedMotion> list;
  for (int k = plane ? 2 : 0; k < 3; ++k) {
    std::vector<double> axis(3, 0.0);
    axis[static_cast<std::size_t>(k)] = 1;
    list.push_back({plane ? std::string("angular momentum") : fmt::format("angular momentum about e{}", k + 1),
                    "inner products", rotation(points, axis, {0, 0, 0})});
  }
  for (int k = 0; k < (plane ? 2 : 3); ++k) {
    std::vector<double> direction(3, 0.0);
    direction[static_cast<std::size_t>(k)] = 1;
    list.push_back(
        {fmt::format("linear momentum along e{}", k + 1), "differences of positions", translation(points, direction)});
  }
  return list;
}

}  // namespace

ConservedMomenta conserved_momenta(const ConstantMassForm& form) {
  const std::vector<NamedMotion> motions = motions_of(form.system->layout());
  ConservedMomenta result;
  if (motions.empty()) return result;
  const Equations& eq = form.system->equations();
  std::vector<Node> functions = {form.potential};
  functions.insert(functions.end(), eq.g.begin(), eq.g.end());
  const Covectors slopes = gradients(form, functions), discrete = discrete_gradients_of(form, functions);
  for (const NamedMotion& m : motions) {
    bool symmetric = mass_allows(form, m.motion);
    std::size_t culprit = functions.size();
    for (std::size_t k = 0; symmetric && k < functions.size(); ++k) {
      symmetric = slopes.vanish_on(m.motion, k);
      if (culprit == functions.size() && !discrete.vanish_on(m.motion, k)) culprit = k;
    }
    if (!symmetric) continue;
    if (culprit == functions.size()) {
      result.kept.push_back(m.momentum);
      continue;
    }
    const Node term = first_unsuitable_term(form, functions[culprit], m.motion);
    const std::string owner =
        culprit == 0 ? "the potential" : "constraint " + form.system->layout().constraints[culprit - 1];
    result.lost.push_back({m.momentum, fmt::format("the term {} of {} is not a function of {}",
                                                   to_text(*eq.graph, term, 60), owner, m.written_in)});
  }
  return result;
}

std::vector<std::string> unused_invariants(const ConstantMassForm& form) {
  const Equations& eq = form.system->equations();
  std::vector<std::string> unused;
  for (const Node n : eq.invariants) {
    const std::vector<char> contains = dependence_on_nodes(*eq.graph, std::span(&n, 1));
    bool used = contains[static_cast<std::size_t>(form.potential)] != 0;
    for (const Node g : eq.g) used = used || contains[static_cast<std::size_t>(g)];
    if (!used) unused.push_back(to_text(*eq.graph, n, 60));
  }
  return unused;
}

}  // namespace hinge
