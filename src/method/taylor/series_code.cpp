#include "method/taylor/series_code.hpp"

#include <algorithm>

#include "method/taylor/series_assembler.hpp"

namespace hinge {

namespace {

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
  std::vector<std::size_t> first, completed, later, whole;
  for (int stage = at.first_stage; stage <= std::min(last_of_first, at.last_stage); ++stage) {
    assembler.set_stage(stage);
    first.push_back(function(true, [&] { recurrences.first_stage(stage); }));
    if (stage < 0) continue;
    completed.push_back(function(true, [&] {
      recurrences.first_completion(stage);
      if (stage == last_of_first) recurrences.clear_next(stage);
    }));
  }
  assembler.set_stage(0);
  const std::size_t weigh = function(true, [&] { recurrences.weigh(); });
  const int versions = at.last_stage > last_of_first ? SeriesLayout::version(at.last_stage) + 1 : 0;
  for (int version = 0; version < versions; ++version) {
    assembler.set_version(version);
    if (at.inverts)
      whole.push_back(function(false, [&] {
        const std::size_t again = assembler.begin_stages();
        recurrences.later_stage();
        assembler.multiply_by_inverse();
        recurrences.later_completion();
        assembler.end_stages(again);
      }));
    else
      later.push_back(function(false, [&] { recurrences.later_stage(); }));
    if (assembler.code().size() > most_bytes) return nullptr;
  }
  const std::size_t complete = function(false, [&] { recurrences.later_completion(); });
  const std::size_t solve = function(false, [&] {
    if (at.inverts) assembler.multiply_by_inverse();
  });

  std::unique_ptr<SeriesCode> result(new SeriesCode(at));
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
  result->whole_ = functions(whole);
  result->weigh_ = code.at(weigh);
  result->complete_ = code.at(complete);
  result->solve_ = code.at(solve);
  return result;
}

}  // namespace hinge
