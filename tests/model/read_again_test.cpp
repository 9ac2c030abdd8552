// A thread that reads a model again with other values finds its file parsed: what comes out is what a thread reads that
// has read nothing before.
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge::read_again_test {
namespace {

const std::string text = R"toml(title = "Read again"
[parameters]
z = 2.0
a = 1
[multibody]
gravity = [0, -9.81, 0]
[[body]]
name = "one"
mass = "a"
inertia = [0.1, 0.2, 0.3]
position = ["z", 0, 0]
[[body]]
name = "two"
mass = 2
inertia = [0.1, 0.2, 0.3]
position = [0, 1, 0]
[integrate]
tolerance = 1e-6
end = 1
[output]
quantities = { second = "z", first = "a*z" }
)toml";

// All that can be seen of it, or what is wrong with it.
std::string seen(const std::vector<Override>& overrides) {
  try {
    const Model m = parse_model(text, "again.toml", overrides);
    std::string all = m.settings + "; " + m.title + "; " + m.method + "; " + std::to_string(m.end);
    for (const double x : m.start.position) all += " " + std::to_string(x);
    for (const Model::Quantity& q : m.quantities) all += " " + q.name;
    return all;
  } catch (const Error& e) {
    return e.what();
  }
}

std::string seen_by_another_thread(const std::vector<Override>& overrides) {
  std::string all;
  std::thread([&] { all = seen(overrides); }).join();
  return all;
}

TEST(ReadAgain, WhatOverridesChangeIsTakenBack) {
  const std::vector<Override> some{{"parameters.z", "-0.25e1"},
                                   {"parameters.z", "7"},
                                   {"parameters.a", "0.5"},
                                   {"parameters.b", "3"},           // used by nothing
                                   {"body.0.mass", "-1.5"},         // refused, with the line of the key
                                   {"body.1.position", "[1,2,3]"},  //
                                   {"body.1.velocity", "[0, 0, 1]"},
                                   {"body.5.mass", "1"},
                                   {"initial.nothing.at.all", "1"},
                                   {"contact.overlap", "0.1"},
                                   {"integrate.end", "2.5"},
                                   {"integrate.end", "01.5"},  // text
                                   {"integrate.method", "radau"},
                                   {"output.quantities.third", "\"2*a\""},
                                   {"output.quantities.second", "\"a\""},
                                   {"output", "3"},
                                   {"parameters", "{ z = 1.5, a = 2 }"},  // what holds others
                                   {"output.quantities", "{ only = \"a\" }"},
                                   {"body.1.position.0", "0.125"},
                                   {"initial.position", "{ one = [1, 2, 3] }"},
                                   {"initial", "{ consistent = \"project\" }"},
                                   {"title.x", "3"},
                                   {"title", "Other"}};
  const std::string plain = seen({});
  EXPECT_NE(plain.find("second first"), std::string::npos) << plain;  // as in the file
  std::mt19937 random(3);
  for (int k = 0; k < 200; ++k) {
    std::vector<Override> overrides;
    for (std::size_t n = 1 + random() % 4; n > 0; --n) overrides.push_back(some[random() % some.size()]);
    const std::string again = seen(overrides);
    EXPECT_EQ(again, seen_by_another_thread(overrides)) << k;
    EXPECT_NE(again, plain);
    if (k % 7 == 0) {
      EXPECT_EQ(seen({}), plain);
    }
  }
}

}  // namespace
}  // namespace hinge::read_again_test
