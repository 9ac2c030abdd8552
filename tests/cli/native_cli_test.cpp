// Machine code on the command line: it can be switched off, and the numbers do not change.
#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "expression/native.hpp"

namespace hinge::test::native_cli_test {
namespace {

using Json = nlohmann::json;

TEST(NativeCommand, SwitchedOffTheNumbersAreTheSame) {
  const Folder folder;
  const std::string model = std::string(HINGE_PAPERS) + "/ivp/andrews.toml";
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"run", model, "--json", "--end", "0.005"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer answer = hinge(folder, arguments);
    EXPECT_EQ(answer.status, 0) << answer.err;
    return Json::parse(answer.out);
  };
  Json with = run({}), without = run({"--no-native"});
  EXPECT_EQ(without["native_functions"], 0);
  EXPECT_EQ(with["native_functions"] > 0, native_possible());
  setenv("HINGE_NATIVE", "0", 1);
  EXPECT_EQ(run({})["native_functions"], 0);
  unsetenv("HINGE_NATIVE");
  EXPECT_EQ(with["final"], without["final"]);
  EXPECT_EQ(with["diagnostics"], without["diagnostics"]);
}

}  // namespace
}  // namespace hinge::test::native_cli_test
