#include <gtest/gtest.h>

#include <string>

#include "hinge/error.hpp"

namespace hinge::expression_error_test {
namespace {

TEST(ExpressionError, CaretCountsCharactersAndNotBytes) {
  EXPECT_STREQ(ExpressionError("c", "é + ü", 5).what(), "c\n  é + ü\n      ^");
}

TEST(ExpressionError, CaretSurvivesAnyColumn) {
  EXPECT_STREQ(ExpressionError("c", "xy", 3).what(), "c\n  xy\n    ^");
  EXPECT_STREQ(ExpressionError("c", "xy", 1000).what(), "c\n  xy\n    ^");
  EXPECT_STREQ(ExpressionError("c", "xy", -5).what(), "c\n  xy\n  ^");
  EXPECT_STREQ(ExpressionError("c", "", 1).what(), "c\n  \n  ^");
}

TEST(ExpressionError, LongExpressionIsCutAroundTheColumn) {
  for (const int before : {0, 40, 60, 500, 960, 1000}) {
    const std::string text = std::string(static_cast<std::size_t>(before), 'a') + "#" +
                             std::string(static_cast<std::size_t>(1000 - before), 'b');
    const std::string what = ExpressionError("cause", text, before + 1).what();
    const std::size_t line_start = what.find('\n') + 1, caret_start = what.rfind('\n') + 1;
    const std::string line = what.substr(line_start, caret_start - 1 - line_start);
    const std::string caret = what.substr(caret_start);
    EXPECT_LE(line.size(), 108u);
    EXPECT_EQ(line.find('#'), caret.size() - 1) << what;
    EXPECT_EQ(caret.back(), '^');
    EXPECT_EQ(line.substr(2, 3) == "...", before >= 60) << what;
    EXPECT_EQ(line.substr(line.size() - 3) == "...", before < 960) << what;
  }
}

}  // namespace
}  // namespace hinge::expression_error_test
