// A progress bar for terminals, with the time left.
#pragma once

#include <chrono>

namespace hinge::cli {

class Progress {
 public:
  Progress(double start, double end, bool visible);
  void show(double t);
  void clear();

 private:
  double start_, end_;
  bool visible_, drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace hinge::cli
