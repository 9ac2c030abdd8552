// SaddleKernel for point masses under ideal constraints.
#include <cmath>

#include "solve/index.hpp"
#include "solve/linear/saddle_kernel.hpp"

namespace hinge {

void SaddleKernel::prepare_point_masses() {
  const Pattern& c = c_pattern_;
  c_over_mass_.resize(c.entries());
  by_row_.reserve(c.entries());
  by_row_start_.reserve(at(nz_ + 1));
  product_start_.reserve(at(m_ * (m_ + 1) / 2 + 1));
  by_row_start_.push_back(0);
  for (int column = 0; column < nz_; ++column) {
    for (std::size_t k = 0; k < c_entries_.size(); ++k)
      if (c_entries_[k].column == column) by_row_.push_back({static_cast<int>(k), c_entries_[k].row});
    by_row_start_.push_back(static_cast<int>(by_row_.size()));
  }
  product_start_.push_back(0);
  for (int i = 0; i < m_; ++i)
    for (int j = 0; j <= i; ++j) {
      for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
        for (int l = c.row_start[at(j)]; l < c.row_start[at(j) + 1]; ++l)
          if (c.column[at(k)] == c.column[at(l)]) products_.push_back({k, l});
      product_start_.push_back(static_cast<int>(products_.size()));
    }
}

template <int M>
bool SaddleKernel::factor_point_masses_of(const double* c) {
  const int m = M > 0 ? M : m_;
  const int* column = c_pattern_.column.data();
  for (std::size_t k = 0; k < c_over_mass_.size(); ++k) c_over_mass_[k] = c[k] * inverse_[at(column[k])];
  // C A^-1 C^T = L D L^T, with the inverse of D
  double* s = schur_.data();
  const Product* product = products_.data();
  const int* end = product_start_.data();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = 0;
      for (const Product* const last = products_.data() + *++end; product != last; ++product)
        sum += c[product->first] * c_over_mass_[at(product->second)];
      s[i * m + j] = sum;
    }
  if constexpr (M == 2) {  // one division instead of two that wait for each other
    const double diagonal = s[0] * s[3], det = diagonal - s[2] * s[2];
    if (!(det > weak_schur * diagonal)) return false;
    const double inverse = 1 / det, corner = s[0];
    s[0] = s[3] * inverse, s[1] = -s[2] * inverse, s[3] = corner * inverse;
    return std::isfinite(inverse);
  }
  for (int k = 0; k < m; ++k) {
    const double whole = s[k * m + k];
    double pivot = whole;
    for (int j = 0; j < k; ++j) {
      double l = s[k * m + j];
      for (int i = 0; i < j; ++i) l -= s[k * m + i] * s[j * m + i];  // s[k][i] is L D here
      s[k * m + j] = l;
    }
    for (int j = 0; j < k; ++j) {
      const double l = s[k * m + j] * s[j * m + j];
      pivot -= l * s[k * m + j];
      s[k * m + j] = l;
    }
    if (!(pivot > weak_schur * whole)) return false;
    s[k * m + k] = 1 / pivot;
  }
  return std::isfinite(s[m * m - 1]);
}

// mu = (C A^-1 C^T)^-1 (C A^-1 a - b),  x = A^-1 (a - C^T mu)
template <int M>
void SaddleKernel::solve_point_masses_of(double* x, double* multiplier) {
  const int m = M > 0 ? M : m_;
  double mu[at(M > 0 ? M : most_constraints)];
  const int* start = c_pattern_.row_start.data();
  const int* column = c_pattern_.column.data();
  for (int i = 0; i < m; ++i) {
    double sum = -multiplier[i];
    for (int k = start[i]; k < start[i + 1]; ++k) sum += c_over_mass_[at(k)] * x[column[k]];
    mu[i] = sum;
  }
  const double* s = schur_.data();
  if constexpr (M == 2) {
    const double first = mu[0], second = mu[1];
    mu[0] = s[0] * first + s[1] * second;
    mu[1] = s[1] * first + s[3] * second;
  } else {
    for (int i = 1; i < m; ++i)
      for (int k = 0; k < i; ++k) mu[i] -= s[i * m + k] * mu[k];
    for (int k = 0; k < m; ++k) mu[k] *= s[k * m + k];
    for (int k = m; k-- > 0;)
      for (int j = k + 1; j < m; ++j) mu[k] -= s[j * m + k] * mu[j];
  }
  const Product* entry = by_row_.data();
  const int* end = by_row_start_.data();
  const auto row = [&](int i) {
    double sum = x[i] * inverse_[at(i)];
    for (const Product* const last = by_row_.data() + *++end; entry != last; ++entry)
      sum -= c_over_mass_[at(entry->first)] * mu[entry->second];
    return sum;
  };
  // written in pairs, as they are going to be read
  int i = 0;
  for (; i + 2 <= nz_; i += 2) {
    const double first = row(i), second = row(i + 1);
    x[i] = first;
    x[i + 1] = second;
  }
  if (i < nz_) x[i] = row(i);
  for (int k = 0; k < m; ++k) multiplier[k] = mu[k];
}

bool SaddleKernel::invert_diagonal(const double* a) {
  if (have_mass_ && constant_mass_) return true;
  have_mass_ = false;
  for (int i = 0; i < nz_; ++i) {
    if (!(a[i] > 0)) return false;
    inverse_[at(i)] = 1 / a[i];
  }
  return have_mass_ = true;
}

bool SaddleKernel::factor_point_masses(const double* c) {
  switch (m_) {
    case 1: return factor_point_masses_of<1>(c);
    case 2: return factor_point_masses_of<2>(c);
    case 3: return factor_point_masses_of<3>(c);
    default: return factor_point_masses_of<0>(c);
  }
}

void SaddleKernel::solve_point_masses(double* x, double* multiplier) {
  switch (m_) {
    case 1: return solve_point_masses_of<1>(x, multiplier);
    case 2: return solve_point_masses_of<2>(x, multiplier);
    case 3: return solve_point_masses_of<3>(x, multiplier);
    default: return solve_point_masses_of<0>(x, multiplier);
  }
}

}  // namespace hinge
