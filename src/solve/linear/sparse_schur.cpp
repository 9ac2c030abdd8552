#include "solve/linear/sparse_schur.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <amd.h>

#include "solve/index.hpp"
#include "solve/linear/small_inverse.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

namespace {

// A multiplication of L D L^T takes about a nanosecond, an entry of the whole matrix some 13 in KLU.
constexpr double multiplications_per_entry = 20;

// Multiplications of an elimination of the whole matrix in the order of AMD.
double whole_multiplications(const Pattern& a, const Pattern& c) {
  const int n = a.rows + c.rows;
  PatternBuilder builder(n, n);
  for (int i = 0; i < a.rows; ++i)
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) builder.add(i, a.column[at(k)]);
  for (int i = 0; i < c.rows; ++i)
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k) {
      builder.add(a.rows + i, c.column[at(k)]);
      builder.add(c.column[at(k)], a.rows + i);
    }
  std::vector<int> place, order(at(n));
  const Pattern whole = builder.build(place);
  double info[AMD_INFO];
  if (amd_order(n, whole.row_start.data(), whole.column.data(), order.data(), nullptr, info) < AMD_OK) return 0;
  return info[AMD_NMULTSUBS_LDL];
}

}  // namespace

SparseSchur::SparseSchur(const Pattern& a, const Pattern& c, bool constant_mass)
    : nz_(a.rows), m_(c.rows), constant_mass_(constant_mass) {
  usable_ = find_blocks(a) && order_constraints(a, c);
  if (!usable_) return;
  lay_out_rows(c);
  find_runs(c);
  w_.resize(w_column_.size());
  schur_.resize(ldlt_.column().size());
  for (auto* v : {&mu_, &right_}) v->resize(at(m_));
  x_.resize(at(nz_));
  c_.reserve(c.entries());  // filled where a refinement is wanted, in a step
}

bool SparseSchur::find_blocks(const Pattern& a) {
  std::size_t inverse = 0;
  block_of_.resize(at(nz_));
  local_.resize(at(nz_));
  int largest = 0;
  for (const std::vector<int>& rows : independent_blocks(a)) {
    const auto size = static_cast<int>(rows.size());
    largest = std::max(largest, size);
    for (int k = 0; k < size; ++k) {
      block_of_[at(rows[at(k)])] = static_cast<int>(blocks_.size());
      local_[at(rows[at(k)])] = k;
    }
    blocks_.push_back({static_cast<int>(order_.size()), size, inverse});
    order_.insert(order_.end(), rows.begin(), rows.end());
    inverse += rows.size() * rows.size();
  }
  if (largest > largest_inverse) return false;
  diagonal_ = largest <= 1 && a.entries() == at(nz_);
  inverse_.resize(inverse);
  work_.resize(at(largest * largest));
  place_.resize(a.entries());
  std::vector<int> entry(inverse, -1);
  const auto within = [&](int i, int j) {
    const Block& block = blocks_[at(block_of_[at(i)])];
    return block.inverse + at(local_[at(i)] * block.size + local_[at(j)]);
  };
  for (int i = 0; i < nz_; ++i)
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k) {
      const std::size_t place = within(i, a.column[at(k)]);
      place_[at(k)] = static_cast<int>(place);
      entry[place] = k;
    }
  mirror_.resize(a.entries());
  for (int i = 0; i < nz_; ++i)
    for (int k = a.row_start[at(i)]; k < a.row_start[at(i) + 1]; ++k)
      if ((mirror_[at(k)] = entry[within(a.column[at(k)], i)]) < 0) return false;  // not symmetric
  return true;
}

bool SparseSchur::order_constraints(const Pattern& a, const Pattern& c) {
  // the constraints of each block
  std::vector<int> start(blocks_.size() + 1, 0), of_block, last(blocks_.size(), -1);
  const auto for_each_block = [&](auto&& visit) {
    std::fill(last.begin(), last.end(), -1);
    for (int i = 0; i < m_; ++i)
      for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k) {
        const int block = block_of_[at(c.column[at(k)])];
        if (std::exchange(last[at(block)], i) != i) visit(i, block);
      }
  };
  for_each_block([&](int, int block) { ++start[at(block) + 1]; });
  const double entries = static_cast<double>(a.entries()) + 2 * static_cast<double>(c.entries());
  double meetings = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    meetings += static_cast<double>(start[b + 1]) * start[b + 1];
    start[b + 1] += start[b];
  }
  if (meetings > multiplications_per_entry * entries + 1000) return false;
  of_block.resize(at(start.back()));
  std::vector<int> next(start.begin(), start.end() - 1);
  for_each_block([&](int i, int block) { of_block[at(next[at(block)]++)] = i; });
  // those that a constraint meets
  std::vector<int> begin{0}, neighbours, seen(at(m_), -1);
  for (int i = 0; i < m_; ++i) {
    seen[at(i)] = i;
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k) {
      const auto block = at(block_of_[at(c.column[at(k)])]);
      for (int l = start[block]; l < start[block + 1]; ++l)
        if (const int j = of_block[at(l)]; std::exchange(seen[at(j)], i) != i) neighbours.push_back(j);
    }
    begin.push_back(static_cast<int>(neighbours.size()));
  }
  ldlt_ = SparseLdlt(begin, neighbours, multiplications_per_entry * entries + 1000);
  if (!ldlt_.usable()) ldlt_ = SparseLdlt(begin, neighbours, whole_multiplications(a, c));
  return ldlt_.usable();
}

void SparseSchur::lay_out_rows(const Pattern& c) {
  std::vector<int> segment_of(blocks_.size());
  for (const int i : ldlt_.order()) {
    const int c_first = c.row_start[at(i)], c_end = c.row_start[at(i) + 1];
    rows_.push_back({c_first, c_end, static_cast<int>(w_column_.size()), 0});
    if (diagonal_) {
      w_column_.insert(w_column_.end(), c.column.begin() + c_first, c.column.begin() + c_end);
      continue;
    }
    const auto first_segment = static_cast<int>(segments_.size());
    for (int k = c_first; k < c_end; ++k) {  // how many entries of each block
      const int b = block_of_[at(c.column[at(k)])];
      int& own = segment_of[at(b)];
      if (own < first_segment || own >= static_cast<int>(segments_.size()) || segments_[at(own)].block != b) {
        own = static_cast<int>(segments_.size());
        segments_.push_back({b, static_cast<int>(w_column_.size()), 0, 0});
        const Block& block = blocks_[at(b)];
        w_column_.insert(w_column_.end(), order_.begin() + block.first, order_.begin() + block.first + block.size);
      }
      ++segments_[at(own)].end;
    }
    auto part = static_cast<int>(parts_.size());
    for (auto s = at(first_segment); s < segments_.size(); ++s) {
      const int count = segments_[s].end;
      segments_[s].first_part = segments_[s].end = part;
      part += count;
    }
    parts_.resize(at(part));
    for (int k = c_first; k < c_end; ++k) {
      Segment& segment = segments_[at(segment_of[at(block_of_[at(c.column[at(k)])])])];
      parts_[at(segment.end++)] = {k, local_[at(c.column[at(k)])]};
    }
  }
  rows_.push_back({0, 0, static_cast<int>(w_column_.size()), 0});
  c_column_ = c.column;
}

void SparseSchur::find_runs(const Pattern& c) {
  struct Stretch {
    int first, second, count;
  };
  std::vector<Stretch> products, rows;
  std::vector<int> product_count, row_count, place(at(nz_), -1);
  int unit = 0;
  const auto extend = [](std::vector<Stretch>& all, std::size_t begin, int first, int second) {
    if (all.size() > begin && all.back().first + all.back().count == first &&
        all.back().second + all.back().count == second)
      ++all.back().count;
    else
      all.push_back({first, second, 1});
  };
  for (int p = 0; p < m_; ++p) {
    std::size_t begin = rows.size();
    for (int e = rows_[at(p)].w; e < rows_[at(p) + 1].w; ++e) extend(rows, begin, e, w_column_[at(e)]);
    row_count.push_back(static_cast<int>(rows.size()));
    const int i = ldlt_.order()[at(p)];
    for (int e = ldlt_.row_start()[at(p)]; e < ldlt_.row_start()[at(p) + 1]; ++e) {
      const auto j = at(ldlt_.column()[at(e)]);
      for (int l = rows_[j].w; l < rows_[j + 1].w; ++l) place[at(w_column_[at(l)])] = l;
      begin = products.size();
      for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
        if (const int l = place[at(c.column[at(k)])]; l >= 0) extend(products, begin, k, l);
      for (int l = rows_[j].w; l < rows_[j + 1].w; ++l) place[at(w_column_[at(l)])] = -1;
      product_count.push_back(static_cast<int>(products.size()));
    }
  }
  for (const auto* all : {&products, &rows})
    for (const Stretch& s : *all) unit = std::gcd(unit, s.count);
  unit_ = unit % 3 == 0 && unit > 0 ? 3 : (unit % 2 == 0 && unit > 0 ? 2 : 1);
  const auto split = [&](const std::vector<Stretch>& all, const std::vector<int>& count, std::vector<Run>& out,
                         auto&& ends) {
    std::size_t s = 0;
    for (const int end : count) {
      for (; s < at(end); ++s)
        for (int k = 0; k < all[s].count; k += unit_) out.push_back({all[s].first + k, all[s].second + k});
      ends(static_cast<int>(out.size()));
    }
  };
  product_start_.assign(1, 0);
  split(products, product_count, products_, [&](int end) { product_start_.push_back(end); });
  std::size_t row = 0;
  split(rows, row_count, w_runs_, [&](int end) { rows_[++row].runs = end; });
}

bool SparseSchur::invert_mass(const double* a) {
  if (have_mass_ && constant_mass_) return true;
  have_mass_ = false;
  if (diagonal_) {
    for (std::size_t i = 0; i < at(nz_); ++i) {
      if (!(a[i] > 0)) return false;
      inverse_[i] = 1 / a[i];
    }
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

template <int U>
void SparseSchur::fill_schur(const double* c) {
  double *const w = w_.data(), *const s = schur_.data();
  const double* const inverse = inverse_.data();
  const int* const end = product_start_.data() + 1;
  const int* const row_start = ldlt_.row_start().data();
  if (!diagonal_) multiply_blocks(c);
  const Run* product = products_.data();
  for (int p = 0; p < m_; ++p) {
    if (diagonal_) {
      const Row &row = rows_[at(p)], &next = rows_[at(p) + 1];
      const double* const from = c + row.c - row.w;
      for (int r = row.runs; r < next.runs; ++r) {
        const Run run = w_runs_[at(r)];
        for (int u = 0; u < U; ++u) w[run.first + u] = from[run.first + u] * inverse[run.second + u];
      }
    }
    for (int e = row_start[p]; e < row_start[p + 1]; ++e) {
      const Run* const last = products_.data() + end[e];
      s[e] = sum_over<U>(0.0, product, static_cast<int>(last - product), c, w);
      product = last;
    }
  }
}

bool SparseSchur::factor(const double* a, const double* c) {
  if (!invert_mass(a)) return false;
  switch (unit_) {
    case 3: fill_schur<3>(c); break;
    case 2: fill_schur<2>(c); break;
    default: fill_schur<1>(c);
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
