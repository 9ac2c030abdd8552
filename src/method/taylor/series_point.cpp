#include "method/taylor/series_point.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace hinge {

namespace {

using FourTerms [[gnu::vector_size(32)]] = double;

[[gnu::always_inline]] inline double sum_in_fours(const double* c, const double* weight, int last) {
  FourTerms sum = {};
  int m = 1;
  for (; m + 3 <= last; m += 4) {
    FourTerms x, w;
    std::memcpy(&x, c + m, sizeof x);
    std::memcpy(&w, weight + m, sizeof w);
    sum += x * w;
  }
  double rest = 0;
  for (; m <= last; ++m) rest += c[m] * weight[m];
  return (rest + (sum[2] + sum[3])) + (sum[0] + sum[1]);
}

#ifdef __x86_64__
[[gnu::target("avx")]] double wide_sum_of_series(const double* c, const double* weight, int last) {
  return sum_in_fours(c, weight, last);
}
#endif
double narrow_sum_of_series(const double* c, const double* weight, int last) { return sum_in_fours(c, weight, last); }

#ifdef __x86_64__
const auto sum_of_series = __builtin_cpu_supports("avx") ? wide_sum_of_series : narrow_sum_of_series;
#else
const auto sum_of_series = narrow_sum_of_series;
#endif

}  // namespace

double SeriesPowers::sum(const double* c, const double* weight, int last) { return sum_of_series(c, weight, last); }

void SeriesPoint::make_tape(const Graph& graph, const SeriesFunctions& functions, int last_stage) {
  tape_ = std::make_unique<SeriesTape>(graph, functions, last_stage);
}

bool SeriesPoint::expand(double scale) {
  SeriesTape& tape = *tape_;
  tape.begin(t0_, scale);
  if (!load()) return false;
  if (tape.inverts())
    for (std::size_t j = 0; j < tape.equations(); ++j) {
      double* const column = tape.inverse_column(j);
      std::fill_n(column, tape.equations(), 0.0);
      column[j] = 1;
      solve(column);
    }
  if (tape.inverts()) {
    tape.first_stages();
    tape.later_stages();
  }
  for (int stage = -tape.most(); !tape.inverts() && stage <= tape.last_stage(); ++stage) {
    tape.evaluate(stage);
    if (stage < 0) continue;
    if (stage == 0) tape.weigh();
    solve(tape.right());
    tape.complete(stage);
  }
  ++evaluations_;
  const auto finite = [](const Controlled& c) {
    return std::abs(c.series[c.last]) <= std::numeric_limits<double>::max() &&
           std::abs(c.series[c.last - 1]) <= std::numeric_limits<double>::max();
  };
  if (std::all_of(controlled_.begin(), controlled_.end(), finite)) return true;
  tape.clear();
  return false;
}

}  // namespace hinge
