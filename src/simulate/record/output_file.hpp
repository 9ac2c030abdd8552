// Files that are written: locked against a second writer, every write checked, and either whole or not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hinge {

/// A file that grows while a run goes on. Opening it empties it; where another one writes to it, it is refused.
/// Everything throws OutputError with the system's reason.
class OutputFile {
 public:
  enum class Writing { behind, anywhere };  ///< append() only, or write_at()
  OutputFile() = default;
  OutputFile(std::string path, Writing writing);
  OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }
  OutputFile& operator=(OutputFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    std::swap(appended_, other.appended_);
    return *this;
  }
  ~OutputFile();

  /// Refuses to go on where another one writes this file; else, if it is there, it stays locked and as it is.
  static OutputFile lock(const std::string& path);

  bool open() const { return file_ >= 0; }
  const std::string& path() const { return path_; }
  /// Behind everything else, all of it or nothing: a piece that a full disk let through is cut off again.
  void append(std::string_view bytes);
  void write_at(std::uint64_t place, std::string_view bytes) const;
  /// Makes the file so long, with room on the disk for what is behind `from`, where the file system can. Zero, or the
  /// system's error.
  int reserve(std::uint64_t from, std::uint64_t size) const;
  /// Cuts off what is behind `size`; where that fails the file is only longer than it need be.
  void cut(std::uint64_t size) const;
  /// Some file systems report a failed write only here.
  void close();

 private:
  friend class WholeFile;
  std::string path_;
  int file_ = -1;
  std::uint64_t appended_ = 0;
};

/// A file that is written at once, beside its name, and takes the name when it is complete: whoever opens the name
/// finds the old contents or the new ones. (Where the name is a device or a pipe, it is written directly.)
class WholeFile {
 public:
  explicit WholeFile(const std::string& path);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();
  void write(std::string_view bytes) { beside_.append(bytes); }
  /// It takes its name. What is returned keeps it locked.
  OutputFile commit();

 private:
  std::string path_, target_;  // target: where links lead to
  OutputFile beside_;
};

void write_whole(const std::string& path, std::string_view bytes);

}  // namespace hinge
