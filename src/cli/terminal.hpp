// While a run goes on: what a terminal shows, and Ctrl-C as a request to stop, after which what was computed is
// reported.
#pragma once

#include <chrono>
#include <string>

namespace hinge::cli {

/// From now on the first SIGINT or SIGTERM is a request to stop; the second one kills as usual.
void catch_interrupts();
bool stop_asked();

/// A line that is written over again and again, and gone in the end. Nothing where stderr is no terminal.
class StatusLine {
 public:
  explicit StatusLine(bool wanted);
  ~StatusLine() { show(""); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  void show(const std::string& text);
  /// A bar, with the time left.
  void show_progress(double start, double t, double end);

 private:
  bool visible_, drawn_ = false;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace hinge::cli
