// Sums of products of series, (a b)_m = sum_i a_i b_(m-i), in blocks of four stages.
//
// What is known when a block begins is summed for all of its stages at once: each coefficient is read once for four
// sums. A stage adds what became known within the block, then that of the stage itself. At stage k a product of level l
// has the order m = k + l, and before the stage a series of level A is known up to a_(k-1+A), A >= l.
//
//   before the block k0     a_i b_(m-i)                i <= k0-1+A, m-i <= k0-1+B, for m = k0+l, ..., k0+l+3
//   at its stage k0 + j     a_(k-1-q+A) b_(l-A+1+q)    q = j-1, ..., 0; and with a and b exchanged
//
// No product has both factors from within the block where k0 >= 4 - l. The stages before the first block sum all
// products. Of squares each pair is computed once, and doubled.
#pragma once

#include <algorithm>
#include <vector>

#include "method/taylor/series_program.hpp"

namespace hinge {

struct SeriesBlocks {
  static constexpr int block = SeriesProgram::block;

  /// a_high b_low or a_low b_high: high orders counted from the stage.
  struct Fresh {
    int high, low;
    bool high_is_a;
  };
  static std::vector<Fresh> fresh(const SeriesProgram& p, const SeriesProgram::Product& product, int level,
                                  int position) {
    std::vector<Fresh> list;
    for (int q = position - 1; q >= 0; --q)
      for (const bool a : {true, false}) {
        const int own = p.level_of[static_cast<std::size_t>(a ? product.a.slot : product.b.slot)];
        if (own >= SeriesProgram::always || level - own + 1 + q < 0 || (!a && square(product))) continue;
        list.push_back({own - 1 - q, level - own + 1 + q, a});
      }
    return list;
  }
  static bool square(const SeriesProgram::Product& product) { return product.a.slot == product.b.slot; }

  /// Orders of a for all products of a stage before the first block; of squares up to the middle.
  struct Orders {
    int first, last;
  };
  static Orders direct(const SeriesProgram& p, const SeriesProgram::Product& product, int level, int stage) {
    const int m = stage + level, a = p.level_of[static_cast<std::size_t>(product.a.slot)],
              b = p.level_of[static_cast<std::size_t>(product.b.slot)];
    const int last = std::min(m, stage - 1 + a);
    return {std::max(0, level + 1 - b), square(product) ? std::min(last, m / 2) : last};
  }

  /// From this version on the sums of blocks differ in the number of their loops alone.
  static constexpr int first_alike = 2;
  /// Before the first block, version 0, and every later one: orders i of a from `first` to `last`, of which those from
  /// `plain` on contribute to all four sums; of squares those below `middle`, and twice. Their number grows by `unit`
  /// from a block to the next.
  SeriesBlocks(const SeriesProgram& p, const SeriesProgram::Product& product, int level, int version)
      : twice(square(product)), unit(twice ? block / 2 : block) {
    const int a = p.level_of[static_cast<std::size_t>(product.a.slot)],
              b = p.level_of[static_cast<std::size_t>(product.b.slot)], k = p.first_block + block * version;
    lowest = level + 1 - b;
    m = k + level;
    first = std::max(0, lowest);
    last = std::min(k - 1 + a, m + block - 1);
    if (twice) last = std::min(last, (m + block - 1) / 2);
    plain = std::max(first, lowest + block - 1);
    middle = twice ? std::max(plain, (m + 1) / 2) : last + 1;
  }
  /// How often a_i b_(m+j-i) counts.
  int times(int i, int j) const {
    if (!known(i, j)) return 0;
    return !twice ? 1 : 2 * i < m + j ? 2 : 2 * i == m + j ? 1 : 0;
  }
  bool known(int i, int j) const { return j <= i - lowest; }
  bool plain_at(int i) const { return i >= plain && i < middle; }
  /// Of four orders each, of squares of two.
  int loops() const { return std::max(0, middle - plain) / unit; }
  /// In their order: those that need a look at what is known come last, as it became known last.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (int i = plain; i <= last; ++i) visit(i);
    for (int i = first; i < std::min(plain, last + 1); ++i) visit(i);
  }

  bool twice;
  int unit, m = 0, lowest = 0, first = 0, last = 0, plain = 0, middle = 0;
};

}  // namespace hinge
