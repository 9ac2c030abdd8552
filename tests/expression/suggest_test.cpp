#include "expression/suggest.hpp"

#include <gtest/gtest.h>

namespace hinge::suggest_test {
namespace {

TEST(NearestName, IgnoresCaseFirstAndStaysNear) {
  EXPECT_EQ(nearest_name("MASS", {"mast", "mass"}), "mass");
  EXPECT_EQ(nearest_name("lenght", {"height", "length"}), "length");
  EXPECT_EQ(nearest_name("l1", {"l2", "l3"}), "l2");
  EXPECT_EQ(nearest_name("q", {"p", "q1"}), "q1");
  EXPECT_EQ(nearest_name("stiffness", {"mass", "length"}), "");
  EXPECT_EQ(nearest_name("a", {"b"}), "");
  EXPECT_EQ(nearest_name("a", {}), "");
  EXPECT_EQ(nearest_name("", {"b"}), "");
}

}  // namespace
}  // namespace hinge::suggest_test
