// Which runs a sweep has: what --vary and --sample say, and the settings of each run.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "expression/trimmed.hpp"
#include "hinge/error.hpp"
#include "hinge/sweep.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_runs = 10'000'000;

std::optional<double> number_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::size_t> count_of(std::string_view text) {
  text = trimmed(text);
  std::size_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// At separators that are not within brackets or quotes.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0)
      quote = c == quote ? char{0} : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == '{' || c == '(')
      ++depth;
    else if (c == ']' || c == '}' || c == ')')
      --depth;
    if (c == separator && depth == 0 && quote == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& p : parts) p = std::string(trimmed(p));
  return parts;
}

/// "--vary KEY=..." cut into its parts, and a complaint about it.
struct Argument {
  const char* option;
  const char* example;
  std::string text, key{}, value{};

  Argument(const char* name, const char* shown, const std::string& given) : option(name), example(shown), text(given) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw fault("there is no '='");
    key = std::string(trimmed(std::string_view(text).substr(0, equals)));
    value = std::string(trimmed(std::string_view(text).substr(equals + 1)));
    if (key.empty()) throw fault("there is no key before the '='");
    if (value.empty()) throw fault("there is nothing behind the '='");
  }
  InputError fault(const std::string& cause) const {
    return InputError(fmt::format("{} {}: {}; write it as in {} {}", option, text, cause, option, example));
  }
};

std::vector<double> range_of(const Argument& given, const std::vector<std::string>& parts) {
  const std::optional<double> low = number_of(parts[0]), high = number_of(parts[1]);
  if (!low || !high) throw given.fault(fmt::format("'{}' is not a number", low ? parts[1] : parts[0]));
  if (parts.size() < 3) throw given.fault("a range says how many values there are, as its third part");
  const bool log = parts.size() == 4;
  if (parts.size() > 4 || (log && parts[3] != "log"))
    throw given.fault(fmt::format("behind the number of values there can be :log only, not ':{}'", parts[3]));
  const std::optional<std::size_t> count = count_of(parts[2]);
  if (!count || *count < 2 || *count > most_runs)
    throw given.fault(fmt::format("'{}' is not a number of values, from 2 to {}", parts[2], most_runs));
  if (*low == *high) throw given.fault("the range begins where it ends");
  if (log && !(*low > 0 && *high > 0)) throw given.fault("equal ratios need positive numbers");
  std::vector<double> numbers(*count);
  const auto last = static_cast<double>(*count - 1);
  for (std::size_t i = 0; i < *count; ++i) {
    const double s = static_cast<double>(i) / last;
    numbers[i] = log ? *low * std::pow(*high / *low, s) : *low + (*high - *low) * s;
  }
  numbers.back() = *high;  // as it was written, not as it is rounded
  for (const double x : numbers)
    if (!std::isfinite(x)) throw given.fault("the range is longer than numbers can be");
  return numbers;
}

struct LawInfo {
  const char* name;
  SampledKey::Law law;
  std::size_t count;
  const char* arguments;
};
constexpr std::array<LawInfo, 5> laws{
    {{"normal", SampledKey::Law::normal, 2, "mean, deviation"},
     {"uniform", SampledKey::Law::uniform, 2, "low, high"},
     {"lognormal", SampledKey::Law::lognormal, 2, "mean of the logarithm, deviation of the logarithm"},
     {"exponential", SampledKey::Law::exponential, 1, "mean"},
     {"triangular", SampledKey::Law::triangular, 3, "low, most likely, high"}}};

std::string law_list() {
  std::string all;
  for (const LawInfo& l : laws) all += fmt::format("{}{}({})", all.empty() ? "" : ", ", l.name, l.arguments);
  return all;
}

// Why the law with these numbers is none; null where it is one.
const char* fault_of(SampledKey::Law law, const std::vector<double>& x) {
  switch (law) {
    case SampledKey::Law::normal:
    case SampledKey::Law::lognormal: return x[1] > 0 ? nullptr : "the deviation must be positive";
    case SampledKey::Law::uniform: return x[0] < x[1] ? nullptr : "the low end must be less than the high end";
    case SampledKey::Law::exponential: return x[0] > 0 ? nullptr : "the mean must be positive";
    case SampledKey::Law::triangular:
      return x[0] <= x[1] && x[1] <= x[2] && x[0] < x[2] ? nullptr : "the three numbers must be in order";
  }
  return nullptr;
}

SampledKey law_of(const Argument& given, const std::string& text) {
  const auto open = text.find('(');
  if (open == std::string::npos || !text.ends_with(')'))
    throw given.fault(fmt::format("'{}' is no law with its numbers; there are {}", text, law_list()));
  const std::string name(trimmed(std::string_view(text).substr(0, open)));
  const auto found = std::find_if(laws.begin(), laws.end(), [&](const LawInfo& l) { return name == l.name; });
  if (found == laws.end()) throw given.fault(fmt::format("there is no law '{}'; there are {}", name, law_list()));
  SampledKey key{given.key, found->law};
  for (const std::string& part : split(std::string_view(text).substr(open + 1, text.size() - open - 2), ',')) {
    const std::optional<double> x = number_of(part);
    if (!x) throw given.fault(fmt::format("'{}' is not a number", part));
    key.numbers.push_back(*x);
  }
  if (key.numbers.size() != found->count)
    throw given.fault(fmt::format("{} takes {} number{}, {}({})", name, found->count, found->count == 1 ? "" : "s",
                                  name, found->arguments));
  if (const char* fault = fault_of(key.law, key.numbers)) throw given.fault(fault);
  return key;
}

// Steele, Lea and Flood's finalizer ("Fast splittable pseudorandom number generators", 2014): every bit of the argument
// changes about half of the bits of the result.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

/// Strictly between 0 and 1.
double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

void refuse_twice(const SweepPlan& plan, const Argument& given) {
  for (const std::string& key : plan.keys())
    if (key == given.key)
      throw InputError(fmt::format("{} {}: '{}' is given twice; keep one of them", given.option, given.text, key));
}

void refuse_too_many(const SweepPlan& plan, const Argument& given) {
  std::size_t runs = plan.draws;
  for (const VariedKey& v : plan.varied) {
    if (runs > most_runs / v.values.size())
      throw InputError(
          fmt::format("{} {}: that is more than {} runs; take fewer values", given.option, given.text, most_runs));
    runs *= v.values.size();
  }
}

}  // namespace

double SampledKey::draw(std::uint64_t seed, std::uint64_t number) const {
  std::uint64_t name = 0xcbf29ce484222325U;  // FNV-1a: keys draw independently, and whichever others there are
  for (const char c : key) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  const std::uint64_t state = mixed(mixed(seed + golden) ^ name) + golden * (2 * number + 1);
  const double u = unit(mixed(state));
  const std::vector<double>& x = numbers;
  const auto normal = [&] {  // Box and Muller
    return x[0] + x[1] * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * unit(mixed(state + golden)));
  };
  switch (law) {
    case Law::normal: return normal();
    case Law::lognormal: return std::exp(normal());
    case Law::uniform: return std::clamp(x[0] + (x[1] - x[0]) * u, x[0], x[1]);
    case Law::exponential: return -x[0] * std::log(u);
    case Law::triangular: {
      const double width = x[2] - x[0], left = x[1] - x[0];
      return u * width < left ? x[0] + std::sqrt(u * width * left) : x[2] - std::sqrt((1 - u) * width * (x[2] - x[1]));
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void SweepPlan::vary(const std::string& text) {
  const Argument given("--vary", "parameters.m1=0.5:2:100 or --vary parameters.m1=0.5,1,2", text);
  refuse_twice(*this, given);
  VariedKey key{given.key, {}, {}};
  const std::vector<std::string> list = split(given.value, ','), parts = split(given.value, ':');
  if (list.size() == 1 && parts.size() > 1) {
    key.numbers = range_of(given, parts);
    for (const double x : key.numbers) key.values.push_back(fmt::format("{}", x));
  } else {
    for (const std::string& value : list) {
      if (value.empty()) throw given.fault("a value of the list is empty");
      if (std::find(key.values.begin(), key.values.end(), value) != key.values.end())
        throw given.fault(fmt::format("{} is given twice", value));
      key.values.push_back(value);
      const std::optional<double> x = number_of(value);
      key.texts = key.texts || !x;
      key.numbers.push_back(x.value_or(0));
    }
    if (key.texts)
      for (std::size_t k = 0; k < list.size(); ++k) key.numbers[k] = static_cast<double>(k);
  }
  varied.push_back(std::move(key));
  refuse_too_many(*this, given);
}

void SweepPlan::sample(const std::string& text) {
  const Argument given("--sample", "parameters.m1=normal(1,0.1):1000", text);
  refuse_twice(*this, given);
  const auto colon = given.value.rfind(':');
  if (colon == std::string::npos) throw given.fault("the number of draws is missing");
  const std::optional<std::size_t> count = count_of(std::string_view(given.value).substr(colon + 1));
  if (!count || *count < 1 || *count > most_runs)
    throw given.fault(
        fmt::format("'{}' is not a number of draws, from 1 to {}", given.value.substr(colon + 1), most_runs));
  SampledKey key = law_of(given, std::string(trimmed(std::string_view(given.value).substr(0, colon))));
  if (!sampled.empty() && *count != draws)
    throw given.fault(fmt::format("'{}' has {} draws, and all keys are drawn together: give every --sample as many",
                                  sampled.front().key, draws));
  draws = *count;
  sampled.push_back(std::move(key));
  refuse_too_many(*this, given);
}

std::size_t SweepPlan::runs() const {
  std::size_t runs = draws;
  for (const VariedKey& v : varied) runs *= v.values.size();
  return runs;
}

std::vector<std::string> SweepPlan::keys() const {
  std::vector<std::string> all;
  for (const VariedKey& v : varied) all.push_back(v.key);
  for (const SampledKey& s : sampled) all.push_back(s.key);
  return all;
}

std::vector<Setting> SweepPlan::settings(std::size_t run) const {
  std::vector<Setting> list(varied.size());
  const std::size_t draw = run % draws;
  std::size_t rest = run / draws;
  for (std::size_t k = varied.size(); k-- > 0; rest /= varied[k].values.size())
    list[k] = {varied[k].key, varied[k].values[rest % varied[k].values.size()]};
  for (const SampledKey& s : sampled) list.push_back({s.key, fmt::format("{}", s.draw(seed, draw))});
  return list;
}

std::vector<double> SweepPlan::numbers(std::size_t run) const {
  std::vector<double> list(varied.size());
  const std::size_t draw = run % draws;
  std::size_t rest = run / draws;
  for (std::size_t k = varied.size(); k-- > 0; rest /= varied[k].values.size())
    list[k] = varied[k].numbers[rest % varied[k].values.size()];
  for (const SampledKey& s : sampled) list.push_back(s.draw(seed, draw));
  return list;
}

}  // namespace hinge
