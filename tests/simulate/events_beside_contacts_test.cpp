// Claims: looking for events makes no difference to what a run says of its contacts, nor to the motion; of a step that
// an event ends, what would have come after the event is not counted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "random_draw.hpp"

namespace hinge::events_beside_contacts_test {
namespace {

struct Scene {
  double height, restitution, step;
  std::string method;
};

Scene draw_scene(unsigned seed) {
  Draw draw(seed);
  const std::vector<std::string> methods = {"", "method = \"moreau-jean\"\ngap = \"velocity\"\n"};
  return {draw.number(0.3, 1.5), draw.number(0.2, 0.8), draw.power(-3.3, -2.3), methods[seed % methods.size()]};
}

Simulation run_of(const Scene& s, const std::string& event, double end) {
  const std::string text = fmt::format(
      "[multibody]\ngravity = [0, -9.81]\n"
      "[[body]]\nname = \"floor\"\nfixed = true\nshape = {{ plane = [0, 1] }}\nrestitution = {}\n"
      "[[body]]\nname = \"ball\"\nmass = 1\nshape = {{ disk = 0.1 }}\nposition = [0, {}]\nvelocity = [0.3, 0]\n"
      "[integrate]\n{}step = {}\nend = {}\n{}",
      s.restitution, 0.1 + s.height, s.method, s.step, end, event);
  const Model model = parse_model(text, "model", {});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(end);
  return run;
}

TEST(EventsBesideContacts, ThatAreRecordedChangeNothing) {
  for (unsigned k = 0; k < 24; ++k) {
    const Scene scene = draw_scene(k);
    const double end = 1.8 * std::sqrt(2 * scene.height / 9.81);
    const Report plain = run_of(scene, "", end).report(),
                 watched = run_of(scene, "[[event]]\nname = \"turn\"\nroot = \"ball'[1]\"\n", end).report();
    ASSERT_TRUE(plain.contacts && watched.contacts) << k;
    EXPECT_GE(plain.contacts->impacts, 1) << k;
    EXPECT_EQ(watched.contacts->impacts, plain.contacts->impacts) << k << scene.method;
    EXPECT_EQ(watched.contacts->impact_loss, plain.contacts->impact_loss) << k << scene.method;
    EXPECT_EQ(watched.contacts->friction_loss, plain.contacts->friction_loss) << k;
    EXPECT_EQ(watched.contacts->solves, plain.contacts->solves) << k;
    EXPECT_EQ(watched.final.y, plain.final.y) << k << scene.method;
    EXPECT_EQ(watched.final.z, plain.final.z) << k;
    EXPECT_FALSE(watched.events.empty()) << k;
  }
}

TEST(EventsBesideContacts, WhatWouldComeAfterTheEndIsNotCounted) {
  for (unsigned k = 0; k < 24; ++k) {
    Scene scene = draw_scene(k);
    scene.method.clear();  // others strike up to a step before the floor is reached
    const double speed = std::sqrt(2 * 9.81 * scene.height);
    for (const double part : {0.3, 0.9}) {  // of a step before the ball reaches the floor
      const Report report =
          run_of(scene,
                 fmt::format("[[event]]\nname = \"near\"\nroot = \"ball[1] - {:.12g}\"\naction = \"stop\"\n",
                             0.1 + part * scene.step * speed),
                 5)
              .report();
      ASSERT_TRUE(report.contacts) << k;
      EXPECT_EQ(report.events.size(), 1U) << k;
      EXPECT_LT(report.end, 2 * std::sqrt(2 * scene.height / 9.81)) << k;
      EXPECT_EQ(report.contacts->impact_loss, 0) << k << " " << part << scene.method;
      EXPECT_EQ(report.contacts->impacts, 0) << k << " " << part << scene.method;
    }
  }
}

}  // namespace
}  // namespace hinge::events_beside_contacts_test
