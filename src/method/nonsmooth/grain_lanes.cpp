#include "method/nonsmooth/grain_lanes.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace hinge::grain {

#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace four {
namespace {
#define WIDTH 4
#include "method/nonsmooth/grain_lanes_code.hpp"
#undef WIDTH
}  // namespace
}  // namespace four
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl")
#endif
namespace eight {
namespace {
#define WIDTH 8
#include "method/nonsmooth/grain_lanes_code.hpp"
#undef WIDTH
}  // namespace
}  // namespace eight
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

std::vector<Lanes> lanes_of_this_machine() {
  std::vector<Lanes> list;
  if (__builtin_cpu_supports("avx2")) list.push_back({four::sweep_colour, four::largest_residual});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    list.push_back({eight::sweep_colour, eight::largest_residual});
  return list;
}

#else
std::vector<Lanes> lanes_of_this_machine() { return {}; }
#endif

}  // namespace hinge::grain
