#include "method/symplectic/spark_jacobian.hpp"

#include <algorithm>

namespace hinge {

SparkJacobian::SparkJacobian(const System& system, const SparkTableau& tableau, LinearAlgebra choice)
    : system_(system),
      tableau_(tableau),
      s_(tableau.stages()),
      st_(tableau.constraint_stages()),
      ny_(system.ny()),
      nz_(system.nz()),
      m_(system.npsi()),
      size_(s_ * (ny_ + nz_) + st_ * m_),
      identity_(identity_pattern(ny_)),
      matrix_(size_) {
  using Q = Quantity;
  ry_vy_ = SparseProduct(system.pattern(Q::reaction_y), system.pattern(Q::velocity_y));
  ry_vz_ = SparseProduct(system.pattern(Q::reaction_y), system.pattern(Q::velocity_z));
  gy_vy_ = SparseProduct(system.pattern(Q::constraint_y), system.pattern(Q::velocity_y));
  gy_vz_ = SparseProduct(system.pattern(Q::constraint_y), system.pattern(Q::velocity_z));
  lay_out();
  matrix_.finish(choice);
  sum_.resize(system.pattern(Q::reaction_y).entries());
  product_.resize(std::max({ry_vy_.pattern().entries(), ry_vz_.pattern().entries(), gy_vy_.pattern().entries(),
                            gy_vz_.pattern().entries()}));
  ones_.assign(static_cast<std::size_t>(ny_), 1.0);
  for (int i = 0; i < s_; ++i)
    stage_.push_back(
        system.evaluation({Q::velocity_y, Q::velocity_z, Q::momentum_y, Q::momentum_z, Q::force_y, Q::force_z}));
  for (int k = 0; k <= st_; ++k) node_.push_back(system.evaluation({Q::reaction_y, Q::reaction_psi, Q::constraint_y}));
}

// The order of place() here is the order of add() in factor().
void SparkJacobian::lay_out() {
  using Q = Quantity;
  const auto y = [this](int i) { return i * ny_; };
  const auto z = [this](int i) { return s_ * ny_ + i * nz_; };
  const auto l = [this](int k) { return s_ * (ny_ + nz_) + k * m_; };
  for (int i = 0; i < s_; ++i) {
    matrix_.place(identity_, y(i), y(i));
    matrix_.place(system_.pattern(Q::momentum_y), z(i), y(i));
    matrix_.place(system_.pattern(Q::momentum_z), z(i), z(i));
    for (int j = 0; j < s_; ++j) {
      matrix_.place(system_.pattern(Q::velocity_y), y(i), y(j));
      matrix_.place(system_.pattern(Q::velocity_z), y(i), z(j));
      matrix_.place(system_.pattern(Q::force_y), z(i), y(j));
      matrix_.place(system_.pattern(Q::force_z), z(i), z(j));
      matrix_.place(ry_vy_.pattern(), z(i), y(j));
      matrix_.place(ry_vz_.pattern(), z(i), z(j));
    }
    for (int k = 0; k < st_; ++k) matrix_.place(system_.pattern(Q::reaction_psi), z(i), l(k));
  }
  for (int i = 1; i <= st_; ++i)
    for (int j = 0; j < s_; ++j) {
      matrix_.place(gy_vy_.pattern(), l(i - 1), y(j));
      matrix_.place(gy_vz_.pattern(), l(i - 1), z(j));
    }
}

bool SparkJacobian::factor(double t, double h, const double* stage_y, const double* stage_z, const double* node_y,
                           const double* multipliers) {
  using Q = Quantity;
  const SparkTableau& c = tableau_;
  for (int i = 0; i < s_; ++i)
    stage_[static_cast<std::size_t>(i)]->at(t + c.c[i] * h, stage_y + i * ny_, stage_z + i * nz_, multipliers);
  for (int k = 0; k <= st_; ++k)  // node st has no multiplier in this block; its reaction is not used
    node_[static_cast<std::size_t>(k)]->at(t + c.ctilde[k] * h, node_y + k * ny_, stage_z,
                                           multipliers + std::min(k, std::max(st_ - 1, 0)) * m_);
  matrix_.clear();
  int block = 0;
  for (int i = 0; i < s_; ++i) {
    const Evaluation& own = *stage_[static_cast<std::size_t>(i)];
    matrix_.add(block++, 1.0, ones_.data());
    matrix_.add(block++, 1.0, own[Q::momentum_y]);
    matrix_.add(block++, 1.0, own[Q::momentum_z]);
    for (int j = 0; j < s_; ++j) {
      const Evaluation& other = *stage_[static_cast<std::size_t>(j)];
      matrix_.add(block++, -h * c.a(i, j), other[Q::velocity_y]);
      matrix_.add(block++, -h * c.a(i, j), other[Q::velocity_z]);
      matrix_.add(block++, -h * c.ahat(i, j), other[Q::force_y]);
      matrix_.add(block++, -h * c.ahat(i, j), other[Q::force_z]);
      std::fill(sum_.begin(), sum_.end(), 0.0);  // sum_k at_ik ab_kj r_yk
      for (int k = 0; k < st_; ++k) {
        const double w = c.atilde(i, k) * c.abar(k, j);
        const double* r_y = (*node_[static_cast<std::size_t>(k)])[Q::reaction_y];
        if (w != 0)
          for (std::size_t e = 0; e < sum_.size(); ++e) sum_[e] += w * r_y[e];
      }
      ry_vy_.multiply(sum_.data(), other[Q::velocity_y], product_.data());
      matrix_.add(block++, -h * h, product_.data());
      ry_vz_.multiply(sum_.data(), other[Q::velocity_z], product_.data());
      matrix_.add(block++, -h * h, product_.data());
    }
    for (int k = 0; k < st_; ++k)
      matrix_.add(block++, -h * c.atilde(i, k), (*node_[static_cast<std::size_t>(k)])[Q::reaction_psi]);
  }
  for (int i = 1; i <= st_; ++i)
    for (int j = 0; j < s_; ++j) {
      const double* g_y = (*node_[static_cast<std::size_t>(i)])[Q::constraint_y];
      const Evaluation& other = *stage_[static_cast<std::size_t>(j)];
      gy_vy_.multiply(g_y, other[Q::velocity_y], product_.data());
      matrix_.add(block++, c.abar(i, j) / h, product_.data());
      gy_vz_.multiply(g_y, other[Q::velocity_z], product_.data());
      matrix_.add(block++, c.abar(i, j) / h, product_.data());
    }
  return matrix_.factor();
}

}  // namespace hinge
