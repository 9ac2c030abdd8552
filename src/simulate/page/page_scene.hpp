// The picture of a run: what is drawn, and where it is in each frame.
#pragma once

#include <memory>

#include "hinge/record.hpp"
#include "hinge/view.hpp"
#include "simulate/page/scene_frames.hpp"

namespace hinge {

class PageScene {
 public:
  virtual ~PageScene() = default;
  virtual void frame(const State& state, const ContactImpulses* contacts, SceneFrame& out) = 0;
  /// What is drawn; the motions have been written.
  virtual void describe(Json& scene, PageBlocks& blocks) const = 0;

  SceneFrames frames;
  std::vector<std::string> remarks;  ///< what is not shown, and why
};

/// Bodies with shapes, particles, joints, contacts.
std::unique_ptr<PageScene> body_scene(const System& system, const View* view);
/// Points, rods and surfaces of a system of expressions; null where it has none.
std::unique_ptr<PageScene> point_scene(const System& system, const State& start, const View* view);

Json json_of(const Eigen::Vector3d& v, int dimension = 3);

}  // namespace hinge
