#include "method/implicit/radau_reduced.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hinge {

namespace {

constexpr double singular = 1e-14;
constexpr int few_rows = 16;  // below, loops without a library are faster

}  // namespace

RadauReduced::RadauReduced(const Pattern& pattern, ImplicitProblem::Shape shape, int most_stages)
    : ny_(shape.y),
      nz_(shape.z),
      m_(shape.psi),
      n_(ny_ + nz_ + 3 * m_),
      free_y_(ny_ - m_),
      free_z_(nz_ - m_),
      real_(free_y_ + free_z_) {
  const int u = ny_ + nz_, k = nz_ + m_, free = free_y_ + free_z_, wide = std::max(ny_, nz_);
  p_u_.resize(ny_, u);
  k_.resize(k, k);
  k_inverse_.resize(k, k);
  da_u_.resize(k, u);
  e_.resize(k, u);
  l_.resize(m_, ny_);
  g_.resize(m_, ny_);
  c_.resize(m_, nz_);
  g_plus_.resize(ny_, m_);
  c_plus_.resize(nz_, m_);
  g_plus_t_.resize(m_, ny_);
  c_plus_t_.resize(m_, nz_);
  n_g_.resize(ny_, free_y_);
  n_c_.resize(nz_, free_z_);
  n_g_t_.resize(free_y_, ny_);
  n_c_t_.resize(free_z_, nz_);
  l_g_.resize(m_, m_);
  l_n_.resize(m_, free_y_);
  c_l_n_.resize(nz_, free_y_);
  b_z_.resize(nz_, u);
  y_b_.resize(free_y_, u);
  z_b_.resize(free_z_, u);
  q_t_b_.resize(free, u);
  kernel_.resize(u, free);
  reduced_.resize(free, free);
  mu_b_.resize(m_, u);
  tau_b_.resize(m_, u);
  psi_e_.resize(m_, u);
  reflect_.resize(m_, wide);
  full_.resize(wide, wide);
  const auto lanes = [&](std::vector<double>& x, int rows) {
    x.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(std::max(most_stages, 1)), 0.0);
  };
  lanes(f_, n_);
  lanes(kr_, k);
  lanes(u_, u);
  lanes(right_, free);
  lanes(a_, free);
  lanes(slope_, u);
  lanes(out_, 3 * m_);
  complex_matrix_.setZero(free, free);
  real_matrix_.setZero(free, free);
  complex_a_.setZero(free);
  real_a_.setZero(free);
  real_ = Lu<double>(free);
  if (free <= few_rows) {
    small_complex_.resize(static_cast<std::size_t>(most_stages / 2));
    for (SmallComplexLu& lu : small_complex_) lu.resize(free);
  } else {
    complex_.assign(static_cast<std::size_t>(most_stages / 2), Lu<Complex>(free));
  }

  // where the numbers of F_x and F_x' go
  const int rows[] = {0, ny_, u, u + m_, u + 2 * m_, n_};
  const auto place = [](std::vector<Entry>& list, RowMatrix& to, int row, int column, std::size_t from) {
    list.push_back({to.row(row) + column, from});
  };
  for (int i = 0; i < n_; ++i)
    for (auto at = static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(i)]);
         at < static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(i) + 1]); ++at) {
      const int j = pattern.column[at];
      if (i < rows[1]) {  // P
        if (j < u) place(x_entries_, p_u_, i, j, at);
      } else if (i < rows[3]) {  // D, A
        const int row = i - ny_;
        if (j < u) place(x_entries_, da_u_, row, j, at);
        if (j >= u && j < u + m_ && row < nz_) place(x_entries_, k_, row, nz_ + j - u, at);
        if (j >= ny_ && j < u) place(rate_entries_, k_, row, j - ny_, at);
      } else if (i < rows[4]) {  // V
        if (j < ny_)
          place(x_entries_, l_, i - rows[3], j, at);
        else if (j < u)
          place(x_entries_, c_, i - rows[3], j - ny_, at);
      } else if (j < ny_) {  // C
        place(x_entries_, g_, i - rows[4], j, at);
      }
    }
}

bool RadauReduced::linearise(const double* f_x, const double* f_rate) {
  const auto place = [&] {
    std::fill(k_.values.begin(), k_.values.end(), 0.0);
    for (const Entry& e : x_entries_) *e.to = f_x[e.from];
    for (const Entry& e : rate_entries_) *e.to = f_rate[e.from];
  };
  place();
  double* work = slope_.data();
  if (!invert(k_, k_inverse_, work)) {
    place();
    if (!invert_balanced(k_, k_inverse_, work)) return false;
  }
  if (!split(g_, g_plus_, n_g_, reflect_, full_, work) || !split(c_, c_plus_, n_c_, reflect_, full_, work))
    return false;
  transpose(g_plus_, g_plus_t_);
  transpose(c_plus_, c_plus_t_);
  transpose(n_g_, n_g_t_);
  transpose(n_c_, n_c_t_);
  product(k_inverse_, da_u_, e_);
  const auto z_rows = static_cast<std::ptrdiff_t>(nz_) * e_.columns;
  std::copy_n(e_.values.begin(), z_rows, b_z_.values.begin());
  std::copy(e_.values.begin() + z_rows, e_.values.end(), psi_e_.values.begin());
  product(l_, g_plus_, l_g_);
  product(l_, n_g_, l_n_);
  product(c_plus_, l_n_, c_l_n_);
  // Q^T B, and N = [N_G 0; -C^+ L N_G N_C]
  product(n_g_t_, p_u_, y_b_);
  product(n_c_t_, b_z_, z_b_);
  std::copy(y_b_.values.begin(), y_b_.values.end(), q_t_b_.values.begin());
  std::copy(z_b_.values.begin(), z_b_.values.end(),
            q_t_b_.values.begin() + static_cast<std::ptrdiff_t>(y_b_.values.size()));
  for (int i = 0; i < ny_; ++i) std::copy_n(n_g_.row(i), free_y_, kernel_.row(i));
  for (int i = 0; i < nz_; ++i) {
    for (int j = 0; j < free_y_; ++j) kernel_.row(ny_ + i)[j] = -c_l_n_.row(i)[j];
    std::copy_n(n_c_.row(i), free_z_, kernel_.row(ny_ + i) + free_y_);
  }
  product(q_t_b_, kernel_, reduced_);
  product(g_plus_t_, p_u_, mu_b_);
  product(c_plus_t_, b_z_, tau_b_);
  return std::all_of(reduced_.values.begin(), reduced_.values.end(), [](double x) { return std::isfinite(x); });
}

bool RadauReduced::factor(double h, const RadauTableau& tableau) {
  h_ = h;
  tableau_ = &tableau;
  const int free = reduced_.rows;
  if (free == 0) return true;
  const auto shifted = [&](auto& matrix, auto shift) {
    for (int i = 0; i < free; ++i)
      for (int j = 0; j < free; ++j) matrix(i, j) = reduced_.row(i)[j];
    matrix.diagonal().array() += shift;
  };
  if (tableau.has_real()) {
    shifted(real_matrix_, tableau.real_eigenvalue / h);
    real_.factor(real_matrix_);
    if (!real_.regular(singular)) return false;
  }
  for (std::size_t k = 0; k < tableau.eigenvalues.size(); ++k) {
    if (!small_complex_.empty()) {
      SmallComplexLu& lu = small_complex_[k];
      for (int i = 0; i < free; ++i)
        for (int j = 0; j < free; ++j) lu(i, j) = reduced_.row(i)[j];
      for (int i = 0; i < free; ++i) lu(i, i) += tableau.eigenvalues[k] / h;
      if (!lu.factor()) return false;
      continue;
    }
    shifted(complex_matrix_, tableau.eigenvalues[k] / h);
    complex_[k].factor(complex_matrix_);
    if (!complex_[k].regular(singular)) return false;
  }
  return true;
}

// K^-1 (r_D, r_A), u_p, and the right-hand side of the reduced equations, of all lanes
template <int S>
void RadauReduced::particular() {
  const double *p = f_.data(), *d = p + S * ny_, *v = d + S * (nz_ + m_), *c = v + S * m_;
  std::fill(kr_.begin(), kr_.end(), 0.0);
  std::fill(u_.begin(), u_.end(), 0.0);
  std::fill(right_.begin(), right_.end(), 0.0);
  add_product<S>(k_inverse_, d, 1, kr_.data());
  add_product<S>(g_plus_, c, 1, u_.data());
  std::copy_n(v, S * m_, out_.data());
  add_product<S>(l_g_, c, -1, out_.data());  // r_V - L G^+ r_C
  add_product<S>(c_plus_, out_.data(), 1, u_.data() + S * ny_);
  add_product<S>(n_g_t_, p, 1, right_.data());
  add_product<S>(n_c_t_, kr_.data(), 1, right_.data() + S * free_y_);
  add_product<S>(q_t_b_, u_.data(), -1, right_.data());
}

// psi, mu and tau from u; slope_ holds sigma u, with the shift of each lane, or u' of the stages
template <int S>
void RadauReduced::complete() {
  const int u = ny_ + nz_;
  for (int i = 0; i < S * ny_; ++i)
    slope_[static_cast<std::size_t>(i)] = f_[static_cast<std::size_t>(i)] - slope_[static_cast<std::size_t>(i)];
  for (int i = 0; i < S * nz_; ++i) {
    double& x = slope_[static_cast<std::size_t>(S * ny_ + i)];
    x = kr_[static_cast<std::size_t>(i)] - x;
  }
  double* out = out_.data();
  std::copy_n(kr_.data() + S * nz_, S * m_, out);
  std::fill_n(out + S * m_, 2 * S * m_, 0.0);
  add_product<S>(psi_e_, u_.data(), -1, out);
  add_product<S>(g_plus_t_, slope_.data(), 1, out + S * m_);
  add_product<S>(mu_b_, u_.data(), -1, out + S * m_);
  add_product<S>(c_plus_t_, slope_.data() + S * ny_, 1, out + 2 * S * m_);
  add_product<S>(tau_b_, u_.data(), -1, out + 2 * S * m_);
  std::copy_n(u_.data(), S * u, f_.data());
  std::copy_n(out, 3 * S * m_, f_.data() + S * u);
}

template <int S>
void RadauReduced::solve_stages(const double* f, double* dz) {
  const int free = reduced_.rows, u = ny_ + nz_;
  for (int i = 0; i < S; ++i)
    for (int k = 0; k < n_; ++k) f_[static_cast<std::size_t>(S * k + i)] = f[i * n_ + k];
  particular<S>();
  if (free > 0) {
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, S, S == 1 ? Eigen::ColMajor : Eigen::RowMajor>> right(
        right_.data(), free, S);
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, S, S == 1 ? Eigen::ColMajor : Eigen::RowMajor>> a(a_.data(), free,
                                                                                                       S);
    a.setZero();
    if (tableau_->has_real()) {
      real_a_ = right.lazyProduct(tableau_->real_left);
      real_.solve(real_a_.data());
      for (int i = 0; i < S; ++i) a.col(i) += tableau_->real_right(i) * real_a_;
    }
    for (std::size_t k = 0; k < tableau_->eigenvalues.size(); ++k) {
      complex_a_.setZero();
      for (int i = 0; i < S; ++i) complex_a_ += tableau_->left[k](i) * right.col(i);
      if (!small_complex_.empty())
        small_complex_[k].solve(complex_a_.data());
      else
        complex_[k].solve(complex_a_.data());
      for (int i = 0; i < S; ++i) {
        const Complex r = 2.0 * tableau_->right[k](i);
        a.col(i) += r.real() * complex_a_.real() - r.imag() * complex_a_.imag();
      }
    }
    add_product<S>(kernel_, a_.data(), 1, u_.data());
  }
  for (int k = 0; k < u; ++k)
    for (int i = 0; i < S; ++i) {
      double sum = 0;
      for (int j = 0; j < S; ++j) sum += tableau_->gamma(i, j) * u_[static_cast<std::size_t>(S * k + j)];
      slope_[static_cast<std::size_t>(S * k + i)] = sum / h_;
    }
  complete<S>();
  for (int i = 0; i < S; ++i)
    for (int k = 0; k < n_; ++k) dz[i * n_ + k] = f_[static_cast<std::size_t>(S * k + i)];
}

void RadauReduced::solve(const double* f, double* dz) {
  switch (tableau_->stages) {
    case 1: return solve_stages<1>(f, dz);
    case 2: return solve_stages<2>(f, dz);
    case 3: return solve_stages<3>(f, dz);
    case 4: return solve_stages<4>(f, dz);
    case 5: return solve_stages<5>(f, dz);
    case 6: return solve_stages<6>(f, dz);
    case 7: return solve_stages<7>(f, dz);
    case 8: return solve_stages<8>(f, dz);
    default: return solve_stages<9>(f, dz);
  }
}

void RadauReduced::solve_real(double* x) {
  std::copy_n(x, n_, f_.data());
  particular<1>();
  if (reduced_.rows > 0) {
    for (int i = 0; i < reduced_.rows; ++i) real_a_(i) = right_[static_cast<std::size_t>(i)];
    real_.solve(real_a_.data());
    add_product<1>(kernel_, real_a_.data(), 1, u_.data());
  }
  for (int i = 0; i < ny_ + nz_; ++i)
    slope_[static_cast<std::size_t>(i)] = tableau_->real_eigenvalue / h_ * u_[static_cast<std::size_t>(i)];
  complete<1>();
  std::copy_n(f_.data(), n_, x);
}

template void RadauReduced::particular<1>();
template void RadauReduced::complete<1>();

}  // namespace hinge
