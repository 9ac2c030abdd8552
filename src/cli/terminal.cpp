#include "cli/terminal.hpp"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <ostream>

#include <fmt/format.h>
#include <unistd.h>

#include "expression/printable.hpp"

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

Printed::Printed(std::ostream& stream, std::FILE* file)
    : stream_(stream), before_(stream.rdbuf(this)), file_(file), by_lines_(isatty(fileno(file))) {}

Printed::~Printed() {
  finish();
  stream_.rdbuf(before_);
}

int Printed::overflow(int c) {
  const char text = traits_type::to_char_type(c);
  return xsputn(&text, 1) == 1 ? traits_type::not_eof(c) : traits_type::eof();
}

std::streamsize Printed::xsputn(const char* text, std::streamsize size) {
  constexpr std::size_t enough = 1 << 16;
  waiting_.append(text, static_cast<std::size_t>(size));
  if (!by_lines_ && waiting_.size() < enough) return size;
  const std::size_t line = waiting_.rfind('\n');  // in whole lines: characters may come in pieces
  return line == std::string::npos || send(line + 1) ? size : 0;
}

int Printed::sync() { return send(waiting_.size()) ? 0 : -1; }

bool Printed::send(std::size_t size) {
  const std::string text = printable(std::string_view(waiting_).substr(0, size));
  waiting_.erase(0, size);
  if (std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0) return true;
  if (error_ == 0) error_ = errno != 0 ? errno : EIO;
  return false;
}

int Printed::finish() {
  sync();
  return error_;
}

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
  std::fputs(fmt::format("\r{:<90}\r{:.90}", "", printable(text)).c_str(), stderr);
  std::fflush(stderr);
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
