// What a terminal shows: everything printed, made fit for it and checked to have arrived; a line that changes while a
// run goes on; and Ctrl-C as a request to stop, after which what was computed is reported.
#pragma once

#include <chrono>
#include <cstdio>
#include <streambuf>
#include <string>

namespace hinge::cli {

/// Stands behind std::cout or std::cerr as long as it lives: control characters go out as escapes, whatever title, name
/// or message they are in, and a write that fails is remembered.
class Printed final : public std::streambuf {
 public:
  Printed(std::ostream& stream, std::FILE* file);
  ~Printed() override;
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  /// Writes what is left. Zero, or the system's error of the first write that failed.
  int finish();

 private:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;
  bool send(std::size_t size);

  std::ostream& stream_;
  std::streambuf* before_;
  std::FILE* file_;
  bool by_lines_;
  std::string waiting_;
  int error_ = 0;
};

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
