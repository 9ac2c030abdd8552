// HDF5's C interface made safe: identifiers that close themselves, texts and numbers in one call, and every failure an
// exception that names the file, what could not be done, and the system's reason.
//
// Only for builds with HDF5 (HINGE_HAVE_HDF5).
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simulate/record/hdf5_library.hpp"
#include "simulate/record/recorder_formats.hpp"

namespace hinge::hdf5 {

/// To be held while HDF5 is called: it prints to stderr unless told otherwise, which a library must not, and as Debian
/// builds it, it is not safe to be used by two threads at once.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

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
  operator hid_t() const { return id_; }
  herr_t close();

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// The system's own reason is clearer than HDF5's, so the system is asked first.
void require_system_opens(const std::string& path);

/// A file. Names of data sets may have folders in them, "a/b/c", which are made as they are needed.
///
/// What is read is in this file: links to other files and data kept in them are refused, since whoever wrote the file
/// does not decide what else is read.
class File {
 public:
  static File open(const std::string& path) { return {path, Purpose::reading}; }
  /// A new one in memory, for this path: HDF5 does not recover from a write that fails, so it does not write.
  /// Without time stamps, so that the same contents make the same bytes.
  static File create(const std::string& path) { return {path, Purpose::writing}; }
  /// Writes what was created to its path, whole or not at all.
  void save() const;

  hid_t id() const { return file_; }
  const std::string& path() const { return path_; }

  /// Turns a negative result into an exception: "cannot write 'x.h5': HDF5 could not <deed> (...)".
  template <typename Result>
  Result check(Result result, const char* deed) const {
    if (result < 0) fail(deed);
    return result;
  }
  Handle check(hid_t id, Handle::Close closer, const char* deed) const { return {check(id, deed), closer}; }
  /// What is in the file is not what it should be.
  InputError fault(const std::string& what) const { return cannot_read(path_, what); }

  bool has(const std::string& name) const;
  /// A data set; what it is made of is not known yet. It holds what it claims to hold.
  Handle open_data(const std::string& name) const;
  std::vector<hsize_t> shape(hid_t data) const;
  /// Numbers, double or int. No more than `most`: a damaged file may claim anything.
  template <typename Number>
  std::vector<Number> read(const std::string& name, hssize_t most = hssize_t{1} << 28) const;
  /// Texts of fixed or variable length; none where the data set holds something else.
  std::vector<std::string> texts(const std::string& name) const;
  std::vector<std::string> attribute(hid_t attribute) const;

  template <typename Number>
  void write(const std::string& name, std::span<const Number> numbers) const;
  /// A text of fixed length.
  void write_text(const std::string& name, const std::string& text) const;
  /// Texts of variable length: a list, or one by itself.
  enum class Shape { list, one };
  void write_texts(const std::string& name, std::span<const std::string> texts, Shape shape) const;
  void write_attribute(hid_t owner, const std::string& name, std::span<const std::string> texts, Shape shape) const;

 private:
  enum class Purpose { writing, reading };
  File(std::string path, Purpose purpose);
  void require_own(hid_t data, const std::string& name) const;
  void require_held(hid_t data, const std::string& name) const;
  [[noreturn]] void fail(const char* deed) const;
  template <typename Read>
  std::vector<std::string> read_texts(hid_t type, hid_t space, Read read) const;
  Handle text_type() const;
  Handle space(std::size_t size, Shape shape = Shape::list) const;
  void put(const std::string& name, hid_t type, hid_t space, const void* data) const;

  std::string path_;
  Purpose purpose_;
  Handle file_;
  Handle inside_;  ///< access without links to other files
};

}  // namespace hinge::hdf5
