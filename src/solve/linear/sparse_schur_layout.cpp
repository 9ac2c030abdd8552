// What of SparseSchur depends on positions alone: the order of the constraints, and where all numbers stand.
#include <algorithm>
#include <numeric>
#include <utility>

#include <amd.h>

#include "solve/index.hpp"
#include "solve/linear/small_inverse.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/sparse_schur.hpp"

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
  find_takers();
  w_.resize(w_column_.size());
  if (diagonal_) w_inverse_.resize(w_.size());
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

// Point masses whose coordinates stand side by side, all of them as long: which rows act on each, in their order.
void SparseSchur::find_takers() {
  if (!diagonal_ || nz_ % unit_ != 0) return;
  for (const Run& run : w_runs_)
    if (run.second % unit_ != 0) return;
  std::vector<int> next(at(nz_ / unit_) + 1, 0);
  for (const Run& run : w_runs_) ++next[at(run.second / unit_) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  taker_end_.assign(next.begin() + 1, next.end());
  takers_.resize(w_runs_.size());
  for (int p = 0; p < m_; ++p)
    for (int r = rows_[at(p)].runs; r < rows_[at(p) + 1].runs; ++r)
      takers_[at(next[at(w_runs_[at(r)].second / unit_)]++)] = {p, w_runs_[at(r)].first};
}

}  // namespace hinge
