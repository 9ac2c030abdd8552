#include "expression/native_calls.hpp"

#include <cmath>

#include "expression/table.hpp"
#include "expression/tape_plan.hpp"

namespace hinge {

namespace {

// The tape computes the two together, too.
void sine_and_cosine(double angle, double* sine, double* cosine) {
  *sine = std::sin(angle);
  *cosine = std::cos(angle);
}
double at_table(double x, const Table* table) { return (*table)(x); }

using One = double (*)(double);
using Two = double (*)(double, double);
template <class F>
const void* address_of(F* function) {
  return reinterpret_cast<const void*>(function);
}

// The same for four lanes.
template <One F>
void four_of(double* out, const double* in) {
  for (int l = 0; l < 4; ++l) out[l] = F(in[l]);
}
template <Two F>
void four_of_two(double* out, const double* a, const double* b) {
  for (int l = 0; l < 4; ++l) out[l] = F(a[l], b[l]);
}
void four_sines_and_cosines(double* sine, double* cosine, const double* angle) {
  for (int l = 0; l < 4; ++l) sine_and_cosine(angle[l], sine + l, cosine + l);
}
void four_at_table(double* out, const double* in, const Table* table) {
  for (int l = 0; l < 4; ++l) out[l] = (*table)(in[l]);
}
const void* four_function_of(int kind) {
  switch (static_cast<Op>(kind)) {
    case Op::sin: return address_of(&four_of<static_cast<One>(std::sin)>);
    case Op::cos: return address_of(&four_of<static_cast<One>(std::cos)>);
    case Op::tan: return address_of(&four_of<static_cast<One>(std::tan)>);
    case Op::asin: return address_of(&four_of<static_cast<One>(std::asin)>);
    case Op::acos: return address_of(&four_of<static_cast<One>(std::acos)>);
    case Op::atan: return address_of(&four_of<static_cast<One>(std::atan)>);
    case Op::sinh: return address_of(&four_of<static_cast<One>(std::sinh)>);
    case Op::cosh: return address_of(&four_of<static_cast<One>(std::cosh)>);
    case Op::tanh: return address_of(&four_of<static_cast<One>(std::tanh)>);
    case Op::exp: return address_of(&four_of<static_cast<One>(std::exp)>);
    case Op::log: return address_of(&four_of<static_cast<One>(std::log)>);
    case Op::power: return address_of(&four_of_two<static_cast<Two>(std::pow)>);
    case Op::atan2: return address_of(&four_of_two<static_cast<Two>(std::atan2)>);
    case Op::hypot: return address_of(&four_of_two<static_cast<Two>(std::hypot)>);
    case Op::table: return address_of(&four_at_table);
    default: return kind == TapePlan::sine_and_cosine ? address_of(&four_sines_and_cosines) : nullptr;
  }
}

// The function of the C library that the tape calls for an operation; null where there is none.
const void* function_of(int kind) {
  switch (static_cast<Op>(kind)) {
    case Op::sin: return address_of(static_cast<One>(std::sin));
    case Op::cos: return address_of(static_cast<One>(std::cos));
    case Op::tan: return address_of(static_cast<One>(std::tan));
    case Op::asin: return address_of(static_cast<One>(std::asin));
    case Op::acos: return address_of(static_cast<One>(std::acos));
    case Op::atan: return address_of(static_cast<One>(std::atan));
    case Op::sinh: return address_of(static_cast<One>(std::sinh));
    case Op::cosh: return address_of(static_cast<One>(std::cosh));
    case Op::tanh: return address_of(static_cast<One>(std::tanh));
    case Op::exp: return address_of(static_cast<One>(std::exp));
    case Op::log: return address_of(static_cast<One>(std::log));
    case Op::power: return address_of(static_cast<Two>(std::pow));
    case Op::atan2: return address_of(static_cast<Two>(std::atan2));
    case Op::hypot: return address_of(static_cast<Two>(std::hypot));
    case Op::table: return address_of(&at_table);
    default: return kind == TapePlan::sine_and_cosine ? address_of(&sine_and_cosine) : nullptr;
  }
}

}  // namespace

const void* called_function(int kind, int lanes) { return lanes > 1 ? four_function_of(kind) : function_of(kind); }

}  // namespace hinge
