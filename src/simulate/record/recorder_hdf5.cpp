// Trajectories as HDF5:
//
//   /trajectory           rows x columns, double, chunked, extendible, fill value NaN
//     attribute columns   the names; a dataset /columns where there are too many for an attribute
//   /model                the model file's text, if there is one (a dataset: attributes end at 64 kB)
//   attributes of /       one for each `about` pair; status, missing when the run was killed
//
// How a recorded row survives the death of the process: the dataset grows in blocks whose chunks are allocated and
// filled with NaN at once, and the file is flushed after each growth, so that its metadata on disk are complete and
// describe rows yet to come. Between growths a row changes raw data only, and without a chunk cache it goes through
// one system call to the kernel. The oldest file format is used: newer ones mark a file as "open for writing" and
// refuse it after a crash. What is not covered is death in the middle of a growth, a few microseconds in which HDF5
// writes its own tables.
//
// How recorded rows survive a full disk: the space of a growth is reserved before HDF5 hears of it, because HDF5 does
// not recover from a write that fails in its middle (it goes on to write a file that claims what it does not hold).
// Where a write fails all the same, HDF5 is cut off from the file, which stays as the last growth left it.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "simulate/record/recorder_formats.hpp"

#ifdef HINGE_HAVE_HDF5

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simulate/record/hdf5.hpp"

namespace hinge {
namespace {

using namespace hdf5;

constexpr hsize_t chunk_bytes = 1 << 20;  ///< at most, where a row is not longer than that
constexpr hsize_t chunk_rows_max = 1024;
constexpr hsize_t block_bytes = 16 << 20;  ///< growth at a time, at most: what a killed run may waste on disk
constexpr hsize_t block_rows_max = 65536;
constexpr hsize_t table_bytes = 1 << 16;           ///< what HDF5 itself may need for a growth and for the status
constexpr std::size_t attribute_names_max = 4000;  ///< 16 bytes each, and an attribute holds 64 kB

Handle text_type(const Check& check) {
  Handle type = check(H5Tcopy(H5T_C_S1), H5Tclose, "make a string type");
  check(H5Tset_size(type.get(), H5T_VARIABLE), "make a string type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "make a string type");
  return type;
}

Handle scalar_space(const Check& check) { return check(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar"); }

Handle list_space(const Check& check, hsize_t size) {
  return check(H5Screate_simple(1, &size, nullptr), H5Sclose, "make a list");
}

void write_text_attribute(const Check& check, hid_t object, const std::string& name, const std::string& value) {
  const Handle type = text_type(check), space = scalar_space(check);
  const Handle attribute = check(H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                                 H5Aclose, "create an attribute");
  const char* text = value.c_str();
  check(H5Awrite(attribute.get(), type.get(), &text), "write an attribute");
}

// Without time stamps the same run writes the same bytes.
Handle untimed(const Check& check) {
  Handle creation = check(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "set up a data set");
  check(H5Pset_obj_track_times(creation.get(), false), "switch off time stamps");
  return creation;
}

void write_model(const Check& check, hid_t file, const std::string& model) {
  const Handle type = text_type(check), space = scalar_space(check);
  const Handle dataset =
      check(H5Dcreate2(file, "model", type.get(), space.get(), H5P_DEFAULT, untimed(check).get(), H5P_DEFAULT),
            H5Dclose, "create /model");
  const char* text = model.c_str();
  check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &text), "write /model");
}

void write_columns(const Check& check, hid_t file, hid_t trajectory, const std::vector<std::string>& columns) {
  std::vector<const char*> names;
  for (const std::string& column : columns) names.push_back(column.c_str());
  const Handle type = text_type(check), space = list_space(check, names.size());
  if (names.size() <= attribute_names_max) {
    const Handle attribute = check(H5Acreate2(trajectory, "columns", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                                   H5Aclose, "name the columns");
    check(H5Awrite(attribute.get(), type.get(), names.data()), "name the columns");
  } else {
    const Handle dataset =
        check(H5Dcreate2(file, "columns", type.get(), space.get(), H5P_DEFAULT, untimed(check).get(), H5P_DEFAULT),
              H5Dclose, "create /columns");
    check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, names.data()), "write /columns");
  }
}

Handle create_file(const Check& check, const std::string& path) {
  const Handle access = check(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "set up the file");
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), "choose the oldest file format");
  // The plain driver, whatever the environment asks for: Hdf5Recorder relies on its file descriptor.
  check(H5Pset_fapl_sec2(access.get()), "choose its driver");
  // The sieve buffer would gather small writes of raw data; a row must not wait in it.
  check(H5Pset_sieve_buf_size(access.get(), 0), "switch off its sieve buffer");
  return check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose, "create the file");
}

Handle create_trajectory(const Check& check, hid_t file, hsize_t chunk_rows, hsize_t columns) {
  const Handle creation = untimed(check);
  const hsize_t chunk[2] = {chunk_rows, columns};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check(H5Pset_chunk(creation.get(), 2, chunk), "choose the chunks");
  check(H5Pset_fill_value(creation.get(), H5T_NATIVE_DOUBLE, &nan), "choose the fill value");
  check(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_ALLOC), "choose the fill time");
  check(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), "choose the allocation time");

  const Handle access = check(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "set up /trajectory");
  check(H5Pset_chunk_cache(access.get(), 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT), "switch off the chunk cache");

  const hsize_t none[2] = {0, columns}, unlimited[2] = {H5S_UNLIMITED, columns};
  const Handle space = check(H5Screate_simple(2, none, unlimited), H5Sclose, "set up /trajectory");
  const hid_t dataset =
      H5Dcreate2(file, "trajectory", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, creation.get(), access.get());
  return check(dataset, H5Dclose, "create /trajectory");
}

/// What the header takes in the file, roughly: names and texts, and HDF5's 16 bytes or so for each.
hsize_t header_bytes(const RecordHeader& header) {
  std::size_t bytes = header.model.size();
  for (const std::string& column : header.columns) bytes += column.size() + 64;
  for (const auto& [key, value] : header.about) bytes += key.size() + value.size() + 256;
  return bytes;
}

class Hdf5Recorder final : public Recorder {
 public:
  Hdf5Recorder(const std::string& path, const RecordHeader& header)
      : path_(path), check_(path_, Check::writing), columns_(header.columns.size()) {
    const hsize_t chunk_rows = std::clamp<hsize_t>(chunk_bytes / row_bytes(), 1, chunk_rows_max);
    const hsize_t block_max = std::min(block_bytes / row_bytes(), block_rows_max);
    block_rows_ = chunk_rows;
    block_rows_max_ = std::max(block_max / chunk_rows, hsize_t{1}) * chunk_rows;

    const Quiet quiet;
    require_system_opens(path_, O_WRONLY | O_CREAT, Check::writing);
    file_ = create_file(check_, path_);
    or_abandon([&] {
      reserve(header_bytes(header));
      for (const auto& [key, value] : header.about) write_text_attribute(check_, file_.get(), key, value);
      if (!header.model.empty()) write_model(check_, file_.get(), header.model);
      trajectory_ = create_trajectory(check_, file_.get(), chunk_rows, columns_);
      write_columns(check_, file_.get(), trajectory_.get(), header.columns);
      const hsize_t one_row[2] = {1, columns_};
      row_space_ = check_(H5Screate_simple(2, one_row, nullptr), H5Sclose, "set up a row");
      reserve(header_bytes(header) + block_rows_ * row_bytes());
      grow();
    });
  }
  Hdf5Recorder(const Hdf5Recorder&) = delete;
  Hdf5Recorder& operator=(const Hdf5Recorder&) = delete;

  ~Hdf5Recorder() override {
    const Quiet quiet;
    try {
      if (file_.open()) or_abandon([&] { close(); });
    } catch (const OutputError&) {
      // Nobody is left to hear of it; what was flushed before stays readable.
    }
  }

  void record(std::span<const double> row) override {
    require_row_width(path_, row.size(), columns_);
    if (!file_.open()) throw cannot_write(path_, "its recording is finished");
    const Quiet quiet;
    if (rows_ == capacity_) {
      reserve(block_rows_ * row_bytes());
      or_abandon([&] { grow(); });
    }
    const hsize_t start[2] = {rows_, 0}, count[2] = {1, columns_};
    or_abandon([&] {
      check_(H5Sselect_hyperslab(file_space_.get(), H5S_SELECT_SET, start, nullptr, count, nullptr), "select a row");
      check_(
          H5Dwrite(trajectory_.get(), H5T_NATIVE_DOUBLE, row_space_.get(), file_space_.get(), H5P_DEFAULT, row.data()),
          "write a row");
    });
    ++rows_;
  }

  void finish(const std::string& status) override {
    if (!file_.open()) return;
    const Quiet quiet;
    or_abandon([&] {
      write_text_attribute(check_, file_.get(), "status", status);
      close();
    });
  }

 private:
  hsize_t row_bytes() const { return columns_ * sizeof(double); }

  /// HDF5's own descriptor of the file.
  int descriptor() const {
    void* handle = nullptr;
    check_(H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &handle), "find the file's descriptor");
    return *static_cast<int*>(handle);
  }

  /// The end of the file as HDF5 knows it; reserved space behind it is not counted.
  off_t known_size() const {
    hsize_t size = 0;
    check_(H5Fget_filesize(file_.get(), &size), "find the file's size");
    return static_cast<off_t>(size);
  }

  /// Makes sure that the disk has room for `bytes` of rows and HDF5's tables for them, before anything is changed.
  void reserve(hsize_t bytes) const {
    const off_t size = known_size();
    int error = EINTR;
    while (error == EINTR) error = ::posix_fallocate(descriptor(), size, static_cast<off_t>(bytes + table_bytes));
    // Some file systems cannot reserve; there the first failed write tells.
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL) throw cannot_write(path_, error);
  }

  /// Room for another block of rows, known to the file on disk before the first of them is written.
  void grow() {
    set_extent(capacity_ + block_rows_);
    check_(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "flush the file");
    capacity_ += block_rows_;
    block_rows_ = std::min(2 * block_rows_, block_rows_max_);
    file_space_ = check_(H5Dget_space(trajectory_.get()), H5Sclose, "set up /trajectory");
  }

  void set_extent(hsize_t rows) {
    const hsize_t extent[2] = {rows, columns_};
    check_(H5Dset_extent(trajectory_.get(), extent), "resize /trajectory");
  }

  void close() {
    set_extent(rows_);
    check_(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "flush the file");
    // Reserved space is given back; where that fails the file is only longer than it need be.
    [[maybe_unused]] const int cut = ::ftruncate(descriptor(), known_size());
    check_(trajectory_.close(), "close /trajectory");
    check_(file_.close(), "close the file");
  }

  /// Runs `action`; when it fails, HDF5 must not touch the file any more.
  template <typename Action>
  void or_abandon(Action action) {
    try {
      action();
    } catch (...) {
      abandon();
      throw;
    }
  }

  /// HDF5 cannot close a file without writing what it holds of it in memory, and a file that it could not close makes
  /// it crash at the program's exit. After a failed write the first would destroy what is on disk. So its descriptor
  /// is turned to a file in memory, where it can write, truncate and close as it likes.
  void abandon() {
    void* handle = nullptr;
    if (file_.open() && H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &handle) >= 0) {
      const int sink = ::memfd_create("hinge", MFD_CLOEXEC);
      ::dup2(sink, *static_cast<int*>(handle));
      ::close(sink);
    }
    trajectory_.close();
    file_.close();
  }

  std::string path_;
  Check check_;
  hsize_t columns_;
  hsize_t rows_ = 0, capacity_ = 0;
  hsize_t block_rows_ = 0, block_rows_max_ = 0;
  Handle file_, trajectory_, file_space_, row_space_;
};

/// Reads variable-length strings through `read(type, buffer)`, which is H5Aread or H5Dread.
template <typename Read>
std::vector<std::string> read_texts(const Check& check, const Handle& space, Read read) {
  const Handle type = text_type(check);
  const hssize_t size = check(H5Sget_simple_extent_npoints(space.get()), "read a text");
  std::vector<char*> buffer(static_cast<std::size_t>(size), nullptr);
  check(read(type.get(), buffer.data()), "read a text");
  std::vector<std::string> texts;
  for (const char* text : buffer) texts.emplace_back(text == nullptr ? "" : text);
  check(H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, buffer.data()), "release a text");
  return texts;
}

std::vector<std::string> read_attribute(const Check& check, const Handle& attribute) {
  const Handle space = check(H5Aget_space(attribute.get()), H5Sclose, "read an attribute");
  return read_texts(check, space, [&](hid_t type, void* to) { return H5Aread(attribute.get(), type, to); });
}

std::vector<std::string> read_dataset(const Check& check, hid_t file, const char* name) {
  const Handle dataset = check(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose, "open a text");
  const Handle space = check(H5Dget_space(dataset.get()), H5Sclose, "read a text");
  return read_texts(check, space, [&](hid_t type, void* to) {
    return H5Dread(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
  });
}

/// The root's attributes in the order of their creation, which is the order the file keeps them in.
void read_about(const Check& check, hid_t file, Trajectory& out) {
  H5O_info_t info;
  check(H5Oget_info(file, &info), "list its attributes");
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const Handle attribute =
        check(H5Aopen_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
              "open an attribute");
    const ssize_t length = check(H5Aget_name(attribute.get(), 0, nullptr), "read the name of an attribute");
    std::string name(static_cast<std::size_t>(length), '\0');
    check(H5Aget_name(attribute.get(), name.size() + 1, name.data()), "read the name of an attribute");
    const std::vector<std::string> texts = read_attribute(check, attribute);
    const std::string value = texts.empty() ? "" : texts.front();
    if (name == "status") {
      out.status = value;
    } else {
      out.header.about.emplace_back(name, value);
    }
  }
}

void read_values(const Check& check, const std::string& path, hid_t file, Trajectory& out) {
  const Handle dataset = check(H5Dopen2(file, "trajectory", H5P_DEFAULT), H5Dclose, "open /trajectory");
  const Handle space = check(H5Dget_space(dataset.get()), H5Sclose, "read /trajectory");
  if (H5Sget_simple_extent_ndims(space.get()) != 2) throw cannot_read(path, "/trajectory is not a table");
  hsize_t extent[2] = {0, 0};
  check(H5Sget_simple_extent_dims(space.get(), extent, nullptr), "read /trajectory");
  if (H5Aexists(dataset.get(), "columns") > 0) {
    const Handle names = check(H5Aopen(dataset.get(), "columns", H5P_DEFAULT), H5Aclose, "read the columns' names");
    out.header.columns = read_attribute(check, names);
  } else {
    out.header.columns = read_dataset(check, file, "columns");
  }
  if (out.header.columns.size() != extent[1]) throw cannot_read(path, "/trajectory does not have one name per column");
  out.values.resize(extent[0] * extent[1]);
  check(H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data()),
        "read /trajectory");
}

/// A killed run leaves room for rows that never came.
void drop_unwritten_rows(Trajectory& out) {
  const auto last = std::find_if(out.values.rbegin(), out.values.rend(), [](double x) { return !std::isnan(x); });
  const auto used = static_cast<std::size_t>(out.values.rend() - last), width = out.header.columns.size();
  out.values.resize((used + width - 1) / width * width);
}

}  // namespace

bool hdf5_available() { return true; }

std::unique_ptr<Recorder> open_hdf5_recorder(const std::string& path, const RecordHeader& header) {
  return std::make_unique<Hdf5Recorder>(path, header);
}

Trajectory read_hdf5_trajectory(const std::string& path) {
  const Quiet quiet;
  const Check check(path, Check::reading);
  require_system_opens(path, O_RDONLY, Check::reading);
  const Handle file = check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open the file");
  Trajectory trajectory;
  read_values(check, path, file.get(), trajectory);
  read_about(check, file.get(), trajectory);
  if (H5Lexists(file.get(), "model", H5P_DEFAULT) > 0) {
    for (const std::string& text : read_dataset(check, file.get(), "model")) trajectory.header.model = text;
  }
  if (trajectory.status.empty()) drop_unwritten_rows(trajectory);
  return trajectory;
}

}  // namespace hinge

#else  // !HINGE_HAVE_HDF5

namespace hinge {

bool hdf5_available() { return false; }

std::unique_ptr<Recorder> open_hdf5_recorder(const std::string& path, const RecordHeader&) {
  throw cannot_write(path, "this build has no HDF5; use .csv");
}

Trajectory read_hdf5_trajectory(const std::string& path) {
  throw OutputError("cannot read '" + path + "': this build has no HDF5; use .csv");
}

}  // namespace hinge

#endif
