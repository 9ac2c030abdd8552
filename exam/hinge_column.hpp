// The scenes of the exam by Hinge, with nothing chosen but the step.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/hinge.hpp"
#include "judge.hpp"
#include "scene_list.hpp"

namespace exam {

inline std::vector<BodyState> body_states(const hinge::System& system, const hinge::State& state) {
  const hinge::BodyTable& table = *hinge::bodies_of(system);
  const std::vector<hinge::BodyPose> poses = hinge::body_poses(system, state);
  std::vector<BodyState> row(poses.size());
  for (std::size_t k = 0; k < poses.size(); ++k) {
    const hinge::BodyPlace& place = table.places[k];
    const double *z = state.z.data(), *q = state.y.data() + place.rotation;
    const Quaterniond principal = Quaterniond(q[0], q[1], q[2], q[3]).normalized();
    row[k].x = poses[k].position;
    row[k].q = Quaterniond(poses[k].rotation).normalized();
    row[k].v = Vector3d(z[place.v], z[place.v + 1], z[place.v + 2]);
    row[k].w = principal * Vector3d(z[place.spin], z[place.spin + 1], z[place.spin + 2]);
  }
  return row;
}

/// A run until `end`, the step divided by `finer`.
inline Recording run_hinge(const std::string& path, const Scene& scene, double x0, double end, int finer = 1) {
  Recording record;
  try {
    std::vector<hinge::Override> overrides = {{"integrate.step", fmt::format("{:.17g}", scene.step / finer)}};
    if (scene.name == "seam") overrides.push_back({"parameters.x0", fmt::format("{:.17g}", x0)});
    const hinge::Model model = hinge::load_model(path, overrides);
    hinge::Simulation run = model.simulation_for("");
    run.start(model.start);
    const auto keep = [&] {
      record.times.push_back(run.state().t);
      record.rows.push_back(body_states(*model.system, run.state()));
    };
    keep();
    const long steps = std::lround(end / scene.step) * finer, every = std::max(1L, steps / rows_of(scene));
    for (long k = 1; k <= steps; ++k) {
      const double before = processor_seconds();
      run.step();
      record.seconds += processor_seconds() - before;
      ++record.steps;
      if (k % every == 0 || k == steps) keep();
    }
  } catch (const std::exception& failure) {
    record.failure = failure.what();
  }
  return record;
}

}  // namespace exam
