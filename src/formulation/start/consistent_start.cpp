#include "formulation/start/consistent_start.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "formulation/start/constraint_rank.hpp"
#include "formulation/start/contact_start.hpp"
#include "formulation/start/dae_start.hpp"
#include "formulation/start/pair_start.hpp"
#include "hinge/error.hpp"
#include "solve/linear/saddle_point.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Values = std::vector<double>;

// Violations below this, relative to |y| (or |z|) and the size of the constraint's gradient, are rounding of typed
// values and are polished away silently.
constexpr double typed_precision = 1e-9;
// And below this absolutely: where y or z vanish, what is left of a cancellation.
constexpr double rounding = 1e-15;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double biggest(const double* x, std::size_t n) {
  double m = 0;
  for (std::size_t i = 0; i < n; ++i) m = !(std::abs(x[i]) <= m) ? std::abs(x[i]) : m;
  return m;
}
double biggest(const Values& x) { return biggest(x.data(), x.size()); }

// Where constraint forces act: r_psi, or G^T (velocity level: (G v_z)^T) in the Euclidean metric.
struct Directions {
  Pattern mass, reaction;
  std::vector<int> from;  // entry of the transposed pattern -> entry of the original one

  static Pattern transpose(const Pattern& p, std::vector<int>& from) {
    PatternBuilder builder(p.columns, p.rows);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) builder.add(p.column[at(k)], i);
    std::vector<int> place;
    Pattern result = builder.build(place);
    from.assign(place.size(), 0);
    for (std::size_t k = 0; k < place.size(); ++k) from[at(place[k])] = static_cast<int>(k);
    return result;
  }
  static Pattern identity(int n) {
    Pattern p{n, n, {0}, {}};
    for (int i = 0; i < n; ++i) p.column.push_back(i), p.row_start.push_back(i + 1);
    return p;
  }
};

// Solves  min |dx|^2 subject to C dx = b  in the mass metric (dx = A^-1 B mu) or the Euclidean one (dx = C^T mu).
class Projector {
 public:
  Projector(const System& system, const Pattern& c, bool euclidean) : euclidean_(euclidean), c_(c) {
    if (euclidean_) {
      mass_ = Directions::identity(c.columns);
      reaction_ = Directions::transpose(c, from_);
      ones_.assign(at(c.columns), 1.0);
      transposed_.resize(c.entries());
    } else {
      mass_ = system.pattern(Q::momentum_z);
      reaction_ = system.pattern(Q::reaction_psi);
    }
    saddle_ = std::make_unique<SaddlePoint>(mass_, reaction_, c_, LinearAlgebra::automatic);
  }

  bool factor(const double* a, const double* b, const double* c) {
    if (!euclidean_) return saddle_->factor(a, b, 1.0, c);
    for (std::size_t k = 0; k < from_.size(); ++k) transposed_[k] = c[from_[k]];
    return saddle_->factor(ones_.data(), transposed_.data(), 1.0, c);
  }

  // out = dx
  void solve(const Values& b, Values& out) {
    const std::size_t n = at(c_.columns);
    work_.assign(n + b.size(), 0.0);
    std::copy(b.begin(), b.end(), work_.begin() + static_cast<std::ptrdiff_t>(n));
    saddle_->solve(work_.data());
    out.assign(work_.begin(), work_.begin() + static_cast<std::ptrdiff_t>(n));
  }

 private:
  bool euclidean_;
  Pattern c_, mass_, reaction_;
  std::vector<int> from_;
  Values ones_, transposed_, work_;
  std::unique_ptr<SaddlePoint> saddle_;
};

// The nearest point of {g = 0}: down to it by Newton's method along the normals, then along it towards y0. How far to
// go along it is estimated from the last two steps (Barzilai and Borwein), since it depends on the curvature.
class NearestPoint {
 public:
  NearestPoint(const System& system, double t, const Values& z, const Values& psi)
      : system_(system),
        t_(t),
        z_(z),
        psi_(psi),
        euclidean_(system.layout().kind == SystemKind::odae),
        e_(system.evaluation(
            {Q::constraint, Q::constraint_y, Q::velocity_z, Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z})),
        residual_(system.evaluation({Q::constraint})),
        projector_(system, system.pattern(euclidean_ ? Q::constraint_y : Q::constraint_rate_z), euclidean_),
        b_(at(system.ng())) {}

  bool find(Values& y) {
    const Values y0 = y;
    Values tangent, next_tangent, next;
    if (!descend(y) || !towards(y0, y, tangent)) return false;
    double length = 1;
    for (int k = 0; k < 200 && biggest(tangent) > 1e-13 * biggest(y); ++k) {
      bool moved = false;
      for (int attempt = 0; attempt < 8 && !moved; ++attempt, length /= moved ? 1 : 4) {
        next = y;
        for (std::size_t a = 0; a < y.size(); ++a) next[a] += length * tangent[a];
        moved = descend(next) && towards(y0, next, next_tangent) && biggest(next_tangent) <= 3 * biggest(tangent);
      }
      if (!moved) break;  // as near as it gets
      double rise = 0, square = 0;
      for (std::size_t a = 0; a < y.size(); ++a) {
        const double d = tangent[a] - next_tangent[a];
        rise += (next[a] - y[a]) * d;
        square += d * d;
      }
      length = rise > 0 ? std::clamp(rise / square, 0.01, 100.0) : 1.0;
      std::swap(y, next);
      std::swap(tangent, next_tangent);
    }
    return true;
  }

 private:
  // y <- y + the least change that makes the linearised g zero, until g = 0; shorter where |g| would not become smaller
  bool descend(Values& y) {
    Values step, next;
    double last = INFINITY;
    for (int k = 0; k < 100; ++k) {
      if (!prepare(y)) return false;
      for (std::size_t a = 0; a < b_.size(); ++a) b_[a] = -(*e_)[Q::constraint][a];
      least(step);
      const double size = biggest(step);
      if (!std::isfinite(size)) return false;
      const double scale = std::max(biggest(y), 1e-300);
      const bool at_round_off = size <= 4e-16 * scale || (size <= 1e-13 * scale && size >= 0.5 * last);
      const double g0 = length_of_constraint(y);
      double damping = 1;
      for (;; damping /= 2) {
        next = y;
        for (std::size_t a = 0; a < y.size(); ++a) next[a] += damping * step[a];
        if (size <= 1e-10 * scale || length_of_constraint(next) <= (1 - damping / 4) * g0) break;
        if (damping < 1e-4) return false;
      }
      std::swap(y, next);
      if (at_round_off) return true;
      last = size;
    }
    return false;
  }

  double length_of_constraint(const Values& y) {
    residual_->at(t_, y.data(), z_.data(), psi_.data());
    double sum = 0;
    for (std::size_t a = 0; a < b_.size(); ++a) sum = std::hypot(sum, (*residual_)[Q::constraint][a]);
    return sum;
  }

  // out = (y0 - y) less its part along the gradients
  bool towards(const Values& y0, const Values& y, Values& out) {
    if (!prepare(y)) return false;
    Values away(y.size()), along;
    for (std::size_t a = 0; a < y.size(); ++a) away[a] = y0[a] - y[a];
    std::fill(b_.begin(), b_.end(), 0.0);
    multiply_add(system_.pattern(Q::constraint_y), (*e_)[Q::constraint_y], away.data(), 1.0, b_.data());
    least(along);
    out.resize(y.size());
    for (std::size_t a = 0; a < y.size(); ++a) out[a] = away[a] - along[a];
    return std::isfinite(biggest(out));
  }

  bool prepare(const Values& y) {
    e_->at(t_, y.data(), z_.data(), psi_.data());
    return std::isfinite(biggest((*e_)[Q::constraint], b_.size())) &&
           projector_.factor((*e_)[Q::momentum_z], (*e_)[Q::reaction_psi],
                             euclidean_ ? (*e_)[Q::constraint_y] : (*e_)[Q::constraint_rate_z]);
  }

  // out = the change of y of least size with G out = b
  void least(Values& out) {
    projector_.solve(b_, out);
    if (euclidean_) return;
    Values moved(at(system_.ny()), 0.0);
    multiply_add(system_.pattern(Q::velocity_z), (*e_)[Q::velocity_z], out.data(), 1.0, moved.data());
    out = std::move(moved);
  }

  const System& system_;
  double t_;
  const Values &z_, &psi_;
  bool euclidean_;
  std::unique_ptr<Evaluation> e_, residual_;
  Projector projector_;
  Values b_;
};

bool project_velocity(const System& system, double t, const Values& y, Values& z, const Values& psi) {
  const bool euclidean = system.layout().kind == SystemKind::odae;
  const auto e = system.evaluation({Q::constraint_rate, Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z});
  Projector projector(system, system.pattern(Q::constraint_rate_z), euclidean);
  Values b(at(system.ng())), dz(z.size(), 0.0);
  const double given = biggest(z);
  double least = INFINITY, previous = INFINITY, damping = 1;
  for (int iteration = 0; iteration < 100; ++iteration) {
    e->at(t, y.data(), z.data(), psi.data());
    for (std::size_t a = 0; a < b.size(); ++a) b[a] = -(*e)[Q::constraint_rate][a];
    const double rate = biggest(b);
    // Newton that made it worse goes back half of its way
    if (iteration > 0 && !(rate <= 2 * least) && damping > 1e-6) {
      damping /= 2;
      for (std::size_t a = 0; a < z.size(); ++a) z[a] -= damping * dz[a];
      continue;
    }
    if (!std::isfinite(rate)) return false;
    damping = 1;
    least = std::min(least, rate);
    if (!projector.factor((*e)[Q::momentum_z], (*e)[Q::reaction_psi], (*e)[Q::constraint_rate_z])) return false;
    projector.solve(b, dz);
    for (std::size_t a = 0; a < z.size(); ++a) z[a] += dz[a];
    const double change = biggest(dz), scale = std::max({biggest(z), given, 1e-300});
    if (!std::isfinite(change)) return false;
    if (change <= 4e-16 * scale || (change <= 1e-11 * scale && change >= 0.5 * previous)) return true;
    previous = change;
  }
  return false;
}

// Newton for (z', psi) of the acceleration level; one iteration when the reaction is affine in psi.
bool solve_multipliers(const System& system, double t, const Values& y, const Values& z, Values& psi) {
  const auto e = system.evaluation({Q::velocity, Q::force, Q::reaction, Q::momentum_y, Q::momentum_z, Q::momentum_t,
                                    Q::reaction_psi, Q::constraint_rate_y, Q::constraint_rate_z, Q::constraint_rate_t});
  SaddlePoint saddle(system.pattern(Q::momentum_z), system.pattern(Q::reaction_psi),
                     system.pattern(Q::constraint_rate_z), LinearAlgebra::automatic);
  const std::size_t nz = at(system.nz()), m = at(system.npsi());
  const double one = 1;
  Values acceleration(nz, 0.0), x(nz + m);
  double previous = INFINITY, scale = 0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    e->at(t, y.data(), z.data(), psi.data());
    if (!saddle.factor((*e)[Q::momentum_z], (*e)[Q::reaction_psi], 1.0, (*e)[Q::constraint_rate_z])) return false;
    for (std::size_t a = 0; a < nz; ++a) x[a] = (*e)[Q::force][a] + (*e)[Q::reaction][a];
    multiply_add(system.pattern(Q::momentum_z), (*e)[Q::momentum_z], acceleration.data(), -1, x.data());
    multiply_add(system.pattern(Q::momentum_y), (*e)[Q::momentum_y], (*e)[Q::velocity], -1, x.data());
    multiply_add(system.pattern(Q::momentum_t), (*e)[Q::momentum_t], &one, -1, x.data());
    std::fill_n(x.data() + nz, m, 0.0);
    multiply_add(system.pattern(Q::constraint_rate_t), (*e)[Q::constraint_rate_t], &one, -1, x.data() + nz);
    multiply_add(system.pattern(Q::constraint_rate_y), (*e)[Q::constraint_rate_y], (*e)[Q::velocity], -1,
                 x.data() + nz);
    multiply_add(system.pattern(Q::constraint_rate_z), (*e)[Q::constraint_rate_z], acceleration.data(), -1,
                 x.data() + nz);
    saddle.solve(x.data());
    for (std::size_t a = 0; a < nz; ++a) acceleration[a] += x[a];
    for (std::size_t a = 0; a < m; ++a) psi[a] += x[nz + a];
    const double change = biggest(x);
    if (!std::isfinite(change)) return false;
    scale = std::max({scale, biggest(psi), biggest(acceleration), change});  // also where the solution is zero
    if (change <= 1e-14 * scale || (change <= 1e-9 * scale && change >= 0.5 * previous)) return true;
    previous = change;
  }
  return false;
}

// Dense Newton  function(t, y, z) = wanted  for z.
Values invert(const System& system, double t, const Values& y, const Values& wanted, Quantity function, Quantity by_z,
              const char* what) {
  const auto e = system.evaluation({function, by_z});
  const auto solver = make_linear_solver(system.pattern(by_z), LinearAlgebra::automatic);
  Values z = wanted, r(wanted.size());
  const Values psi(at(std::max(system.npsi(), 1)), 0.0);
  for (int iteration = 0; iteration < 50; ++iteration) {
    e->at(t, y.data(), z.data(), psi.data());
    for (std::size_t a = 0; a < r.size(); ++a) r[a] = wanted[a] - (*e)[function][a];
    if (!solver->factor((*e)[by_z])) break;
    solver->solve(r.data());
    for (std::size_t a = 0; a < r.size(); ++a) z[a] += r[a];
    if (!std::isfinite(biggest(r))) break;
    if (biggest(r) <= 1e-15 * std::max(biggest(z), 1e-300) || biggest(r) == 0) return z;
    if (iteration > 10 && biggest(r) <= 1e-12 * biggest(z)) return z;
  }
  throw InputError(
      fmt::format("the initial {0} does not determine the {1}: the relation between velocity and momentum has no "
                  "unique solution at the initial position; give the initial {1} instead, or the motion "
                  "without inertia a mass",
                  what, function == Q::velocity ? "momentum" : "velocity"));
}

// As a model file has it, so that it can be copied there: { q1 = [1, 0], q2 = [[1, 0], [2, 0]] }.
std::string list_values(const std::vector<Block>& blocks, const Values& x) {
  constexpr std::size_t longest = 600;
  std::string text = "{ ";
  for (const Block& b : blocks) {
    text += fmt::format("{}{} = {}", &b == &blocks.front() ? "" : ", ", b.name, b.shape.size() == 2 ? "[" : "");
    const int width = b.shape.empty() ? 1 : b.shape.back();
    for (int k = 0; k < b.size() && text.size() < longest; ++k) {
      text += k == 0 ? "" : ", ";
      if (!b.shape.empty() && k % width == 0) text += "[";
      text += fmt::format("{}", x[at(b.first + k)] + 0.0);  // never -0
      if (!b.shape.empty() && (k + 1) % width == 0) text += "]";
    }
    if (text.size() >= longest) return text + ", ... }";
    if (b.shape.size() == 2) text += "]";
  }
  return text + " }";
}

// The nearest values as lines of [initial], in the words that were used for the given ones.
std::string initial_lines(const System& system, const Start& given, const State& nearest) {
  const Layout& layout = system.layout();
  if (layout.kind == SystemKind::multibody)
    return fmt::format("\n    {}\n    {}", list_values(layout.y, nearest.y), list_values(layout.z, nearest.z));
  const bool own_words = layout.kind == SystemKind::odae || layout.kind == SystemKind::own;
  if (own_words)
    return fmt::format("\n    y = {}\n    z = {}", list_values(layout.y, nearest.y), list_values(layout.z, nearest.z));
  const bool hamiltonian = layout.kind == SystemKind::hamiltonian;
  const bool momentum = hamiltonian ? given.velocity.empty() : !given.momentum.empty();
  const auto e = system.evaluation({Q::velocity, Q::momentum});
  e->at(nearest.t, nearest.y.data(), nearest.z.data(), nearest.psi.data());
  const double* rate = (*e)[momentum ? Q::momentum : Q::velocity];
  return fmt::format("\n    position = {}\n    {} = {}", list_values(layout.y, nearest.y),
                     momentum ? "momentum" : "velocity",
                     list_values(momentum && hamiltonian ? layout.z : layout.y, {rate, rate + system.nz()}));
}

std::vector<StartCheck::Violation> violations(const System& system, double t, const Values& y, const Values& z) {
  const auto e = system.evaluation(
      {Q::constraint, Q::constraint_y, Q::constraint_rate, Q::constraint_rate_z, Q::constraint_rate_y});
  const Values psi(at(std::max(system.npsi(), 1)), 0.0);
  e->at(t, y.data(), z.data(), psi.data());
  const double y_size = biggest(y), z_size = biggest(z);
  const auto row_size = [&](Quantity q, int i, double x) {
    const Pattern& p = system.pattern(q);
    double sum = 0;
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) sum += std::abs((*e)[q][k]);
    return sum * x;
  };
  std::vector<StartCheck::Violation> found;
  for (int i = 0; i < system.ng(); ++i) {
    const double g = std::abs((*e)[Q::constraint][i]);
    if (!(g <= row_size(Q::constraint_y, i, typed_precision * y_size + rounding))) found.push_back({i, false, g});
  }
  for (int i = 0; i < system.ng(); ++i) {
    const double g = std::abs((*e)[Q::constraint_rate][i]);
    const double tolerated = row_size(Q::constraint_rate_z, i, typed_precision * z_size + rounding) +
                             row_size(Q::constraint_rate_y, i, typed_precision * y_size);
    if (!(g <= tolerated)) found.push_back({i, true, g});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.velocity_level != b.velocity_level ? b.velocity_level : a.amount > b.amount;
  });
  return found;
}

// Equations that are no numbers at the start: a root of a negative number, a division by zero.
void refuse_undefined(const System& system, double t, const Values& y, const Values& z, const Values& psi) {
  const bool energy = system.has_energy();
  const auto e =
      energy ? system.evaluation(
                   {Q::constraint, Q::constraint_y, Q::velocity, Q::momentum, Q::momentum_z, Q::force, Q::energy})
             : system.evaluation({Q::constraint, Q::constraint_y, Q::velocity, Q::momentum, Q::momentum_z, Q::force});
  e->at(t, y.data(), z.data(), psi.data());
  const Layout& layout = system.layout();
  const auto fail = [](const std::string& what, double x) {
    throw InputError(
        fmt::format("{} is {} at the initial values; start elsewhere, or change the expressions so that they "
                    "are defined there",
                    what, std::isnan(x) ? "not a number" : "infinite"));
  };
  const auto look = [&](Quantity q, const auto& name) {
    const Pattern& p = system.pattern(q);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        if (!std::isfinite((*e)[q][k])) fail(name(i), (*e)[q][k]);
  };
  const auto constraint = [&](int i) { return "constraint " + layout.constraints[at(i)]; };
  for (int i = 0; i < system.ng(); ++i)
    if (const double g = (*e)[Q::constraint][i]; !std::isfinite(g)) fail(constraint(i), g);
  look(Q::constraint_y, [&](int i) { return "the gradient of " + constraint(i); });
  look(Q::velocity, [&](int i) { return "the velocity of " + layout.y_name(i); });
  look(Q::momentum, [&](int i) { return "the momentum that belongs to " + layout.z_name(i); });
  look(Q::momentum_z, [&](int i) { return "the mass that belongs to " + layout.z_name(i); });
  look(Q::force, [&](int i) { return "the force that changes " + layout.z_name(i); });
  if (energy && !std::isfinite(*(*e)[Q::energy])) fail("the energy", *(*e)[Q::energy]);
}

void refuse_singular_mass(const System& system, double t, const Values& y, const Values& z, const Values& psi) {
  const auto e = system.evaluation({Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z});
  e->at(t, y.data(), z.data(), psi.data());
  SaddlePoint saddle(system.pattern(Q::momentum_z), system.pattern(Q::reaction_psi),
                     system.pattern(Q::constraint_rate_z), LinearAlgebra::automatic);
  if (saddle.factor((*e)[Q::momentum_z], (*e)[Q::reaction_psi], 1.0, (*e)[Q::constraint_rate_z])) return;
  const auto mass = make_linear_solver(system.pattern(Q::momentum_z), LinearAlgebra::automatic);
  if (system.layout().kind == SystemKind::odae && mass->factor((*e)[Q::momentum_z]))
    throw InputError(
        "the reaction cannot keep the constraints: G v_z p_z^-1 r_psi is singular at the initial values; every "
        "constraint "
        "needs a multiplier in r that changes its velocity g_y v");
  // a coordinate whose row of the mass matrix is empty is the likely culprit; else name the smallest pivot's
  std::string culprit;
  const Pattern& p = system.pattern(Q::momentum_z);
  for (int i = 0; i < p.rows && culprit.empty(); ++i) {
    double row = 0;
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) row += std::abs((*e)[Q::momentum_z][k]);
    if (row == 0) culprit = system.layout().z_name(i);
  }
  if (culprit.empty() && system.nz() <= 200) {
    Eigen::MatrixXd full = Eigen::MatrixXd::Zero(p.rows, p.rows);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        full(i, p.column[at(k)]) = (*e)[Q::momentum_z][k];
    Eigen::Index where = 0;
    weakest_direction(full).cwiseAbs().maxCoeff(&where);
    culprit = system.layout().z_name(static_cast<int>(where));
  }
  throw SingularMass(fmt::format(
      "the mass matrix is singular on the motions that the constraints leave free{}; give that motion inertia (a mass "
      "in the kinetic energy), or a constraint",
      culprit.empty() ? "" : fmt::format(": nothing resists a change of {}", culprit)));
}

}  // namespace

void refuse_redundant(const System& system, double t, const Values& y) {
  const ConstraintRank rank = constraint_rank(system, t, y.data());
  if (rank.full()) return;
  const auto e = system.evaluation({Q::constraint});
  const Values zero(at(std::max({system.nz(), system.npsi(), 1})), 0.0);
  e->at(t, y.data(), zero.data(), zero.data());
  bool contradiction = false;
  for (const auto& d : rank.dependent)
    contradiction = contradiction || std::abs((*e)[Q::constraint][d.constraint]) > 1e-8;
  throw RedundantConstraints(fmt::format(
      "the constraints are dependent at the initial position (rank {} of {}): {}. {}", rank.rank, rank.constraints,
      rank.describe(system.layout()),
      contradiction
          ? "They may contradict each other, since not all of them hold there: remove the wrong one, or start "
            "from another position"
      : system.layout().kind == SystemKind::multibody
          ? "Give one of these joints fewer rows: in a closed chain in space whose axes are all parallel keep two "
            "joints "
            "(revolute, prismatic) on the ground, and make one end of the link between them \"universal\" (axis2 "
            "perpendicular to axis and to the link) and the other \"spherical\"; or use a model in the plane"
          : "Remove the redundant one, or start from another position if they are dependent only here"));
}

Values z_from_velocity(const System& system, double t, const Values& y, const Values& velocity) {
  return invert(system, t, y, velocity, Q::velocity, Q::velocity_z, "velocity");
}

Values z_from_momentum(const System& system, double t, const Values& y, const Values& momentum) {
  return invert(system, t, y, momentum, Q::momentum, Q::momentum_z, "momentum");
}

StartCheck check_start(const System& system, double t, const Values& y, const Values& z, const Values& psi_guess) {
  StartCheck check;
  check.nearest = {t, y, z, psi_guess};
  State& s = check.nearest;
  const Values ones(at(system.npsi()), 1.0);
  if (s.psi.empty()) s.psi = ones;
  refuse_undefined(system, t, y, z, s.psi);
  if (system.ng() > 0) {
    refuse_redundant(system, t, y);
    refuse_singular_mass(system, t, y, z, s.psi);
    check.violations = violations(system, t, y, z);
    check.position_found = NearestPoint(system, t, z, s.psi).find(s.y);
    check.velocity_found = check.position_found && project_velocity(system, t, s.y, s.z, s.psi);
  } else {
    refuse_singular_mass(system, t, y, z, s.psi);
  }
  if (!check.position_found || !check.velocity_found) return check;
  // A reaction nonlinear in psi may have several consistent multipliers; the guess decides, else the first found.
  bool found = solve_multipliers(system, t, s.y, s.z, s.psi);
  for (const double guess : {0.1, 10.0, -1.0, 0.0, 100.0}) {
    if (found) break;
    s.psi.assign(at(system.npsi()), guess);
    found = solve_multipliers(system, t, s.y, s.z, s.psi);
  }
  if (!found)
    throw InputError(
        "no initial multipliers were found: the equations of the acceleration level have no solution near the usual "
        "guesses; give one in [initial] (psi = [...])");
  return check;
}

State consistent_start(const System& system, double t, const Start& start, std::vector<std::string>* remarks) {
  if (system.layout().kind == SystemKind::dae) {
    const auto& dae = dynamic_cast<const SymbolicSystem&>(system);
    return dae.equations().pairs.empty() ? consistent_dae_start(dae, t, start, remarks)
                                         : consistent_pair_start(dae, t, start, remarks);
  }
  const auto expect = [&](const Values& x, int n, const char* what) {
    if (static_cast<int>(x.size()) != n)
      throw InputError(fmt::format("the initial {} has {} numbers; the system has {}", what, x.size(), n));
    for (const double v : x)
      if (!std::isfinite(v)) throw InputError(fmt::format("the initial {} contains a number that is not finite", what));
  };
  expect(start.position, system.ny(), "position");
  if (!start.velocity.empty() && !start.momentum.empty())
    throw InputError("give the initial velocity or the initial momentum, not both");
  Values z(at(system.nz()), 0.0);
  const SystemKind kind = system.layout().kind;
  const bool own_words = kind == SystemKind::odae || kind == SystemKind::own || kind == SystemKind::multibody;
  if (!start.velocity.empty()) {
    expect(start.velocity, own_words ? system.nz() : system.ny(), "velocity");
    z = kind == SystemKind::hamiltonian ? z_from_velocity(system, t, start.position, start.velocity) : start.velocity;
  } else if (!start.momentum.empty()) {
    expect(start.momentum, system.nz(), "momentum");
    z = kind == SystemKind::hamiltonian ? start.momentum : z_from_momentum(system, t, start.position, start.momentum);
  } else if (kind == SystemKind::hamiltonian) {
    z = z_from_velocity(system, t, start.position, Values(at(system.ny()), 0.0));
  }
  if (!start.multiplier.empty()) expect(start.multiplier, system.npsi(), "multiplier");

  StartCheck check = check_start(system, t, start.position, z, start.multiplier);
  const bool found = check.position_found && check.velocity_found;
  if (found && (check.violations.empty() || start.consistent == Consistency::project))
    return start_without_penetration(system, start.consistent, std::move(check.nearest));

  const Layout& layout = system.layout();
  std::string text = "the initial values are inconsistent:";
  for (std::size_t k = 0; k < std::min<std::size_t>(check.violations.size(), 6); ++k) {
    const auto& v = check.violations[k];
    text += fmt::format("\n  constraint {} is violated on the {} level by {:.6g}", layout.constraints[at(v.constraint)],
                        v.velocity_level ? "velocity" : "position", v.amount);
  }
  if (check.violations.size() > 6) text += fmt::format("\n  and {} more", check.violations.size() - 6);
  if (!found) {
    text += fmt::format(
        "\n  and no consistent {} was found near the given one: give values that fit better, or see whether the "
        "constraints "
        "contradict each other",
        check.position_found ? "velocity" : "position");
  } else {
    text += "\n  The nearest consistent values are" + initial_lines(system, start, check.nearest);
    text +=
        layout.kind == SystemKind::multibody
            ? "\n  Change the bodies accordingly (spins are angular velocities along the axes of the body), or write "
              "[initial] consistent = \"project\" to use these values."
            : "\n  Put these into [initial], or set consistent = \"project\" there to use them.";
  }
  throw InconsistentStart(text);
}

}  // namespace hinge
