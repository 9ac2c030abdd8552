#include "solve/linear/sparse_schur.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"
#include "solve/linear/small_inverse.hpp"

namespace hinge {

bool SparseSchur::invert_mass(const double* a) {
  if (have_mass_ && constant_mass_) return true;
  have_mass_ = false;
  if (diagonal_) {
    for (std::size_t i = 0; i < at(nz_); ++i) {
      if (!(a[i] > 0)) return false;
      inverse_[i] = 1 / a[i];
    }
    for (std::size_t e = 0; e < w_inverse_.size(); ++e) w_inverse_[e] = inverse_[at(w_column_[e])];
    return have_mass_ = true;
  }
  for (std::size_t k = 0; k < mirror_.size(); ++k) {
    const double other = a[mirror_[k]];
    if (!(std::abs(a[k] - other) <= 1e-14 * (std::abs(a[k]) + std::abs(other)))) return false;
  }
  std::fill(inverse_.begin(), inverse_.end(), 0.0);
  for (std::size_t k = 0; k < place_.size(); ++k) inverse_[at(place_[k])] = a[k];
  for (const Block& block : blocks_) {
    double* const inverse = inverse_.data() + block.inverse;
    if (!invert_small(inverse, block.size, work_.data())) return false;
    for (int i = 0; i < block.size; ++i)
      if (!(inverse[i * block.size + i] > 0)) return false;
  }
  return have_mass_ = true;
}

// W^T = C A^-1, block by block
void SparseSchur::multiply_blocks(const double* c) {
  for (const Segment& segment : segments_) {
    const Block& block = blocks_[at(segment.block)];
    double* const w = w_.data() + segment.w;
    std::fill_n(w, block.size, 0.0);
    for (int k = segment.first_part; k < segment.end; ++k) {
      const double value = c[parts_[at(k)].c];
      const double* inverse = inverse_.data() + block.inverse + at(parts_[at(k)].local * block.size);
      for (int j = 0; j < block.size; ++j) w[j] += value * inverse[j];
    }
  }
}

namespace {

// sum + x . y over a few runs. Where points hang on each other there are one or two, for which no loop is needed.
template <int U, class Run>
inline double sum_over(double sum, const Run* run, int count, const double* x, const double* y) {
  const auto one = [&](const Run r) {
    for (int u = 0; u < U; ++u) sum += x[r.first + u] * y[r.second + u];
  };
  if (count == 2) {
    one(run[0]);
    one(run[1]);
  } else if (count == 1) {
    one(run[0]);
  } else {
    for (const Run* const last = run + count; run != last; ++run) one(*run);
  }
  return sum;
}

}  // namespace

// The last entry of each row of S is the one on its diagonal: of point masses c . w of the row itself.
template <int U, bool points>
void SparseSchur::fill_schur(const double* c) {
  double *const w = w_.data(), *const s = schur_.data();
  const double* const inverse = w_inverse_.data();
  const int* const end = product_start_.data() + 1;
  const int* const row_start = ldlt_.row_start().data();
  if (!points) multiply_blocks(c);
  const Run* product = products_.data();
  for (int p = 0; p < m_; ++p) {
    const int last_entry = row_start[p + 1] - (points ? 1 : 0);
    if (points) {
      const int first = rows_[at(p)].w, last = rows_[at(p) + 1].w;
      const double* const from = c + rows_[at(p)].c - first;
      double sum = 0;
      for (int e = first; e < last; e += U)
        for (int u = 0; u < U; ++u) {
          w[e + u] = from[e + u] * inverse[e + u];
          sum += from[e + u] * w[e + u];
        }
      s[last_entry] = sum;
    }
    for (int e = row_start[p]; e < last_entry; ++e) {
      const Run* const last = products_.data() + end[e];
      s[e] = sum_over<U>(0.0, product, static_cast<int>(last - product), c, w);
      product = last;
    }
    if (points) product = products_.data() + end[last_entry];
  }
}

bool SparseSchur::factor(const double* a, const double* c) {
  if (!invert_mass(a)) return false;
  switch (unit_) {
    case 3: diagonal_ ? fill_schur<3, true>(c) : fill_schur<3, false>(c); break;
    case 2: diagonal_ ? fill_schur<2, true>(c) : fill_schur<2, false>(c); break;
    default: diagonal_ ? fill_schur<1, true>(c) : fill_schur<1, false>(c);
  }
  if (!ldlt_.factor(schur_.data())) return false;
  refines_ = ldlt_.weakest() < SparseLdlt::doubtful;
  if (refines_) c_.assign(c, c + c_column_.size());
  return true;
}

void SparseSchur::apply_inverse_mass(double* x) {
  if (diagonal_) {
    for (int i = 0; i < nz_; ++i) x[i] *= inverse_[at(i)];
    return;
  }
  double u[at(largest_inverse)];
  for (const Block& block : blocks_) {
    const int* row = order_.data() + block.first;
    const double* inverse = inverse_.data() + block.inverse;
    for (int i = 0; i < block.size; ++i) u[i] = x[row[i]];
    for (int i = 0; i < block.size; ++i) {
      double sum = 0;
      for (int j = 0; j < block.size; ++j) sum += *inverse++ * u[j];
      x[row[i]] = sum;
    }
  }
}

// x = A^-1 x - W mu, point after point: each is read and written once.
template <int U>
void SparseSchur::take_all(double* x, double* mu) const {
  const double *const w = w_.data(), *const y = mu_.data();
  const int* const order = ldlt_.order().data();
  for (int p = 0; p < m_; ++p) mu[order[p]] = y[p];
  const Taker* taker = takers_.data();
  const double* inverse = inverse_.data();
  for (const int end : taker_end_) {
    const Taker* const last = takers_.data() + end;
    double next[static_cast<std::size_t>(U)];
    for (int u = 0; u < U; ++u) next[u] = x[u] * inverse[u];
    for (; taker != last; ++taker) {
      const double value = y[taker->row];
      for (int u = 0; u < U; ++u) next[u] -= w[taker->w + u] * value;
    }
    for (int u = 0; u < U; ++u) x[u] = next[u];
    x += U, inverse += U;
  }
}

template <int U>
void SparseSchur::solve_once(double* x, double* mu) {
  const double* const w = w_.data();
  const int* const order = ldlt_.order().data();
  const Row* const rows = rows_.data();
  const Run* const runs = w_runs_.data();
  double* const y = mu_.data();
  for (int p = 0; p < m_; ++p) {
    const int first = rows[p].runs;
    y[p] = sum_over<U>(-mu[order[p]], runs + first, rows[p + 1].runs - first, w, x);
  }
  ldlt_.solve(y);
  if (!takers_.empty()) return take_all<U>(x, mu);
  apply_inverse_mass(x);
  for (int p = 0; p < m_; ++p) {
    const double value = y[p];
    mu[order[p]] = value;
    const auto take = [&](const Run run) {
      for (int u = 0; u < U; ++u) x[run.second + u] -= w[run.first + u] * value;
    };
    const int first = rows[p].runs, last = rows[p + 1].runs;
    if (last - first == 2) {
      take(runs[first]);
      take(runs[first + 1]);
    } else {
      for (int r = first; r < last; ++r) take(runs[r]);
    }
  }
}

template <int U>
void SparseSchur::solve_with(double* x, double* mu) {
  if (!refines_) return solve_once<U>(x, mu);
  std::copy_n(mu, m_, right_.data());
  solve_once<U>(x, mu);
  // the same for what is left of b
  std::fill(x_.begin(), x_.end(), 0.0);
  for (int p = 0; p < m_; ++p) {
    double& rest = right_[at(ldlt_.order()[at(p)])];
    for (int k = rows_[at(p)].c; k < rows_[at(p)].c_end; ++k) rest -= c_[at(k)] * x[c_column_[at(k)]];
  }
  solve_once<U>(x_.data(), right_.data());
  for (int i = 0; i < nz_; ++i) x[i] += x_[at(i)];
  for (int i = 0; i < m_; ++i) mu[i] += right_[at(i)];
}

void SparseSchur::solve(double* x, double* mu) {
  switch (unit_) {
    case 3: return solve_with<3>(x, mu);
    case 2: return solve_with<2>(x, mu);
    default: return solve_with<1>(x, mu);
  }
}

}  // namespace hinge
