// HDF5's C interface made safe: identifiers that close themselves, failures as exceptions with the file and the reason.
// Only for builds with HDF5 (HINGE_HAVE_HDF5).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

#include "simulate/record/recorder_formats.hpp"

namespace hinge::hdf5 {

/// HDF5 prints to stderr unless told otherwise; a library must not.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// An HDF5 identifier that closes itself.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  bool open() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  herr_t close() {
    const Quiet quiet;
    const hid_t id = std::exchange(id_, -1);
    return id < 0 ? 0 : close_(id);
  }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// What HDF5's innermost error says. A failed system call is spelled "... errno = 28, ..." there.
struct Cause {
  int system_error = 0;
  std::string text;
};

inline Cause last_cause() {
  Cause cause;
  const auto take_first = [](unsigned n, const H5E_error2_t* error, void* data) -> herr_t {
    if (n == 0 && error->desc != nullptr) static_cast<Cause*>(data)->text = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &cause);
  constexpr std::string_view mark = "errno = ";
  if (const std::size_t at = cause.text.find(mark); at != std::string::npos) {
    cause.system_error = std::atoi(cause.text.c_str() + at + mark.size());
  }
  return cause;
}

/// Turns HDF5's negative results into exceptions that name the file and the system's reason.
class Check {
 public:
  enum Purpose { writing, reading };
  Check(const std::string& path, Purpose purpose) : path_(path), purpose_(purpose) {}

  template <typename Result>
  Result operator()(Result result, const char* deed) const {
    if (result < 0) fail(deed);
    return result;
  }
  Handle operator()(hid_t id, Handle::Close close, const char* deed) const {
    if (id < 0) fail(deed);
    return {id, close};
  }

 private:
  [[noreturn]] void fail(const char* deed) const {
    const auto [system_error, text] = last_cause();
    const std::string reason = fmt::format("HDF5 could not {} ({})", deed, text);
    if (purpose_ == writing) throw system_error != 0 ? cannot_write(path_, system_error) : cannot_write(path_, reason);
    throw system_error != 0 ? cannot_read(path_, system_error) : cannot_read(path_, reason);
  }

  const std::string& path_;
  Purpose purpose_;
};

/// The system's own reason is clearer than HDF5's, so the system is asked first.
inline void require_system_opens(const std::string& path, int flags, Check::Purpose purpose) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0 && purpose == Check::writing) throw cannot_write(path, errno);
  if (fd < 0) throw cannot_read(path, errno);
  ::close(fd);
}

}  // namespace hinge::hdf5
