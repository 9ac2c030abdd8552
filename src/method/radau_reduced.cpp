#include "method/radau_reduced.hpp"

#include <cmath>
#include <utility>

namespace hinge {

namespace {

using Matrix = Eigen::MatrixXd;
constexpr double dependent = 1e-12;

// a <- a^-1 by elimination with row pivots; false where a pivot is negligible among those of its scaled row.
bool invert(Matrix& a, Matrix& inverse) {
  const Eigen::Index n = a.rows();
  inverse.setIdentity();
  for (Eigen::Index i = 0; i < n; ++i) {
    double size = 0;
    for (Eigen::Index j = 0; j < n; ++j) size = std::max(size, std::abs(a(i, j)));
    if (!(size > 0) || !std::isfinite(size)) return false;
    a.row(i) /= size;
    inverse(i, i) = 1 / size;
  }
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index best = k;
    for (Eigen::Index i = k + 1; i < n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    if (!(std::abs(a(best, k)) > 0)) return false;
    if (best != k) {
      a.row(k).swap(a.row(best));
      inverse.row(k).swap(inverse.row(best));
    }
    const double pivot = 1 / a(k, k);
    a.row(k) *= pivot;
    inverse.row(k) *= pivot;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double factor = a(i, k);
      if (i == k || factor == 0) continue;
      a.row(i).tail(n - k) -= factor * a.row(k).tail(n - k);
      inverse.row(i) -= factor * inverse.row(k);
    }
  }
  return inverse.allFinite();
}

// G^T = Q R by Householder reflections:  plus = Q1 R^-T, so that G plus = I = plus^T G^T,  and kernel = Q2.
bool split(const Matrix& g, Matrix& work, Matrix& q, Matrix& plus, Matrix& kernel) {
  const Eigen::Index m = g.rows(), n = g.cols();
  auto r = work.topLeftCorner(n, m);
  auto full = q.topLeftCorner(n, n);
  r = g.transpose();
  full.setIdentity();
  double largest = 0;
  for (Eigen::Index k = 0; k < m; ++k) {
    double size = 0;
    for (Eigen::Index i = k; i < n; ++i) size += r(i, k) * r(i, k);
    size = std::sqrt(size);
    largest = std::max(largest, size);
    if (!(size > dependent * largest)) return false;
    const double diagonal = r(k, k) > 0 ? -size : size;
    r(k, k) -= diagonal;  // column k now holds v
    const double beta = -1 / (diagonal * r(k, k));
    const auto v = r.col(k).tail(n - k);
    for (Eigen::Index j = k + 1; j < m; ++j) {
      const double s = beta * v.dot(r.col(j).tail(n - k));
      r.col(j).tail(n - k) -= s * v;
    }
    for (Eigen::Index i = 0; i < n; ++i) {  // Q <- Q (I - beta v v^T)
      double s = 0;
      for (Eigen::Index j = 0; j < n - k; ++j) s += full(i, k + j) * v(j);
      s *= beta;
      for (Eigen::Index j = 0; j < n - k; ++j) full(i, k + j) -= s * v(j);
    }
    r(k, k) = diagonal;
  }
  kernel = full.rightCols(n - m);
  for (Eigen::Index j = m - 1; j >= 0; --j) {
    plus.col(j) = full.col(j);
    for (Eigen::Index i = j + 1; i < m; ++i) plus.col(j) -= r(j, i) * plus.col(i);
    plus.col(j) /= r(j, j);
  }
  return true;
}

}  // namespace

RadauReduced::RadauReduced(const Pattern& pattern, ImplicitProblem::Shape shape, int most_stages)
    : ny_(shape.y),
      nz_(shape.z),
      m_(shape.psi),
      n_(ny_ + nz_ + 3 * m_),
      free_y_(ny_ - m_),
      free_z_(nz_ - m_),
      real_(free_y_ + free_z_) {
  const Eigen::Index u = ny_ + nz_, k = nz_ + m_, free = free_y_ + free_z_, s = most_stages;
  for (const auto& [matrix, rows, columns] : {std::tuple{&p_u_, ny_, u},
                                              {&k_, k, k},
                                              {&k_inverse_, k, k},
                                              {&da_u_, k, u},
                                              {&e_, k, u},
                                              {&b_, u, u},
                                              {&l_, m_, ny_},
                                              {&g_, m_, ny_},
                                              {&c_, m_, nz_},
                                              {&g_plus_, ny_, m_},
                                              {&c_plus_, nz_, m_},
                                              {&n_g_, ny_, free_y_},
                                              {&n_c_, nz_, free_z_},
                                              {&hp_, u, 2 * m_},
                                              {&kernel_, u, free},
                                              {&q_t_, free, u},
                                              {&q_t_b_, free, u},
                                              {&reduced_, free, free},
                                              {&left_, 2 * m_, u},
                                              {&full_q_, std::max(ny_, nz_), std::max(ny_, nz_)},
                                              {&work_, std::max(ny_, nz_), m_},
                                              {&constraint_, m_, ny_},
                                              {&kernel_right_, k, s},
                                              {&rho_, u, s},
                                              {&u_, u, s},
                                              {&a_, free, s},
                                              {&right_, free, s},
                                              {&slope_, u, s},
                                              {&shifted_, free, free}})
    matrix->setZero(rows, columns);
  complex_matrix_.setZero(free, free);
  complex_a_.setZero(free);
  complex_.assign(static_cast<std::size_t>(most_stages / 2), Eigen::PartialPivLU<Eigen::MatrixXcd>(free));

  // where the numbers of F_x and F_x' go
  const Eigen::Index rows[] = {0, ny_, u, u + m_, u + 2 * m_, n_};
  for (Eigen::Index i = 0; i < n_; ++i)
    for (auto at = static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(i)]);
         at < static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(i) + 1]); ++at) {
      const Eigen::Index j = pattern.column[at];
      if (i < rows[1]) {
        if (j < u) x_entries_.push_back({&p_u_, i, j, at});
      } else if (i < rows[3]) {  // D, A
        const Eigen::Index row = i - ny_;
        if (j < u) x_entries_.push_back({&da_u_, row, j, at});
        if (j >= u && j < u + m_ && row < nz_) x_entries_.push_back({&k_, row, nz_ + j - u, at});
        if (j >= ny_ && j < u) rate_entries_.push_back({&k_, row, j - ny_, at});
      } else if (i < rows[4]) {  // V
        if (j < ny_)
          x_entries_.push_back({&l_, i - rows[3], j, at});
        else if (j < u)
          x_entries_.push_back({&c_, i - rows[3], j - ny_, at});
      } else if (j < ny_) {
        x_entries_.push_back({&g_, i - rows[4], j, at});
      }
    }
}

bool RadauReduced::linearise(const double* f_x, const double* f_rate) {
  k_.setZero();
  for (const Entry& e : x_entries_) (*e.to)(e.row, e.column) = f_x[e.from];
  for (const Entry& e : rate_entries_) (*e.to)(e.row, e.column) = f_rate[e.from];
  if (!invert(k_, k_inverse_)) return false;
  if (!split(g_, work_, full_q_, g_plus_, n_g_) || !split(c_, work_, full_q_, c_plus_, n_c_)) return false;
  e_ = k_inverse_.lazyProduct(da_u_);
  b_.topRows(ny_) = p_u_;
  b_.bottomRows(nz_) = e_.topRows(nz_);
  // u_p = (G^+ r_C, C^+ (r_V - L G^+ r_C)),  N = [N_G 0; -C^+ L N_G N_C]; columns of hp: r_V, then r_C, as the rows are
  hp_.topRightCorner(ny_, m_) = g_plus_;
  hp_.bottomLeftCorner(nz_, m_) = c_plus_;
  constraint_.leftCols(m_) = l_.lazyProduct(g_plus_);
  hp_.bottomRightCorner(nz_, m_) = -(c_plus_.lazyProduct(constraint_.leftCols(m_)));
  kernel_.topLeftCorner(ny_, free_y_) = n_g_;
  kernel_.bottomRightCorner(nz_, free_z_) = n_c_;
  constraint_.leftCols(free_y_) = l_.lazyProduct(n_g_);
  kernel_.bottomLeftCorner(nz_, free_y_) = -(c_plus_.lazyProduct(constraint_.leftCols(free_y_)));
  q_t_.topLeftCorner(free_y_, ny_) = n_g_.transpose();
  q_t_.bottomRightCorner(free_z_, nz_) = n_c_.transpose();
  q_t_b_ = q_t_.lazyProduct(b_);
  reduced_ = q_t_b_.lazyProduct(kernel_);
  left_.topLeftCorner(m_, ny_) = g_plus_.transpose();
  left_.bottomRightCorner(m_, nz_) = c_plus_.transpose();
  return reduced_.allFinite() && hp_.allFinite();
}

bool RadauReduced::factor(double h, const RadauTableau& tableau) {
  h_ = h;
  tableau_ = &tableau;
  if (reduced_.rows() == 0) return true;
  const auto regular = [](const auto& lu) {
    const auto pivots = lu.matrixLU().diagonal().cwiseAbs();
    return pivots.minCoeff() > 1e-14 * pivots.maxCoeff();
  };
  if (tableau.has_real()) {
    shifted_ = reduced_;
    shifted_.diagonal().array() += tableau.real_eigenvalue / h;
    real_.compute(shifted_);
    if (!regular(real_)) return false;
  }
  for (std::size_t k = 0; k < tableau.eigenvalues.size(); ++k) {
    complex_matrix_ = reduced_.cast<Complex>();
    complex_matrix_.diagonal().array() += tableau.eigenvalues[k] / h;
    complex_[k].compute(complex_matrix_);
    if (!regular(complex_[k])) return false;
  }
  return true;
}

// rho, u_p and the right-hand side of the reduced equations, of all columns of f
template <class Columns>
void RadauReduced::particular(const Eigen::MatrixBase<Columns>& f) {
  const Eigen::Index s = f.cols();
  kernel_right_.leftCols(s) = k_inverse_.lazyProduct(f.middleRows(ny_, nz_ + m_));
  rho_.topRows(ny_).leftCols(s) = f.topRows(ny_);
  rho_.bottomRows(nz_).leftCols(s) = kernel_right_.topRows(nz_).leftCols(s);
  u_.leftCols(s) = hp_.lazyProduct(f.bottomRows(2 * m_));
  right_.leftCols(s) = q_t_.lazyProduct(rho_.leftCols(s));
  right_.leftCols(s) -= q_t_b_.lazyProduct(u_.leftCols(s));
}

// u = u_p + N a; then psi, mu and tau. slope_ holds sigma u already, with the shift of each column or stage.
template <class Columns>
void RadauReduced::complete(Eigen::MatrixBase<Columns>& out, Eigen::Index s) {
  slope_.leftCols(s) = rho_.leftCols(s) - slope_.leftCols(s);
  slope_.leftCols(s) -= b_.lazyProduct(u_.leftCols(s));
  out.topRows(ny_ + nz_) = u_.leftCols(s);
  out.middleRows(ny_ + nz_, m_) = kernel_right_.bottomRows(m_).leftCols(s);
  out.middleRows(ny_ + nz_, m_) -= e_.bottomRows(m_).lazyProduct(u_.leftCols(s));
  out.bottomRows(2 * m_) = left_.lazyProduct(slope_.leftCols(s));
}

void RadauReduced::solve(const double* f, double* dz) {
  const Eigen::Index s = tableau_->stages, free = reduced_.rows();
  const Eigen::Map<const Matrix> right(f, n_, s);
  Eigen::Map<Matrix> out(dz, n_, s);
  particular(right);
  if (free > 0) {
    a_.setZero();
    if (tableau_->has_real()) {
      auto a = shifted_.col(0);
      a = right_.leftCols(s).lazyProduct(tableau_->real_left);
      real_.permutationP().applyThisOnTheLeft(a);
      real_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(a);
      real_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(a);
      for (Eigen::Index i = 0; i < s; ++i) a_.col(i) += tableau_->real_right(i) * a;
    }
    for (std::size_t k = 0; k < tableau_->eigenvalues.size(); ++k) {
      complex_a_.setZero();
      for (Eigen::Index i = 0; i < s; ++i) complex_a_ += tableau_->left[k](i) * right_.col(i);
      complex_[k].permutationP().applyThisOnTheLeft(complex_a_);
      complex_[k].matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(complex_a_);
      complex_[k].matrixLU().triangularView<Eigen::Upper>().solveInPlace(complex_a_);
      for (Eigen::Index i = 0; i < s; ++i) {
        const Complex r = 2.0 * tableau_->right[k](i);
        a_.col(i) += r.real() * complex_a_.real() - r.imag() * complex_a_.imag();
      }
    }
    u_.leftCols(s) += kernel_.lazyProduct(a_.leftCols(s));
  }
  slope_.leftCols(s) = u_.leftCols(s).lazyProduct(tableau_->gamma.transpose());
  slope_.leftCols(s) /= h_;
  complete(out, s);
}

void RadauReduced::solve_real(double* x) {
  const Eigen::Index free = reduced_.rows();
  Eigen::Map<Matrix> column(x, n_, 1);
  particular(column);
  if (free > 0) {
    auto a = a_.col(0);
    a = right_.col(0);
    real_.permutationP().applyThisOnTheLeft(a);
    real_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(a);
    real_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(a);
    u_.leftCols(1) += kernel_.lazyProduct(a_.leftCols(1));
  }
  slope_.leftCols(1) = tableau_->real_eigenvalue / h_ * u_.leftCols(1);
  complete(column, 1);
}

}  // namespace hinge
