// Claims about methods written as one text, "gauss-lobatto(stages=3)".
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::method_name_test {
namespace {

TEST(MethodName, ListsAreReadWithTheirOptions) {
  const auto names =
      parse_method_names(" gauss-lobatto( stages = 3 ), rattle ,x(a=true,b=\"word\",c=y(d=1,e=2),f=-0.5)");
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0].name, "gauss-lobatto");
  EXPECT_EQ(names[0].options, (Options{{"stages", 3.0}}));
  EXPECT_EQ(names[0].text(), "gauss-lobatto(stages=3)");
  EXPECT_EQ(names[1].name, "rattle");
  EXPECT_TRUE(names[1].options.empty());
  EXPECT_EQ(names[1].text(), "rattle");
  EXPECT_EQ(std::get<bool>(names[2].options.at("a")), true);
  EXPECT_EQ(std::get<std::string>(names[2].options.at("b")), "word");
  EXPECT_EQ(std::get<std::string>(names[2].options.at("c")), "y(d=1,e=2)");
  EXPECT_EQ(std::get<double>(names[2].options.at("f")), -0.5);
  EXPECT_EQ(parse_method_names("rattle()")[0].text(), "rattle");
  // what is printed reads back
  const MethodName all{"m", {{"a", 0.1}, {"b", false}, {"c", std::string("true-variant")}}};
  EXPECT_EQ(parse_method_names(all.text())[0].options, all.options);
}

TEST(MethodName, WhatCannotBeReadIsExplained) {
  for (const auto& [text, part] : {std::pair{"", "name of a method is missing"},
                                   {"rattle,", "name of a method is missing"},
                                   {"(stages=2)", "name of a method is missing"},
                                   {"rattle)", "closes nothing"},
                                   {"gauss-lobatto(stages=2", "never closed"},
                                   {"gauss-lobatto(stages=2) rattle", "follows the ')'"},
                                   {"gauss-lobatto(stages)", "'stages' is no option with a value"},
                                   {"gauss-lobatto(=2)", "is no option with a value"},
                                   {"gauss-lobatto(stages=)", "is no option with a value"},
                                   {"gauss-lobatto(stages=2,)", "is no option with a value"},
                                   {"gauss-lobatto(stages=2,stages=3)", "'stages' is given twice"}}) {
    try {
      parse_method_names(text);
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << text << ": " << e.what();
    }
  }
}

TEST(MethodName, OptionsThatAMethodDoesNotHaveAreLeftOut) {
  const Options options{{"stages", 3.0}, {"base", std::string("rattle")}};
  const auto kept = [&](const std::string& name, const Options& given = {}) {
    return MethodName{name, known_options(name, given, options)}.text();
  };
  EXPECT_EQ(kept("gauss-lobatto"), "gauss-lobatto(stages=3)");
  EXPECT_EQ(kept("rattle"), "rattle");
  EXPECT_EQ(kept("composition"), "composition(base=rattle)");
  EXPECT_EQ(kept("composition", {{"base", std::string("gauss-lobatto")}}), "composition(base=rattle,stages=3)");
  EXPECT_EQ(kept("no-such-method"), "no-such-method(base=rattle,stages=3)");
  EXPECT_EQ((MethodName{"spark", {{"tableau", gauss_lobatto_tableau(1)}}}.text()), "spark(tableau=...)");
}

}  // namespace
}  // namespace hinge::method_name_test
