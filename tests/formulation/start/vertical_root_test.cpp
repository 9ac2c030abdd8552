// Unknowns of a DAE that start where a derivative is infinite: h' = a - b sqrt(h) from h = 0.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/run_text.hpp"
#include "random_draw.hpp"

namespace hinge::vertical_root_test {
namespace {

std::string model(const std::string& equations, double from, const char* method, double end) {
  return fmt::format(
      "[dae]\nunknowns = [\"h\", \"out\"]\nequations = [{}]\n[initial]\nunknowns = {{ h = {} }}\n"
      "[integrate]\nmethod = \"{}\"\ntolerance = 1e-9\nend = {}\n[output]\nquantities = {{ H = \"h\" }}\n",
      equations, from, method, end);
}

// With s = sqrt(h - c): t = -(2/b)(s + (a/b) ln(1 - b s/a)).
TEST(VerticalRoot, ATankThatFillsFromEmpty) {
  Draw d(2718);
  for (const char* method : {"radau", "bdf", "taylor"})
    for (int n = 0; n < 8; ++n) {
      const double a = d.number(0.2, 3), b = d.number(0.3, 3), c = n % 2 ? d.number(0.5, 2) : 0, end = d.number(0.3, 2);
      const std::string text =
          model(fmt::format("\"h' = {} - {}*out\", \"out = sqrt(h - {})\"", a, b, c), c, method, end);
      SCOPED_TRACE(text);
      const double s = std::sqrt(test::value_of(test::run_text(text), "H") - c);
      const double time = -(2 / b) * (s + a / b * std::log1p(-b * s / a));
      EXPECT_NEAR((time - end) * (a - b * s), 0, 1e-7);  // the rate is h'
    }
}

// Both h = 0 and h = (t/2)^2 begin there, and none where h would have to become negative.
TEST(VerticalRoot, WhatNothingDrivesAwayIsRefused) {
  for (const char* equation : {"\"h' = out\", \"out = sqrt(h)\"", "\"h' = -1 - out\", \"out = sqrt(h)\""}) {
    const std::string text = test::complaint_about(model(equation, 0, "radau", 1));
    EXPECT_NE(text.find("nothing drives h away"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hinge::vertical_root_test
