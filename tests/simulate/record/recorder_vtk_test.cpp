// Claims about pictures: every frame is listed, and its files hold the bodies where they are.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

#include <fmt/format.h>

#include "hinge/hinge.hpp"

namespace hinge::recorder_vtk_test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<unsigned char> decoded(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  unsigned int group = 0, bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6 | static_cast<unsigned int>(letters.find(c));
    bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<unsigned char>(group >> (bits -= 8) & 255u));
  }
  return bytes;
}

// The numbers of an array in a .vtp file.
std::vector<double> array_of(const std::string& file, const std::string& name, std::size_t from = 0) {
  const auto at = file.find("Name=\"" + name + "\"", from);
  EXPECT_NE(at, std::string::npos) << name;
  const auto begin = file.find('>', at) + 1, end = file.find('<', begin);
  const std::string text = file.substr(begin, end - begin);
  std::vector<double> values;
#if __has_include(<zlib.h>)
  if (file.find("compressor=\"vtkZLibDataCompressor\"") != std::string::npos) {
    // four numbers of eight bytes, as base64 of their own; then the packed block
    std::uint64_t head[4] = {0, 0, 0, 0};
    const std::vector<unsigned char> numbers = decoded(text.substr(0, 44));
    std::memcpy(head, numbers.data(), std::min(numbers.size(), sizeof head));
    if (head[0] == 0) return values;
    const std::vector<unsigned char> packed = decoded(text.substr(44));
    EXPECT_EQ(packed.size(), head[3]) << name;
    values.resize(head[1] / sizeof(double));
    uLongf size = head[1];
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(values.data()), &size, packed.data(), packed.size()), Z_OK) << name;
    EXPECT_EQ(size, head[1]) << name;
    return values;
  }
#endif
  const std::vector<unsigned char> bytes = decoded(text);
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  EXPECT_EQ(size, bytes.size() - sizeof size) << name;
  values.resize(size / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data() + sizeof size, size);
  return values;
}

TEST(Pictures, HoldTheBodiesOfEveryFrame) {
  const auto folder = std::filesystem::temp_directory_path() / "hinge_pictures_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Multibody scene;
  scene.gravity({0, 0, -10});
  scene.body({.name = "floor", .shapes = {plane({0, 0, 1})}, .fixed = true});
  scene.body({.name = "brick", .mass = 1, .shapes = {box({1, 1, 1})}, .position = {0, 0, 0.5}, .friction = 0.5});
  scene.particles({.name = "grains",
                   .positions = {{3, 0, 5}, {4, 0, 6}},
                   .radii = {0.1, 0.2},
                   .density = 10,
                   .velocity = {1, 0, 0}});
  Simulation run(scene.build(), moreau_jean(), {.step = 0.01, .every = 5});
  run.record({(folder / "scene.pvd").string(), "scene"});
  run.start(scene.start());
  run.until(0.1);
  run.finish();
  EXPECT_EQ(run.report().recorded, 3);
  const std::string index = text_of(folder / "scene.pvd");
  for (const char* part : {"timestep=\"0\"", "timestep=\"0.05\"", "timestep=\"0.1\"", "scene_000002_contacts.vtp"})
    EXPECT_NE(index.find(part), std::string::npos) << part;
  const std::string points = text_of(folder / "scene_000002_points.vtp");
  const std::vector<double> x = array_of(points, "Points"), radius = array_of(points, "radius"),
                            v = array_of(points, "velocity");
  ASSERT_EQ(x.size(), 6u);
  EXPECT_EQ(radius, (std::vector<double>{0.1, 0.2}));
  EXPECT_NEAR(x[3], 4.1, 1e-14);
  EXPECT_NEAR(x[5], 6 - 0.05, 1e-13);
  EXPECT_NEAR(v[5], -1, 1e-13);
  const std::string surfaces = text_of(folder / "scene_000002_surfaces.vtp");
  EXPECT_EQ(array_of(surfaces, "Points").size(), 3u * 8);
  EXPECT_NE(surfaces.find("NumberOfPolys=\"6\""), std::string::npos);
  // the floor is written once, as large as what has been above it: from the brick to the grains, with a margin
  const std::string fixed = text_of(folder / "scene_fixed.vtp");
  const std::vector<double> floor = array_of(fixed, "Points");
  ASSERT_EQ(floor.size(), 3u * 4);
  double low = 1e9, high = -1e9;
  for (std::size_t k = 0; k < floor.size(); k += 3) {
    low = std::min(low, floor[k]);
    high = std::max(high, floor[k]);
    EXPECT_EQ(floor[k + 2], 0);
  }
  EXPECT_NEAR(high - low, 1.1 * (4.3 + 0.5), 1e-12);                  // 4.1 + 0.2 and -0.5, and 5 % on each side
  EXPECT_NE(fixed.find("102 108 111 111 114 0"), std::string::npos);  // its name, letter by letter
  // each series by itself, and a script that opens them
  for (const char* list : {"points", "surfaces", "contacts"}) {
    const std::string one = text_of(folder / fmt::format("scene_{}.pvd", list));
    EXPECT_NE(one.find(fmt::format("scene_000002_{}.vtp", list)), std::string::npos) << one;
    EXPECT_EQ(one.find("fixed"), std::string::npos);
  }
  const std::string script = text_of(folder / "scene.py");
  EXPECT_EQ(script.find("shown.Translation"), std::string::npos) << "ParaView 5.11 knows it as Position";
  EXPECT_NE(script.find("name = \"scene\""), std::string::npos);
  EXPECT_NE(script.find("up = [0, 0, 1]"), std::string::npos) << script.substr(0, 900);
  EXPECT_NE(script.find("usual_force = "), std::string::npos);
  EXPECT_EQ(script.find("usual_force = 0\n"), std::string::npos);
  // the floor carries the brick
  const std::string contacts = text_of(folder / "scene_000002_contacts.vtp");
  EXPECT_NE(contacts.find("NumberOfVerts=\"4\""), std::string::npos) << contacts.substr(0, 400);
  const auto cells = contacts.find("<CellData>");
  const std::vector<double> force = array_of(contacts, "normal_force", cells);
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) sum += force.at(k);
  EXPECT_NEAR(sum, 10, 1e-9);
  std::filesystem::remove_all(folder);
}

// One per test: they may run at the same time.
std::filesystem::path empty_folder() {
  const auto folder =
      std::filesystem::temp_directory_path() /
      (std::string("hinge_pictures_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// Walls are the faces of their box, not planes into the distance; force chains end in the contact where the other side
// has several shapes.
TEST(Pictures, ShowWallsAsFacesAndChainsUpToTheContact) {
  const auto folder = empty_folder();
  const Model model = parse_model(R"(
[multibody]
gravity = [0, -10]
[container]
box = [[-1, 0], [1, 3]]
open = "top"
[[body]]                # two posts with a beam: its centre of mass is in the air
name = "frame"
density = 1
shape = [{ box = [0.2, 1], position = [-0.5, 0] }, { box = [0.2, 1], position = [0.5, 0] }, { box = [1.2, 0.2], position = [0, 0.6] }]
position = [0, 0.5]
[[body]]
name = "disk"
density = 1
shape = { disk = 0.1 }
position = [0, 1.3]
[integrate]
method = "moreau-jean"
step = 0.01
end = 0.05
)",
                                  "scene.toml");
  Simulation run = model.simulation_for((folder / "scene.pvd").string());
  run.start(model.start);
  run.until(0.05);
  run.finish();
  const std::vector<double> wall = array_of(text_of(folder / "scene_fixed.vtp"), "Points");
  ASSERT_EQ(wall.size(), 3u * 3 * 4);
  // all of it within the container and the strips around it, 0.02 of its height
  for (std::size_t k = 0; k < wall.size(); k += 3) {
    EXPECT_LE(std::abs(wall[k]), 1.06 + 1e-12);
    EXPECT_GE(wall[k + 1], -0.06 - 1e-12);
    EXPECT_LE(wall[k + 1], 3 + 1e-12);
  }
  const std::vector<double> chain = array_of(text_of(folder / "scene_000005_contacts.vtp"), "Points");
  bool disk = false;
  for (std::size_t k = 0; k < chain.size(); k += 3) {
    disk = disk || std::hypot(chain[k], chain[k + 1] - 1.3) < 1e-6;
    EXPECT_GT(std::hypot(chain[k], chain[k + 1] - 0.7), 0.2) << "a chain to the centre of the frame";
  }
  EXPECT_TRUE(disk);
  std::filesystem::remove_all(folder);
}

TEST(Pictures, AreAFewHundredWhereNothingIsSaid) {
  const auto folder = empty_folder();
  Multibody scene;
  scene.gravity({0, 0, -10});
  scene.body({.name = "ball", .mass = 1, .shapes = {sphere(1)}, .position = {0, 0, 5}});
  Simulation run(scene, moreau_jean(), {.step = 1e-3});
  run.record({(folder / "ball.pvd").string(), "ball"});
  run.start(scene.start());
  run.until(1.5005);
  EXPECT_EQ(run.report().recorded, 301);  // 0, then at or after each 5.0017 ms, the last at the end
  const std::string index = text_of(folder / "ball.pvd");
  EXPECT_NE(index.find("timestep=\"1.5005\""), std::string::npos);
  EXPECT_EQ(index.find("timestep=\"0.001\""), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(Pictures, AreOfBodiesOnly) {
  Lagrangian pendulum;
  const Expression a = pendulum.coordinate("a"), v = pendulum.velocity(a);
  pendulum.kinetic(0.5 * v * v);
  Simulation run(pendulum, gauss_lobatto(2), {.step = 0.1});
  run.record({"pendulum.pvd", ""});
  EXPECT_THROW(run.start({.position = {0}}), InputError);
  EXPECT_FALSE(std::filesystem::exists("pendulum.pvd"));
}

}  // namespace
}  // namespace hinge::recorder_vtk_test
