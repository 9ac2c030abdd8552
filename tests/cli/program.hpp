// Runs the built program as its users do, and holds what it answered.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "places.hpp"

extern char** environ;

namespace hinge::test {

/// A folder of its own for each test, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hinge_cli_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  /// What the file holds now; it may be growing.
  std::string read(const std::string& name) const {
    std::string text(std::filesystem::file_size(file(name)), '\0');
    std::ifstream in(file(name), std::ios::binary);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
  }
  bool has(const std::string& name) const { return std::filesystem::exists(file(name)); }

 private:
  std::filesystem::path path_;
};

struct Answer {
  int status = -1;  ///< exit status; 128 + number of the signal that killed it
  std::string out, err;
};

/// A run of the program that has been started and not been waited for.
class Program {
 public:
  Program(const Folder& folder, const std::vector<std::string>& arguments) : folder_(folder) {
    std::vector<std::string> words{HINGE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, folder.file(".stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, folder.file(".stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int failed = posix_spawn(&process_, HINGE_PROGRAM, &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("cannot start " HINGE_PROGRAM);
  }
  ~Program() {
    if (process_ == 0) return;
    send(SIGKILL);
    wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const { kill(process_, signal); }
  Answer wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0) continue;
    process_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), folder_.read(".stdout"),
            folder_.read(".stderr")};
  }

 private:
  const Folder& folder_;
  pid_t process_ = 0;
};

inline Answer hinge(const Folder& folder, const std::vector<std::string>& arguments) {
  return Program(folder, arguments).wait();
}

/// `text` with the first `from` replaced; `from` must be there.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("the model has no " + from);
  return text.replace(at, from.size(), to);
}

inline std::string repeat(const std::string& text, int count) {
  std::string all;
  for (int k = 0; k < count; ++k) all += text;
  return all;
}

inline const std::string pendulum = R"toml(title = "Pendulum"
[parameters]
m = 2.0
l = 1.0
[lagrangian]
coordinates = ["q[2]"]
kinetic = "m/2*dot(q',q')"
potential = "9.81*m*q[1]"
constraints = ["(dot(q,q) - l^2)/2"]
[initial]
position = { q = [1, 0] }
[integrate]
method = "gauss-lobatto"
step = 0.01
end = 0.05
[output]
quantities = { height = "q[1]" }
)toml";

inline const std::string chain = R"toml([parameters]
N = 4
[lagrangian]
coordinates = ["q[N][3]"]
kinetic = "sum(i, 0, N-1, dot(q[i]',q[i]'))/2"
potential = "sum(i, 0, N-1, q[i][2])"
constraints = ["(dot(q[0],q[0]) - 1)/2", { for = "i", from = 1, to = "N-1", constraint = "(dot(q[i]-q[i-1],q[i]-q[i-1]) - 1)/2" }]
[initial]
position = { q = { for = "i", value = "[i+1, 0, 0]" } }
[integrate]
step = 0.01
end = 0.05
)toml";

inline const std::string rotor = R"toml([hamiltonian]
coordinates = ["q[2]"]
momenta = ["p[2]"]
hamiltonian = "dot(p,p)/2 + q[1]"
constraints = ["dot(q,q) - 1"]
[initial]
position = { q = [1, 0] }
momentum = { p = [0, 1] }
[integrate]
step = 0.01
end = 0.05
)toml";

inline const std::string mechanism = R"toml([mechanical]
coordinates = ["x[2]"]
mass = [[2, 0], [0, 1]]
force = [0, "-9.81"]
constraints = ["x[0]^2 + x[1]^2 - 1"]
[initial]
position = { x = [1, 0] }
[integrate]
step = 0.01
end = 0.05
)toml";

// a pendulum in other words: y' = z, z' = -e + r
inline const std::string odae = R"toml([odae]
y = ["a[2]"]
z = ["b[2]"]
psi = ["force"]
v = ["b[0]", "b[1]"]
f = [0, -1]
r = ["-2*a[0]*force", "-2*a[1]*force"]
g = ["a[0]^2 + a[1]^2 - 1"]
[initial]
y = { a = [1, 0] }
z = { b = [0, 0] }
[integrate]
step = 0.01
end = 0.05
)toml";

}  // namespace hinge::test
