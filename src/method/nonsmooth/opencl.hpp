// OpenCL, opened when it is asked for: libOpenCL.so.1 through a table of function pointers, so that the program starts
// and does everything else where there is none. Headers are needed at build time only; without them there is no device.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hinge/grains.hpp"

namespace hinge::opencl {

/// Memory of the device. It grows by what is asked for, and does not keep what was in it then.
class Buffer;

/// A program on the first device of the machine: a GPU where there is one, else whatever there is.
class Device {
 public:
  /// Throws UnsuitableMethod, with the reason and what to do about it, where there is no device with double precision
  /// or the source does not compile. Division and roots of single precision are asked to be rounded correctly.
  Device(const std::string& source, const std::string& options, bool profile = false);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const;
  bool rounds_correctly() const;  ///< division and roots in single precision
  double bytes() const;           ///< of all buffers

  /// Where no room for so many bytes is left: an UnsuitableMethod.
  void room(Buffer& buffer, std::size_t bytes);
  void write(Buffer& buffer, const void* from, std::size_t bytes);
  void read(const Buffer& buffer, void* to, std::size_t bytes, std::size_t from = 0);
  /// Arguments as a list of (size, pointer); buffers by `argument`.
  struct Argument {
    std::size_t size;
    const void* value;
  };
  /// Runs kernel `k` (one of `kernel`) with so many workers in groups of `group`, after all that was asked for before.
  void run(int k, std::size_t workers, std::size_t group, std::initializer_list<Argument> arguments);
  /// The number of a kernel.
  int kernel(const char* name);
  void wait();
  /// Of kernels that were run where a profile was asked for.
  std::vector<GrainKernel> times();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
  friend class Buffer;
};

class Buffer {
 public:
  Buffer() = default;
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Device::Argument argument() const { return {sizeof memory_, &memory_}; }
  void swap(Buffer& other) {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
  }

 private:
  friend class Device;
  void* memory_ = nullptr;  // a cl_mem
  std::size_t size_ = 0;
  Device* device_ = nullptr;
};

/// Why there is no device; empty where there is one, whose name is then in `name`.
std::string missing(std::string* name);

}  // namespace hinge::opencl
