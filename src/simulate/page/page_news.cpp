// What a page that is served asks for while its run goes on: rows and frames that it does not have yet.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "simulate/page/page_recorder.hpp"
#include "simulate/record/base64.hpp"

namespace hinge {

namespace {

// Of one answer; the page asks again.
constexpr std::size_t most_numbers_sent = 2'000'000;

template <class Number>
std::string text_of(const std::vector<Number>& values) {
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)});
}

std::size_t at_most(std::size_t there, std::size_t width) {
  return std::min(there, std::max<std::size_t>(1, most_numbers_sent / std::max<std::size_t>(width, 1)));
}

}  // namespace

void SceneFrames::send(std::size_t first, std::size_t count, Json& out) const {
  if (first >= frames_.size()) return;
  const std::size_t wide = frames_[first].positions.size() + frames_[first].rotations.size();
  const std::size_t end = first + std::min(count, at_most(frames_.size() - first, wide));
  const auto d = static_cast<std::size_t>(dimension_);
  const std::size_t r = dimension_ == 2 ? 2 : 4;
  std::vector<double> times;
  double before = first > 0 ? frames_[first - 1].t : -INFINITY;
  for (std::size_t k = first; k < end; ++k) times.push_back(before = std::max(before, frames_[k].t));
  Json motions = Json::array();
  std::size_t thing = 0, turn = 0;
  for (const SceneMotion& m : motions_) {
    std::vector<float> positions, rotations;
    for (std::size_t k = first; k < end; ++k) {
      const SceneFrame& f = frames_[k];
      positions.insert(positions.end(), f.positions.data() + thing * d, f.positions.data() + (thing + m.count) * d);
      if (m.turns)
        rotations.insert(rotations.end(), f.rotations.data() + turn * r, f.rotations.data() + (turn + m.count) * r);
    }
    Json motion = {{"positions", text_of(positions)}};
    if (m.turns) motion["rotations"] = text_of(rotations);
    motions.push_back(std::move(motion));
    thing += m.count;
    if (m.turns) turn += m.count;
  }
  if (has_contacts_) {
    const Contacts list = contacts(first, end);
    out["contacts"] = {{"start", text_of(list.start)},
                       {"points", text_of(list.points)},
                       {"bodies", text_of(list.bodies)},
                       {"forces", text_of(list.forces)}};
  }
  out["frames"] = end - first;
  out["frame_time"] = text_of(times);
  out["motions"] = std::move(motions);
}

Json PageRecorder::news(std::size_t rows, std::size_t frames) const {
  Json out = {{"rows", 0}};
  if (rows_ && rows < rows_->rows()) {
    const std::size_t count = at_most(rows_->rows() - rows, columns_.size());
    const auto from = rows_->times().begin() + static_cast<std::ptrdiff_t>(rows);
    out["rows"] = count;
    out["time"] = text_of(std::vector<double>(from, from + static_cast<std::ptrdiff_t>(count)));
    out["columns"] = Json::array();
    for (std::size_t k = 0; k < columns_.size(); ++k) out["columns"].push_back(text_of(rows_->column(k, rows, count)));
  }
  if (scene_) scene_->frames.send(frames, most_numbers_sent, out);
  return out;
}

std::string PageRecorder::numbering() const {
  return fmt::format("{}.{}", rows_ ? rows_->bucket() : 0, scene_ ? scene_->frames.halvings() : 0);
}

double PageRecorder::largest(std::string_view kind) const {
  double most = NAN;
  for (std::size_t k = 0; rows_ && k < columns_.size(); ++k)
    if (columns_[k].kind == kind)
      for (const double x : rows_->column(k, 0, rows_->rows())) most = std::fmax(most, std::abs(x));
  return most;
}

}  // namespace hinge
