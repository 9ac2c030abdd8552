// A child process that tries what HDF5 may not survive, input after input, until one of them kills it; then there is a
// new one. What the program does, a child for each file, takes a hundred times as long.
#pragma once

#include <csignal>
#include <cstdlib>
#include <functional>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hinge::test {

class TrialChild {
 public:
  /// `read` reads a file whose name stays; what it throws is no matter here.
  explicit TrialChild(std::function<void()> read) : read_(std::move(read)) {}
  TrialChild(const TrialChild&) = delete;
  TrialChild& operator=(const TrialChild&) = delete;
  ~TrialChild() { end(); }

  /// Whether the child has read the file as it is now, in time.
  bool survives() {
    if (child_ < 0) begin();
    char word = 0;
    if (::send(line_, &word, 1, MSG_NOSIGNAL) == 1 && ::recv(line_, &word, 1, 0) == 1) return true;
    end();
    return false;
  }

 private:
  static constexpr int seconds = 10;

  void begin() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    child_ = ::fork();
    if (child_ < 0) std::abort();
    ::close(ends[child_ == 0 ? 0 : 1]);
    line_ = ends[child_ == 0 ? 1 : 0];
    if (child_ == 0) serve();
  }

  [[noreturn]] void serve() {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGALRM})
      std::signal(signal, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    char word = 0;
    while (::recv(line_, &word, 1, 0) == 1) {
      const itimerval most{{0, 0}, {seconds, 0}}, none{{0, 0}, {0, 0}};
      ::setitimer(ITIMER_REAL, &most, nullptr);
      try {
        read_();
      } catch (...) {  // the parent will see the same
      }
      ::setitimer(ITIMER_REAL, &none, nullptr);
      if (::send(line_, &word, 1, MSG_NOSIGNAL) != 1) break;
    }
    ::_exit(0);
  }

  void end() {
    if (child_ < 0) return;
    ::close(line_);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  std::function<void()> read_;
  pid_t child_ = -1;
  int line_ = -1;
};

/// HDF5 does not release everything where a file is damaged; the leak detector of clang asks for this.
extern "C" __attribute__((used)) const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }

/// Whether bytes of HDF5 go the program's own way: a child for this file alone. One in a thousand or so does.
inline bool goes_the_whole_way(const unsigned char* data, std::size_t size) {
  unsigned sum = 0;
  for (std::size_t k = 0; k < size; ++k) sum = sum * 31 + data[k];
  return sum % 1021 == 0;
}

}  // namespace hinge::test
