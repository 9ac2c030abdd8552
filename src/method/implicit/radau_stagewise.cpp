#include "method/implicit/radau_stagewise.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

namespace {

constexpr double singular_stage = 1e-14;

}  // namespace

RadauStagewise::RadauStagewise(ImplicitProblem& problem, const RadauTableau& tableau, Counters& counters)
    : problem_(problem),
      tableau_(tableau),
      counters_(counters),
      n_(static_cast<std::size_t>(problem.size())),
      s_(static_cast<std::size_t>(tableau.stages)) {
  stages_.reserve(s_);
  for (std::size_t i = 0; i < s_; ++i) stages_.emplace_back(problem.pattern(), problem.projected_invariants(), 1);
  const Eigen::Index all = static_cast<Eigen::Index>(s_) * stages_.front().reduced_.rows;
  lu_ = Lu<double>(all);
  matrix_.setZero(all, all);
  a_.assign(static_cast<std::size_t>(all), 0.0);
  for (auto* v : {&f_x_, &f_rate_}) v->assign(problem.pattern().entries(), 0.0);
  for (auto* v : {&x_, &rate_}) v->assign(n_, 0.0);
}

// t, x and x' of a stage
void RadauStagewise::point(std::size_t i, double t0, const double* x0, double h, const double* z) {
  const auto row = static_cast<Eigen::Index>(i);
  t_ = t0 + tableau_.c(row) * h;
  for (std::size_t k = 0; k < n_; ++k) {
    x_[k] = x0[k] + z[i * n_ + k];
    rate_[k] = 0;
  }
  for (std::size_t j = 0; j < s_; ++j) {
    const double gamma = tableau_.gamma(row, static_cast<Eigen::Index>(j)) / h;
    for (std::size_t k = 0; k < n_; ++k) rate_[k] += gamma * z[j * n_ + k];
  }
}

bool RadauStagewise::linearise(double t0, const double* x0, double h, const double* z) {
  for (std::size_t i = 0; i < s_; ++i) {
    point(i, t0, x0, h, z);
    problem_.jacobian(t_, x_.data(), rate_.data(), f_x_.data(), f_rate_.data());
    ++counters_.evaluations;
    if (!stages_[i].linearise(f_x_.data(), f_rate_.data())) return false;
  }
  return factor(h);
}

// (gamma_ij/h) Q_i^T N_j + delta_ij Q_i^T B_i N_i,  with Q_i^T N_i = 1
bool RadauStagewise::factor(double h) {
  const RadauReduced& one = stages_.front();
  const int free = one.reduced_.rows;
  if (free == 0) return true;
  for (std::size_t i = 0; i < s_; ++i)
    for (std::size_t j = 0; j < s_; ++j) {
      const RadauReduced &row = stages_[i], &column = stages_[j];
      const double gamma = tableau_.gamma(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) / h;
      const Eigen::Index r0 = static_cast<Eigen::Index>(i) * free, c0 = static_cast<Eigen::Index>(j) * free;
      for (int r = 0; r < free; ++r) {
        const bool of_y = r < row.free_y_;
        const RowMatrix& q = of_y ? row.n_g_t_ : row.n_c_t_;
        const double* basis = q.row(of_y ? r : r - row.free_y_);
        const int first = of_y ? 0 : row.ny_;
        for (int c = 0; c < free; ++c) {
          double sum = 0;
          for (int k = 0; k < q.columns; ++k) sum += basis[k] * column.kernel_.row(first + k)[c];
          matrix_(r0 + r, c0 + c) = i == j ? gamma * (r == c) + row.reduced_.row(r)[c] : gamma * sum;
        }
      }
    }
  ++counters_.factorisations;
  lu_.factor(matrix_);
  return lu_.regular(singular_stage);
}

bool RadauStagewise::iterate(double t0, const double* x0, double h, double* z, double* dz) {
  ++counters_.iterations;
  ++counters_.full_newton;
  double sum = 0;
  for (std::size_t i = 0; i < s_; ++i) {
    RadauReduced& stage = stages_[i];
    point(i, t0, x0, h, z);
    problem_.residual(t_, x_.data(), rate_.data(), stage.f_.data());
    ++counters_.evaluations;
    for (double& f : stage.f_) {
      f = -f;
      sum += f;
    }
    stage.particular<1>();
  }
  if (!std::isfinite(sum)) return false;
  const auto gamma = [&](std::size_t i, std::size_t j) {
    return tableau_.gamma(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) / h;
  };
  const int free = stages_.front().reduced_.rows, u = stages_.front().ny_ + stages_.front().nz_;
  const auto slopes = [&](std::size_t i) {  // u' of stage i from the u of all
    std::vector<double>& slope = stages_[i].slope_;
    std::fill(slope.begin(), slope.end(), 0.0);
    for (std::size_t j = 0; j < s_; ++j)
      for (std::size_t k = 0; k < static_cast<std::size_t>(u); ++k) slope[k] += gamma(i, j) * stages_[j].u_[k];
  };
  for (std::size_t i = 0; i < s_; ++i) {
    RadauReduced& stage = stages_[i];
    slopes(i);
    add_product<1>(stage.n_g_t_, stage.slope_.data(), -1, stage.right_.data());
    add_product<1>(stage.n_c_t_, stage.slope_.data() + stage.ny_, -1, stage.right_.data() + stage.free_y_);
    std::copy_n(stage.right_.data(), free, a_.data() + static_cast<std::ptrdiff_t>(i) * free);
  }
  if (free > 0) lu_.solve(a_.data());
  for (std::size_t i = 0; i < s_; ++i)
    add_product<1>(stages_[i].kernel_, a_.data() + static_cast<std::ptrdiff_t>(i) * free, 1, stages_[i].u_.data());
  for (std::size_t i = 0; i < s_; ++i) {
    slopes(i);
    stages_[i].complete<1>();
    std::copy_n(stages_[i].f_.data(), n_, dz + i * n_);
  }
  for (std::size_t k = 0; k < s_ * n_; ++k) z[k] += dz[k];
  return true;
}

}  // namespace hinge
