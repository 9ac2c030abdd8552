#include "solve/contact/residual.hpp"

#include <algorithm>
#include <cmath>

#include "solve/contact/cone.hpp"
#include "solve/index.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

constexpr double unit_rounding = 2.2e-16;
constexpr int all_of_w = 200;  // rows by bodies, whose noise is that of all entries of W
constexpr int part = 1024;     // contacts, whose residuals are added up together

Eigen::Map<Eigen::VectorXd> vector(std::vector<double>& x) { return {x.data(), std::ssize(x)}; }
Eigen::Map<const Eigen::VectorXd> vector(const std::vector<double>& x) { return {x.data(), std::ssize(x)}; }

// Not a number compares with nothing; as infinity it is the largest.
void raise(double& largest, double value) {
  if (!(value <= largest)) largest = std::isnan(value) ? HUGE_VAL : value;
}

// |x|, also where the squares leave the range of doubles.
double norm(const Eigen::Ref<const Eigen::VectorXd>& x) {
  const double plain = x.norm();
  return plain > 1e-145 && plain < 1e145 ? plain : x.size() > 0 ? x.stableNorm() : 0;
}

}  // namespace

double ContactResidual::by(ResidualScaling scaling) const {
  switch (scaling) {
    case ResidualScaling::siconos: return siconos;
    case ResidualScaling::fclib: return fclib;
    case ResidualScaling::absolute: return absolute;
    case ResidualScaling::ours: break;
  }
  return ours;
}

double ContactResidual::judged(ResidualScaling scaling, double tolerance) const {
  if (scaling == ResidualScaling::ours) return ours;
  // u cannot be better than its rounding: without this r of 1e16 would "solve" problems that have no solution.
  const double share = absolute > 0 && std::isfinite(absolute) ? by(scaling) / absolute : 1;
  double value = by(scaling) + share * noise;
  // Relative to |r|, anything is small for an r that is large enough.
  if (scaling == ResidualScaling::siconos) value = std::max(value, std::sqrt(tolerance) * velocity);
  return std::isnan(value) ? HUGE_VAL : value;
}

void ResidualOfProblem::bind(const ContactProblem& problem, int threads) {
  problem_ = &problem;
  threads_ = threads;
  const int n = problem.rows();
  u_.resize(at(n));
  if (problem.by_bodies()) {
    body_rows_.bind(problem, threads);
    list_touching();
    q_ = body_rows_.q();
    diagonal_ = body_rows_.diagonal();
  } else if (problem.matrix_free()) {
    mass_.emplace(problem.M);
    Ht_ = problem.H.transpose();
    v_.assign(problem.f.begin(), problem.f.end());
    mass_->solve(vector(v_));
    q_.assign(problem.w.begin(), problem.w.end());
    vector(q_) += problem.H * vector(v_);
    abs_A_ = mass_->scale(problem.H).cwiseAbs();
    abs_At_ = abs_A_.transpose();
    diagonal_.resize(at(n));
    for (int i = 0; i < n; ++i) diagonal_[at(i)] = abs_A_.row(i).squaredNorm();
    // Cauchy and Schwarz: |W_ij|^2 <= W_ii W_jj
    column_.resize(at(n));
    vector(column_) = vector(diagonal_).cwiseSqrt();
    if (n > 0) vector(column_) *= vector(column_).maxCoeff();
  } else {
    q_.assign(problem.q.begin(), problem.q.end());
    diagonal_.resize(at(n));
    vector(diagonal_) = problem.W.diagonal().cwiseAbs();
    column_.assign(at(n), 0.0);
    for (int i = 0; i < n; ++i)
      for (SparseRows::InnerIterator entry(problem.W, i); entry; ++entry) {
        double& largest = column_[static_cast<std::size_t>(entry.col())];
        largest = std::max(largest, std::abs(entry.value()));
      }
  }
  choose_rho();
  norms_.q = norm(vector(q_));
  norms_.q_contacts = norm(vector(q_).head(problem.contact_rows()));
  norms_.q_bilateral = norm(vector(q_).tail(problem.bilateral));
  norms_.q_largest = n > 0 ? vector(q_).lpNorm<Eigen::Infinity>() : 0;
}

// 1/rho_i is what one unit of r_i does to velocities. For semidefinite W that is trace(W_ii)/d. An entry with |W_ij|^2
// > W_ii W_jj cannot be in such a W: there (linear programs, skew matrices: LCPs without a diagonal) it is the largest
// of these entries in the row and the column. Without the floor, a reaction that moves nothing would never be wrong.
void ResidualOfProblem::choose_rho() {
  const ContactProblem& p = *problem_;
  const int d = p.dimension, nc = p.contacts();
  std::vector<double>& moves = rho_;
  moves.resize(at(nc));
  for (int i = 0; i < nc; ++i) moves[at(i)] = vector(diagonal_).segment(i * d, d).sum() / d;
  double largest = p.rows() > 0 ? vector(diagonal_).maxCoeff() : 0;
  if (!p.matrix_free()) {
    const Eigen::VectorXd root = (1 + 1e-6) * vector(diagonal_).cwiseSqrt();
    for (int i = 0; i < p.rows(); ++i)
      for (SparseRows::InnerIterator entry(p.W, i); entry; ++entry) {
        const double size = std::abs(entry.value());
        largest = std::max(largest, size);
        if (size <= root[i] * root[entry.col()]) continue;
        for (const int k : {i, static_cast<int>(entry.col())})
          if (k < nc * d) moves[at(k / d)] = std::max(moves[at(k / d)], size);
      }
  }
  const double floor = largest > 0 ? 1e-8 * largest : 1;
  for (double& x : moves) x = 1 / std::max(x, floor);
}

// Largest sum_j |W_kj| |r_j|; an upper bound where that is below `enough`. By many bodies, which are asked often: of
// the diagonal alone.
double ResidualOfProblem::noise(const Eigen::Ref<const Eigen::VectorXd>& r, double enough) {
  const ContactProblem& p = *problem_;
  double largest = 0;
  if (p.by_bodies()) {
    if (p.rows() <= all_of_w) return noise_by_bodies(r);
    for (int k = 0; k < p.rows(); ++k) largest = std::max(largest, diagonal_[at(k)] * std::abs(r[k]));
    return largest;
  }
  const double bound = vector(column_).dot(r.cwiseAbs());
  if (bound <= enough) return bound;
  abs_r_ = r.cwiseAbs();
  if (p.matrix_free()) abs_v_.noalias() = abs_At_ * abs_r_;
  const SparseRows& rows = p.matrix_free() ? abs_A_ : p.W;
  const Eigen::VectorXd& x = p.matrix_free() ? abs_v_ : abs_r_;
  for (int i = 0; i < rows.rows(); ++i) {
    double sum = 0;
    for (SparseRows::InnerIterator entry(rows, i); entry; ++entry) sum += std::abs(entry.value()) * x[entry.col()];
    largest = std::max(largest, sum);
  }
  return largest;
}

double ResidualOfProblem::noise_by_bodies(const Eigen::Ref<const Eigen::VectorXd>& r) {
  abs_v_.setZero(6 * problem_->bodies.count());
  for (const BodyRows::Block& block : body_rows_.blocks())
    for (int k = 0; k < block.rows; ++k)
      for (int j = 0; j < (block.b >= 0 ? 12 : 6); ++j)
        abs_v_[6 * (j < 6 ? block.a : block.b) + j % 6] += std::abs(block.A[k][j] * r[block.row + k]);
  double largest = 0;
  for (const BodyRows::Block& block : body_rows_.blocks())
    for (int k = 0; k < block.rows; ++k) {
      double sum = 0;
      for (int j = 0; j < (block.b >= 0 ? 12 : 6); ++j)
        sum += std::abs(block.A[k][j]) * abs_v_[6 * (j < 6 ? block.a : block.b) + j % 6];
      largest = std::max(largest, sum);
    }
  return largest;
}

void ResidualOfProblem::compute_velocity(const Eigen::Ref<const Eigen::VectorXd>& r) {
  const ContactProblem& p = *problem_;
  if (p.by_bodies()) return compute_by_bodies(r);
  if (p.matrix_free()) {
    v_.assign(p.f.begin(), p.f.end());
    vector(v_) += Ht_ * r;
    mass_->solve(vector(v_));
    u_.assign(p.w.begin(), p.w.end());
    vector(u_) += p.H * vector(v_);
  } else {
    u_.assign(p.q.begin(), p.q.end());
    vector(u_) += p.W * r;
  }
}

void ResidualOfProblem::list_touching() {
  const ContactBodies& bodies = problem_->bodies;
  std::vector<int>& first = first_touching_;
  first.assign(at(bodies.count()) + 1, 0);
  for (const int b : bodies.pair)
    if (b >= 0) ++first[at(b) + 1];
  for (int b = 0; b < bodies.count(); ++b) first[at(b) + 1] += first[at(b)];
  touching_.resize(at(first.back()));
  for (std::size_t k = bodies.pair.size(); k-- > 0;)
    if (const int b = bodies.pair[k]; b >= 0) touching_[at(--first[at(b) + 1])] = static_cast<int>(k);
  first.erase(first.begin());
  first.push_back(static_cast<int>(touching_.size()));
}

// From the problem's own H and M^-1, not from the scaled rows that sweeps use.
void ResidualOfProblem::compute_by_bodies(const Eigen::Ref<const Eigen::VectorXd>& r) {
  const ContactBodies& bodies = problem_->bodies;
  const auto six = [](auto& x, int b) { return vector(x).template segment<6>(6 * b); };
  v_.resize(bodies.v_free.size());
  parallel_ranges(
      bodies.count(), threads_,
      [&](int begin, int end) {
        for (int b = begin; b < end; ++b) {
          Eigen::Matrix<double, 6, 1> impulse = Eigen::Matrix<double, 6, 1>::Zero();
          for (int k = first_touching_[at(b)]; k < first_touching_[at(b) + 1]; ++k) {
            const int i = touching_[at(k)] / 2, side = touching_[at(k)] % 2;
            const BodyRows::Block& block = body_rows_.blocks()[at(i)];
            Eigen::Vector3d ri = Eigen::Vector3d::Zero();
            for (int row = 0; row < block.rows; ++row) ri[row] = r[block.row + row];
            impulse.noalias() += bodies.rows(i, side).transpose() * ri;
          }
          six(v_, b).noalias() = six(bodies.v_free, b) + bodies.inverse(b) * impulse;
        }
      },
      128);
  parallel_ranges(bodies.blocks(), threads_, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const BodyRows::Block& block = body_rows_.blocks()[at(i)];
      Eigen::Vector3d ui(bodies.w.data() + 3 * i);
      for (const int side : {0, 1})
        if (const int b = bodies.body(i, side); b >= 0) ui.noalias() += bodies.rows(i, side) * six(v_, b);
      for (int k = 0; k < block.rows; ++k) u_[at(block.row + k)] = ui[k];
    }
  });
}

void ResidualSum::contact(double mu, double rho_i, const double* r, const double* u) {
  const int d = law_->dimension;
  const double shift = de_saxce_shift(*law_, mu, u);
  // F = r - P_K(r - rho (u + shift n)), for rho = 1 and for rho_i. Its length:
  const auto map = [&](double rho) {
    if (d == 1) return std::abs(std::min(r[0], rho * u[0]));
    double x[3] = {};
    for (int k = 0; k < d; ++k) x[k] = r[k] - rho * (u[k] + (k == 0 ? shift : 0));
    project_on_model(*law_, mu, x);
    return length(r[0] - x[0], r[1] - x[1], d == 3 ? r[2] - x[2] : 0);
  };
  const double plain = map(1);
  raise(longest_, plain);
  sum_ += plain / unit_ * (plain / unit_);
  raise(largest_, map(rho_i) / rho_i);

  const double rt = d == 1 ? 0 : length(r[1], d == 3 ? r[2] : 0), ut = d == 1 ? 0 : length(u[1], d == 3 ? u[2] : 0);
  double rt_ut = 0;
  for (int k = 1; k < d; ++k) rt_ut += r[k] * u[k];
  const bool convex = law_->friction == FrictionModel::convexified;
  raise(result_.penetration, convex ? mu * ut - u[0] : -u[0]);
  raise(result_.cone, rt - mu * r[0]);
  raise(result_.signorini, std::abs(r[0] * u[0] + (convex ? rt_ut : 0)));
  if (law_->friction == FrictionModel::coulomb) raise(result_.dissipation, std::abs(rt_ut + mu * r[0] * ut));
}

// K = R: F = rho u.
void ResidualSum::bilateral(double u) {
  bilateral_ += u / unit_ * (u / unit_);
  raise(longest_, std::abs(u));
  raise(result_.bilateral, std::abs(u));
}

double ResidualSum::better_unit() const {
  const bool good = longest_ == 0 || !std::isfinite(longest_) || unit_ != 1 || (longest_ > 1e-140 && longest_ < 1e140);
  return good ? 0 : longest_;
}

double ResidualSum::least() const { return std::min(largest_, unit_ * std::sqrt(sum_ + bilateral_)); }

ContactResidual ResidualSum::finish(const ResidualNorms& n) {
  result_.noise = unit_rounding * n.noise;
  result_.absolute = unit_ * std::sqrt(sum_ + bilateral_);
  const double scale = std::max({n.q, n.r, n.u});
  result_.siconos = scale > 0 ? result_.absolute / scale : result_.absolute;
  result_.fclib =
      unit_ * (std::sqrt(sum_) / (1 + std::sqrt(n.q_contacts)) + std::sqrt(bilateral_) / (1 + n.q_bilateral));
  const double q = std::max(n.q_largest, 1e-300);
  result_.ours = (std::max(largest_, result_.bilateral) + result_.noise) / q;
  result_.velocity = (std::max(result_.penetration, result_.bilateral) + result_.noise) / q;
  // Not a number compares with nothing; as infinity it cannot pass for converged.
  const bool finite = std::isfinite(n.r) && std::isfinite(n.u);
  for (double* x : {&result_.ours, &result_.siconos, &result_.fclib, &result_.absolute, &result_.velocity})
    if (!finite || std::isnan(*x)) *x = HUGE_VAL;
  return result_;
}

void ResidualSum::add(const ResidualSum& next) {
  sum_ += next.sum_;
  raise(largest_, next.largest_);
  raise(longest_, next.longest_);
  raise(result_.penetration, next.result_.penetration);
  raise(result_.cone, next.result_.cone);
  raise(result_.signorini, next.result_.signorini);
  raise(result_.dissipation, next.result_.dissipation);
}

ResidualSum ResidualOfProblem::add_up(const Eigen::Ref<const Eigen::VectorXd>& r, double unit) {
  const ContactProblem& p = *problem_;
  const int d = p.dimension, parts = std::max(1, (p.contacts() + part - 1) / part);
  parts_.assign(at(parts), ResidualSum(p, unit));
  parallel_ranges(
      parts, threads_,
      [&](int first, int last) {
        for (int k = first; k < last; ++k)
          for (int i = k * part; i < std::min(p.contacts(), (k + 1) * part); ++i)
            parts_[at(k)].contact(p.mu_of(i), rho_[at(i)], r.data() + i * d, u_.data() + i * d);
      },
      1);
  ResidualSum sum = parts_.front();
  for (int k = 1; k < parts; ++k) sum.add(parts_[at(k)]);
  for (int k = p.contact_rows(); k < p.rows(); ++k) sum.bilateral(u_[at(k)]);
  return sum;
}

ContactResidual ResidualOfProblem::operator()(const Eigen::Ref<const Eigen::VectorXd>& r) {
  compute_velocity(r);
  norms_.r = norm(r);
  norms_.u = norm(vector(u_));
  ResidualSum sum = add_up(r, 1);
  if (const double unit = sum.better_unit(); unit > 0) {
    ResidualSum anew = add_up(r, unit);
    norms_.noise = noise(r, 0);
    return anew.finish(norms_);
  }
  norms_.noise = noise(r, 0.01 * sum.least() / unit_rounding);
  return sum.finish(norms_);
}

ContactResidual contact_residual(const ContactProblem& problem, const Eigen::VectorXd& r) {
  validate(problem);
  if (r.size() != problem.rows())
    throw InputError("contact residual: r has " + std::to_string(r.size()) + " entries where " +
                     std::to_string(problem.rows()) + " are needed");
  return ResidualOfProblem(problem)(r);
}

}  // namespace hinge
