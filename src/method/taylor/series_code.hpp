// The recurrences of series as machine code: a function for each of the first stages, and one for every four of the
// later ones, in which sums of products have a fixed length. Where systems are solved by the inverse matrix, such a
// function does all of its stages at once.
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

  void first_stage(int stage, double* data) const { run(first_[static_cast<std::size_t>(stage - first)], data, stage); }
  void first_completion(int stage, double* data) const {
    run(completed_[static_cast<std::size_t>(stage)], data, stage);
  }
  void weigh(double* data) const { run(weigh_, data, 0); }
  /// Where systems are not solved by the inverse matrix.
  void later_stage(int stage, double* data) const {
    run(later_[static_cast<std::size_t>(SeriesLayout::version(stage))], data, stage);
  }
  void later_completion(int stage, double* data) const { run(complete_, data, stage); }
  void solve(double* data) const { run(solve_, data, 0); }
  /// All stages after the first ones, solved by the inverse matrix.
  void later_stages(double* data) const {
    for (int stage = SeriesProgram::first_stages + 1; stage <= at_.last_stage;) {
      const int version = SeriesLayout::version(stage), last = std::min(SeriesLayout::last_of(version), at_.last_stage);
      run(whole_[static_cast<std::size_t>(version)], data, stage, last - stage + 1);
      stage = last + 1;
    }
  }

 private:
  explicit SeriesCode(const SeriesLayout& layout) : at_(layout), first(layout.first_stage) {}
  void run(NativeCode::Function function, double* data, int stage, int count = 1) const {
    const double* const places[] = {data + stage, data - stage, data + at_.row(stage, 0, -1),
                                    reinterpret_cast<const double*>(static_cast<std::intptr_t>(count)),
                                    data + SeriesProgram::lanes * stage};
    function(places, data);
  }

  const SeriesLayout& at_;
  int first;
  std::unique_ptr<const NativeCode> code_;
  std::vector<NativeCode::Function> first_, completed_, later_, whole_;
  NativeCode::Function weigh_ = nullptr, complete_ = nullptr, solve_ = nullptr;
};

}  // namespace hinge
