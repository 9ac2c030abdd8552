// The scenes of the exam by engines from npm: the scene goes to npm_column.mjs as JSON, rows come back as numbers.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge.hpp"
#include "scene_list.hpp"

namespace exam {

inline nlohmann::json as_json(const Scene& scene, long steps) {
  using nlohmann::json;
  const auto list = [](const Vector3d& x) { return json{x.x(), x.y(), x.z()}; };
  json out = {{"gravity", list(scene.gravity)},
              {"friction", scene.friction},
              {"restitution", scene.restitution},
              {"step", scene.step},
              {"steps", steps},
              {"every", std::max(1L, steps / rows_of(scene))},
              {"bodies", json::array()},
              {"joints", json::array()}};
  for (const SceneBody& b : scene.bodies) {
    json points = json::array();
    for (const Vector3d& p : b.points) points.push_back(list(p));
    out["bodies"].push_back({{"fixed", b.fixed},
                             {"turned", b.turned},
                             {"collide", b.collide},
                             {"mass", b.mass},
                             {"inertia", list(b.inertia)},
                             {"shape", b.shape},
                             {"size", b.size},
                             {"points", points},
                             {"position", list(b.position)},
                             {"rotation", {b.rotation.w(), b.rotation.x(), b.rotation.y(), b.rotation.z()}},
                             {"velocity", list(b.velocity)},
                             {"angular_velocity", list(b.angular_velocity)},
                             {"force", list(b.force)}});
  }
  for (const SceneJoint& j : scene.joints)
    out["joints"].push_back(
        {{"type", j.type}, {"a", j.a}, {"b", j.b}, {"point", list(j.point)}, {"axis", list(j.axis)}});
  return out;
}

/// `script`: npm_column.mjs; `folder`: where node_modules is, and where files may be written.
inline Recording run_npm(const std::string& engine, const std::string& script, const std::string& folder,
                         const Scene& scene, double end) {
  Recording record;
  const long steps = std::lround(end / scene.step);
  const std::string in = folder + "/scene.json", out = folder + "/rows.csv";
  std::ofstream(in) << as_json(scene, steps);
  const std::string command = fmt::format("timeout 600 node '{}' {} '{}' < '{}' > '{}' 2> '{}/{}.txt'", script, engine,
                                          folder, in, out, folder, engine);
  if (std::system(command.c_str()) != 0) {
    record.failure = fmt::format("{} did not end, see {}/{}.txt", engine, folder, engine);
    return record;
  }
  std::ifstream rows(out);
  std::vector<std::vector<double>> lines;
  for (std::string line; std::getline(rows, line);) {
    std::vector<double> values;
    std::istringstream text(line);
    for (std::string x; std::getline(text, x, ',');) values.push_back(std::atof(x.c_str()));
    lines.push_back(values);
  }
  if (lines.size() < 2) {
    record.failure = engine + " wrote nothing";
    return record;
  }
  record.steps = static_cast<long>(lines.back()[0]);
  record.seconds = lines.back()[1];
  lines.pop_back();
  for (const std::vector<double>& line : lines) {
    record.times.push_back(line[0]);
    std::vector<BodyState> row;
    for (std::size_t k = 1; k + 12 < line.size(); k += 13) {
      const double* x = line.data() + k;
      row.push_back({Vector3d(x[0], x[1], x[2]), Vector3d(x[7], x[8], x[9]), Vector3d(x[10], x[11], x[12]),
                     Quaterniond(x[3], x[4], x[5], x[6]).normalized()});
    }
    record.rows.push_back(row);
  }
  return record;
}

}  // namespace exam
