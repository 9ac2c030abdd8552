// Other programs that draw or pack pictures: started with pipes, waited for, ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hinge::cli {

/// Where a program of one of these names is, in PATH; empty where none is. A name with a slash is a path.
std::string find_program(const std::vector<std::string>& names);

/// A folder for what they read and write, gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class OtherProgram {
 public:
  /// Starts it. Its standard input is a pipe from here; what it says goes to nobody, or, with `talks`, two more pipes
  /// are its files 3 (to it) and 4 (from it). Throws InputError where it cannot be started.
  OtherProgram(const std::string& path, const std::vector<std::string>& arguments, bool talks = false);
  ~OtherProgram();  ///< ends it
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;

  /// To its standard input, or its file 3. False where it does not listen any more.
  bool write(std::string_view bytes);
  /// From its file 4, at least one byte; nothing where it is gone or says nothing for so long.
  std::string read(double seconds);
  /// Closes its input and waits until it ends. Its exit status, or 128 + the signal.
  int finish();

 private:
  int to_ = -1, from_ = -1, process_ = 0;
};

}  // namespace hinge::cli
