// Coefficients of the SPARK methods in tableau.hpp, computed.
//
//   Gauss nodes      2 c_i - 1  = roots of the Legendre polynomial P_n,      b_i  = 1 / ((1 - x_i^2) P'_n(x_i)^2)
//   Lobatto nodes    2 ct_j - 1 = -1, roots of P'_n, 1   (n + 1 of them),    bt_j = 1 / (n (n + 1) P_n(x_j)^2)
//   collocation      a_ij = int_0^{c_i} l_j,   abar_ij = int_0^{ct_i} l_j,   l_j the Lagrange polynomials of the c_i
//   partner          atilde_ij = btilde_j (1 - abar_ji / b_i)                which is (4.1c) solved for atilde
//
// Everything is computed in long double and rounded once, so each coefficient is right to about one unit in the last
// place. Equation numbers are those of Jay (2007).
#include "method/symplectic/spark_tableau.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "solve/linear/spectrum.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {
namespace {

using Real = long double;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

constexpr int max_stages = 12;
constexpr int max_points = 64;

struct RealRule {
  RealVector nodes, weights;
};

struct LegendreValue {
  Real value, derivative;
};

/// P_n(x) and P'_n(x) by (k+1) P_{k+1} = (2k+1) x P_k - k P_{k-1} and P'_{k+1} = P'_{k-1} + (2k+1) P_k. The second
/// recurrence divides by nothing, so it also serves at the ends x = -1 and 1.
LegendreValue legendre(int n, Real x) {
  Real p_previous = 0, p = 1, d_previous = 0, d = 0;
  for (int k = 0; k < n; ++k) {
    const Real odd = static_cast<Real>(2 * k + 1);
    const Real p_next = (odd * x * p - static_cast<Real>(k) * p_previous) / static_cast<Real>(k + 1);
    const Real d_next = d_previous + odd * p;
    p_previous = p;
    p = p_next;
    d_previous = d;
    d = d_next;
  }
  return {p, d};
}

/// Stores the point at distance x >= 0 right of the centre of [-1, 1] and its mirror image, in [0, 1].
void set_mirrored(RealRule& rule, int k, Real x, Real weight) {
  const Eigen::Index mirror = rule.nodes.size() - 1 - k;
  rule.nodes(k) = (1 - x) / 2;
  rule.nodes(mirror) = (1 + x) / 2;
  rule.weights(k) = rule.weights(mirror) = weight;
}

RealRule gauss_rule(int n) {
  RealRule rule{RealVector(n), RealVector(n)};
  for (int k = 0; k < (n + 1) / 2; ++k) {
    const bool centre = 2 * k + 1 == n;
    Real x = 0;
    if (!centre) {
      const Real angle = std::numbers::pi_v<Real> * (static_cast<Real>(k) + 0.75L) / (static_cast<Real>(n) + 0.5L);
      x = newton_root(std::cos(angle), [n](Real y) {
        const auto [value, derivative] = legendre(n, y);
        return value / derivative;
      });
    }
    const Real slope = legendre(n, x).derivative;
    set_mirrored(rule, k, x, 1 / ((1 - x) * (1 + x) * slope * slope));
  }
  return rule;
}

RealRule lobatto_rule(int points) {
  const int n = points - 1;
  const Real n_n1 = static_cast<Real>(n) * static_cast<Real>(n + 1);
  RealRule rule{RealVector(points), RealVector(points)};
  for (int k = 0; k < (points + 1) / 2; ++k) {
    const bool centre = 2 * k == n;
    Real x = k == 0 ? 1 : 0;
    if (k > 0 && !centre) {
      // P''_n from Legendre's equation (1 - x^2) P'' = 2 x P' - n (n + 1) P.
      const Real angle = std::numbers::pi_v<Real> * static_cast<Real>(k) / static_cast<Real>(n);
      x = newton_root(std::cos(angle), [&](Real y) {
        const auto [value, derivative] = legendre(n, y);
        return derivative * (1 - y) * (1 + y) / (2 * y * derivative - n_n1 * value);
      });
    }
    const Real value = legendre(n, x).value;
    set_mirrored(rule, k, x, 1 / (n_n1 * value * value));
  }
  return rule;
}

/// Entry (i, j) is the integral of the j-th Lagrange polynomial of `nodes` from 0 to upper_i. A Gauss rule with as
/// many points as nodes is exact; a Vandermonde system would lose digits from five nodes on.
RealMatrix lagrange_integrals(const RealVector& upper, const RealVector& nodes) {
  const RealRule rule = gauss_rule(static_cast<int>(nodes.size()));
  RealMatrix integrals = RealMatrix::Zero(upper.size(), nodes.size());
  for (Eigen::Index i = 0; i < upper.size(); ++i) {
    for (Eigen::Index j = 0; j < nodes.size(); ++j) {
      for (Eigen::Index q = 0; q < rule.nodes.size(); ++q) {
        Real l = 1;
        for (Eigen::Index k = 0; k < nodes.size(); ++k) {
          if (k != j) l *= (upper(i) * rule.nodes(q) - nodes(k)) / (nodes(j) - nodes(k));
        }
        integrals(i, j) += upper(i) * rule.weights(q) * l;
      }
    }
  }
  return integrals;
}

/// The same with upper limits from 0 to 1, whose first and last row are known: (3.3a) and (3.3b) hold to the bit.
RealMatrix lagrange_integrals_between_ends(const RealVector& upper, const RealRule& rule) {
  RealMatrix integrals = lagrange_integrals(upper, rule.nodes);
  integrals.row(0).setZero();
  integrals.row(upper.size() - 1) = rule.weights.transpose();
  return integrals;
}

/// at_ij = bt_j (1 - ab_ji / b_i). A zero first row of ab gives at_i0 = bt_0 (4.2), a last row b at_i,st = 0 (4.3).
RealMatrix symplectic_partner(const RealMatrix& abar, const RealVector& btilde, const RealVector& b) {
  RealMatrix atilde(b.size(), btilde.size());
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    for (Eigen::Index j = 0; j < btilde.size(); ++j) atilde(i, j) = btilde(j) * (1 - abar(j, i) / b(i));
  }
  return atilde;
}

/// Rounds so that the symmetry survives: c_i + c_{s+1-i} = 1 also in double.
Eigen::VectorXd round_nodes(const RealVector& nodes) {
  Eigen::VectorXd rounded = nodes.cast<double>();
  const Eigen::Index n = rounded.size();
  for (Eigen::Index k = 0; k < n / 2; ++k) rounded(n - 1 - k) = 1.0 - rounded(k);
  return rounded;
}

void require_stages(const char* method, int s, int least) {
  if (s >= least && s <= max_stages) return;
  throw InputError(fmt::format("{} takes {} to {} stages, not {}", method, least, max_stages, s));
}

void require_points(const char* rule, int points, int least) {
  if (points >= least && points <= max_points) return;
  throw InputError(fmt::format("{} quadrature takes {} to {} points, not {}", rule, least, max_points, points));
}

/// The one-stage members differ in a and ahat only: c = a, at = (alpha, 0), bt = (alpha, 1 - alpha), ab = (0; 1).
SparkTableau euler_member(const char* name, double alpha, double a, double ahat) {
  if (!std::isfinite(alpha) || alpha == 0.0 || alpha == 1.0) {
    throw InputError(fmt::format("{} takes a finite alpha other than 0 and 1, not {}; 0.5 will do", name, alpha));
  }
  SparkTableau t;
  t.name = fmt::format("{}(alpha={})", name, alpha);
  t.order = 1;
  t.c = Eigen::VectorXd::Constant(1, a);
  t.b = t.bhat = Eigen::VectorXd::Ones(1);
  t.a = Eigen::MatrixXd::Constant(1, 1, a);
  t.ahat = Eigen::MatrixXd::Constant(1, 1, ahat);
  t.atilde = Eigen::RowVector2d(alpha, 0.0);
  t.abar = t.ctilde = Eigen::Vector2d(0.0, 1.0);
  t.btilde = Eigen::Vector2d(alpha, 1.0 - alpha);
  t.violates = {"(3.3c)"};
  return t;
}

/// Maximum norm; NaN if any entry is NaN, so that a poisoned tableau never passes.
double max_norm(const Eigen::MatrixXd& m) { return m.size() == 0 ? 0.0 : m.cwiseAbs().maxCoeff<Eigen::PropagateNaN>(); }

/// (3.3d): rows 1..st of abar atilde over the row btilde must be invertible.
double singularity_defect(const SparkTableau& t) {
  const int st = t.constraint_stages();
  Eigen::MatrixXd m(st + 1, st + 1);
  m << (t.abar * t.atilde).bottomRows(st), t.btilde.transpose();
  const Eigen::VectorXd sigma = singular_values(m);
  // The condition number of the family grows slowly, to 5.7e3 for st = 12; 1e12 can only mean "singular".
  return sigma(st) > 1e-12 * sigma(0) ? 0.0 : std::numeric_limits<double>::infinity();
}

/// m_{i',j'} + m_ij - w_j, where a prime reverses the index.
Eigen::MatrixXd reversal_defect(const Eigen::MatrixXd& m, const Eigen::VectorXd& w) {
  return (m.reverse() + m).rowwise() - w.transpose();
}

/// What the rows and columns of a residual count: stages from 1, constraint nodes from 0, or nothing.
enum class Index { node, stage, none };

std::string place(const char* letter, Index kind, Eigen::Index k) {
  return kind == Index::none ? "" : fmt::format("{} = {}", letter, k + (kind == Index::stage ? 1 : 0));
}

TableauCondition condition(const char* name, const char* formula, const Eigen::MatrixXd& residual, Index rows,
                           Index columns) {
  const double defect = max_norm(residual);
  if (!(defect > 0)) return {name, formula, defect, ""};
  Eigen::Index i = 0, j = 0;
  residual.cwiseAbs().maxCoeff(&i, &j);
  const std::string row = place("i", rows, i), column = place("j", columns, j);
  return {name, formula, defect, row + (row.empty() || column.empty() ? "" : ", ") + column};
}

/// (3.3c), with the sum that is worst named.
TableauCondition second_order_condition(const SparkTableau& t) {
  Eigen::MatrixXd sums(t.btilde.size(), 3);
  sums << t.abar * t.c, t.abar * t.ahat.rowwise().sum(), t.abar * t.atilde.rowwise().sum();
  const Eigen::VectorXd half_square = t.ctilde.cwiseAbs2() / 2.0;
  const Eigen::MatrixXd residual = sums.colwise() - half_square;
  TableauCondition c =
      condition("(3.3c)", "sum_j abar_ij c_j = sum_jk abar_ij ahat_jk = sum_jk abar_ij atilde_jk = ctilde_i^2 / 2",
                residual, Index::node, Index::none);
  if (c.worst.empty()) return c;
  Eigen::Index i = 0, j = 0;
  residual.cwiseAbs().maxCoeff(&i, &j);
  const char* const which[] = {"sum_j abar_ij c_j", "sum_jk abar_ij ahat_jk", "sum_jk abar_ij atilde_jk"};
  c.worst += fmt::format(", {} is {:.6g} instead of {:.6g}", which[j], sums(i, j), half_square(i));
  return c;
}

TableauCondition weights_condition(const SparkTableau& t) {
  const Eigen::Vector3d sums(t.b.sum(), t.bhat.sum(), t.btilde.sum());
  TableauCondition c = condition("weights", "sum_j b_j = sum_j bhat_j = sum_j btilde_j = 1", sums.array() - 1.0,
                                 Index::none, Index::none);
  if (!(c.defect > 0)) return c;
  Eigen::Index k = 0;
  (sums.array() - 1.0).abs().maxCoeff(&k);
  const char* const which[] = {"b", "bhat", "btilde"};
  c.worst = fmt::format("{} sums to {:.6g}", which[k], sums(k));
  return c;
}

}  // namespace

bool operator==(const SparkTableau& x, const SparkTableau& y) {
  const auto same = [](const auto& a, const auto& b) { return a.rows() == b.rows() && a.cols() == b.cols() && a == b; };
  return x.name == y.name && x.order == y.order && x.violates == y.violates && same(x.c, y.c) && same(x.b, y.b) &&
         same(x.bhat, y.bhat) && same(x.a, y.a) && same(x.ahat, y.ahat) && same(x.atilde, y.atilde) &&
         same(x.abar, y.abar) && same(x.ctilde, y.ctilde) && same(x.btilde, y.btilde);
}

SparkTableau gauss_lobatto_tableau(int s) {
  require_stages("gauss-lobatto", s, 1);
  const RealRule gauss = gauss_rule(s);
  const RealRule lobatto = lobatto_rule(s + 1);
  const RealMatrix abar = lagrange_integrals_between_ends(lobatto.nodes, gauss);

  SparkTableau t;
  t.name = fmt::format("gauss-lobatto({},{})", s, s);
  t.order = 2 * s;
  t.c = round_nodes(gauss.nodes);
  t.b = t.bhat = gauss.weights.cast<double>();
  t.a = t.ahat = lagrange_integrals(gauss.nodes, gauss.nodes).cast<double>();
  t.atilde = symplectic_partner(abar, lobatto.weights, gauss.weights).cast<double>();
  t.abar = abar.cast<double>();
  t.ctilde = round_nodes(lobatto.nodes);
  t.btilde = lobatto.weights.cast<double>();
  return t;
}

SparkTableau lobatto_iiia_iiib_tableau(int s) {
  require_stages("lobatto-iiia-iiib", s, 2);
  const RealRule lobatto = lobatto_rule(s);
  const RealMatrix iiia = lagrange_integrals_between_ends(lobatto.nodes, lobatto);
  const RealMatrix iiib = symplectic_partner(iiia, lobatto.weights, lobatto.weights);

  SparkTableau t;
  t.name = fmt::format("lobatto-iiia-iiib({},{})", s, s - 1);
  t.order = 2 * s - 2;
  t.c = t.ctilde = round_nodes(lobatto.nodes);
  t.b = t.bhat = t.btilde = lobatto.weights.cast<double>();
  t.a = t.abar = iiia.cast<double>();
  t.ahat = t.atilde = iiib.cast<double>();
  return t;
}

SparkTableau natural_euler_tableau(double alpha) { return euler_member("natural-euler", alpha, 0.0, 1.0); }

SparkTableau natural_conjugate_euler_tableau(double alpha) {
  return euler_member("natural-conjugate-euler", alpha, 1.0, 0.0);
}

SparkTableau implicit_euler_tableau(double alpha) {
  SparkTableau t = euler_member("implicit-euler", alpha, 1.0, 1.0);
  t.violates.emplace_back("(4.1b)");
  return t;
}

std::vector<TableauCondition> consistency_conditions(const SparkTableau& t) {
  const int st = t.constraint_stages();
  return {
      weights_condition(t),
      condition("(3.3a)", "abar_0j = 0", t.abar.row(0), Index::none, Index::stage),
      condition("(3.3b)", "abar_st,j = b_j", t.abar.row(st) - t.b.transpose(), Index::none, Index::stage),
      second_order_condition(t),
      {"(3.3d)", "rows 1..st of abar atilde, over the row btilde, are invertible", singularity_defect(t), ""},
      condition("(4.2)", "atilde_i0 = btilde_0", t.atilde.col(0).array() - t.btilde(0), Index::stage, Index::none),
      condition("(4.3)", "atilde_i,st = 0", t.atilde.col(st), Index::stage, Index::none),
  };
}

std::vector<TableauCondition> symplecticity_conditions(const SparkTableau& t) {
  const Eigen::MatrixXd defect_b =
      t.bhat.asDiagonal() * t.a + t.ahat.transpose() * t.b.asDiagonal() - t.bhat * t.b.transpose();
  const Eigen::MatrixXd defect_c =
      t.btilde.asDiagonal() * t.abar + t.atilde.transpose() * t.b.asDiagonal() - t.btilde * t.b.transpose();
  return {
      condition("(4.1a)", "bhat_i = b_i", t.bhat - t.b, Index::stage, Index::none),
      condition("(4.1b)", "bhat_i a_ij + b_j ahat_ji = bhat_i b_j", defect_b, Index::stage, Index::stage),
      condition("(4.1c)", "btilde_i abar_ij + b_j atilde_ji = btilde_i b_j", defect_c, Index::node, Index::stage),
  };
}

std::vector<TableauCondition> symmetry_conditions(const SparkTableau& t) {
  return {
      condition("symmetry of b", "b_{s+1-i} = b_i", t.b.reverse() - t.b, Index::stage, Index::none),
      condition("symmetry of bhat", "bhat_{s+1-i} = bhat_i", t.bhat.reverse() - t.bhat, Index::stage, Index::none),
      condition("symmetry of btilde", "btilde_{st-i} = btilde_i", t.btilde.reverse() - t.btilde, Index::node,
                Index::none),
      condition("symmetry of a", "a_{s+1-i,s+1-j} + a_ij = b_j", reversal_defect(t.a, t.b), Index::stage, Index::stage),
      condition("symmetry of ahat", "ahat_{s+1-i,s+1-j} + ahat_ij = bhat_j", reversal_defect(t.ahat, t.bhat),
                Index::stage, Index::stage),
      condition("symmetry of atilde", "atilde_{s+1-i,st-j} + atilde_ij = btilde_j", reversal_defect(t.atilde, t.btilde),
                Index::stage, Index::node),
      condition("symmetry of abar", "abar_{st-i,s+1-j} + abar_ij = b_j", reversal_defect(t.abar, t.b), Index::node,
                Index::stage),
  };
}

Quadrature gauss_quadrature(int points) {
  require_points("gauss", points, 1);
  const RealRule rule = gauss_rule(points);
  return {round_nodes(rule.nodes), rule.weights.cast<double>()};
}

Quadrature lobatto_quadrature(int points) {
  require_points("lobatto", points, 2);
  const RealRule rule = lobatto_rule(points);
  return {round_nodes(rule.nodes), rule.weights.cast<double>()};
}

}  // namespace hinge
