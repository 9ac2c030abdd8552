#include "simulate/phase_watch.hpp"

#include <algorithm>
#include <cmath>

#include "hinge/system.hpp"

namespace hinge {

namespace {

constexpr long fewest_steps = 100;  // of a run that is looked at
constexpr long most_places = 200;
constexpr long steps_to_a_place = 100;
constexpr std::size_t most_numbers = 200;  // of a state
constexpr double remembered = 0.05;        // of what halves show: a step made anew is another one
constexpr double sure = 3;                 // standard deviations, when there are many places;
constexpr double unsure = 4;               // more for few: Student's distribution, with a probability of 0.0027
constexpr double largest_part = 0.2;       // of the size of the motion

}  // namespace

void PhaseWatch::begin(const System& system, bool resolved, int order) {
  *this = PhaseWatch();
  const Structure& has = system.structure();
  const auto numbers = static_cast<std::size_t>(system.ny() + system.nz());
  active_ = !resolved && order > 1 && has.has_energy && !has.depends_on_time && !has.has_applied_force &&
            !has.has_contacts && !has.is_dae && has.gaps == 0 && has.pairs == 0 && system.nw() == 0 &&
            numbers <= most_numbers;
  order_ = order;
  split_ = static_cast<std::size_t>(system.ny());
  last_.assign(split_, 0);
  low_.assign(numbers, INFINITY);
  high_.assign(numbers, -INFINITY);
}

// Spread without a period that the motion could have as well.
void PhaseWatch::expect(long steps) {
  if (!active_ || !places_.empty() || steps < fewest_steps) return;
  steps_ = steps;
  const long count = std::clamp(steps / steps_to_a_place, 8L, most_places);
  double golden = 0.5;
  for (long k = 0; k < count; ++k) {
    golden += 0.6180339887498949;
    golden -= std::floor(golden);
    const auto place =
        static_cast<long>((static_cast<double>(k) + golden) * static_cast<double>(steps) / static_cast<double>(count));
    if (place < steps && (places_.empty() || place > places_.back())) places_.push_back(place);
  }
  seen_.reserve(places_.size());
}

// The mean angle of a step, theta, says what a method of order p may be off: less than steps theta^(p + 1)/12.
bool PhaseWatch::due(long done) {
  if (next_ >= places_.size() || done != places_[next_]) return false;
  const double theta = sums_[0] > 0 ? std::sqrt(turned_ / sums_[0]) : 0;
  if (static_cast<double>(steps_) * std::pow(theta, order_ + 1) > largest_part) return true;
  ++next_;
  return false;
}

void PhaseWatch::see(const State& a, const State& b, const State* anew, const State* halves) {
  ++next_;
  if (remembers_ || !halves) return;
  Place place;
  double difference = 0, change = 0;
  for (std::size_t i = 0; i < low_.size(); ++i) {
    const auto at = [&](const State& s) { return i < split_ ? s.y[i] : s.z[i - split_]; };
    const double way = at(b) - at(a), off = at(b) - at(*halves);
    const int block = i < split_ ? 0 : 1;
    place.off[block] += off * way;
    place.square[block] += way * way;
    difference = std::max(difference, std::abs(off));
    if (anew) change = std::max(change, std::abs(at(b) - at(*anew)));
    for (const State* s : {&a, &b}) low_[i] = std::min(low_[i], at(*s)), high_[i] = std::max(high_[i], at(*s));
  }
  remembers_ = change > remembered * difference + 1e-12;
  seen_.push_back(place);
}

void PhaseWatch::add(const State& a, const State& b) {
  if (!active_) return;
  for (std::size_t i = 0; i < a.y.size(); ++i) {
    const double change = b.y[i] - a.y[i], turn = change - last_[i];
    sums_[0] += change * change;
    if (begun_) turned_ += turn * turn;
    last_[i] = change;
  }
  begun_ = true;
  for (std::size_t i = 0; i < a.z.size(); ++i) sums_[1] += (b.z[i] - a.z[i]) * (b.z[i] - a.z[i]);
}

void PhaseWatch::doubts(std::vector<Doubt>& doubts) const {
  if (!active_ || remembers_ || seen_.size() < 5) return;
  double width[2] = {0, 0};
  for (std::size_t i = 0; i < low_.size(); ++i)
    width[i < split_ ? 0 : 1] = std::max(width[i < split_ ? 0 : 1], high_[i] - low_[i]);
  if (!(width[0] > 0 && width[1] > 0)) return;
  // least squares of (b - b', b - a) by |b - a|^2 of y and z
  const double scale[2] = {1 / (width[0] * width[0]), 1 / (width[1] * width[1])};
  const auto off_of = [&](const Place& p) { return p.off[0] * scale[0] + p.off[1] * scale[1]; };
  double way = 0, yy = 0, yz = 0, zz = 0, y_off = 0, z_off = 0;
  for (const Place& p : seen_) {
    const double y = p.square[0] * scale[0], z = p.square[1] * scale[1], off = off_of(p);
    way += std::sqrt(y + z);
    yy += y * y, yz += y * z, zz += z * z, y_off += y * off, z_off += z * off;
  }
  const double det = yy * zz - yz * yz;
  const double sy = sums_[0] * scale[0], sz = sums_[1] * scale[1];
  if (!(yy > 0 && zz > 0 && sy + sz > 0)) return;
  const auto places = static_cast<double>(seen_.size());
  double mean = 0, variance = 0, scatter = 0, freedom = places - 2;
  if (det > 1e-6 * yy * zz) {
    const double m = (zz * y_off - yz * z_off) / det, n = (yy * z_off - yz * y_off) / det;
    const double a = sy / (sy + sz), b = sz / (sy + sz);
    for (const Place& p : seen_)
      scatter += std::pow(off_of(p) - m * p.square[0] * scale[0] - n * p.square[1] * scale[1], 2);
    mean = m * a + n * b;
    variance = scatter / freedom * (zz * a * a - 2 * yz * a * b + yy * b * b) / det;
  } else {  // both go together
    const double square = yy + 2 * yz + zz;
    mean = (y_off + z_off) / square;
    for (const Place& p : seen_)
      scatter += std::pow(off_of(p) - mean * (p.square[0] * scale[0] + p.square[1] * scale[1]), 2);
    freedom = places - 1;
    variance = scatter / freedom / square;
  }
  if (!(std::abs(mean) > sure * (1 + unsure / freedom) * std::sqrt(variance))) return;
  const double of_halves = 1 / (1 - std::pow(0.5, order_));  // what halves of a step are off themselves
  const double off = std::abs(mean) * of_halves * way / places * static_cast<double>(steps_);
  if (off > largest_part)
    doubts.push_back(
        {"the motion is too fast or too slow: halves of steps lead elsewhere along it by a little, and always the same "
         "way, which adds up to this part of the size of the motion",
         off, "take a shorter step, a method of higher order, or a tolerance"});
}

}  // namespace hinge
