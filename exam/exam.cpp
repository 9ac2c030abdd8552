// `make exam`: the scenes of this folder by Hinge and by the engines that are installed, each with its default, all
// with the step of the scene. Printed: the largest error against the exact answer, relative, as the judge sees it in
// the states, and microseconds of the processor per step.
//
//   exam FOLDER_OF_SCENES FOLDER_WITH_node_modules [--quick] [SCENE]...      --quick: long scenes shortened
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string_view>

#include "hinge_column.hpp"
#include "npm_column.hpp"
#ifdef HINGE_EXAM_BULLET
#include "bullet_column.hpp"
#endif
#ifdef HINGE_EXAM_ODE
#include "ode_column.hpp"
#endif

namespace exam {
namespace {

struct Engine {
  std::string name;
  std::function<bool(const Scene&)> takes;
  std::function<Recording(const Scene&, double x0, double end)> run;
};

#if defined(HINGE_EXAM_BULLET) || defined(HINGE_EXAM_ODE)
// A world with step(t) and row().
template <class World>
Recording run_world(const Scene& scene, double end) {
  Recording record;
  World world(scene);
  const auto keep = [&](long k) {
    record.times.push_back(static_cast<double>(k) * scene.step);
    record.rows.push_back(world.row());
  };
  keep(0);
  const long steps = std::lround(end / scene.step), every = std::max(1L, steps / rows_of(scene));
  for (long k = 1; k <= steps; ++k) {
    const double before = processor_seconds();
    world.step(static_cast<double>(k - 1) * scene.step);
    record.seconds += processor_seconds() - before;
    ++record.steps;
    if (k % every == 0 || k == steps) keep(k);
  }
  return record;
}
#endif

std::vector<Engine> engines(const std::string& scenes, const std::string& modules) {
  const auto all = [](const Scene&) { return true; };
  std::vector<Engine> list;
  list.push_back({"Hinge", all, [scenes](const Scene& scene, double x0, double end) {
                    return run_hinge(scenes + "/" + scene.name + ".toml", scene, x0, end);
                  }});
#ifdef HINGE_EXAM_BULLET
  list.push_back({"Bullet", all, [](const Scene& s, double, double end) { return run_world<BulletWorld>(s, end); }});
#endif
#ifdef HINGE_EXAM_ODE
  list.push_back(
      {"ODE", OdeWorld::takes, [](const Scene& s, double, double end) { return run_world<OdeWorld>(s, end); }});
#endif
  const struct {
    const char *name, *engine, *package;
  } npm[] = {{"Rapier", "rapier", "@dimforge/rapier3d-compat"}, {"Jolt", "jolt", "jolt-physics"}};
  for (const auto& e : npm)
    if (std::filesystem::exists(modules + "/node_modules/" + e.package))
      list.push_back({e.name, all, [=, engine = std::string(e.engine)](const Scene& s, double, double end) {
                        return run_npm(engine, scenes + "/npm_column.mjs", modules, s, end);
                      }});
  return list;
}

std::string cell(const Engine& engine, const std::string& path, const std::string& name, bool quick) {
  double error = 0, seconds = 0;
  long steps = 0;
  for (const double x0 : starts_of(name)) {
    const Scene scene = read_scene(path, &x0);
    if (!engine.takes(scene)) return "-";
    const double end = quick ? std::min(scene.end, name == "thousand-spheres" ? 0.5 : 4.0) : scene.end;
    const Recording record = engine.run(scene, x0, end);
    if (!record.failure.empty())
      std::fprintf(stderr, "%s, %s: %.300s\n", engine.name.c_str(), name.c_str(), record.failure.c_str());
    error = std::max(error, Judge(scene, record).error());
    seconds += record.seconds;
    steps += record.steps;
  }
  const std::string time = steps > 0 ? fmt::format("{:.0f}", 1e6 * seconds / static_cast<double>(steps)) : "-";
  return std::isfinite(error) ? fmt::format("{:.1e} ({})", error, time) : fmt::format("stops ({})", time);
}

}  // namespace
}  // namespace exam

int main(int argc, char** argv) {
  using namespace exam;
  if (argc < 3) {
    std::fprintf(stderr, "exam FOLDER_OF_SCENES FOLDER_WITH_node_modules [--quick] [SCENE]...\n");
    return 2;
  }
  const std::string scenes = argv[1], modules = argv[2];
  bool quick = false;
  std::vector<std::string> names;
  for (int k = 3; k < argc; ++k)
    if (std::string_view(argv[k]) == "--quick")
      quick = true;
    else
      names.emplace_back(argv[k]);
  if (names.empty()) names = scene_names();
  const std::vector<Engine> list = engines(scenes, modules);
  std::printf(
      "Largest error against the exact answer, relative; in brackets microseconds of the processor per step.\n\n| "
      "scene |");
  for (const Engine& e : list) std::printf(" %s |", e.name.c_str());
  std::printf("\n| --- |");
  for (std::size_t k = 0; k < list.size(); ++k) std::printf(" --- |");
  std::printf("\n");
  for (const std::string& name : names) {
    std::printf("| %s |", name.c_str());
    for (const Engine& e : list) {
      std::printf(" %s |", cell(e, scenes + "/" + name + ".toml", name, quick).c_str());
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}
