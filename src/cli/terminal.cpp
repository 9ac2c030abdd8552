#include "cli/terminal.hpp"

#include <cmath>
#include <csignal>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace hinge::cli {

namespace {

volatile std::sig_atomic_t asked = 0;

extern "C" void ask_to_stop(int) { asked = 1; }

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min {:.0f} s", std::floor(seconds / 60), std::fmod(seconds, 60));
  return fmt::format("{:.0f} h {:.0f} min", std::floor(seconds / 3600), std::fmod(seconds / 60, 60));
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_asked() { return asked != 0; }

StatusLine::StatusLine(bool wanted)
    : visible_(wanted && isatty(STDERR_FILENO)), begin_(std::chrono::steady_clock::now()) {}

void StatusLine::show(const std::string& text) {
  if (!visible_ || (text.empty() && !drawn_)) return;
  std::cerr << fmt::format("\r{:<90}\r{:.90}", "", text) << std::flush;
  drawn_ = !text.empty();
}

void StatusLine::show_progress(double start, double t, double end) {
  if (!visible_ || !(end > start)) return;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double fraction = (t - start) / (end - start);
  if (elapsed < 0.5 || fraction <= 0) return;
  constexpr int width = 40;
  const auto filled = static_cast<std::size_t>(fraction * width);
  show(fmt::format("[{}{}] {:3.0f} %  t = {:<10.4g} {} left", std::string(filled, '#'),
                   std::string(width - filled, '.'), 100 * fraction, t, duration(elapsed * (1 - fraction) / fraction)));
}

}  // namespace hinge::cli
