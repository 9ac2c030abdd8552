#include "method/taylor/series_tape.hpp"

#include <algorithm>
#include <cstdint>

#include "method/taylor/series_numbers.hpp"

namespace hinge {

namespace {

constexpr std::size_t line = 8;  // numbers in a line of the cache

}  // namespace

SeriesTape::SeriesTape(const Graph& graph, const SeriesFunctions& functions, int last_stage)
    : program_(make_series_program(graph, functions)), at_(program_, last_stage), memory_(at_.size + line) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(double) % line;
  data_ = memory_.data() + (line - beyond) % line;
  // k! / (k+l)!; for k < 0 without k!
  for (int k = at_.first_stage; k <= last_stage; ++k) {
    double f = 1;
    for (int l = -1; l < at_.levels - 1; ++l) {
      if (k > 0 && l == -1) f = k;
      if (k > 0 && l == 0) f = 1;
      if (l > 0 || k <= 0) f = k + l > 0 ? f / (k + l) : f;
      unit_.push_back(k + l < 0 ? 0.0 : f);
      unit_.push_back(k + l < 0 ? 0.0 : -1 / f);
      unit_.push_back(k + l > 0 ? 1.0 / (k + l) : 0.0);
      unit_.push_back(k + l + 1);
    }
  }
  for (std::size_t k = 0; k < program_.fours.size(); ++k) {
    const SeriesProgram::Four& four = program_.fours[k];
    if (!four.series) continue;
    const auto operation = [&](std::size_t lane) -> const SeriesProgram::Operation& {
      return program_.operations[static_cast<std::size_t>(four.operation[lane])];
    };
    FirstFour& f = first_fours_.emplace_back();
    for (std::size_t lane = 0; lane < f.from.size(); ++lane) f.from[lane] = at_.series_of(operation(lane).result);
    f.to = at_.series_of_four(static_cast<int>(k));
    f.last = SeriesProgram::first_stages + operation(0).level;
  }
  clear();
  begin(0, 1);
  code_ = SeriesCode::make(program_, at_, this, &first_choice);
}

void SeriesTape::begin(double t0, double scale) {
  t0_ = t0;
  if (scale != scale_) {
    scale_ = scale;
    fill_rows();
  }
  if (program_.t_slot < 0) return;
  put(program_.t_slot, 0, t0);
  put(program_.t_slot, 1, scale);
}

// s^l of stages after 0, s^(k+l) of the others
void SeriesTape::fill_rows() {
  const double over = 1 / scale_;
  const double* unit = unit_.data();
  for (int k = at_.first_stage; k <= at_.last_stage; ++k) {
    double* const factor = data_ + at_.row(k, 0, -1);
    double power = k > 0 ? over : 1, over_power = k > 0 ? scale_ : 1;
    for (int i = 0; i < at_.levels; ++i, unit += 4) {
      if (k <= 0 && k + i - 1 > 0) power *= scale_, over_power *= over;
      factor[i] = unit[0] * power;
      factor[at_.levels + i] = unit[1] * over_power;
      factor[2 * at_.levels + i] = unit[2] * scale_;
      factor[3 * at_.levels + i] = unit[3] * over;
      if (k > 0) power *= scale_, over_power *= over;
    }
  }
}

void SeriesTape::clear() {
  std::fill(memory_.begin(), memory_.end(), 0.0);
  for (const auto& [value, slot] : program_.constants) put(slot, 0, value);
  const double scale = scale_;
  scale_ = 0;
  if (scale != 0) begin(t0_, scale);
}

void SeriesTape::first_choice(void* tape, std::size_t operation, std::size_t order) {
  const SeriesTape& t = *static_cast<SeriesTape*>(tape);
  SeriesNumbers(t.program_, t.at_, t.data_, 0).first_choice(operation, static_cast<int>(order));
}

void SeriesTape::evaluate(int stage) {
  const bool first = stage <= SeriesProgram::first_stages;
  SeriesNumbers numbers(program_, at_, data_, stage);
  SeriesRecurrences<SeriesNumbers> recurrences(program_, numbers);
  const SeriesCode* const code = code_by_parts();
  if (!first && code) return code->later_stage(stage, data_);
  if (!first) {
    if (numbers.position() == 0) recurrences.block();
    return recurrences.later_stage();
  }
  code ? code->first_stage(stage, data_) : recurrences.first_stage(stage);
}

void SeriesTape::weigh() {
  if (const SeriesCode* code = code_by_parts()) return code->weigh(data_);
  SeriesNumbers numbers(program_, at_, data_, 0);
  SeriesRecurrences<SeriesNumbers>(program_, numbers).weigh();
}

void SeriesTape::complete(int stage) {
  const bool first = stage <= SeriesProgram::first_stages;
  if (const SeriesCode* code = code_by_parts()) {
    first ? code->first_completion(stage, data_) : code->later_completion(stage, data_);
    if (stage == SeriesProgram::first_stages) fill_fours();
    return;
  }
  SeriesNumbers numbers(program_, at_, data_, stage);
  SeriesRecurrences<SeriesNumbers> recurrences(program_, numbers);
  if (!first) return recurrences.later_completion();
  recurrences.first_completion(stage);
  if (stage == SeriesProgram::first_stages) fill_fours();
}

// Series of operations that are done at once, after the first stages, in which they are not.
void SeriesTape::fill_fours() {
  constexpr std::size_t lanes = SeriesProgram::lanes;
  for (const FirstFour& f : first_fours_) {
    double* to = data_ + f.to;
    for (int m = 0; m <= f.last; ++m)
      for (std::size_t lane = 0; lane < lanes; ++lane) *to++ = data_[f.from[lane] + static_cast<std::size_t>(m)];
  }
}

void SeriesTape::solve() {
  const std::size_t n = program_.equations.size();
  double x[SeriesLayout::most_inverted];
  std::copy_n(right(), n, x);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = x[0] * inverse_column(0)[i];
    for (std::size_t j = 1; j < n; ++j) sum += x[j] * inverse_column(j)[i];
    right()[i] = sum;
  }
}

void SeriesTape::first_stages() {
  constexpr int last = SeriesProgram::first_stages;
  if (code_ && code_->whole()) {
    code_->first_stages(data_);
    return fill_fours();
  }
  for (int stage = at_.first_stage; stage <= std::min(last, at_.last_stage); ++stage) {
    evaluate(stage);
    if (stage < 0) continue;
    if (stage == 0) weigh();
    solve();
    complete(stage);
  }
}

void SeriesTape::later_stages() {
  if (code_ && code_->whole()) return code_->later_stages(data_);
  for (int stage = SeriesProgram::first_stages + 1; stage <= at_.last_stage; ++stage) {
    evaluate(stage);
    solve();
    complete(stage);
  }
}

}  // namespace hinge
