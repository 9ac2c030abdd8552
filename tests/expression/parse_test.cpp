#include "expression/parse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "hinge/error.hpp"

namespace hinge::parse_test {
namespace {

/// A small model: numbers x, y, t; vectors u, v (length 3), w (length 2); an array of four vectors of length 3, q; a
/// parameter gravity. Coordinates have rates, everything else refuses the prime.
class Model {
 public:
  Model() {
    scope.graph = &graph;
    declare("x", {}, {0.7});
    declare("y", {}, {-1.3});
    declare("t", {}, {2.0});
    declare("u", {3}, {1.0, 2.0, 3.0});
    declare("v", {3}, {-0.5, 0.25, 4.0});
    declare("w", {2}, {5.0, 7.0});
    declare("q", {4, 3}, {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32});
    scope.names["gravity"] = {{}, {graph.constant(9.81)}};
    scope.names["N"] = {{}, {graph.constant(4)}};
    const Node t = scope.names["t"].entries[0];
    scope.rate = [this, t](Node node) -> Node {
      if (graph[node].op != Op::variable || node == t) throw InputError("only coordinates have a rate");
      ++rates_asked;
      return graph.multiply(graph.constant(100), node);  // the rate of a coordinate is 100 times its value
    };
  }

  double evaluate(Node node) const {
    std::vector<double> at(static_cast<std::size_t>(graph.size()));
    const auto get = [&](Node n) { return n == no_node ? 0.0 : at[static_cast<std::size_t>(n)]; };
    for (Node n = 0; n < graph.size(); ++n) {
      const auto& e = graph[n];
      at[static_cast<std::size_t>(n)] = e.op == Op::constant   ? e.value
                                        : e.op == Op::variable ? values[static_cast<std::size_t>(e.a)]
                                                               : apply_op(e.op, get(e.a), get(e.b), get(e.c));
    }
    return get(node);
  }

  double number(std::string_view text) { return evaluate(parse(text, scope).node()); }

  std::vector<double> numbers(std::string_view text) {
    std::vector<double> result;
    for (const Node entry : parse(text, scope).entries) result.push_back(evaluate(entry));
    return result;
  }

  Graph graph;
  Scope scope;
  std::vector<double> values;
  int rates_asked = 0;

 private:
  void declare(const std::string& name, std::vector<int> shape, const std::vector<double>& at) {
    Value value{std::move(shape), {}};
    for (const double entry : at) {
      value.entries.push_back(graph.variable(name));
      values.push_back(entry);
    }
    scope.names[name] = std::move(value);
  }
};

/// The error that `text` gives; a test that expects one and gets none fails with column 0.
ExpressionError error_of(std::string_view text, const Scope& scope) {
  try {
    parse(text, scope);
  } catch (const ExpressionError& error) {
    return error;
  }
  ADD_FAILURE() << "no error from: " << text;
  return {"", "", 0};
}

void expect_error(std::string_view text, int column, const std::vector<std::string>& words) {
  Model model;
  const ExpressionError error = error_of(text, model.scope);
  EXPECT_EQ(error.column, column) << error.what();
  for (const std::string& word : words)
    EXPECT_NE(error.cause.find(word), std::string::npos) << "'" << word << "' is missing in: " << error.what();
}

void expect_number(std::string_view text, double expected) {
  Model model;
  try {
    EXPECT_DOUBLE_EQ(model.number(text), expected) << text;
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

void expect_numbers(std::string_view text, const std::vector<int>& shape, const std::vector<double>& expected) {
  Model model;
  try {
    EXPECT_EQ(parse(text, model.scope).shape, shape) << text;
    const std::vector<double> got = model.numbers(text);
    ASSERT_EQ(got.size(), expected.size()) << text;
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_DOUBLE_EQ(got[k], expected[k]) << text << ", entry " << k;
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

std::string repeat(std::string_view piece, int times) {
  std::string text;
  for (int k = 0; k < times; ++k) text += piece;
  return text;
}

// ---------------------------------------------------------------------------------------------- meaning

TEST(Parse, ReadsNumbers) {
  expect_number("1", 1);
  expect_number("1.5", 1.5);
  expect_number(".5", 0.5);
  expect_number("2.", 2);
  expect_number("1e-3", 1e-3);
  expect_number("1.25E+2", 125);
  expect_number("0e999", 0);
  expect_number(" \t\r\n 7 \n", 7);
  expect_number("pi", std::numbers::pi);
}

TEST(Parse, KnowsTheUsualPrecedence) {
  expect_number("1 + 2*3", 7);
  expect_number("(1 + 2)*3", 9);
  expect_number("7 - 4 - 2", 1);
  expect_number("24/4/2", 3);
  expect_number("24/4*2", 12);
  expect_number("2*x + y/4 - t", 1.4 - 0.325 - 2);
  expect_number("1 + 1 < 3", 1);
  expect_number("1 < 2 and 2 < 1 or 1 == 1", 1);
  expect_number("x > 0 or x > 0 and x < 0", 1);
}

TEST(Parse, PowerBindsTighterThanMinusAndToTheRight) {
  expect_number("-2^2", -4);
  expect_number("-x^2", -0.7 * 0.7);
  expect_number("2^-3", 0.125);
  expect_number("2^3^2", 512);
  expect_number("2^-1^2", 0.5);
  expect_number("2*-3", -6);
  expect_number("2 - -3", 5);
  expect_number("- - 3", 3);
  expect_number("+3 + +4", 7);
  expect_number("x^0.5", std::sqrt(0.7));
  expect_number("x^y", std::pow(0.7, -1.3));
}

TEST(Parse, ComparesAndDecides) {
  expect_number("x < t", 1);
  expect_number("x <= x", 1);
  expect_number("x > t", 0);
  expect_number("t >= x", 1);
  expect_number("x == t", 0);
  expect_number("x != t", 1);
  expect_number("x > 0 and y > 0", 0);
  expect_number("x > 0 or y > 0", 1);
  expect_number("not x > 0", 0);
  expect_number("not not (x > 0)", 1);
  expect_number("not x > 0 or y < 0", 1);
  expect_number("if(x > 0, x, y)", 0.7);
  expect_number("if(y > 0, x, y)", -1.3);
  expect_number("if(x > 0 and not y > 0, 1 + if(t == 2, 10, 20), 0)", 11);
  expect_numbers("if(x > 0, u, v)", {3}, {1, 2, 3});
}

TEST(Parse, KnowsEveryFunction) {
  const double x = 0.7, y = -1.3, t = 2;
  expect_number("sin(x)", std::sin(x));
  expect_number("cos(x)", std::cos(x));
  expect_number("tan(x)", std::tan(x));
  expect_number("asin(x)", std::asin(x));
  expect_number("acos(x)", std::acos(x));
  expect_number("atan(x)", std::atan(x));
  expect_number("atan2(x, y)", std::atan2(x, y));
  expect_number("sinh(x)", std::sinh(x));
  expect_number("cosh(x)", std::cosh(x));
  expect_number("tanh(x)", std::tanh(x));
  expect_number("exp(x)", std::exp(x));
  expect_number("log(x)", std::log(x));
  expect_number("sqrt(x)", std::sqrt(x));
  expect_number("abs(y)", 1.3);
  expect_number("sign(y)", -1);
  expect_number("min(x, y)", y);
  expect_number("max(x, y)", x);
  expect_number("min(x, y, t, -5)", -5);
  expect_number("max(x, y, t, 1)", t);
  expect_number("pow(x, y)", std::pow(x, y));
  expect_number("hypot(x, y)", std::hypot(x, y));
  expect_number("sin (\n x )", std::sin(x));
}

TEST(Parse, ReadsVectors) {
  expect_numbers("[1, x, t]", {3}, {1, 0.7, 2});
  expect_numbers("[[1, 2], [3, 4], w]", {3, 2}, {1, 2, 3, 4, 5, 7});
  expect_numbers("u + v", {3}, {0.5, 2.25, 7});
  expect_numbers("u - v", {3}, {1.5, 1.75, -1});
  expect_numbers("-u", {3}, {-1, -2, -3});
  expect_numbers("2*u", {3}, {2, 4, 6});
  expect_numbers("u*t", {3}, {2, 4, 6});
  expect_numbers("u/t", {3}, {0.5, 1, 1.5});
  expect_numbers("w", {2}, {5, 7});
  expect_numbers("(q - 2*q)[1]", {3}, {-10, -11, -12});
  expect_number("[4, 5, 6][1]", 5);
  expect_number("[[1, 2], [3, 4]][1][0]", 3);
}

TEST(Parse, MultipliesVectors) {
  expect_number("dot(u, v)", 12);
  expect_number("norm(w)", std::sqrt(74.0));
  expect_number("norm([3, 4])", 5);
  expect_numbers("cross(u, v)", {3}, {2 * 4 - 3 * 0.25, 3 * -0.5 - 1 * 4, 1 * 0.25 + 2 * 0.5});
  expect_number("cross(w, [1, 2])", 5 * 2 - 7 * 1);
  expect_number("dot(q[1] - q[0], q[1] - q[0])", 300);
}

TEST(Parse, IndicesCountFromZero) {
  expect_number("u[0]", 1);
  expect_number("u[2]", 3);
  expect_number("q[2][1]", 21);
  expect_numbers("q[3]", {3}, {30, 31, 32});
  expect_number("q[N - 1][4/2]", 32);
  expect_number("u[0]^2", 1);
}

TEST(Parse, PrimeAndIndexCommute) {
  Model model;
  EXPECT_EQ(parse("q'[1][2]", model.scope).node(), parse("q[1][2]'", model.scope).node());
  EXPECT_EQ(parse("q[1]'[2]", model.scope).node(), parse("q[1][2]'", model.scope).node());
  expect_number("x'", 70);
  expect_number("x'^2", 4900);
  expect_number("dot(u', v)", 1200);
  expect_numbers("w'", {2}, {500, 700});
  expect_numbers("[x, y]'", {2}, {70, -130});
}

TEST(Parse, PrimeDifferentiatesOnlyWhatTheIndexPicks) {
  Model model;
  parse("q'[1][2]", model.scope);
  EXPECT_EQ(model.rates_asked, 1);
}

TEST(Parse, SumsOverAnIndex) {
  expect_number("sum(i, 1, 4, i)", 10);
  expect_number("sum(i, 0, 2, u[i]*v[i])", 12);
  expect_number("sum(i, -2, 2, i^2) + 1", 11);
  expect_number("sum(i, 0, N-1, q[i][0])", 60);
  expect_numbers("sum(i, 0, N-1, q[i])", {3}, {60, 64, 68});
  expect_number("sum(i, 0, 3, sum(j, 0, i, q[i][0] + j))", 0 + 20 + 1 + 60 + 3 + 120 + 6);
  expect_number("sum(i, 3, 3, i)", 3);
  expect_number("sum(i, 1, 0, unknown)", 0);
}

TEST(Parse, IndexOfASumHidesOtherNamesOnlyInside) {
  expect_number("sum(x, 1, 3, x) + x", 6.7);
  expect_number("sum(i, 1, 2, sum(i, 10, 11, i) + i)", 45);
  expect_error("sum(i, 0, 1, i) + i", 19, {"unknown name 'i'"});
}

TEST(Parse, KnownConditionGuardsTheOtherBranch) {
  expect_number("sum(i, 0, 3, if(i == 0, q[0][0], q[i][0] - q[i-1][0]))", 30);
  expect_number("sum(i, 0, 3, if(i > 0 and q[i-1][0] >= 0, 1, 0))", 3);
  expect_number("sum(i, 0, 3, if(i == 0 or q[i-1][0] < 0, 1, 0))", 1);
  expect_number("if(1, 2, f(a, [b, c]) + d)", 2);
}

TEST(Parse, SharesEqualParts) {
  Model model;
  EXPECT_EQ(parse("sin(x + y)", model.scope).node(), parse("sin((x) + y)", model.scope).node());
  EXPECT_EQ(parse("x > y", model.scope).node(), parse("y < x", model.scope).node());
  EXPECT_EQ(parse("x >= y", model.scope).node(), parse("y <= x", model.scope).node());
}

TEST(Parse, NumberMustNotDependOnVariables) {
  Model model;
  EXPECT_DOUBLE_EQ(parse_number("2*gravity + pi*0", model.scope), 19.62);
  EXPECT_DOUBLE_EQ(parse_number("0*x", model.scope), 0);
  try {
    parse_number("gravity*(2 + x)", model.scope);
    ADD_FAILURE();
  } catch (const ExpressionError& error) {
    EXPECT_NE(error.cause.find("depends on 'x'"), std::string::npos) << error.what();
    EXPECT_EQ(error.column, 1);
  }
  EXPECT_THROW(parse_number("[1, 2]", model.scope), ExpressionError);
}

TEST(Parse, NumberRefusesInfinityFromTheScope) {
  Model model;
  model.scope.names["big"] = {{}, {model.graph.constant(INFINITY)}};
  EXPECT_THROW(parse_number("big", model.scope), ExpressionError);
}

TEST(Parse, NumberRefusesVectors) {
  Model model;
  try {
    parse_number("  u + v", model.scope);
    ADD_FAILURE();
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.column, 3);
    EXPECT_NE(error.cause.find("a vector of length 3"), std::string::npos);
  }
}

TEST(Parse, DescribesShapes) {
  EXPECT_EQ(describe_shape({}), "a number");
  EXPECT_EQ(describe_shape({3}), "a vector of length 3");
  EXPECT_EQ(describe_shape({10, 3}), "an array of 10 vectors of length 3");
}

// ---------------------------------------------------------------------------------------------- messages

TEST(Parse, PointsAtTheUnknownName) {
  expect_error("2*x + gravty*y", 7, {"unknown name 'gravty'", "did you mean 'gravity'?"});
  expect_error("Gravity", 1, {"did you mean 'gravity'?"});
  expect_error("x + PI", 5, {"did you mean 'pi'?"});
  expect_error("x + zzzzzz", 5, {"unknown name 'zzzzzz'", "known are N, gravity, q, t, u, v, w, x, y, pi"});
  expect_error("sum(index, 0, 3, idnex)", 18, {"did you mean 'index'?"});
}

TEST(Parse, ListsNamesOnlyWhenTheyAreFew) {
  Model model;
  for (int k = 0; k < 20; ++k) model.scope.names["parameter" + std::to_string(k)] = {{}, {model.graph.constant(k)}};
  const ExpressionError error = error_of("zzzzzz", model.scope);
  EXPECT_EQ(error.cause, "unknown name 'zzzzzz'");
}

TEST(Parse, PointsAtTheUnknownFunction) {
  expect_error("1 + sinn(x)", 5, {"unknown function 'sinn'", "did you mean 'sin'?"});
  expect_error("1 + frobnicate(x)", 5, {"unknown function 'frobnicate'", "there are sin, cos"});
  expect_error("der(x)", 1, {"unknown function 'der'", "a prime, as in x'"});
  expect_error("2*x(t)", 3, {"'x' is not a function", "write x*(...)"});
  expect_error("pi(2)", 1, {"'pi' is not a function"});
  expect_error("sum(i, 0, 1, i(2))", 14, {"'i' is not a function"});
}

TEST(Parse, FunctionNeedsParentheses) {
  expect_error("1 + sin", 5, {"'sin' is a function", "write sin(...)"});
  expect_error("sin x", 1, {"'sin' is a function"});
  expect_error("if x", 1, {"write if(condition, a, b)"});
}

TEST(Parse, CountsArguments) {
  expect_error("1 + sin(x, y)", 5, {"sin takes 1 argument", "2 are given"});
  expect_error("sin()", 1, {"sin takes 1 argument", "0 are given"});
  expect_error("atan2(x)", 1, {"atan2 takes 2 arguments", "1 is given", "atan2(y, x)"});
  expect_error("min(x)", 1, {"min takes at least 2 arguments", "1 is given"});
  expect_error("if(x > 0, 1)", 1, {"if takes 3 arguments", "if(condition, a, b)"});
  expect_error("sum(i, 1, 2)", 1, {"sum takes 4 arguments", "sum(i, first, last, expression)"});
  expect_error("dot(u)", 1, {"dot takes 2 arguments"});
}

TEST(Parse, PointsAtTheUnbalancedBracket) {
  expect_error("2*(x + (y)", 3, {"'(' is never closed"});
  expect_error("u[0", 2, {"'[' is never closed"});
  expect_error("x + y)", 6, {"')' closes nothing"});
  expect_error("x + y]", 6, {"']' closes nothing"});
  expect_error("(x + [y)", 6, {"'[' is never closed"});
  expect_error("(x + y])", 7, {"']' closes nothing"});
}

TEST(Parse, PointsAtTheUnexpectedCharacter) {
  expect_error("x + $", 5, {"character '$' is not part of the language"});
  expect_error("x; y", 2, {"';'"});
  expect_error("x.y", 2, {"'.'"});
  expect_error("1.2.3", 4, {"second '.'"});
  expect_error("{x}", 1, {"'{'", "write ("});
  expect_error(std::string_view("x + \0", 5), 5, {"character U+0000 is not part of the language"});
}

TEST(Parse, ShowsWholeCharactersBeyondAscii) {
  expect_error("x²", 2, {"character '²' (U+00B2) is not part of the language", "^2"});
  expect_error("2·x", 2, {"'·' (U+00B7)", "write *"});
  expect_error("π*x", 1, {"'π' (U+03C0)", "write pi"});
  expect_error("x − y", 3, {"(U+2212)", "write -"});
  expect_error("x + 😀", 5, {"'😀' (U+1F600)"});
  expect_error("x\u00A0+ y", 2, {"U+00A0", "a space"});
  expect_error("x + \xFF", 5, {"byte 0xFF is not UTF-8"});
  expect_error("x + \xC2", 5, {"byte 0xC2 is not UTF-8"});
  expect_error("x + \xED\xA0\x80", 5, {"byte 0xED is not UTF-8"});
}

TEST(Parse, SuggestsTheOperatorOfThisLanguage) {
  expect_error("x = 2", 3, {"'='", "write =="});
  expect_error("x**2", 2, {"'**'", "write ^"});
  expect_error("x && y", 3, {"'&&'", "write and"});
  expect_error("x || y", 3, {"'||'", "write or"});
  expect_error("!x", 1, {"'!'", "write not"});
  expect_error("x => y", 3, {"'=>'", "write >="});
  expect_error("x AND y", 3, {"did you mean 'and'?"});
}

TEST(Parse, WantsAnOperatorBetweenOperands) {
  expect_error("2x", 2, {"expected an operator between '2' and 'x'", "write 2*x"});
  expect_error("x y", 3, {"expected an operator between 'x' and 'y'", "write x*y"});
  expect_error("1 2", 3, {"expected an operator between '1' and '2'"});
  expect_error("2(x + y)", 2, {"expected an operator between '2' and '('", "write 2*(...)"});
  expect_error("(x)(y)", 4, {"expected an operator between ')' and '('"});
  expect_error("(x)y", 4, {"expected an operator between ')' and 'y'"});
  expect_error("[1 2 3]", 4, {"expected an operator between '1' and '2'", "','"});
  expect_error("sin(x y)", 7, {"expected an operator"});
  expect_error("x not y", 3, {"expected an operator"});
}

TEST(Parse, WantsAValue) {
  expect_error("", 1, {"the expression is empty"});
  expect_error(" \n\t", 1, {"the expression is empty"});
  expect_error("x + ", 4, {"expected a value after '+'", "ends here"});
  expect_error("(x + )", 6, {"expected a value after '+', found ')'"});
  expect_error("x + * y", 5, {"expected a value after '+', found '*'"});
  expect_error("()", 2, {"expected a value"});
  expect_error("max(x,,y)", 7, {"expected a value after ',', found ','"});
  expect_error("if(1, x, )", 10, {"expected a value"});
  expect_error("if(0, , x)", 7, {"expected a value"});
  expect_error("0 and", 6, {"expected a value"});
  expect_error("' x", 1, {"expected a value, found '''"});
  expect_error("x == not y", 6, {"parentheses"});
  expect_error("[]", 2, {"at least one entry"});
  expect_error("u[]", 3, {"expected an index"});
}

TEST(Parse, PointsAtTheStrayComma) {
  expect_error("x, y", 2, {"unexpected ','", "[a, b, c]"});
  expect_error("(x, y)", 3, {"','", "[a, b, c]"});
  expect_error("q[1, 2]", 4, {"write q[i][j]"});
}

TEST(Parse, ComparisonsDoNotChain) { expect_error("0 < x < 1", 7, {"do not chain", "and"}); }

TEST(Parse, ChecksIndices) {
  expect_error("u[3]", 3, {"index 3 is out of range", "'u' has indices 0 to 2"});
  expect_error("u[-1]", 3, {"index -1 is out of range"});
  expect_error("q[1][3]", 6, {"'q[1]' has indices 0 to 2"});
  expect_error("[5][1]", 5, {"one entry, with index 0"});
  expect_error("u[1e300]", 3, {"index"});
  expect_error("u[0.5]", 3, {"must be an integer", "0.5"});
  expect_error("u[x]", 3, {"must be a constant", "depends on 'x'"});
  expect_error("u[v]", 3, {"must be a number", "a vector of length 3"});
  expect_error("x[0]", 2, {"'x' is a number and cannot be indexed"});
  expect_error("q[0][0][0]", 8, {"'q[0][0]' is a number"});
  expect_error("sum(i, 0, 3, u[i])", 16, {"index 3 is out of range", "(with i = 3)"});
}

TEST(Parse, ChecksSums) {
  expect_error("sum(2, 0, 3, x)", 5, {"name of its index"});
  expect_error("sum(i + 1, 0, 3, x)", 5, {"name of its index"});
  expect_error("sum(sin, 0, 3, x)", 5, {"'sin' is a function", "another name"});
  expect_error("sum(i, x, 3, i)", 8, {"the first index of sum must be a constant"});
  expect_error("sum(i, 0, 1/2, i)", 11, {"the last index of sum must be an integer", "0.5"});
  expect_error("1 + sum(i, 1, 1e9, i)", 5, {"1e+09 terms", "at most 2e+06"});
  expect_error("sum(i, 0, 1, if(i == 0, x, u))", 14, {"must be alike", "a number", "a vector of length 3", "i = 1"});
}

TEST(Parse, ChecksShapes) {
  expect_error("u + w", 3, {"cannot add", "length 3", "length 2"});
  expect_error("1 - u", 3, {"cannot subtract", "a number", "a vector of length 3"});
  expect_error("u*v", 2, {"cannot multiply", "dot(a, b)", "cross(a, b)"});
  expect_error("q*u", 2, {"an array of 4 vectors of length 3", "dot(a, b)"});
  expect_error("x/u", 3, {"cannot divide by a vector of length 3"});
  expect_error("u^2", 1, {"cannot raise a vector", "dot(a, a)"});
  expect_error("2^u", 3, {"exponent must be a number"});
  expect_error("dot(u, w)", 8, {"equal length", "3 and 2"});
  expect_error("cross(u, w)", 10, {"equal length", "3 and 2"});
  expect_error("cross([1,2,3,4], [1,2,3,4])", 1, {"length 3", "length 4"});
  expect_error("dot(x, u)", 5, {"dot takes vectors, but this is a number"});
  expect_error("norm(q)", 6, {"norm takes vectors", "an array of 4 vectors"});
  expect_error("sin(u)", 5, {"sin takes numbers, but this is a vector of length 3"});
  expect_error("max(x, u)", 8, {"max takes numbers"});
  expect_error("abs(u)", 5, {"norm"});
  expect_error("x < u", 5, {"'<' takes numbers, but this is a vector of length 3"});
  expect_error("u and x", 1, {"'and' takes numbers"});
  expect_error("not u", 5, {"'not' takes a number"});
  expect_error("if(u, 1, 2)", 4, {"condition", "a vector of length 3"});
  expect_error("if(x > 0, u, w)", 14, {"both branches", "length 3", "length 2"});
  expect_error("[1, u]", 5, {"alike", "a number", "a vector of length 3"});
  expect_error("[u, w]", 5, {"length 3", "length 2"});
  expect_error("[q, q]", 2, {"an array of 4 vectors"});
}

TEST(Parse, RefusesDivisionByZero) {
  expect_error("x/0", 3, {"division by zero"});
  expect_error("x/0.0e5", 3, {"division by zero"});
  expect_error("1 + x/(2 - 2)", 7, {"division by zero", "'(2 - 2)' is 0"});
  expect_error("u/(x - x)", 3, {"division by zero"});
  expect_error("0/0", 3, {"division by zero"});
  expect_error("sum(i, -1, 1, 1/i)", 17, {"division by zero", "'i' is 0 (with i = 0)"});
}

TEST(Parse, RefusesNumbersThatAreNotFinite) {
  expect_error("1 + log(-1)", 5, {"'log(-1)' is not a real number"});
  expect_error("2*log(0)", 3, {"'log(0)' is infinite"});
  expect_error("1e999", 1, {"too large"});
  expect_error("1e-999", 1, {"too small"});
  expect_error("0^-1", 2, {"'0^-1' is infinite"});
  expect_error("sqrt(-gravity)", 1, {"not a real number"});
  expect_error("1e200*1e200", 6, {"infinite"});
  expect_error("1e200*(1e200*x)", 6, {"infinite"});
  expect_error("pow(-8, 1/3)", 1, {"not a real number"});
}

TEST(Parse, SaysWhyThereIsNoDerivative) {
  expect_error("1 + t'", 6, {"only coordinates have a rate"});
  expect_error("gravity'", 8, {"only coordinates have a rate"});
  expect_error("x''", 2, {"only coordinates have a rate"});
  expect_error("x^2'", 4, {"parentheses"});
  Model model;
  model.scope.rate = nullptr;
  const ExpressionError error = error_of("2*x'", model.scope);
  EXPECT_EQ(error.column, 4);
  EXPECT_NE(error.cause.find("no time derivative"), std::string::npos);
}

TEST(Parse, ErrorShowsTheExpressionWithACaret) {
  Model model;
  const ExpressionError error = error_of("2*x +\tgravty", model.scope);
  EXPECT_EQ(error.cause, "unknown name 'gravty'; did you mean 'gravity'?");
  EXPECT_EQ(error.text, "2*x +\tgravty");
  EXPECT_EQ(std::string(error.what()), error.cause + "\n  2*x + gravty\n        ^");
}

// ---------------------------------------------------------------------------------------------- size and garbage

TEST(Parse, SumsAHundredThousandTerms) {
  Graph graph;
  Scope scope{.graph = &graph, .names = {}, .rate = {}};
  Value& x = scope.names["x"];
  x.shape = {100000};
  for (int k = 0; k < 100000; ++k) x.entries.push_back(graph.variable("x"));
  const Node total = parse("sum(i, 0, 99999, x[i]^2)", scope).node();
  EXPECT_EQ(graph[total].op, Op::add);
  int adds = 0;
  for (Node node = 0; node < graph.size(); ++node) adds += graph[node].op == Op::add;
  EXPECT_EQ(adds, 99999);
}

TEST(Parse, ReadsAHundredThousandWrittenTerms) {
  Graph graph;
  Scope scope{.graph = &graph, .names = {}, .rate = {}};
  std::string text = "0";
  for (int k = 0; k <= 100000; ++k) {
    const std::string name = "x" + std::to_string(k);
    scope.names[name] = {{}, {graph.variable(name)}};
    if (k > 0) text += " + x" + std::to_string(k - 1) + "*" + name;
  }
  const Node total = parse(text, scope).node();
  EXPECT_EQ(graph[total].op, Op::add);
  int products = 0;
  for (Node node = 0; node < graph.size(); ++node) products += graph[node].op == Op::multiply;
  EXPECT_EQ(products, 100000);
}

TEST(Parse, LimitsWhatNestedSumsExpandTo) {
  expect_error("sum(i, 1, 2e6, sum(j, 1, 2e6, sum(k, 1, 2e6, 1)))", 1, {"too many operations"});
  expect_error("sum(i, 1, 2e6, " + repeat("1 + ", 20) + "1)", 1, {"too many operations"});
}

TEST(Parse, NestsTwoHundredLevelsAndNoMore) {
  expect_number(repeat("(", 200) + "x" + repeat(")", 200), 0.7);
  expect_number(repeat("-", 200) + "x", 0.7);
  expect_error(repeat("(", 201) + "x" + repeat(")", 201), 201, {"nested more than 200 levels deep"});
  expect_error(repeat("-", 201) + "x", 201, {"nested more than 200 levels deep"});
  expect_error(repeat("+", 201) + "x", 201, {"nested more than 200 levels deep"});
  expect_error(repeat("not ", 201) + "x", 801, {"nested more than 200 levels deep"});
  expect_error(repeat("[", 300) + "x" + repeat("]", 300), 201, {"nested more than 200 levels deep"});
  expect_error(repeat("sin(", 300) + "x" + repeat(")", 300), 801, {"nested more than 200 levels deep"});
  expect_error(repeat("u[", 300) + "0" + repeat("]", 300), 402, {"nested more than 200 levels deep"});
  expect_error("2" + repeat("^1", 300), 402, {"nested more than 200 levels deep"});
  expect_error(repeat("sum(i,0,0,", 300) + "1" + repeat(")", 300), 2001, {"nested more than 200 levels deep"});
  expect_error(repeat("if(x,1,", 300) + "1" + repeat(")", 300), 1401, {"nested more than 200 levels deep"});
}

TEST(Parse, SurvivesAMegabyteOfAnything) {
  constexpr int megabyte = 1 << 20;
  expect_error(repeat("(", megabyte), 1, {"'(' is never closed"});
  expect_error(repeat("[", megabyte), 1, {"'[' is never closed"});
  expect_error(repeat(")", megabyte), 1, {"')' closes nothing"});
  expect_error(repeat("-", megabyte), 201, {"nested more than 200 levels deep"});
  expect_error(repeat("(", megabyte) + repeat(")", megabyte), 201, {"nested more than 200 levels deep"});
  expect_error(repeat("x", megabyte), 1, {"unknown name"});
  expect_error(repeat("9", megabyte), 1, {"too large"});
  expect_error(repeat("x ", megabyte), 3, {"expected an operator"});
  expect_error(std::string(megabyte, '\0'), 1, {"U+0000"});
  Model model;
  EXPECT_THROW(parse("x" + repeat("'", megabyte), model.scope), ExpressionError);
  EXPECT_THROW(parse("u" + repeat("[0]", megabyte), model.scope), ExpressionError);
}

/// Whatever the text, the result is a value or an InputError; anything else escapes and fails the test.
void try_parse(Model& model, const std::string& text) {
  try {
    const Value value = parse(text, model.scope);
    std::size_t size = 1;
    for (const int extent : value.shape) size *= static_cast<std::size_t>(extent);
    EXPECT_EQ(value.entries.size(), size) << text;
    for (const Node entry : value.entries) EXPECT_TRUE(entry >= 0 && entry < model.graph.size()) << text;
  } catch (const ExpressionError& error) {
    EXPECT_GE(error.column, 1);
    EXPECT_LE(error.column, static_cast<int>(text.size()) + 1);
    EXPECT_FALSE(error.cause.empty());
  }
}

TEST(Parse, RandomTokensNeverCrash) {
  std::vector<std::string> alphabet = {" ", "sum(i, 0, 3, ", "if(i == 0, "};
  std::istringstream words(
      "x y u q N i pi nope 0 1 2 0.5 3e2 ( ( ) ) [ ] , ' + - * / ^ < <= > >= == != and or not sin( max( "
      "pow( if( dot( sum( norm( cross( = u[i] q[1] 1e9 é sqrt");
  for (std::string word; words >> word;) alphabet.push_back(word);
  std::mt19937 random(20240229);
  Model model;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    int open = 0;
    const auto length = 1 + random() % 14;
    for (std::size_t k = 0; k < length; ++k) {
      const std::string& token = alphabet[random() % alphabet.size()];
      text += token + ' ';
      open += token.find('(') != std::string::npos ? 1 : token == ")" ? -1 : 0;
    }
    if (random() % 2 == 0 && open > 0) text += repeat(")", open);  // reaches deeper than the bracket check
    try_parse(model, text);
  }
}

TEST(Parse, RandomBytesNeverCrash) {
  std::mt19937 random(7);
  Model model;
  for (int round = 0; round < 5000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = static_cast<char>(random() % (round % 2 == 0 ? 256 : 128));
    try_parse(model, text);
  }
}

TEST(Parse, DamagedExpressionsNeverCrash) {
  const std::string whole =
      "sum(i, 0, N-1, if(i == 0, dot(q[0]', q[0]), norm(q[i] - q[i-1])^2))/2 + max(x, y, [1, 2][1]) - -x^-2 and not t "
      "< 1";
  std::mt19937 random(11);
  Model model;
  try_parse(model, whole);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) try_parse(model, whole.substr(0, cut));
  for (int round = 0; round < 5000; ++round) {
    std::string text = whole;
    const auto edits = 1 + random() % 4;
    for (std::size_t k = 0; k < edits; ++k) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text.erase(at, 1 + random() % 3);
      else
        text.insert(at, 1, text[random() % text.size()]);
    }
    try_parse(model, text);
  }
}

}  // namespace
}  // namespace hinge::parse_test
