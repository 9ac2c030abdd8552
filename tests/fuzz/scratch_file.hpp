// A file in memory for input that is read by its name; of this process alone, and gone with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace hinge::test {

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& ending) {
    const std::filesystem::path memory = "/dev/shm";
    const std::filesystem::path folder = exists(memory) ? memory : std::filesystem::temp_directory_path();
    path_ = (folder / ("hinge-fuzz-" + std::to_string(::getpid()) + ending)).string();
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::string& path() const { return path_; }
  void write(const std::uint8_t* data, std::size_t size) const {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    out.close();
    if (!out) std::abort();
  }

 private:
  std::string path_;
};

}  // namespace hinge::test
