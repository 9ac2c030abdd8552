#include "solve/linear/saddle_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"
#include "solve/linear/small_inverse.hpp"

namespace hinge {

namespace {

constexpr int largest_mass = 64, most_point_constraints = 12;

}  // namespace

SaddleKernel::SaddleKernel(const Pattern& a, const Pattern& c, bool constant_mass, LinearAlgebra choice)
    : SaddleKernel(
          a,
          [&c] {
            std::vector<int> from;
            return transposed(c, from);
          }(),
          c, constant_mass, choice) {
  transposed(c, b_from_c_);
  b_values_.resize(b_from_c_.size());
  // SparseSchur leaves the zeros out, of which bodies and joints have many
  if (diagonal_ && m_ > most_point_constraints) small_ = false;
  point_masses_ = small_ && diagonal_ && a.entries() == static_cast<std::size_t>(a.rows) && m_ > 0;
  if (point_masses_) prepare_point_masses();
}

SaddleKernel::SaddleKernel(const Pattern& a, const Pattern& b, const Pattern& c, bool constant_mass,
                           LinearAlgebra choice)
    : nz_(a.rows),
      m_(c.rows),
      constant_mass_(constant_mass),
      a_pattern_(a),
      b_pattern_(b),
      c_pattern_(c),
      choice_(choice) {
  int largest = 0;
  std::size_t inverse = 0;
  std::vector<int> local(at(nz_));
  const std::vector<std::vector<int>> blocks = independent_blocks(a);
  blocks_.reserve(blocks.size());
  order_.reserve(at(nz_));
  for (const std::vector<int>& rows : blocks) {
    const auto size = static_cast<int>(rows.size());
    blocks_.push_back({static_cast<int>(order_.size()), size, inverse});
    for (int k = 0; k < size; ++k) local[at(rows[at(k)])] = k;
    order_.insert(order_.end(), rows.begin(), rows.end());
    inverse += rows.size() * rows.size();
    largest = std::max(largest, size);
  }
  place_.resize(a.entries());
  for (const Block& block : blocks_)
    for (int k = block.first; k < block.first + block.size; ++k) {
      const int i = order_[at(k)];
      for (int e = a.row_start[at(i)]; e < a.row_start[at(i) + 1]; ++e)
        place_[at(e)] = static_cast<int>(block.inverse) + local[at(i)] * block.size + local[at(a.column[at(e)])];
    }
  diagonal_ = largest <= 1;
  small_ =
      choice != LinearAlgebra::sparse && nz_ <= largest_mass && largest <= largest_inverse && m_ <= most_constraints;
  for (auto [pattern, entries] : {std::pair{&b, &b_entries_}, std::pair{&c, &c_entries_}}) {
    entries->reserve(pattern->entries());
    for (int i = 0; i < pattern->rows; ++i)
      for (int k = pattern->row_start[at(i)]; k < pattern->row_start[at(i) + 1]; ++k)
        entries->push_back({i, pattern->column[at(k)]});
  }
  whole_.resize(at(nz_ + m_));
  if (!small_) return;
  inverse_.resize(inverse);
  work_.resize(at(largest * largest));
  w_.assign(at(nz_ * m_), 0.0);
  c_.resize(c.entries());
  schur_.resize(at(m_ * m_));
  u_.resize(at(nz_));
  pivot_.resize(at(m_));
}

bool SaddleKernel::factor(const double* a, const double* b, const double* c) {
  use_full_ = use_sparse_ = false;
  if (small_ && factor_for_size(a, b, c)) return factored_ = true;
  if (!small_ && !b && choice_ == LinearAlgebra::automatic) {
    if (!sparse_) sparse_ = std::make_unique<SparseSchur>(a_pattern_, c_pattern_, constant_mass_);
    if (sparse_->usable() && sparse_->factor(a, c)) return factored_ = use_sparse_ = true;
  }
  if (!full_) full_ = std::make_unique<SaddlePoint>(a_pattern_, b_pattern_, c_pattern_, choice_);
  if (!b) {
    for (std::size_t k = 0; k < b_from_c_.size(); ++k) b_values_[k] = -c[b_from_c_[k]];
    b = b_values_.data();
  }
  use_full_ = true;
  return factored_ = full_->factor(a, b, 1.0, c);
}

bool SaddleKernel::invert_mass(const double* a) {
  if (have_mass_ && constant_mass_) return true;
  if (a_pattern_.entries() != inverse_.size()) std::fill(inverse_.begin(), inverse_.end(), 0.0);
  for (std::size_t k = 0; k < place_.size(); ++k) inverse_[at(place_[k])] = a[k];
  for (const Block& block : blocks_)
    if (!invert_small(inverse_.data() + block.inverse, block.size, work_.data())) return have_mass_ = false;
  return have_mass_ = true;
}

void SaddleKernel::apply_inverse_mass(const double* x, double* out) const {
  if (diagonal_) {
    for (int i = 0; i < nz_; ++i) out[i] = inverse_[at(i)] * x[i];
    return;
  }
  for (const Block& block : blocks_) {
    const int* row = order_.data() + block.first;
    const double* inverse = inverse_.data() + block.inverse;
    for (int i = 0; i < block.size; ++i) {
      double sum = 0;
      for (int j = 0; j < block.size; ++j) sum += *inverse++ * x[row[j]];
      out[row[i]] = sum;
    }
  }
}

// M: the number of constraints where it is known at compile time, so that loops over it are unrolled; else 0.
template <int M>
bool SaddleKernel::factor_small(const double* a, const double* b, const double* c) {
  if (!invert_mass(a)) return false;
  const int m = M > 0 ? M : m_;
  std::copy_n(c, c_.size(), c_.data());
  // W = A^-1 B: B first, then block by block
  double* const w = w_.data();
  std::fill(w_.begin(), w_.end(), 0.0);
  if (b)
    for (std::size_t k = 0; k < b_entries_.size(); ++k) w[b_entries_[k].row * m + b_entries_[k].column] = b[k];
  else
    for (std::size_t k = 0; k < c_entries_.size(); ++k) w[c_entries_[k].column * m + c_entries_[k].row] = -c[k];
  if (diagonal_) {
    for (int i = 0; i < nz_; ++i)
      for (int j = 0; j < m; ++j) w[i * m + j] *= inverse_[at(i)];
  } else {
    for (const Block& block : blocks_) {
      const int* row = order_.data() + block.first;
      const double* inverse = inverse_.data() + block.inverse;
      const int n = block.size;
      if (n == 1) {
        for (int j = 0; j < m; ++j) w[*row * m + j] *= *inverse;
      } else if (n == 2) {
        double *first = w + row[0] * m, *second = w + row[1] * m;
        for (int j = 0; j < m; ++j) {
          const double x = first[j], y = second[j];
          first[j] = inverse[0] * x + inverse[1] * y;
          second[j] = inverse[2] * x + inverse[3] * y;
        }
      } else {
        double column[largest_inverse];
        for (int j = 0; j < m; ++j) {
          for (int i = 0; i < n; ++i) column[i] = w[row[i] * m + j];
          for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int l = 0; l < n; ++l) sum += inverse[i * n + l] * column[l];
            w[row[i] * m + j] = sum;
          }
        }
      }
    }
  }
  // S = C W
  double* const schur = schur_.data();
  const int* k_end = c_pattern_.row_start.data();
  const int* column = c_pattern_.column.data();
  for (int i = 0; i < m; ++i) {
    double sum[at(M > 0 ? M : most_constraints)] = {};
    for (int k = k_end[i]; k < k_end[i + 1]; ++k)
      for (int j = 0; j < m; ++j) sum[j] += c[k] * w[column[k] * m + j];
    for (int j = 0; j < m; ++j) schur[i * m + j] = sum[j];
  }
  return factor_schur<M>();
}

// P S = L U in place, with the inverses of the pivots
template <int M>
bool SaddleKernel::factor_schur() {
  const int m = M > 0 ? M : m_;
  double* s = schur_.data();
  double size[at(M > 0 ? M : most_constraints)];
  for (int i = 0; i < m; ++i) {
    size[i] = 0;
    for (int j = 0; j < m; ++j) size[i] = std::max(size[i], std::abs(s[i * m + j]));
  }
  for (int k = 0; k < m; ++k) {
    // the first row whose entry is no weak one of its row, or the best, so that units of constraints do not matter
    int best = k;
    if (!(std::abs(s[k * m + k]) > 0.1 * size[k])) {
      double largest = -1;
      for (int i = k; i < m; ++i)
        if (const double share = std::abs(s[i * m + k]) / size[i]; share > largest) largest = share, best = i;
    }
    if (!(std::abs(s[best * m + k]) > weak_schur * size[best])) return false;
    pivot_[at(k)] = best;
    if (best != k) {
      std::swap(size[k], size[best]);
      for (int j = 0; j < m; ++j) std::swap(s[k * m + j], s[best * m + j]);
    }
    const double inverse = 1 / s[k * m + k];
    s[k * m + k] = inverse;
    for (int i = k + 1; i < m; ++i) {
      const double f = s[i * m + k] *= inverse;
      for (int j = k + 1; j < m; ++j) s[i * m + j] -= f * s[k * m + j];
    }
  }
  return std::isfinite(s[m * m - 1]);
}

template <int M>
void SaddleKernel::solve_small(double* x, double* multiplier) {
  const int m = M > 0 ? M : m_;
  apply_inverse_mass(x, u_.data());
  double mu[at(M > 0 ? M : most_constraints)];
  const int* start = c_pattern_.row_start.data();
  const int* column = c_pattern_.column.data();
  for (int i = 0; i < m; ++i) {
    double sum = multiplier[i];
    for (int k = start[i]; k < start[i + 1]; ++k) sum -= c_[at(k)] * u_[at(column[k])];
    mu[i] = sum;
  }
  const double* s = schur_.data();
  for (int k = 0; k < m; ++k) std::swap(mu[k], mu[pivot_[at(k)]]);
  for (int i = 1; i < m; ++i)
    for (int k = 0; k < i; ++k) mu[i] -= s[i * m + k] * mu[k];
  for (int k = m; k-- > 0;) {
    for (int j = k + 1; j < m; ++j) mu[k] -= s[k * m + j] * mu[j];
    mu[k] *= s[k * m + k];
  }
  const double* w = w_.data();
  for (int i = 0; i < nz_; ++i) {
    double sum = u_[at(i)];
    for (int j = 0; j < m; ++j) sum += w[i * m + j] * mu[j];
    x[i] = sum;
  }
  for (int i = 0; i < m; ++i) multiplier[i] = mu[i];
}

bool SaddleKernel::factor_for_size(const double* a, const double* b, const double* c) {
  by_point_masses_ = point_masses_ && !b && invert_diagonal(a);
  if (by_point_masses_) return factor_point_masses(c);
  switch (m_) {
    case 0: return invert_mass(a);
    case 1: return factor_small<1>(a, b, c);
    case 2: return factor_small<2>(a, b, c);
    case 3: return factor_small<3>(a, b, c);
    case 4: return factor_small<4>(a, b, c);
    case 5: return factor_small<5>(a, b, c);
    case 6: return factor_small<6>(a, b, c);
    default: return factor_small<0>(a, b, c);
  }
}

void SaddleKernel::solve(double* x, double* mu) {
  if (use_sparse_) return sparse_->solve(x, mu);
  if (use_full_) {
    std::copy_n(x, nz_, whole_.data());
    std::copy_n(mu, m_, whole_.data() + nz_);
    full_->solve(whole_.data());
    std::copy_n(whole_.data(), nz_, x);
    std::copy_n(whole_.data() + nz_, m_, mu);
    return;
  }
  if (by_point_masses_) return solve_point_masses(x, mu);
  switch (m_) {
    case 0:
      apply_inverse_mass(x, u_.data());
      std::copy(u_.begin(), u_.end(), x);
      return;
    case 1: return solve_small<1>(x, mu);
    case 2: return solve_small<2>(x, mu);
    case 3: return solve_small<3>(x, mu);
    case 4: return solve_small<4>(x, mu);
    case 5: return solve_small<5>(x, mu);
    case 6: return solve_small<6>(x, mu);
    default: return solve_small<0>(x, mu);
  }
}

}  // namespace hinge
