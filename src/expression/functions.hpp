// The functions of the language: how they are called and what they make.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "expression/graph.hpp"

namespace hinge::language {

enum class Form { numbers, conditional, sum, dot, cross, norm, floor, ceil, round, mod, pulse };

inline constexpr int any_number = std::numeric_limits<int>::max();

struct Function {
  std::string_view name;
  Form form;
  int least, most;  // arguments
  Op op = Op::constant;
  std::string_view usage = "";
};

inline constexpr std::array functions = {
    Function{"sin", Form::numbers, 1, 1, Op::sin},
    Function{"cos", Form::numbers, 1, 1, Op::cos},
    Function{"tan", Form::numbers, 1, 1, Op::tan},
    Function{"asin", Form::numbers, 1, 1, Op::asin},
    Function{"acos", Form::numbers, 1, 1, Op::acos},
    Function{"atan", Form::numbers, 1, 1, Op::atan},
    Function{"atan2", Form::numbers, 2, 2, Op::atan2, "atan2(y, x)"},
    Function{"sinh", Form::numbers, 1, 1, Op::sinh},
    Function{"cosh", Form::numbers, 1, 1, Op::cosh},
    Function{"tanh", Form::numbers, 1, 1, Op::tanh},
    Function{"exp", Form::numbers, 1, 1, Op::exp},
    Function{"log", Form::numbers, 1, 1, Op::log},
    Function{"sqrt", Form::numbers, 1, 1, Op::sqrt},
    Function{"abs", Form::numbers, 1, 1, Op::abs},
    Function{"sign", Form::numbers, 1, 1, Op::sign},
    Function{"min", Form::numbers, 2, any_number, Op::min},
    Function{"max", Form::numbers, 2, any_number, Op::max},
    Function{"pow", Form::numbers, 2, 2, Op::power, "pow(base, exponent)"},
    Function{"hypot", Form::numbers, 2, 2, Op::hypot},
    Function{"floor", Form::floor, 1, 1},
    Function{"ceil", Form::ceil, 1, 1},
    Function{"round", Form::round, 1, 1},
    Function{"mod", Form::mod, 2, 2, Op::constant, "mod(a, b), a - b*floor(a/b)"},
    Function{"pulse", Form::pulse, 3, 3, Op::constant, "pulse(t, period, width)"},
    Function{"if", Form::conditional, 3, 3, Op::select, "if(condition, a, b)"},
    Function{"dot", Form::dot, 2, 2, Op::multiply, "dot(a, b)"},
    Function{"cross", Form::cross, 2, 2, Op::multiply, "cross(a, b)"},
    Function{"norm", Form::norm, 1, 1, Op::sqrt},
    Function{"sum", Form::sum, 4, 4, Op::add, "sum(i, first, last, expression)"},
};

}  // namespace hinge::language
