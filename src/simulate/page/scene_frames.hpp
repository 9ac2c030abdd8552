// The motion of a scene, frame by frame: where things are, how they are turned, what touches. Kept as long as a run
// goes on; then written as quantised blocks. Where it becomes too much, every second frame is dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/Geometry>

#include "simulate/page/page_blocks.hpp"

namespace hinge {

/// So many bytes of text may the moving part of a scene take, before packing.
inline constexpr double scene_budget = 30e6;

/// A contact that carries a force. Things are counted through all motions; -1 is fixed in space.
struct SceneContact {
  float point[3], force[3];  ///< the force on a
  std::int32_t a, b;
};

/// Things whose positions, and rotations where they have any, are shown.
struct SceneMotion {
  std::size_t count = 0;
  bool turns = false;
};

struct SceneFrame {
  double t = 0;
  std::vector<float> positions;  ///< of all things of all motions, `dimension` numbers each
  std::vector<float> rotations;  ///< of those that turn: w, x, y, z, or w, z in the plane
  std::vector<SceneContact> contacts;

  void place(const Eigen::Vector3d& x, int dimension);
  void turn(const Eigen::Quaterniond& q, int dimension);
};

class SceneFrames {
 public:
  SceneFrames() = default;
  SceneFrames(int dimension, std::vector<SceneMotion> motions, bool has_contacts);
  /// The run goes from `start` to `end`: frames lie so close that the scene stays small.
  void expect(double start, double end);
  bool due(double t) const { return t >= next_ - 1e-9 * interval_ || t >= end_; }
  void add(SceneFrame frame);
  /// Between two frames things are drawn on a straight way. Is it time to look how far that is from the motion?
  bool probe_due(double t) const { return !frames_.empty() && !probe_ && t >= frames_.back().t + interval_ / 2; }
  void probe(SceneFrame frame) { probe_ = std::move(frame); }
  /// The largest distance from the motion that was seen so, as a part of the size of the scene.
  double off_the_way() const;

  int dimension() const { return dimension_; }
  std::size_t size() const { return frames_.size(); }
  double last_time() const { return frames_.empty() ? -INFINITY : frames_.back().t; }
  bool finite() const;
  /// "frames", "motions" and "contacts" of the scene.
  /// `more`: the run goes on, and there may be contacts later.
  void write(Json& scene, PageBlocks& blocks, bool more) const;
  /// Frames from number `first` on, `count` at most, as they are sent while a run goes on: not quantised.
  void send(std::size_t first, std::size_t count, Json& out) const;
  /// How often every second frame was dropped.
  int halvings() const { return halvings_; }

 private:
  double bytes_of(const SceneFrame& frame) const;
  void compare(const SceneFrame& before, const SceneFrame& between, const SceneFrame& after);
  void halve();
  Json write_motion(std::size_t first, std::size_t first_turn, const SceneMotion& motion, PageBlocks& blocks) const;
  /// Of frames `first` to `end` - 1, one after the other; start[k] is the first of the k-th of them.
  struct Contacts {
    std::vector<std::uint32_t> start{0};
    std::vector<float> points, forces;
    std::vector<std::int32_t> bodies;
  };
  Contacts contacts(std::size_t first, std::size_t end) const;
  Json write_contacts(PageBlocks& blocks) const;

  int dimension_ = 3;
  std::vector<SceneMotion> motions_;
  bool has_contacts_ = false;
  double interval_ = 0, next_ = -INFINITY, end_ = INFINITY, bytes_ = 0;
  std::vector<SceneFrame> frames_;
  std::optional<SceneFrame> probe_;
  double off_ = 0;
  int halvings_ = 0;
};

}  // namespace hinge
