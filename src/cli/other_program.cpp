#include "cli/other_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "hinge/error.hpp"

extern char** environ;

namespace hinge::cli {

std::string find_program(const std::vector<std::string>& names) {
  const char* const path = std::getenv("PATH");
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0) return name;
      continue;
    }
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string there = (std::filesystem::path(folder) / name).string();
      if (!folder.empty() && access(there.c_str(), X_OK) == 0) return there;
    }
  }
  return "";
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "hinge_XXXXXX").string();
  if (!mkdtemp(path_.data())) throw InputError("there is no place for temporary files; TMPDIR names one");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

OtherProgram::OtherProgram(const std::string& path, const std::vector<std::string>& arguments, bool talks) {
  signal(SIGPIPE, SIG_IGN);
  int in[2] = {-1, -1}, out[2] = {-1, -1};
  if (pipe2(in, O_CLOEXEC) != 0 || (talks && pipe2(out, O_CLOEXEC) != 0))
    throw InputError(fmt::format("cannot start {}: {}", path, std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // files 3 and 4 may be these pipes themselves: higher copies first
  const int high_in = fcntl(in[0], F_DUPFD_CLOEXEC, 10), high_out = talks ? fcntl(out[1], F_DUPFD_CLOEXEC, 10) : -1;
  for (const int quiet : {1, 2}) posix_spawn_file_actions_addopen(&actions, quiet, "/dev/null", O_WRONLY, 0);
  if (talks) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, high_in, 3);
    posix_spawn_file_actions_adddup2(&actions, high_out, 4);
  } else {
    posix_spawn_file_actions_adddup2(&actions, high_in, 0);
  }
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  // what belongs to a terminal's Ctrl-C is this program, which ends the other one
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  const int failed = posix_spawn(&process_, path.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (const int end : {in[0], out[1], high_in, high_out})
    if (end >= 0) close(end);
  to_ = in[1];
  from_ = out[0];
  if (failed == 0) return;
  close(to_);
  if (from_ >= 0) close(from_);
  throw InputError(fmt::format("cannot start {}: {}", path, std::strerror(failed)));
}

OtherProgram::~OtherProgram() {
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  if (process_ == 0) return;
  kill(-process_, SIGKILL);  // and what it has started
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool OtherProgram::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(to_, bytes.data(), bytes.size());
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string OtherProgram::read(double seconds) {
  pollfd watched{from_, POLLIN, 0};
  if (poll(&watched, 1, static_cast<int>(1000 * seconds)) <= 0) return "";
  std::string piece(1 << 16, '\0');
  const ssize_t got = ::read(from_, piece.data(), piece.size());
  piece.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return piece;
}

int OtherProgram::finish() {
  close(to_);
  to_ = -1;
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace hinge::cli
