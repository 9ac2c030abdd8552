// Claims: what --set gives a key is what the file would give it.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge::override_test {
namespace {

// The value of a parameter as the model has it, or that there is none.
std::string value_of(const std::string& in_file, const std::vector<Override>& overrides) {
  const std::string text =
      "[parameters]\na = " + in_file +
      "\n[dae]\nunknowns = [\"x\"]\nequations = [\"x' = x\"]\n[initial]\nunknowns = { x = 1 }\n[integrate]\nmethod = "
      "\"radau\"\nstep = 0.1\nend = 1\n[output]\nquantities = { s = \"a\" }\n";
  try {
    const Model model = parse_model(text, "model", overrides);
    Simulation run = model.simulation_for("");
    double s = 0;
    run.on_row([&](const Row& row) { s = row.values.back(); });
    run.start(model.start);
    return std::to_string(s) + (std::signbit(s) ? "-" : "+");
  } catch (const Error&) {
    return "refused";
  }
}

// Numbers of all kinds, and what looks like one.
TEST(Override, NumbersAreThoseOfTheFile) {
  std::mt19937_64 random(3);
  const char* const parts[] = {
      "0", "1", "7", "12", ".", "e", "E", "-", "+", "_", "x", "0x", "inf", "nan", "true", "90071992547409931", "1e400"};
  int numbers = 0;
  for (int k = 0; k < 1000; ++k) {
    std::string text;
    for (std::size_t n = 1 + random() % 6; n-- > 0;) text += parts[random() % (random() % 3 ? 8 : std::size(parts))];
    std::string in_file = value_of(text, {});
    const std::string given = value_of("1", {{"parameters.a", text}});
    if (in_file == "refused") in_file = value_of("\"" + text + "\"", {});  // what is no value is text, an expression
    EXPECT_EQ(given, in_file) << text;
    numbers += in_file != "refused";
  }
  EXPECT_GT(numbers, 100);
}

// Words need no quotes; those that mean something in the file mean it here.
TEST(Override, WordsAreTexts) {
  const auto title_of = [](const std::string& text) {
    try {
      return parse_model(
                 "title = \"t\"\n[dae]\nunknowns = [\"x\"]\nequations = [\"x' = x\"]\n[initial]\nunknowns = { x = 1 "
                 "}\n",
                 "model", {{"title", text}})
          .title;
    } catch (const Error&) {
      return std::string("refused");
    }
  };
  for (const std::string word : {"pendulum", "gauss-lobatto", "a_b", "e5", "infinite", "truely", "X"}) {
    EXPECT_EQ(title_of(word), word);
    EXPECT_EQ(title_of('"' + word + '"'), word);
  }
  for (const std::string value : {"true", "false", "inf", "nan", "5", "-5", "1e5", "1979-05-27"})
    EXPECT_EQ(title_of(value), "refused") << value;
}

}  // namespace
}  // namespace hinge::override_test
