#include "hinge/contact_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "solve/contact/body_sweeps.hpp"
#include "solve/contact/cone.hpp"
#include "solve/contact/residual.hpp"

namespace hinge {

namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;

constexpr int colour_from = 4096;      // contacts, as in block-gauss-seidel
constexpr int most_sweeps = 20000;     // where nothing else is asked for
constexpr int promised_sweeps = 1500;  // before `auto` takes over
constexpr int patience = 1000;         // sweeps without progress
constexpr int auto_iterations = 4000;  // of `auto`: it is called in every step

std::size_t at(int i) { return static_cast<std::size_t>(i); }

auto three(const std::vector<double>& x, int i) { return Eigen::Map<const Eigen::Vector3d>(x.data() + 3 * i); }
auto six(std::vector<double>& x, int i) { return Eigen::Map<Eigen::Matrix<double, 6, 1>>(x.data() + 6 * i); }

// R with R R^T = A, lower triangular; directions in which A vanishes get a column of zeros.
Matrix6 root(const Matrix6& A) {
  Matrix6 R = Matrix6::Zero();
  for (int j = 0; j < 6; ++j) {
    const double pivot = A(j, j) - R.row(j).head(j).squaredNorm();
    if (!(pivot > 1e-14 * A(j, j))) continue;
    R(j, j) = std::sqrt(pivot);
    for (int i = j + 1; i < 6; ++i) R(i, j) = (A(i, j) - R.row(i).head(j).dot(R.row(j).head(j))) / R(j, j);
  }
  return R;
}

int rows_of(const BodyContactProblem& p, const BodyContact& c) {
  return c.bilateral_rows > 0 ? c.bilateral_rows : p.dimension;
}

void check(const BodyContactProblem& p) {
  const auto require = [](bool good, const auto& message) {
    if (!good) throw InputError("contact problem: " + message());
  };
  require(p.dimension >= 1 && p.dimension <= 3,
          [&] { return fmt::format("dimension {}; a contact has 1, 2 or 3 rows", p.dimension); });
  require(p.friction != FrictionModel::polyhedral,
          [] { return std::string("pyramids are not solved by sweeps over bodies; take solve_contact"); });
  require(p.v_free.size() == 6 * p.bodies(), [&] {
    return fmt::format("v_free has {} entries where {} bodies have {}", p.v_free.size(), p.bodies(), 6 * p.bodies());
  });
  require(p.v_free.allFinite(), [] { return std::string("v_free has entries that are not finite numbers"); });
  for (int b = 0; b < p.bodies(); ++b)
    require(p.inverse_mass[at(b)].allFinite() && p.inverse_mass[at(b)].diagonal().minCoeff() >= 0, [&] {
      return fmt::format("the inverse mass of body {} is not finite, or negative; a mass must be positive", b);
    });
  for (int i = 0; i < p.size(); ++i) {
    const BodyContact& c = p.contacts[at(i)];
    require(c.a >= -1 && c.a < p.bodies() && c.b >= -1 && c.b < p.bodies() && c.a != c.b, [&] {
      return fmt::format("contact {} is between bodies {} and {}; there are {} bodies, and -1 is the ground", i, c.a,
                         c.b, p.bodies());
    });
    require(c.mu >= 0 && std::isfinite(c.mu), [&] {
      return fmt::format("mu of contact {} is {}; a friction coefficient is a finite number, 0 or larger", i, c.mu);
    });
    require(c.bilateral_rows >= 0 && c.bilateral_rows <= 3,
            [&] { return fmt::format("contact {} has {} bilateral rows; 1 to 3 are possible", i, c.bilateral_rows); });
    require(c.Ha.allFinite() && c.Hb.allFinite() && std::isfinite(c.w[0] + c.w[1] + c.w[2]),
            [&] { return fmt::format("contact {} has entries that are not finite numbers", i); });
  }
}

}  // namespace

struct ContactSolver::Work {
  ContactOptions options;
  bool fall_back = true;
  ContactProblem law;  // dimension and friction model only
  BodySweeps sweeps;
  std::vector<Matrix6> roots;
  std::vector<double> q, diagonal, u, v,
      best;  // 3 per contact, v 6 per body: vectors keep their memory when they shrink
  ResidualNorms norms;

  void bind(const BodyContactProblem& p);
  void set(const std::vector<double>& r);
  void get(std::vector<double>& r);
  ContactResidual residual(const BodyContactProblem& p, const std::vector<double>& r);
  void start_from(const BodyContactProblem& p, std::vector<double>& r) const;
  void ask_auto(const BodyContactProblem& p, std::vector<double>& r, double seconds_left, BodyContactReport& report);
};

namespace {

// Rows of A = H R for both bodies, the ground's left zero; body a is one that is there.
void scaled_rows(const BodyContact& c, const std::vector<Matrix6>& roots, double (&A)[3][12]) {
  const auto put = [&](int body, const BodyContact::Rows& H, int offset) {
    if (body < 0) return;
    const Eigen::Matrix<double, 3, 6> part = H * roots[at(body)].template triangularView<Eigen::Lower>();
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 6; ++j) A[k][offset + j] = part(k, j);
  };
  put(c.a >= 0 ? c.a : c.b, c.a >= 0 ? c.Ha : c.Hb, 0);
  if (c.a >= 0) put(c.b, c.Hb, 6);
}

}  // namespace

void ContactSolver::Work::bind(const BodyContactProblem& p) {
  law.dimension = p.dimension;
  law.friction = p.friction;
  roots.resize(at(p.bodies()));
  for (int b = 0; b < p.bodies(); ++b) roots[at(b)] = root(p.inverse_mass[at(b)]);
  const int n = p.size();
  q.assign(at(3 * n), 0.0);
  diagonal.assign(at(3 * n), 0.0);
  u.assign(at(3 * n), 0.0);
  sweeps.begin(p.bodies(), n);
  sweeps.relaxation(options.relaxation);
  double contacts = 0, bilateral = 0;
  for (int i = 0; i < n; ++i) {
    const BodyContact& c = p.contacts[at(i)];
    const int rows = rows_of(p, c);
    double A[3][12] = {};
    scaled_rows(c, roots, A);
    for (int k = 0; k < rows; ++k)
      for (int j = 0; j < 12; ++j) diagonal[at(3 * i + k)] += A[k][j] * A[k][j];
    for (int k = 0; k < rows; ++k)
      if (!(diagonal[at(3 * i + k)] > 0))
        throw InputError(fmt::format("contact problem: row {} of contact {} moves no body; leave it out", k, i));
    sweeps.fill(i, c.bilateral_rows > 0, rows, c.a >= 0 ? c.a : c.b, c.a >= 0 ? c.b : -1, A, c.mu);
    for (int k = 0; k < rows; ++k) {
      double value = c.w[k];
      if (c.a >= 0) value += c.Ha.row(k).dot(p.v_free.segment<6>(6 * c.a));
      if (c.b >= 0) value += c.Hb.row(k).dot(p.v_free.segment<6>(6 * c.b));
      q[at(3 * i + k)] = value;
    }
    BodySweeps::turn(sweeps.item(i), q.data() + 3 * i, sweeps.item(i).w);
    (c.bilateral_rows > 0 ? bilateral : contacts) += three(q, i).squaredNorm();
  }
  if (n >= colour_from) sweeps.colour();
  norms.q = std::sqrt(contacts + bilateral);
  norms.q_contacts = std::sqrt(contacts);
  norms.q_bilateral = std::sqrt(bilateral);
  norms.q_largest = 0;
  for (const double x : q) norms.q_largest = std::max(norms.q_largest, std::abs(x));
}

void ContactSolver::Work::set(const std::vector<double>& r) {
  for (int i = 0; i < sweeps.size(); ++i) {
    BodySweeps::Item& item = sweeps.item(i);
    BodySweeps::turn(item, r.data() + 3 * item.index, item.r);
  }
  std::fill(sweeps.velocity().begin(), sweeps.velocity().end(), 0.0);
  sweeps.add_reactions();
}

void ContactSolver::Work::get(std::vector<double>& r) {
  for (int i = 0; i < sweeps.size(); ++i) {
    const BodySweeps::Item& item = sweeps.item(i);
    double x[3];
    BodySweeps::turn_back(item, item.r, x);
    for (int k = 0; k < 3; ++k) r[at(3 * item.index + k)] = k < item.rows ? x[k] : 0;
  }
}

// From the problem's own H and M^-1, not from what the sweeps keep.
ContactResidual ContactSolver::Work::residual(const BodyContactProblem& p, const std::vector<double>& r) {
  v.assign(at(6 * p.bodies()), 0.0);
  for (int i = 0; i < p.size(); ++i) {
    const BodyContact& c = p.contacts[at(i)];
    if (c.a >= 0) six(v, c.a).noalias() += c.Ha.transpose() * three(r, i);
    if (c.b >= 0) six(v, c.b).noalias() += c.Hb.transpose() * three(r, i);
  }
  for (int b = 0; b < p.bodies(); ++b) {
    const Eigen::Matrix<double, 6, 1> impulse = six(v, b);
    six(v, b).noalias() = p.v_free.segment<6>(6 * b) + p.inverse_mass[at(b)] * impulse;
  }
  ResidualSum sum(law);
  norms.noise = 0;
  for (int i = 0; i < p.size(); ++i) {
    const BodyContact& c = p.contacts[at(i)];
    const int rows = rows_of(p, c);
    Eigen::Vector3d ui(c.w[0], c.w[1], c.w[2]);
    if (c.a >= 0) ui.noalias() += c.Ha * six(v, c.a);
    if (c.b >= 0) ui.noalias() += c.Hb * six(v, c.b);
    for (int k = 0; k < 3; ++k) u[at(3 * i + k)] = k < rows ? ui[k] : 0;
    double trace = 0;
    for (int k = 0; k < rows; ++k) {
      trace += diagonal[at(3 * i + k)];
      norms.noise = std::max(norms.noise, diagonal[at(3 * i + k)] * std::abs(r[at(3 * i + k)]));
    }
    if (c.bilateral_rows > 0)
      for (int k = 0; k < rows; ++k) sum.bilateral(u[at(3 * i + k)]);
    else
      sum.contact(c.mu, rows / trace, r.data() + 3 * i, u.data() + 3 * i);
  }
  norms.r = Eigen::Map<const Eigen::VectorXd>(r.data(), 3 * p.size()).norm();
  norms.u = Eigen::Map<const Eigen::VectorXd>(u.data(), 3 * p.size()).norm();
  return sum.finish(norms);
}

void ContactSolver::Work::start_from(const BodyContactProblem& p, std::vector<double>& r) const {
  const bool usable =
      r.size() == at(3 * p.size()) && std::all_of(r.begin(), r.end(), [](double x) { return std::isfinite(x); });
  if (!usable) r.assign(at(3 * p.size()), 0.0);
  for (int i = 0; i < p.size(); ++i) {
    const BodyContact& c = p.contacts[at(i)];
    for (int k = rows_of(p, c); k < 3; ++k) r[at(3 * i + k)] = 0;
    if (c.bilateral_rows == 0) project_on_model(law, c.mu, r.data() + 3 * i);
  }
}

void ContactSolver::Work::ask_auto(const BodyContactProblem& p, std::vector<double>& r, double seconds_left,
                                   BodyContactReport& report) {
  const ContactProblem all = written_out(p);
  ContactOptions o = options;
  o.iterations = auto_iterations;
  if (options.seconds > 0) o.seconds = std::max(seconds_left, 1e-3);
  o.start.resize(all.rows());
  const auto each_row = [&](auto&& visit) {
    int contact = 0, bilateral = all.contacts() * all.dimension;
    for (int i = 0; i < p.size(); ++i) {
      const BodyContact& c = p.contacts[at(i)];
      for (int k = 0; k < rows_of(p, c); ++k) visit(3 * i + k, c.bilateral_rows > 0 ? bilateral++ : contact++);
    }
  };
  each_row([&](int ours, int theirs) { o.start[theirs] = r[at(ours)]; });
  const ContactResult result = solve_contact(all, "auto", o);
  const ContactResidual before = report.residual;
  best = r;
  each_row([&](int ours, int theirs) { r[at(ours)] = result.r[theirs]; });
  report.residual = residual(p, r);
  report.fell_back = true;
  if (report.residual.by(options.scaling) < before.by(options.scaling)) return;
  r = best;
  report.residual = residual(p, r);
}

ContactSolver::ContactSolver(const ContactOptions& options, bool fall_back) : work_(std::make_unique<Work>()) {
  options.validate();
  work_->options = options;
  work_->fall_back = fall_back;
}
ContactSolver::~ContactSolver() = default;
ContactSolver::ContactSolver(ContactSolver&&) noexcept = default;
ContactSolver& ContactSolver::operator=(ContactSolver&&) noexcept = default;

ContactOptions& ContactSolver::options() { return work_->options; }
void ContactSolver::fall_back(bool wanted) { work_->fall_back = wanted; }
std::span<const double> ContactSolver::body_velocity() const { return work_->v; }
std::span<const double> ContactSolver::contact_velocity() const { return work_->u; }

BodyContactReport ContactSolver::solve(const BodyContactProblem& p, std::vector<double>& r) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  Work& w = *work_;
  const ContactOptions& o = w.options;
  check(p);
  w.bind(p);
  w.start_from(p, r);
  BodyContactReport report;
  const auto judge = [&] {
    const ContactResidual now = w.residual(p, r);
    const double size = now.by(o.scaling);
    if (report.sweeps == 0 || size < report.residual.by(o.scaling)) report.residual = now, w.best = r;
    return size;
  };
  const auto good = [&] { return report.residual.by(o.scaling) <= o.tolerance; };
  judge();
  const int limit = o.iterations > 0 ? o.iterations : w.fall_back ? promised_sweeps : most_sweeps;
  const bool convexified = p.friction == FrictionModel::convexified;
  report.status = ContactStatus::iteration_limit;
  report.message = "the limit of sweeps was reached; more sweeps may help, or `auto`";
  if (!good()) w.set(r);
  // The last two looks: sweep and residual.
  struct Look {
    int sweep = 0;
    double residual = HUGE_VAL;
  } before, last, mark;  // mark: where the best was last a tenth better than at the mark before
  int next = 5;
  for (int k = 1; k <= limit && !good(); ++k) {
    report.contact_updates += w.sweeps.sweep(convexified, o.threads);
    report.sweeps = k;
    if (k < next && k < limit) continue;
    w.get(r);
    const double now = judge();
    if (o.seconds > 0 && seconds() > o.seconds) {
      report.message = "time was up";
      break;
    }
    // Ends where the rate since the look before the last does not promise the tolerance within the limit.
    const double rate = std::log(before.residual / now) / (k - before.sweep);
    if (w.fall_back && k >= 100 && (!(rate > 0) || k + std::log(now / o.tolerance) / rate > limit)) break;
    if (report.residual.by(o.scaling) < 0.9 * mark.residual) mark = {k, report.residual.by(o.scaling)};
    if (k - mark.sweep > std::max(patience, mark.sweep / 2)) {
      report.status = ContactStatus::stalled;
      report.message = "sweeps make no progress any more; `auto` may go further";
      break;
    }
    before = last;
    last = {k, now};
    next = k + std::max(5, k / 20);
  }
  if (!good()) r = w.best;
  if (!good() && w.fall_back && (o.seconds == 0 || seconds() < o.seconds))
    w.ask_auto(p, r, o.seconds - seconds(), report);
  else if (!good())
    w.residual(p, r);  // velocities of the best
  if (good()) {
    report.status = ContactStatus::converged;
    report.message = {};
  } else if (report.fell_back) {
    report.message = "neither sweeps nor `auto` got there; the problem may have no solution";
  }
  return report;
}

ContactProblem written_out(const BodyContactProblem& p) {
  check(p);
  std::vector<Matrix6> roots;
  for (const Matrix6& inverse : p.inverse_mass) roots.push_back(root(inverse));
  ContactProblem all;
  all.dimension = p.dimension;
  all.friction = p.friction;
  int nc = 0, nb = 0;
  for (const BodyContact& c : p.contacts) {
    nc += c.bilateral_rows == 0 ? 1 : 0;
    nb += c.bilateral_rows;
  }
  all.mu.resize(nc);
  all.bilateral = nb;
  all.w.resize(nc * p.dimension + nb);
  std::vector<Eigen::Triplet<double>> entries;
  int contact = 0, bilateral = nc * p.dimension;
  for (const BodyContact& c : p.contacts) {
    double A[3][12] = {};
    scaled_rows(c, roots, A);
    const int bodies[2] = {c.a >= 0 ? c.a : c.b, c.a >= 0 ? c.b : -1};
    if (c.bilateral_rows == 0) all.mu[contact / p.dimension] = p.dimension == 1 ? 0 : c.mu;
    for (int k = 0; k < rows_of(p, c); ++k) {
      const int row = c.bilateral_rows > 0 ? bilateral++ : contact++;
      for (int j = 0; j < 12; ++j)
        if (A[k][j] != 0) entries.emplace_back(row, 6 * bodies[j / 6] + j % 6, A[k][j]);
      double value = c.w[k];
      if (c.a >= 0) value += c.Ha.row(k).dot(p.v_free.segment<6>(6 * c.a));
      if (c.b >= 0) value += c.Hb.row(k).dot(p.v_free.segment<6>(6 * c.b));
      all.w[row] = value;
    }
  }
  const int m = 6 * p.bodies();
  all.H.resize(all.rows(), m);
  all.H.setFromTriplets(entries.begin(), entries.end());
  all.M.resize(m, m);
  all.M.setIdentity();
  all.f = Eigen::VectorXd::Zero(m);
  return all;
}

}  // namespace hinge
