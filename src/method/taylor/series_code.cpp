#include "method/taylor/series_code.hpp"

#include <algorithm>

#include "method/taylor/series_assembler.hpp"

namespace hinge {

namespace {

constexpr int block = SeriesProgram::block;

// Beyond these the recurrences are computed without code.
constexpr std::size_t most_bytes = std::size_t{8} << 20, most_numbers = std::size_t{1} << 27;

}  // namespace

std::unique_ptr<const SeriesCode> SeriesCode::make(const SeriesProgram& program, const SeriesLayout& at, void* tape,
                                                   FirstChoice first_choice) {
  if (native_use() == NativeUse::off || at.size > most_numbers) return nullptr;
  SeriesAssembler assembler(program, at, tape, first_choice);
  SeriesRecurrences<SeriesAssembler> recurrences(program, assembler);
  const auto function = [&](bool of_first_stages, auto&& write) {
    const std::size_t place = assembler.begin(of_first_stages);
    write();
    assembler.end(of_first_stages);
    return place;
  };
  constexpr int last_of_first = SeriesProgram::first_stages;
  const bool whole = at.inverts && at.last_stage >= last_of_first;
  std::vector<std::size_t> first, completed, later, sums, weigh, complete;
  if (whole)
    first.push_back(function(true, [&] {
      for (int stage = at.first_stage; stage <= last_of_first; ++stage) {
        assembler.set_stage(stage);
        recurrences.first_stage(stage);
        if (stage == 0) recurrences.weigh();
        if (stage < 0) continue;
        assembler.multiply_by_inverse();
        recurrences.first_completion(stage);
      }
    }));
  for (int stage = at.first_stage; !whole && stage <= std::min(last_of_first, at.last_stage); ++stage) {
    assembler.set_stage(stage);
    first.push_back(function(true, [&] { recurrences.first_stage(stage); }));
    if (stage == 0) weigh.push_back(function(true, [&] { recurrences.weigh(); }));
    if (stage >= 0) completed.push_back(function(true, [&] { recurrences.first_completion(stage); }));
  }
  const auto stages = [&](int from, int count, bool in_block) {
    later.push_back(function(false, [&] {
      for (int k = 0; k < count; ++k) {
        in_block ? assembler.set_position(from + k) : assembler.set_stage(from + k);
        recurrences.later_stage();
        if (!whole) continue;
        assembler.multiply_by_inverse();
        recurrences.later_completion();
        assembler.next_stage();
      }
    }));
  };
  const int begin = program.first_block, direct = std::min(at.last_stage, begin - 1) - last_of_first;
  const int in_blocks = std::max(0, at.last_stage - begin + 1), blocks = (in_blocks + block - 1) / block;
  if (direct <= 0) {
    // these are all
  } else if (whole) {
    stages(last_of_first + 1, direct, false);
    stages(0, block, true);
    stages(0, in_blocks % block, true);
  } else {
    for (int stage = last_of_first + 1; stage < begin; ++stage) stages(stage, 1, false);
    for (int position = 0; position < block; ++position) stages(position, 1, true);
  }
  for (int version = 0; version < blocks && assembler.code().size() <= most_bytes; ++version) {
    const bool and_later = version >= SeriesBlocks::first_alike;
    assembler.set_version(version, and_later);
    sums.push_back(function(false, [&] { recurrences.block(); }));
    if (and_later) break;
  }
  if (assembler.code().size() > most_bytes) return nullptr;
  if (!whole) complete.push_back(function(false, [&] { recurrences.later_completion(); }));

  std::unique_ptr<SeriesCode> result(new SeriesCode(program, at, whole));
  result->code_ = NativeCode::make(assembler.code().data(), assembler.code().size(), 0);
  if (!result->code_) return nullptr;
  const NativeCode& code = *result->code_;
  const auto functions = [&](const std::vector<std::size_t>& places) {
    std::vector<NativeCode::Function> list;
    for (const std::size_t place : places) list.push_back(code.at(place));
    return list;
  };
  result->first_ = functions(first);
  result->completed_ = functions(completed);
  result->later_ = functions(later);
  result->sums_ = functions(sums);
  result->weigh_ = functions(weigh);
  result->complete_ = functions(complete);
  return result;
}

}  // namespace hinge
