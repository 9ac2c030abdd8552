#include "simulate/verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "solve/linear/cholesky.hpp"
#include "solve/linear/rank.hpp"
#include "solve/linear/spectrum.hpp"

namespace hinge {

namespace {

constexpr double negative_limit = 1e-9;  // of a mass, relative to the others
constexpr int most_masses = 400;         // whose motions are told from those that constraints forbid

using Q = Quantity;

}  // namespace

std::optional<Doubt> doubt_mass(const System& system, const State& s) {
  const SystemKind kind = system.layout().kind;
  if (kind != SystemKind::lagrangian && kind != SystemKind::mechanical && kind != SystemKind::multibody) return {};
  const auto parts = system.evaluation({Q::momentum_z, Q::constraint_rate_z});
  parts->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  Eigen::SparseMatrix<double> mass = sparse_matrix(system.pattern(Q::momentum_z), (*parts)[Q::momentum_z]);
  // in units in which every mass is 1 or -1
  Eigen::VectorXd unit(mass.rows());
  for (Eigen::Index i = 0; i < unit.size(); ++i) {
    const double m = std::abs(mass.coeff(i, i));
    unit[i] = m > 0 ? 1 / std::sqrt(m) : 1;
  }
  mass = unit.asDiagonal() * mass * unit.asDiagonal();
  const Eigen::SparseMatrix<double> transposed = mass.transpose();
  if (!((mass - transposed).norm() <= negative_limit * mass.norm()) || positive_definite(mass)) return {};
  double smallest = 0;
  if (mass.rows() <= most_masses) {
    const Eigen::MatrixXd rows =
        Eigen::MatrixXd(sparse_matrix(system.pattern(Q::constraint_rate_z), (*parts)[Q::constraint_rate_z])) *
        unit.asDiagonal();
    Eigen::MatrixXd free = Eigen::MatrixXd::Identity(mass.rows(), mass.rows());
    if (rows.rows() > 0) free = kernel(rows, negative_limit);
    free.colwise().normalize();
    if (free.cols() > 0) smallest = -largest_eigenvalue(-(free.transpose() * (mass * free)));
  } else {
    for (Eigen::Index i = 0; i < mass.rows(); ++i) smallest = std::min(smallest, mass.coeff(i, i));
  }
  if (!(smallest < -negative_limit)) return {};
  return Doubt{
      "the kinetic energy is negative for some velocities that the constraints allow: a mass with the wrong sign? In "
      "units of the other masses it is",
      smallest, "look at the signs in the kinetic energy or the mass matrix"};
}

double smallest_body(const System& system) {
  const BodyTable* bodies = bodies_of(system);
  return bodies ? bodies->smallest() : INFINITY;
}

}  // namespace hinge
