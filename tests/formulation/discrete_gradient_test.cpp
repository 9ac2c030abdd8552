// Discrete gradients of random smooth functions: dd f . (y - x) = f(y) - f(x) to round-off, symmetric in x and y, of
// second order at the midpoint; and which invariants are found in an expression.
#include "formulation/discrete_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/evaluator.hpp"
#include "expression/random_expression.hpp"

namespace hinge::discrete_gradient_test {
namespace {

using trial::at;
using trial::declare_variables;
using trial::evaluate;
using trial::random_point;

using Point = std::vector<double>;

InvariantForm invariant_form(Graph& source, Node f, const std::vector<Node>& q, const std::vector<Node>& chosen = {}) {
  return invariant_forms(source, std::span(&f, 1), q, chosen)[0];
}

/// dd f as a function of x and y, by way of a graph of its own as the methods have it.
class Discrete {
 public:
  Discrete(Graph& source, Node f, const std::vector<Node>& q, std::vector<Node> chosen = {}) {
    for (std::size_t k = 0; k < q.size(); ++k) {
      q0_.push_back(graph_.variable(fmt::format("q{}", k)));
      u_.push_back(graph_.variable(fmt::format("u{}", k)));
    }
    StateIncrement step(graph_, q0_, u_);
    form = invariant_form(source, f, q, chosen);
    const SparseExpressions row = discrete_gradients(source, std::span(&form, 1), q, step);
    std::vector<Node> dd(q.size(), graph_.constant(0));
    for (std::size_t k = 0; k < row.entries.size(); ++k) dd[static_cast<std::size_t>(row.column[k])] = row.entries[k];
    tape_ = make_tape(graph_, std::vector<std::vector<Node>>{q0_, u_}, dd);
    scratch_ = tape_->make_scratch();
  }
  Point operator()(const Point& x, const Point& u) {
    Point dd(x.size());
    const double* const inputs[] = {x.data(), u.data()};
    tape_->evaluate(inputs, scratch_.data(), dd.data());
    return dd;
  }
  InvariantForm form;

 private:
  Graph graph_;
  std::vector<Node> q0_, u_;
  std::unique_ptr<Evaluator> tape_;
  std::vector<double> scratch_;
};

Point sum(const Point& x, double factor, const Point& d) {
  Point y = x;
  for (std::size_t k = 0; k < x.size(); ++k) y[k] += factor * d[k];
  return y;
}
double dot(const Point& a, const Point& b) {
  double s = 0;
  for (std::size_t k = 0; k < a.size(); ++k) s += a[k] * b[k];
  return s;
}
double distance(const Point& a, const Point& b) {
  const Point d = sum(a, -1, b);
  return std::sqrt(dot(d, d));
}

/// A smooth function of a few quadratic parts, and perhaps terms of its own: exp, sqrt, rational, powers, products.
struct Functions {
  Graph graph;
  std::vector<Node> q = declare_variables(graph, 4);
  std::mt19937 random;

  explicit Functions(unsigned seed) : random(seed) {}
  Node number(double x) { return graph.constant(x); }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }

  Node quadratic() {
    Node f = number(uniform(-1, 1));
    for (const Node a : q) {
      if (random() % 2) f = graph.add(f, graph.multiply(number(uniform(-1, 1)), a));
      if (random() % 2) f = graph.add(f, graph.multiply(number(uniform(-1, 1)), graph.multiply(a, q[random() % 4])));
    }
    return f;
  }
  Node positive() {  // 1 + squares
    Node f = number(1);
    for (const Node a : q)
      if (random() % 2) f = graph.add(f, graph.multiply(number(uniform(0.2, 1)), graph.multiply(a, a)));
    return graph.add(f, graph.multiply(q[0], q[0]));
  }
  Node term() {
    switch (random() % 6) {
      case 0: return graph.make(Op::exp, graph.negate(positive()));
      case 1: return graph.power(graph.subtract(graph.make(Op::sqrt, positive()), number(1.2)), number(2));
      case 2: return graph.divide(quadratic(), positive());
      case 3: return graph.multiply(quadratic(), graph.make(Op::sin, quadratic()));
      case 4: return graph.make(Op::atan2, quadratic(), positive());
      default: return graph.power(positive(), number(-1.5));
    }
  }
  Node function() {
    Node f = quadratic();
    const int terms = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < terms; ++k) f = graph.add(f, graph.multiply(number(uniform(-2, 2)), term()));
    return f;
  }
};

/// The largest value of a measure of (functions, f, dd f) over 100 random functions.
double worst_over_functions(const std::function<double(Functions&, Node, Discrete&)>& measure) {
  double worst = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Functions some(seed);
    const Node f = some.function();
    Discrete dd(some.graph, f, some.q);
    const double value = measure(some, f, dd);
    EXPECT_TRUE(std::isfinite(value)) << "seed " << seed;
    worst = std::max(worst, value);
  }
  return worst;
}

TEST(DiscreteGradient, GivesTheDifferenceOfTheFunctionExactly) {
  for (const double size : {1.0, 1e-2, 1e-4}) {
    const double worst = worst_over_functions([&](Functions& some, Node f, Discrete& dd) {
      const Point x = random_point(some.random, 4), u = random_point(some.random, 4, -size, size);
      const double difference = evaluate(some.graph, f, sum(x, 1, u)) - evaluate(some.graph, f, x);
      return std::abs(dot(dd(x, u), u) - difference) / (1 + std::abs(evaluate(some.graph, f, x)));
    });
    ::testing::Test::RecordProperty(fmt::format("size{}", size), fmt::format("{:.3g}", worst));
    EXPECT_LT(worst, 4e-15);  // measured 7.8e-16, 8.6e-16, 2.3e-15
  }
}

TEST(DiscreteGradient, IsSymmetric) {
  const double worst = worst_over_functions([](Functions& some, Node, Discrete& dd) {
    const Point x = random_point(some.random, 4), u = random_point(some.random, 4, -0.5, 0.5);
    const Point there = dd(x, u), back = dd(sum(x, 1, u), sum(Point(4, 0.0), -1, u));
    return distance(there, back) / (1 + std::sqrt(dot(there, there)));
  });
  ::testing::Test::RecordProperty("worst", fmt::format("{:.3g}", worst));
  EXPECT_LT(worst, 1e-13);  // measured 3.3e-15
}

TEST(DiscreteGradient, IsTheGradientAtTheMidpointToSecondOrder) {
  double least = INFINITY;
  worst_over_functions([&](Functions& some, Node f, Discrete& dd) {
    const std::vector<Node> slope = gradient(some.graph, f, some.q);
    const Point w = random_point(some.random, 4), d = random_point(some.random, 4);
    const std::vector<double> all = trial::evaluate_all(some.graph, w);
    Point exact;
    for (const Node n : slope) exact.push_back(all[at(n)]);
    const auto error = [&](double h) { return distance(dd(sum(w, -h / 2, d), sum(Point(4, 0.0), h, d)), exact); };
    const double coarse = error(2e-2), fine = error(1e-2);
    if (coarse > 1e-9) least = std::min(least, std::log2(coarse / fine));
    return 0.0;
  });
  ::testing::Test::RecordProperty("order", fmt::format("{:.4g}", least));
  EXPECT_GT(least, 1.9);  // measured 1.999
}

TEST(DiscreteGradient, IsTheGradientWhereNothingMoves) {
  const double worst = worst_over_functions([](Functions& some, Node f, Discrete& dd) {
    const std::vector<Node> slope = gradient(some.graph, f, some.q);
    const Point x = random_point(some.random, 4);
    const std::vector<double> all = trial::evaluate_all(some.graph, x);
    double off = 0;
    for (const double size : {0.0, 1e-300, 1e-160, 1e-20, 1e-12, 1e-8, 1e-6}) {
      const Point u = random_point(some.random, 4, -size, size), value = dd(x, u);
      for (std::size_t k = 0; k < 4; ++k) {
        const double exact = all[at(slope[k])];
        // the midpoint is u/2 away
        off = std::max(off, (std::abs(value[k] - exact) - 30 * size) / (1 + std::abs(exact)));
      }
    }
    return off;
  });
  ::testing::Test::RecordProperty("worst", fmt::format("{:.3g}", worst));
  EXPECT_LT(worst, 1e-14);  // measured 3.8e-16
}

TEST(DiscreteGradient, IsTheMidpointGradientOfQuadraticFunctions) {
  Functions some(7);
  for (int trial = 0; trial < 50; ++trial) {
    const Node f = some.quadratic();
    Discrete dd(some.graph, f, some.q);
    EXPECT_TRUE(dd.form.composed.empty());
    const std::vector<Node> slope = gradient(some.graph, f, some.q);
    const Point x = random_point(some.random, 4), u = random_point(some.random, 4), value = dd(x, u);
    const std::vector<double> all = trial::evaluate_all(some.graph, sum(x, 0.5, u));
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(value[k], all[at(slope[k])], 1e-14);
  }
}

// One scalar invariant: (F(pi1) - F(pi0)) / (pi1 - pi0) Dpi(w). For F = k/2 (r - r0)^2 in closed form.
TEST(DiscreteGradient, IsTheQuotientOfOneInvariant) {
  Graph graph;
  const std::vector<Node> q = declare_variables(graph, 3);
  Node square = graph.constant(0);
  for (const Node a : q) square = graph.add(square, graph.multiply(a, a));
  const Node off = graph.subtract(graph.make(Op::sqrt, square), graph.constant(1.5));
  Discrete dd(graph, graph.multiply(graph.constant(25), graph.multiply(off, off)), q);
  std::mt19937 random(1);
  double worst = 0;
  for (const double size : {1.0, 1e-2, 1e-4, 1e-6})
    for (int trial = 0; trial < 100; ++trial) {
      const Point x = random_point(random, 3, 0.5, 2), u = random_point(random, 3, -size, size), y = sum(x, 1, u);
      const double r0 = std::sqrt(dot(x, x)), r1 = std::sqrt(dot(y, y));
      const Point exact = sum(Point(3, 0.0), 50 * (r1 + r0 - 3) / (r1 + r0), sum(x, 0.5, u));
      worst = std::max(worst, distance(dd(x, u), exact));
    }
  ::testing::Test::RecordProperty("worst", fmt::format("{:.3g}", worst));
  EXPECT_LT(worst, 2e-12);  // measured 1.3e-13
}

// ---- the general derivative, in all coordinates -------------------------------------------------------------------

/// (19) with f as it is: Df(w) + bracket/|u|^2 u.
class General {
 public:
  General(Graph& source, Node f, const std::vector<Node>& q) {
    for (std::size_t k = 0; k < q.size(); ++k) {
      q0_.push_back(graph_.variable(fmt::format("q{}", k)));
      u_.push_back(graph_.variable(fmt::format("u{}", k)));
    }
    const Remainder r = remainder(source, f, q, q0_, u_, graph_);
    std::vector<Node> wanted = r.slope;
    wanted.push_back(r.value);
    tape_ = make_tape(graph_, std::vector<std::vector<Node>>{q0_, u_}, wanted);
    scratch_ = tape_->make_scratch();
  }
  Point operator()(const Point& x, const Point& u) {
    Point out(x.size() + 1);
    const double* const inputs[] = {x.data(), u.data()};
    tape_->evaluate(inputs, scratch_.data(), out.data());
    const double bracket = out.back();
    out.pop_back();
    return sum(out, bracket / dot(u, u), u);
  }

 private:
  Graph graph_;
  std::vector<Node> q0_, u_;
  std::unique_ptr<Evaluator> tape_;
  std::vector<double> scratch_;
};

TEST(GeneralDerivative, GivesTheDifferenceAndIsSymmetricAndOfSecondOrder) {
  double axiom = 0, asymmetry = 0, order = INFINITY;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Functions some(seed);
    const Node f = some.function();
    General dd(some.graph, f, some.q);
    const Point zero(4, 0.0);
    for (const double size : {1.0, 1e-2, 1e-4}) {
      const Point x = random_point(some.random, 4), u = random_point(some.random, 4, -size, size);
      const double difference = evaluate(some.graph, f, sum(x, 1, u)) - evaluate(some.graph, f, x);
      const Point there = dd(x, u), back = dd(sum(x, 1, u), sum(zero, -1, u));
      axiom = std::max(axiom, std::abs(dot(there, u) - difference) / (1 + std::abs(evaluate(some.graph, f, x))));
      asymmetry = std::max(asymmetry, distance(there, back) / (1 + std::sqrt(dot(there, there))));
    }
    const Point w = random_point(some.random, 4), d = random_point(some.random, 4);
    const std::vector<Node> slope = gradient(some.graph, f, some.q);
    const std::vector<double> all = trial::evaluate_all(some.graph, w);
    Point exact;
    for (const Node n : slope) exact.push_back(all[at(n)]);
    const auto error = [&](double h) { return distance(dd(sum(w, -h / 2, d), sum(zero, h, d)), exact); };
    const double coarse = error(2e-2), fine = error(1e-2);
    if (coarse > 1e-9) order = std::min(order, std::log2(coarse / fine));
  }
  ::testing::Test::RecordProperty("axiom", fmt::format("{:.3g}", axiom));
  ::testing::Test::RecordProperty("asymmetry", fmt::format("{:.3g}", asymmetry));
  ::testing::Test::RecordProperty("order", fmt::format("{:.4g}", order));
  EXPECT_LT(axiom, 6e-15);      // measured 1.5e-15
  EXPECT_LT(asymmetry, 3e-15);  // measured 5.0e-16
  EXPECT_GT(order, 1.9);        // measured 1.915
}

// ---- recognition --------------------------------------------------------------------------------------------------

class Recognition : public ::testing::Test {
 protected:
  Graph graph;
  std::vector<Node> q = declare_variables(graph, 6);
  std::vector<Node> a = {q[0], q[1], q[2]}, b = {q[3], q[4], q[5]};

  Node number(double x) { return graph.constant(x); }
  Node inner(const std::vector<Node>& x, const std::vector<Node>& y) {
    Node s = number(0);
    for (std::size_t k = 0; k < x.size(); ++k) s = graph.add(s, graph.multiply(x[k], y[k]));
    return s;
  }
  std::vector<Node> minus(const std::vector<Node>& x, const std::vector<Node>& y) {
    std::vector<Node> d;
    for (std::size_t k = 0; k < x.size(); ++k) d.push_back(graph.subtract(x[k], y[k]));
    return d;
  }
  Node length(const std::vector<Node>& x) { return graph.make(Op::sqrt, inner(x, x)); }
  /// The parts of the only composed term.
  std::set<Node> parts(Node f, const std::vector<Node>& chosen = {}) {
    const InvariantForm form = invariant_form(graph, f, q, chosen);
    EXPECT_EQ(form.composed.size(), 1u);
    return form.composed.size() == 1 ? std::set<Node>(form.composed[0].parts.begin(), form.composed[0].parts.end())
                                     : std::set<Node>();
  }
  /// Is the discrete gradient one that turns with the points, so that angular momentum is kept?
  double torque(Node f, const std::vector<Node>& chosen = {}) {
    Discrete dd(graph, f, q, chosen);
    std::mt19937 random(9);
    double worst = 0;
    for (int trial = 0; trial < 50; ++trial) {
      const Point x = random_point(random, 6, 0.5, 1.5), u = random_point(random, 6, -0.3, 0.3), w = sum(x, 0.5, u);
      const Point d = dd(x, u);
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
        const double sum_of_torques = w[j] * d[k] - w[k] * d[j] + w[3 + j] * d[3 + k] - w[3 + k] * d[3 + j];
        worst = std::max(worst, std::abs(sum_of_torques));
      }
    }
    return worst;
  }
};

TEST_F(Recognition, TakesQuadraticFunctionsAsTheyAre) {
  const InvariantForm form = invariant_form(graph, graph.subtract(inner(a, a), number(1)), q);
  EXPECT_TRUE(form.composed.empty());
  EXPECT_EQ(form.quadratic.size(), 1u);
}

TEST_F(Recognition, FindsInnerProductsAndSquaredDistances) {
  const Node aa = inner(a, a), ab = inner(a, b), apart = inner(minus(b, a), minus(b, a));
  EXPECT_EQ(parts(graph.subtract(length(b), number(1.5))), std::set{inner(b, b)});
  EXPECT_EQ(parts(graph.power(graph.subtract(length(minus(b, a)), number(1)), number(2))), std::set{apart});
  EXPECT_EQ(parts(graph.multiply(aa, ab)), (std::set{aa, ab}));
  EXPECT_EQ(parts(graph.make(Op::exp, graph.negate(aa))), std::set{graph.negate(aa)});
  EXPECT_EQ(parts(graph.divide(ab, graph.add(number(1), aa))), (std::set{ab, graph.add(number(1), aa)}));
  EXPECT_EQ(parts(graph.divide(number(1), length(minus(b, a)))), std::set{apart});
}

TEST_F(Recognition, SeesTheSquaresInHypot) {
  const Node squares = graph.add(graph.multiply(q[0], q[0]), graph.multiply(q[1], q[1]));
  EXPECT_EQ(parts(graph.make(Op::exp, graph.make(Op::hypot, q[0], q[1]))), std::set{squares});
}

TEST_F(Recognition, TreatsTermsOfASumOneByOne) {
  const Node f = graph.add(graph.make(Op::exp, q[2]), graph.subtract(q[1], length(a)));
  const InvariantForm form = invariant_form(graph, f, q);
  EXPECT_EQ(form.composed.size(), 2u);
  EXPECT_EQ(form.quadratic.size(), 1u);
}

TEST_F(Recognition, KeepsAngularMomentumWhereAllPartsAreInvariant) {
  const Node aa = inner(a, a), bb = inner(b, b), ab = inner(a, b);
  EXPECT_LT(torque(graph.make(Op::exp, graph.negate(aa))), 1e-13);
  EXPECT_LT(torque(graph.multiply(graph.multiply(aa, ab), bb)), 1e-13);
  EXPECT_LT(torque(graph.divide(ab, graph.add(aa, bb))), 1e-13);
  EXPECT_LT(torque(graph.power(graph.subtract(length(minus(b, a)), number(1)), number(4))), 1e-13);
  // the controls: coordinates are not invariant
  EXPECT_GT(torque(graph.make(Op::exp, q[2])), 1e-3);
  EXPECT_GT(torque(graph.make(Op::hypot, graph.make(Op::hypot, q[0], q[1]), q[2])), 1e-6);
}

// An invariant that the largest parts would hide: exp(a.a + q3) has one part, a.a + q3; with a.a chosen it has two.
TEST_F(Recognition, KeepsChosenInvariantsWhole) {
  const Node aa = inner(a, a), mixed = graph.add(aa, q[3]), f = graph.make(Op::exp, graph.negate(mixed));
  EXPECT_EQ(parts(f), std::set{graph.negate(mixed)});
  EXPECT_EQ(parts(f, {aa}), (std::set{aa, q[3]}));
  EXPECT_EQ(parts(graph.make(Op::exp, aa), {aa}), std::set{aa});
  // the derivative is one all the same
  Discrete dd(graph, f, q, {aa});
  std::mt19937 random(4);
  double worst = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const Point x = random_point(random, 6, -1, 1), u = random_point(random, 6, -0.5, 0.5);
    worst = std::max(worst, std::abs(dot(dd(x, u), u) - (evaluate(graph, f, sum(x, 1, u)) - evaluate(graph, f, x))));
  }
  ::testing::Test::RecordProperty("worst", fmt::format("{:.3g}", worst));
  EXPECT_LT(worst, 1e-14);  // measured 1.4e-16
}

}  // namespace
}  // namespace hinge::discrete_gradient_test
