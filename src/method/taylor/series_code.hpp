// The recurrences of series as machine code: a function for each of the first stages, and one for each position in a
// block of the later ones; where systems are solved by the inverse matrix, one for all of the first stages, and one for
// a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "expression/native.hpp"
#include "method/taylor/series_layout.hpp"

namespace hinge {

class SeriesCode {
 public:
  /// Null where there can be none. `first_choice` does what SeriesNumbers::first_choice does.
  using FirstChoice = void (*)(void* tape, std::size_t operation, std::size_t order);
  static std::unique_ptr<const SeriesCode> make(const SeriesProgram& program, const SeriesLayout& layout, void* tape,
                                                FirstChoice first_choice);

  /// Are systems solved by the inverse matrix here? Then all stages are done at once, else by parts.
  bool whole() const { return whole_; }
  void first_stages(double* data) const { run(first_[0], data, 0); }
  void first_stage(int stage, double* data) const { run(first_[static_cast<std::size_t>(stage - first)], data, stage); }
  void first_completion(int stage, double* data) const {
    run(completed_[static_cast<std::size_t>(stage)], data, stage);
  }
  void weigh(double* data) const { run(weigh_[0], data, 0); }
  void later_stage(int stage, double* data) const {
    const int in_block = stage - begin;
    if (in_block >= 0 && in_block % block == 0) run_sums(stage, data);
    run(later_[static_cast<std::size_t>(in_block < 0 ? stage - first_later : begin - first_later + in_block % block)],
        data, stage);
  }
  void later_completion(int stage, double* data) const { run(complete_[0], data, stage); }
  void later_stages(double* data) const {
    if (at_.last_stage >= first_later) run(later_[0], data, first_later);
    for (int stage = begin; stage <= at_.last_stage; stage += block) {
      run_sums(stage, data);
      run(later_[stage + block - 1 <= at_.last_stage ? 1 : 2], data, stage);
    }
  }

 private:
  static constexpr int block = SeriesProgram::block, first_later = SeriesProgram::first_stages + 1;
  SeriesCode(const SeriesProgram& program, const SeriesLayout& layout, bool whole)
      : at_(layout), first(layout.first_stage), begin(program.first_block), whole_(whole) {}
  void run_sums(int stage, double* data) const {
    const auto version = static_cast<std::size_t>((stage - begin) / block), last = sums_.size() - 1;
    run(sums_[std::min(version, last)], data, stage, static_cast<int>(version - std::min(version, last)));
  }
  // `loops`: more than those of the first one of these blocks
  void run(NativeCode::Function function, double* data, int stage, int loops = 0) const {
    const double* const places[] = {data + stage, data + SeriesProgram::lanes * stage, data + at_.row(stage, 0, -1),
                                    reinterpret_cast<const double*>(static_cast<std::intptr_t>(loops))};
    function(places, data);
  }

  const SeriesLayout& at_;
  int first, begin;
  bool whole_;
  std::unique_ptr<const NativeCode> code_;
  // of the later stages: those before the first block, those of a block, and of a last one that is shorter; or each
  std::vector<NativeCode::Function> first_, completed_, later_, sums_, weigh_, complete_;
};

}  // namespace hinge
