// The words of OpenCL C that the text of grains is written in, for the host.
#pragma once

namespace hinge::grain {

struct alignas(32) Wide4 {
  double x, y, z, w;
};
struct Int2 {
  int x, y;
};

}  // namespace hinge::grain
