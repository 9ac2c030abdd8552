#include "simulate/record/output_file.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulate/record/recorder_formats.hpp"

namespace hinge {
namespace {

int opened(const std::string& path, int flags) {
  int file = -1;
  do {
    file = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EINTR);
  return file;
}

/// Zero, or the system's error. File systems without locks take every writer.
int locked(int file) {
  while (::flock(file, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno == EWOULDBLOCK ? EAGAIN : 0;
  return 0;
}

bool is_regular(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

/// The system's error, after all bytes are written or no more can be. `done` says how many were.
template <typename Write>
int write_all(std::string_view bytes, std::size_t& done, Write write) {
  for (done = 0; done < bytes.size();) {
    const ssize_t n = write(bytes.data() + done, bytes.size() - done, done);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n == 0)
      return ENOSPC;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

}  // namespace

// O_APPEND makes every row land behind the last one, also after a failed row was cut off; Linux would send write_at()
// there, too.
OutputFile::OutputFile(std::string path, Writing writing) : path_(std::move(path)) {
  file_ = opened(path_, O_WRONLY | O_CREAT | (writing == Writing::behind ? O_APPEND : 0));
  if (file_ < 0) throw_cannot_write(path_, errno);
  int error = locked(file_);
  // only now: what another one has written so far is his
  if (error == 0 && is_regular(file_) && ::ftruncate(file_, 0) != 0) error = errno;
  if (error == 0) return;
  ::close(std::exchange(file_, -1));
  throw_cannot_write(path_, error);
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
}

void OutputFile::append(std::string_view bytes) {
  std::size_t done = 0;
  const int error = write_all(
      bytes, done, [&](const char* from, std::size_t size, std::size_t) { return ::write(file_, from, size); });
  if (error != 0) {
    // Fails on a pipe or a device, where there is nothing to cut; the first error is the one to report.
    if (done > 0) cut(appended_);
    throw_cannot_write(path_, error);
  }
  appended_ += bytes.size();
}

void OutputFile::write_at(std::uint64_t place, std::string_view bytes) const {
  std::size_t done = 0;
  const int error = write_all(bytes, done, [&](const char* from, std::size_t size, std::size_t at) {
    return ::pwrite(file_, from, size, static_cast<off_t>(place + at));
  });
  if (error != 0) throw_cannot_write(path_, error);
}

int OutputFile::reserve(std::uint64_t from, std::uint64_t size) const {
  if (size <= from) return 0;
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(file_, static_cast<off_t>(from), static_cast<off_t>(size - from));
  if (error != EOPNOTSUPP && error != EINVAL) return error;
  struct stat about {};  // cannot reserve: the first failed write tells
  if (::fstat(file_, &about) == 0 && about.st_size >= static_cast<off_t>(size)) return 0;
  return ::ftruncate(file_, static_cast<off_t>(size)) == 0 ? 0 : errno;
}

void OutputFile::cut(std::uint64_t size) const {
  [[maybe_unused]] const int failed = ::ftruncate(file_, static_cast<off_t>(size));
}

void OutputFile::close() {
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0 && errno != EINTR) throw_cannot_write(path_, errno);
}

// ---- Whole files --------------------------------------------------------------------------------------------------

WholeFile::WholeFile(const std::string& path) : path_(path), target_(path) {
  std::error_code none;
  if (std::filesystem::is_symlink(path, none)) {
    const std::filesystem::path real = std::filesystem::canonical(path, none);
    if (!none) target_ = real.string();
  }
  struct stat about {};
  const bool there = ::stat(target_.c_str(), &about) == 0;
  const std::string beside = target_ + ".part";
  beside_.path_ = path_;
  if (!there || S_ISREG(about.st_mode)) beside_.file_ = opened(beside, O_WRONLY | O_CREAT | O_NOFOLLOW);
  if (beside_.file_ < 0) {
    // a device, or a file that may be written in a folder that may not: directly
    beside_.file_ = there ? opened(target_, O_WRONLY) : -1;
    if (beside_.file_ < 0) throw_cannot_write(path_, errno);
    target_.clear();
  }
  int error = locked(beside_.file_);
  if (error == 0 && is_regular(beside_.file_) && ::ftruncate(beside_.file_, 0) != 0) error = errno;
  if (error == 0 && there && !target_.empty()) error = ::fchmod(beside_.file_, about.st_mode & 07777) == 0 ? 0 : errno;
  if (error == 0) return;
  target_.clear();
  throw_cannot_write(path_, error);
}

WholeFile::~WholeFile() {
  if (beside_.open() && !target_.empty()) ::unlink((target_ + ".part").c_str());
}

OutputFile WholeFile::commit() {
  // a second descriptor keeps the lock: some file systems report a failed write only when the first one is closed
  OutputFile kept;
  kept.path_ = path_;
  kept.file_ = ::dup(beside_.file_);
  int error = ::close(std::exchange(beside_.file_, -1)) != 0 && errno != EINTR ? errno : 0;
  const std::string beside = target_ + ".part";
  if (error == 0 && !target_.empty() && ::rename(beside.c_str(), target_.c_str()) != 0) error = errno;
  if (error != 0) {
    if (!target_.empty()) ::unlink(beside.c_str());
    throw_cannot_write(path_, error);
  }
  return kept;
}

OutputFile OutputFile::lock(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  file.file_ = opened(path, O_RDONLY | O_NONBLOCK);
  if (file.file_ >= 0 && is_regular(file.file_) && locked(file.file_) != 0) throw_cannot_write(path, EAGAIN);
  return file;
}

void write_whole(const std::string& path, std::string_view bytes) {
  WholeFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace hinge
