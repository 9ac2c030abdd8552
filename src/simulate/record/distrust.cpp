#include "simulate/record/distrust.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulate/record/recorder_formats.hpp"

namespace hinge {

namespace {

std::atomic<bool> distrusted = false;

constexpr std::uint64_t seconds = 2, bytes_per_second = 20'000'000;  // of computing; disks are not counted

[[noreturn]] void try_and_exit(std::uint64_t size, const std::function<void()>& read) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGALRM})
    std::signal(signal, SIG_DFL);
  const rlim_t most = seconds + size / bytes_per_second;
  const rlimit time{most, most + 1}, no_core{0, 0};
  ::setrlimit(RLIMIT_CPU, &time);
  ::alarm(static_cast<unsigned>(std::min<rlim_t>(60 * most, 86400)));  // waits for what never comes
  ::setrlimit(RLIMIT_CORE, &no_core);
  try {
    read();
  } catch (...) {  // the parent will see the same, and say it
  }
  ::_exit(0);
}

}  // namespace

void distrust_hdf5_files(bool distrust) { distrusted = distrust; }

void try_in_child(const std::string& path, const std::function<void()>& read) {
  if (!distrusted) return;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return;  // the reader says it better
  const pid_t child = ::fork();
  if (child == 0) try_and_exit(size, read);
  if (child < 0) return;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return;
  if (!WIFSIGNALED(status) && WEXITSTATUS(status) == 0) return;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGINT || signal == SIGTERM) return;
  throw cannot_read(path, signal == SIGXCPU || signal == SIGKILL || signal == SIGALRM
                              ? "HDF5 comes to no end with it; it is damaged"
                              : "HDF5 crashes on it; it is damaged");
}

}  // namespace hinge
