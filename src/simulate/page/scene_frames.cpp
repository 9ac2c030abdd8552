#include "simulate/page/scene_frames.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

namespace {

constexpr double most_frames = 4000, fewest_frames = 60;
constexpr double text = 4.0 / 3;  // base64

// Numbers of `components` each as 16 bits between the smallest and the largest of each component.
Json quantised(const std::vector<float>& x, std::size_t components, PageBlocks& blocks) {
  std::vector<double> low(components, INFINITY), high(components, -INFINITY);
  for (std::size_t k = 0; k < x.size(); ++k) {
    low[k % components] = std::min<double>(low[k % components], x[k]);
    high[k % components] = std::max<double>(high[k % components], x[k]);
  }
  if (x.empty()) low.assign(components, 0), high = low;
  std::vector<std::uint16_t> numbers;
  numbers.reserve(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double width = high[k % components] - low[k % components];
    numbers.push_back(width > 0 ? static_cast<std::uint16_t>(std::lround((x[k] - low[k % components]) / width * 65535))
                                : 0);
  }
  return {{"block", blocks.add(std::span<const std::uint16_t>(numbers))},
          {"components", components},
          {"min", low},
          {"max", high}};
}

}  // namespace

void SceneFrame::place(const Eigen::Vector3d& x, int dimension) {
  for (int k = 0; k < dimension; ++k) positions.push_back(static_cast<float>(x(k)));
}

void SceneFrame::turn(const Eigen::Quaterniond& q, int dimension) {
  if (dimension == 2) return static_cast<void>(rotations.insert(rotations.end(), {float(q.w()), float(q.z())}));
  rotations.insert(rotations.end(), {float(q.w()), float(q.x()), float(q.y()), float(q.z())});
}

SceneFrames::SceneFrames(int dimension, std::vector<SceneMotion> motions, bool has_contacts)
    : dimension_(dimension), motions_(std::move(motions)), has_contacts_(has_contacts) {}

void SceneFrames::expect(double start, double end) {
  double bytes = 8 * text;
  const double d = dimension_, turn = dimension_ == 2 ? 2 : 4;
  for (const SceneMotion& m : motions_) bytes += text * 2 * static_cast<double>(m.count) * (d + (m.turns ? turn : 0));
  const double frames = std::clamp(scene_budget / 2 / bytes, fewest_frames, most_frames);
  interval_ = (end - start) / frames;
  next_ = start;
  end_ = end;
}

double SceneFrames::bytes_of(const SceneFrame& f) const {
  const double contact = 2.0 * dimension_ + 8 + 4.0 * dimension_;
  return text * (8 + 2 * static_cast<double>(f.positions.size() + f.rotations.size()) +
                 contact * static_cast<double>(f.contacts.size()));
}

void SceneFrames::add(SceneFrame frame) {
  if (interval_ > 0)
    next_ = std::max(next_, next_ + interval_ * (std::floor((frame.t - next_) / interval_ + 1e-9) + 1));
  if (probe_) compare(frames_.back(), *probe_, frame);
  probe_.reset();
  bytes_ += bytes_of(frame);
  frames_.push_back(std::move(frame));
  if (bytes_ > scene_budget) halve();
}

void SceneFrames::compare(const SceneFrame& before, const SceneFrame& between, const SceneFrame& after) {
  const double part = after.t > before.t ? (between.t - before.t) / (after.t - before.t) : 0;
  const auto d = static_cast<std::size_t>(dimension_);
  for (std::size_t k = 0; k + d <= between.positions.size(); k += d) {
    double square = 0;
    for (std::size_t j = k; j < k + d; ++j) {
      const double x = (1 - part) * before.positions[j] + part * after.positions[j] - between.positions[j];
      square += x * x;
    }
    off_ = std::max(off_, std::sqrt(square));
  }
}

double SceneFrames::off_the_way() const {
  double size = 0;
  for (int k = 0; k < dimension_; ++k) {
    float low = INFINITY, high = -INFINITY;
    for (const SceneFrame& f : frames_)
      for (std::size_t i = static_cast<std::size_t>(k); i < f.positions.size();
           i += static_cast<std::size_t>(dimension_)) {
        low = std::min(low, f.positions[i]);
        high = std::max(high, f.positions[i]);
      }
    size = std::max<double>(size, high - low);
  }
  return size > 0 ? off_ / size : 0;
}

// Every second frame is dropped, but not the last one. A chord of twice the length is four times as far from its arc.
void SceneFrames::halve() {
  const std::size_t count = frames_.size();
  if (count < 8) return;
  std::vector<SceneFrame> kept;
  for (std::size_t k = 0; k < count; ++k)
    if (k % 2 == 0 || k + 1 == count) kept.push_back(std::move(frames_[k]));
  frames_ = std::move(kept);
  bytes_ = 0;
  for (const SceneFrame& f : frames_) bytes_ += bytes_of(f);
  interval_ *= 2;
  off_ *= 4;
  ++halvings_;
}

bool SceneFrames::finite() const {
  return std::all_of(frames_.begin(), frames_.end(), [](const SceneFrame& f) {
    return std::all_of(f.positions.begin(), f.positions.end(), [](float x) { return std::isfinite(x); });
  });
}

Json SceneFrames::write_motion(std::size_t first, std::size_t first_turn, const SceneMotion& motion,
                               PageBlocks& blocks) const {
  const auto d = static_cast<std::size_t>(dimension_);
  const std::size_t r = dimension_ == 2 ? 2 : 4;
  std::vector<float> positions;
  std::vector<std::int16_t> turns;
  for (const SceneFrame& f : frames_) {
    const auto from = f.positions.begin() + static_cast<std::ptrdiff_t>(first * d);
    positions.insert(positions.end(), from, from + static_cast<std::ptrdiff_t>(motion.count * d));
    if (!motion.turns) continue;
    const float* q = f.rotations.data() + first_turn * r;
    for (std::size_t k = 0; k < motion.count * r; ++k)
      turns.push_back(static_cast<std::int16_t>(std::lround(std::clamp(q[k], -1.0F, 1.0F) * 32767)));
  }
  Json json = {{"count", motion.count}, {"positions", quantised(positions, d, blocks)}};
  if (motion.turns)
    json["rotations"] = {{"block", blocks.add(std::span<const std::int16_t>(turns))}, {"components", r}};
  return json;
}

SceneFrames::Contacts SceneFrames::contacts(std::size_t first, std::size_t end) const {
  const auto d = static_cast<std::size_t>(dimension_);
  Contacts list;
  for (std::size_t k = first; k < end; ++k) {
    for (const SceneContact& c : frames_[k].contacts) {
      list.points.insert(list.points.end(), c.point, c.point + d);
      list.forces.insert(list.forces.end(), c.force, c.force + d);
      list.bodies.insert(list.bodies.end(), {c.a, c.b});
    }
    list.start.push_back(static_cast<std::uint32_t>(list.bodies.size() / 2));
  }
  return list;
}

Json SceneFrames::write_contacts(PageBlocks& blocks) const {
  const auto d = static_cast<std::size_t>(dimension_);
  const Contacts list = contacts(0, frames_.size());
  return {{"start", blocks.add(std::span<const std::uint32_t>(list.start))},
          {"points", quantised(list.points, d, blocks)},
          {"bodies", blocks.add(std::span<const std::int32_t>(list.bodies))},
          {"forces", {{"block", blocks.add(std::span<const float>(list.forces))}, {"components", d}}}};
}

void SceneFrames::write(Json& scene, PageBlocks& blocks, bool more) const {
  std::vector<double> times;
  for (const SceneFrame& f : frames_) times.push_back(times.empty() ? f.t : std::max(times.back(), f.t));
  scene["frames"] = {{"count", times.size()}, {"time", blocks.add(std::span<const double>(times))}};
  Json list = Json::array();
  std::size_t first = 0, first_turn = 0;
  for (const SceneMotion& m : motions_) {
    list.push_back(write_motion(first, first_turn, m, blocks));
    first += m.count;
    if (m.turns) first_turn += m.count;
  }
  scene["motions"] = std::move(list);
  const bool touched =
      std::any_of(frames_.begin(), frames_.end(), [](const SceneFrame& f) { return !f.contacts.empty(); });
  if (has_contacts_ && (touched || more)) scene["contacts"] = write_contacts(blocks);
}

}  // namespace hinge
