// Functions made of polynomials between knots: what each kind promises, on the graph as by itself.
#include "expression/table.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "../random_draw.hpp"
#include "expression/branches.hpp"
#include "expression/derivative.hpp"
#include "expression/enclosure.hpp"
#include "expression/evaluator.hpp"
#include "expression/parse.hpp"
#include "expression/sign_changes.hpp"
#include "expression/substitute.hpp"
#include "hinge/error.hpp"

namespace hinge::table_test {
namespace {

using Numbers = std::vector<double>;
using Curve = std::shared_ptr<const Table>;

Curve through(const Numbers& x, const Numbers& y, Interpolation kind, Beyond beyond = Beyond::error,
              SplineEnds ends = SplineEnds::not_a_knot) {
  return Table::through("f", x, y, kind, beyond, ends);
}

// The nth derivative by the tables of derivatives.
double derivative(Curve f, int n, double x) {
  for (; n > 0; --n) {
    if (!f->derivative()) return 0;
    f = f->derivative();
  }
  return (*f)(x);
}

const Numbers uneven = {-1, -0.3, 0.1, 1.2, 1.5, 3, 3.2};

Numbers values(const Numbers& x, double (*f)(double)) {
  Numbers y;
  for (const double u : x) y.push_back(f(u));
  return y;
}

TEST(Table, GoesThroughItsPoints) {
  const Numbers y = {1, -2, 0.5, 3, 3, -1, 1};
  for (const Interpolation kind :
       {Interpolation::linear, Interpolation::cubic, Interpolation::monotone, Interpolation::previous})
    for (const Beyond beyond : {Beyond::error, Beyond::constant, Beyond::linear, Beyond::periodic}) {
      const Curve f = through(uneven, y, kind, beyond);
      for (std::size_t k = 0; k < y.size(); ++k)
        EXPECT_NEAR((*f)(uneven[k]), y[k], 1e-14) << static_cast<int>(kind) << k;  // measured 4e-16
    }
}

TEST(Table, ASplineWithoutKnotsNextToItsEndsReproducesCubics) {
  const auto cubic = [](double x) { return 1 + x * (2 - x * (3 + 0.5 * x)); };
  const Curve f = through(uneven, values(uneven, cubic), Interpolation::cubic);
  const Curve natural =
      through(uneven, values(uneven, cubic), Interpolation::cubic, Beyond::error, SplineEnds::natural);
  double worst = 0, control = 0;
  for (double x = -1; x <= 3.2; x += 0.01) {
    worst = std::max(worst, std::abs((*f)(x)-cubic(x)));
    control = std::max(control, std::abs((*natural)(x)-cubic(x)));
  }
  EXPECT_LT(worst, 1e-13);   // measured 1.8e-14
  EXPECT_GT(control, 1e-2);  // measured 0.44
  EXPECT_NEAR(derivative(natural, 2, -1), 0, 1e-12);
  EXPECT_NEAR(derivative(natural, 2, 3.2), 0, 1e-12);
  // three points: the parabola
  const Curve three = through({0, 1, 3}, {0, 1, 9}, Interpolation::cubic);
  EXPECT_NEAR((*three)(2.5), 6.25, 1e-14);
}

TEST(Table, ContinuityIsWhatTheKindPromises) {
  const Numbers y = {1, -2, 0.5, 3, 3, -1, 1};
  const auto jump = [&](const Curve& f, int n) {
    double worst = 0;
    for (std::size_t k = 1; k + 1 < uneven.size(); ++k) {
      const double before = std::nextafter(uneven[k], -9.0);
      worst = std::max(worst, std::abs(derivative(f, n, uneven[k]) - derivative(f, n, before)));
    }
    return worst;
  };
  const Curve spline = through(uneven, y, Interpolation::cubic), monotone = through(uneven, y, Interpolation::monotone),
              linear = through(uneven, y, Interpolation::linear);
  for (int n = 0; n < 3; ++n) EXPECT_LT(jump(spline, n), 1e-11) << n;  // measured 3e-13
  EXPECT_GT(jump(spline, 3), 1);
  for (int n = 0; n < 2; ++n) EXPECT_LT(jump(monotone, n), 1e-12) << n;
  EXPECT_GT(jump(monotone, 2), 1);
  EXPECT_LT(jump(linear, 0), 1e-13);
  EXPECT_GT(jump(linear, 1), 1);
  EXPECT_GT(jump(through(uneven, y, Interpolation::previous), 0), 1);
  // and over the end of a period
  for (const auto& [kind, orders] : {std::pair{Interpolation::cubic, 3}, {Interpolation::monotone, 2}}) {
    const Curve f = through(uneven, y, kind, Beyond::periodic);
    for (int n = 0; n < orders; ++n)
      EXPECT_NEAR(derivative(f, n, 3.2 - 1e-13), derivative(f, n, 3.2 + 1e-13), 1e-9) << n;
    for (double x = -1; x < 3.2; x += 0.1) EXPECT_NEAR((*f)(x + 3 * 4.2), (*f)(x), 1e-12);
  }
}

TEST(Table, MonotoneCubicsDoNotOvershootAndSplinesDo) {
  const Numbers x = {0, 1, 2, 3, 4}, y = {0, 0, 0, 1, 1};
  const Curve monotone = through(x, y, Interpolation::monotone), spline = through(x, y, Interpolation::cubic);
  double low = 0, high = 0, least = 0;
  for (double u = 0; u <= 4; u += 0.001) {
    low = std::min(low, (*monotone)(u));
    high = std::max(high, (*monotone)(u));
    least = std::min(least, (*spline)(u));
  }
  EXPECT_GE(low, 0);
  EXPECT_LE(high, 1);
  EXPECT_LT(least, -0.05);
}

TEST(Table, BeyondItsEnds) {
  const Numbers x = {0, 1, 2}, y = {1, 2, 5};
  const auto at = [&](Beyond beyond, double u) { return (*through(x, y, Interpolation::linear, beyond))(u); };
  EXPECT_TRUE(std::isnan(at(Beyond::error, -1e-9)) && std::isnan(at(Beyond::error, 2.000001)));
  EXPECT_EQ(at(Beyond::error, 2), 5);
  EXPECT_EQ(at(Beyond::constant, -3), 1);
  EXPECT_EQ(at(Beyond::constant, 9), 5);
  EXPECT_EQ(at(Beyond::linear, -3), -2);
  EXPECT_EQ(at(Beyond::linear, 4), 11);
  const Curve flat = through(x, y, Interpolation::cubic, Beyond::constant);
  EXPECT_EQ(derivative(flat, 1, 7), 0);
  EXPECT_EQ(derivative(flat, 1, -7), 0);
  EXPECT_EQ((*through(x, {3, 4, 9}, Interpolation::previous, Beyond::periodic))(2.5), 3);
}

// ---- On the graph --------------------------------------------------------------------------------------------------

struct OnGraph {
  Graph graph;
  Node x = graph.variable("x"), s = graph.variable("s");
  double value(const Graph& of, Node n, double at_x, double at_s = 0) const {
    const std::vector<Node> blocks[] = {{x, s}};
    const auto tape = make_tape(of, blocks, std::span(&n, 1));
    auto scratch = tape->make_scratch();
    const double in[] = {at_x, at_s};
    const double* const inputs[] = {in};
    double out = 0;
    tape->evaluate(inputs, scratch.data(), &out);
    return out;
  }
};

TEST(Table, DerivativesOfAnyOrderOnTheGraphAreThoseOfDifferences) {
  OnGraph g;
  const Curve f = through(uneven, {1, -2, 0.5, 3, 3, -1, 1}, Interpolation::cubic);
  // f(sin(x) + s)
  const Node n = g.graph.table(f, g.graph.add(g.graph.make(Op::sin, g.x), g.s));
  const Node variables[] = {g.x, g.s};
  const auto first = gradient(g.graph, n, variables), second = gradient(g.graph, first[0], variables);
  const double h = 1e-4;
  for (const double x : {-0.2, 0.5, 1.1}) {
    const auto at = [&](double dx, double ds) { return g.value(g.graph, n, x + dx, 0.7 + ds); };
    const double by_x = (at(h, 0) - at(-h, 0)) / (2 * h),
                 by_xs = (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4 * h * h);
    EXPECT_NEAR(g.value(g.graph, first[0], x, 0.7), by_x, 1e-5);  // measured 5e-7
    EXPECT_NEAR(g.value(g.graph, second[1], x, 0.7), by_xs, 1e-4);
  }
  EXPECT_EQ(to_text(g.graph, first[1]), "f'(s + sin(x))");
  // in another graph
  Graph other;
  const Node u = other.variable("u"), v = other.variable("v"), replaced[] = {g.x, g.s}, images[] = {u, v};
  const Node moved = substitute(g.graph, std::span(&n, 1), replaced, images, other)[0];
  EXPECT_EQ(to_text(other, moved), "f(v + sin(u))");
}

TEST(Table, LanesAgreeWithOnePoint) {
  OnGraph g;
  const Node n = g.graph.floor(g.graph.multiply(g.graph.constant(3), g.x));
  const std::vector<Node> blocks[] = {{g.x, g.s}};
  const auto tape = make_tape(g.graph, blocks, std::span(&n, 1));
  auto scratch = tape->make_scratch(3);
  const double a[] = {0.5, 0}, b[] = {-0.1, 0}, c[] = {7.0, 0};
  const double *ia[] = {a}, *ib[] = {b}, *ic[] = {c};
  const double* const* const inputs[] = {ia, ib, ic};
  double oa = 0, ob = 0, oc = 0;
  double* const outputs[] = {&oa, &ob, &oc};
  tape->evaluate(3, inputs, scratch.data(), outputs);
  EXPECT_EQ(oa, 1);
  EXPECT_EQ(ob, -1);
  EXPECT_EQ(oc, 21);
}

TEST(Table, BoundsHoldAndAreNarrowOnShortStretches) {
  Draw draw(11);
  for (int round = 0; round < 200; ++round) {
    Numbers x{draw.number(-2, 0)}, y;
    for (int k = 0; k < 6; ++k) x.push_back(x.back() + draw.number(0.1, 1));
    for (std::size_t k = 0; k < x.size(); ++k) y.push_back(draw.number(-3, 3));
    y.back() = y.front();
    const auto kind = draw.one_of<Interpolation>(
        {Interpolation::linear, Interpolation::cubic, Interpolation::monotone, Interpolation::previous});
    const auto beyond = draw.one_of<Beyond>({Beyond::constant, Beyond::linear, Beyond::periodic});
    const Curve f = draw.chance(0.1) ? Table::floor() : through(x, y, kind, beyond);
    const double low = draw.number(-4, 6), width = draw.power(-3, 1);
    const Interval values = f->bounds({low, low + width}), slopes = f->slopes({low, low + width});
    double previous = (*f)(low);
    for (int k = 1; k <= 50; ++k) {
      const double u = low + width * k / 50, now = (*f)(u);
      ASSERT_TRUE(values.contains(now)) << round;
      const double slope = (now - previous) * 50 / width;
      ASSERT_TRUE(slopes.low - 1e-9 <= slope && slope <= slopes.high + 1e-9) << round;
      previous = now;
    }
  }
  const Curve f = through({0, 1, 2}, {0, 1, 0}, Interpolation::cubic);
  EXPECT_LT(f->bounds({0.5, 0.501}).width(), 0.002);
}

TEST(Table, EveryKnotIsASignChangeOfItsWave) {
  for (const Beyond beyond : {Beyond::constant, Beyond::periodic}) {
    Graph graph;
    const Node t = graph.variable("t");
    const Curve f = through(uneven, {1, -2, 0.5, 3, 3, -1, 1}, Interpolation::linear, beyond);
    SignChanges changes(graph, graph.table(f->wave(), t), false);
    changes.begin(-1.5);
    Numbers expected(uneven.begin(), uneven.end());
    if (beyond == Beyond::periodic) expected = {-1.2, -1, -0.3, 0.1, 1.2, 1.5, 3, 3.2, 3.9, 4.3, 5.4, 5.7};
    for (const double knot : expected) {
      const auto found = changes.next(6);
      ASSERT_TRUE(found) << knot;
      EXPECT_NEAR(*found, knot, 4e-15 * 6);
    }
    EXPECT_FALSE(changes.next(beyond == Beyond::periodic ? 5.71 : 6));
  }
}

TEST(Table, FrozenPiecesContinueSmoothly) {
  OnGraph g;
  const Curve f = through({0, 1, 2}, {0, 1, 8}, Interpolation::linear, Beyond::constant);
  const Node n = g.graph.table(f, g.x);
  Branches branches(g.graph, std::span(&n, 1));
  ASSERT_EQ(branches.size(), 1u);
  const auto frozen = branches.freeze({1});
  EXPECT_EQ(g.value(branches.graph(), frozen.functions[0], 1.5), 4.5);
  EXPECT_EQ(g.value(branches.graph(), frozen.functions[0], 3), 15);  // beyond its end
  ASSERT_EQ(frozen.roots.size(), 1u);
  EXPECT_GT(g.value(branches.graph(), frozen.roots[0], 1.5), 0);
  EXPECT_LT(g.value(branches.graph(), frozen.roots[0], 0.9), 0);
  EXPECT_LT(g.value(branches.graph(), frozen.roots[0], 2.1), 0);
  // a table and its derivative change together
  const Node both[] = {n, g.graph.table(f->derivative(), g.x)};
  EXPECT_EQ(Branches(g.graph, both).size(), 1u);
}

// ---- The language --------------------------------------------------------------------------------------------------

double number(const std::string& text) {
  Graph graph;
  Scope scope;
  scope.graph = &graph;
  return parse_number(text, scope);
}

TEST(Steps, FloorCeilRoundModAndPulse) {
  const std::pair<const char*, double> cases[] = {{"floor(2.7)", 2},
                                                  {"floor(-2.7)", -3},
                                                  {"floor(3)", 3},
                                                  {"floor(-1e-20)", -1},
                                                  {"ceil(2.1)", 3},
                                                  {"ceil(-2.1)", -2},
                                                  {"ceil(4)", 4},
                                                  {"round(2.5)", 3},
                                                  {"round(-2.5)", -2},
                                                  {"round(1.49)", 1},
                                                  {"mod(7, 3)", 1},
                                                  {"mod(-1, 3)", 2},
                                                  {"mod(5.5, 2)", 1.5},
                                                  {"mod(-0.5, -2)", -0.5},
                                                  {"pulse(0, 1, 0.2)", 1},
                                                  {"pulse(0.3, 1, 0.2)", 0},
                                                  {"pulse(5.1, 1, 0.2)", 1},
                                                  {"pulse(-0.9, 1, 0.2)", 1},
                                                  {"floor(1e12 + 0.5)", 1e12}};
  for (const auto& [text, value] : cases) EXPECT_EQ(number(text), value) << text;
  EXPECT_THROW(number("mod(1, 0)"), InputError);
  EXPECT_THROW(number("pulse(1, 0, 1)"), InputError);
  EXPECT_THROW(number("floor(1, 2)"), InputError);
}

TEST(UserFunctions, StandForTheirText) {
  Graph graph;
  Scope scope;
  scope.graph = &graph;
  const Node x = graph.variable("x");
  scope.names["x"] = scalar_value(x);
  scope.functions["square"] = {{"a"}, "a^2"};
  scope.functions["area"] = {{"r", "h"}, "pi*square(r)*h"};
  scope.functions["loop"] = {{"a"}, "again(a)"};
  scope.functions["again"] = {{"a"}, "loop(a) + 1"};
  scope.functions["wrong"] = {{"a"}, "a + b"};
  scope.functions["first"] = {{"v"}, "v[0]"};
  EXPECT_EQ(parse("square(x + 1)", scope).node(), parse("(x + 1)^2", scope).node());
  EXPECT_EQ(parse("area(x, 2)", scope).node(), parse("pi*x^2*2", scope).node());
  EXPECT_EQ(parse("first([x, 2])", scope).node(), x);
  const auto complaint = [&](const char* text) {
    try {
      parse(text, scope);
    } catch (const ExpressionError& e) {
      return e.cause;
    }
    return std::string("none");
  };
  EXPECT_NE(complaint("loop(x)").find("calls itself"), std::string::npos);
  EXPECT_NE(complaint("area(x)").find("area takes 2 arguments, but 1 is given; write area(r, h)"), std::string::npos);
  EXPECT_NE(complaint("wrong(x)").find("in the function wrong, column 5 of \"a + b\": unknown name 'b'"),
            std::string::npos);
  EXPECT_NE(complaint("squar(x)").find("did you mean 'square'"), std::string::npos);
  EXPECT_NE(complaint("square + 1").find("is a function; write square(...)"), std::string::npos);
  // doubling at every level is found before it takes hours
  scope.functions["f0"] = {{"a"}, "a + x"};
  for (int k = 1; k < 40; ++k)
    scope.functions["f" + std::to_string(k)] = {
        {"a"}, "f" + std::to_string(k - 1) + "(a) + f" + std::to_string(k - 1) + "(2*a)"};
  EXPECT_NE(complaint("f39(x)").find("too many operations"), std::string::npos);
}

}  // namespace
}  // namespace hinge::table_test
