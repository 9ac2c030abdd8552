#include "cli/progress.hpp"

#include <cmath>
#include <iostream>
#include <string>

#include <fmt/format.h>

namespace hinge::cli {

namespace {

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min {:.0f} s", std::floor(seconds / 60), std::fmod(seconds, 60));
  return fmt::format("{:.0f} h {:.0f} min", std::floor(seconds / 3600), std::fmod(seconds / 60, 60));
}

}  // namespace

Progress::Progress(double start, double end, bool visible)
    : start_(start), end_(end), visible_(visible), begin_(std::chrono::steady_clock::now()) {}

void Progress::show(double t) {
  if (!visible_ || !(end_ > start_)) return;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double fraction = (t - start_) / (end_ - start_);
  if (elapsed < 0.5 || fraction <= 0) return;
  constexpr int width = 40;
  const auto filled = static_cast<std::size_t>(fraction * width);
  std::cerr << fmt::format("\r[{}{}] {:3.0f} %  t = {:<10.4g} {} left   ", std::string(filled, '#'),
                           std::string(width - filled, '.'), 100 * fraction, t,
                           duration(elapsed * (1 - fraction) / fraction))
            << std::flush;
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) std::cerr << '\r' << std::string(90, ' ') << '\r' << std::flush;
  drawn_ = false;
}

}  // namespace hinge::cli
