// Numbers of independent implementations, in files of tests/data that say how each was made: symplectic.json in 26 to
// 50 digits, energy.json in the 18 digits of extended precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "places.hpp"

namespace hinge::goldens {

using nlohmann::json;

inline json read(const std::string& file) {
  std::ifstream in(HINGE_TEST_DATA "/" + file);
  return json::parse(in);
}

inline const json& symplectic() {
  static const json data = read("symplectic.json");
  return data;
}

inline const json& energy() {
  static const json data = read("energy.json");
  return data;
}

inline double number(const json& j) { return j.is_string() ? std::stod(j.get<std::string>()) : j.get<double>(); }

inline std::vector<double> numbers(const json& list) {
  std::vector<double> x;
  for (const auto& j : list) x.push_back(number(j));
  return x;
}

/// Relative where numbers are larger than 1.
inline void expect_near(const std::vector<double>& x, const std::vector<double>& golden, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(x.size(), golden.size()) << what;
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], golden[i], tolerance * std::max(1.0, std::abs(golden[i]))) << what << " [" << i << "]";
}

}  // namespace hinge::goldens
