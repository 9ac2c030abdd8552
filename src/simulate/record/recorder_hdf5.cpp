// Trajectories as HDF5:
//
//   /trajectory           rows x columns, double, chunked, extendible, fill value NaN
//     attribute columns   the names; a dataset /columns where there are too many for an attribute
//   /model                the model file's text, if there is one (a dataset: attributes end at 64 kB)
//   /events, /event_rows  names of the events and the rows of their states, if there were any; written at the end
//   attributes of /       one for each `about` pair; status, missing while the run goes on, and when it was killed
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

#include "simulate/record/distrust.hpp"
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

File create_file(const std::string& path) {
  const auto check = [&](auto result) {
    if (result < 0) throw cannot_write(path, "HDF5 could not set up the file");
    return result;
  };
  const Handle access(check(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
  check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST));
  // The plain driver, whatever the environment asks for: Hdf5Recorder relies on its file descriptor.
  check(H5Pset_fapl_sec2(access));
  // The sieve buffer would gather small writes of raw data; a row must not wait in it.
  check(H5Pset_sieve_buf_size(access, 0));
  return File::create(path, access);
}

Handle create_trajectory(const File& file, hsize_t chunk_rows, hsize_t columns) {
  const Handle creation = file.creation();
  const hsize_t chunk[2] = {chunk_rows, columns};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  file.check(H5Pset_chunk(creation, 2, chunk), "choose the chunks");
  file.check(H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &nan), "choose the fill value");
  file.check(H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC), "choose the fill time");
  file.check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), "choose the allocation time");

  const Handle access = file.check(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "set up /trajectory");
  file.check(H5Pset_chunk_cache(access, 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT), "switch off the chunk cache");

  const hsize_t none[2] = {0, columns}, unlimited[2] = {H5S_UNLIMITED, columns};
  const Handle space = file.check(H5Screate_simple(2, none, unlimited), H5Sclose, "set up /trajectory");
  return file.check(H5Dcreate2(file.id(), "trajectory", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, access),
                    H5Dclose, "create /trajectory");
}

void write_header(const File& file, hid_t trajectory, const RecordHeader& header) {
  for (const auto& [key, value] : header.about)
    file.write_attribute(file.id(), key, std::span(&value, 1), File::Shape::one);
  if (!header.model.empty()) file.write_texts("model", std::span(&header.model, 1), File::Shape::one);
  if (header.columns.size() <= attribute_names_max)
    file.write_attribute(trajectory, "columns", header.columns, File::Shape::list);
  else
    file.write_texts("columns", header.columns, File::Shape::list);
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
      : columns_(header.columns.size()), file_(create_file(path)) {
    const hsize_t chunk_rows = std::clamp<hsize_t>(chunk_bytes / row_bytes(), 1, chunk_rows_max);
    const hsize_t block_max = std::min(block_bytes / row_bytes(), block_rows_max);
    block_rows_ = chunk_rows;
    block_rows_max_ = std::max(block_max / chunk_rows, hsize_t{1}) * chunk_rows;
    or_abandon([&] {
      reserve(header_bytes(header));
      trajectory_ = create_trajectory(file_, chunk_rows, columns_);
      write_header(file_, trajectory_, header);
      const hsize_t one_row[2] = {1, columns_};
      row_space_ = file_.check(H5Screate_simple(2, one_row, nullptr), H5Sclose, "set up a row");
      reserve(header_bytes(header) + block_rows_ * row_bytes());
      grow();
    });
  }
  Hdf5Recorder(const Hdf5Recorder&) = delete;
  Hdf5Recorder& operator=(const Hdf5Recorder&) = delete;

  ~Hdf5Recorder() override {
    const Session session;
    try {
      if (file_.open()) or_abandon([&] { close(); });
    } catch (const OutputError&) {
      // Nobody is left to hear of it; what was flushed before stays readable.
    }
  }

  void record(const Row& row) override {
    require_row_width(file_.path(), row.values.size(), columns_);
    if (!file_.open()) throw cannot_write(file_.path(), "its recording is finished");
    const Session session;
    if (rows_ == capacity_) {
      reserve(block_rows_ * row_bytes());
      or_abandon([&] { grow(); });
    }
    const hsize_t start[2] = {rows_, 0}, count[2] = {1, columns_};
    or_abandon([&] {
      file_.check(H5Sselect_hyperslab(file_space_, H5S_SELECT_SET, start, nullptr, count, nullptr), "select a row");
      file_.check(H5Dwrite(trajectory_, H5T_NATIVE_DOUBLE, row_space_, file_space_, H5P_DEFAULT, row.values.data()),
                  "write a row");
    });
    if (!row.event.empty()) {
      events_.emplace_back(row.event);
      event_rows_.push_back(static_cast<int>(rows_));
    }
    ++rows_;
  }

  void finish(const std::string& status) override {
    if (!file_.open()) return;
    const Session session;
    or_abandon([&] {
      if (!events_.empty() && try_reserve(event_bytes()) == 0) {
        file_.write_texts("events", events_, File::Shape::list);
        file_.write<int>("event_rows", event_rows_);
      }
      file_.write_attribute(file_.id(), "status", std::span(&status, 1), File::Shape::one);
      close();
    });
  }

 private:
  hsize_t row_bytes() const { return columns_ * sizeof(double); }

  /// HDF5's own descriptor of the file.
  int descriptor() const {
    void* handle = nullptr;
    file_.check(H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &handle), "find the file's descriptor");
    return *static_cast<int*>(handle);
  }

  /// The end of the file as HDF5 knows it; reserved space behind it is not counted.
  off_t known_size() const {
    hsize_t size = 0;
    file_.check(H5Fget_filesize(file_.id(), &size), "find the file's size");
    return static_cast<off_t>(size);
  }

  /// Makes sure that the disk has room for `bytes` of rows and HDF5's tables for them, before anything is changed.
  void reserve(hsize_t bytes) const {
    if (const int error = try_reserve(bytes); error != 0) throw cannot_write(file_.path(), error);
  }
  /// Zero, or the system's error.
  int try_reserve(hsize_t bytes) const {
    const off_t size = known_size();
    int error = EINTR;
    while (error == EINTR) error = ::posix_fallocate(descriptor(), size, static_cast<off_t>(bytes + table_bytes));
    return error == EOPNOTSUPP || error == EINVAL ? 0 : error;  // cannot reserve: the first failed write tells
  }

  hsize_t event_bytes() const {
    std::size_t bytes = 0;
    for (const std::string& event : events_) bytes += event.size() + 64;
    return bytes;
  }

  /// Room for another block of rows, known to the file on disk before the first of them is written.
  void grow() {
    set_extent(capacity_ + block_rows_);
    file_.check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "flush the file");
    capacity_ += block_rows_;
    block_rows_ = std::min(2 * block_rows_, block_rows_max_);
    file_space_ = file_.check(H5Dget_space(trajectory_), H5Sclose, "set up /trajectory");
  }

  void set_extent(hsize_t rows) {
    const hsize_t extent[2] = {rows, columns_};
    file_.check(H5Dset_extent(trajectory_, extent), "resize /trajectory");
  }

  void close() {
    set_extent(rows_);
    file_.check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "flush the file");
    // Reserved space is given back; where that fails the file is only longer than it need be.
    [[maybe_unused]] const int cut = ::ftruncate(descriptor(), known_size());
    file_.check(trajectory_.close(), "close /trajectory");
    file_.check(file_.close(), "close the file");
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
    if (file_.open() && H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &handle) >= 0) {
      const int sink = ::memfd_create("hinge", MFD_CLOEXEC);
      ::dup2(sink, *static_cast<int*>(handle));
      ::close(sink);
    }
    trajectory_.close();
    file_.close();
  }

  hsize_t columns_;
  hsize_t rows_ = 0, capacity_ = 0;
  hsize_t block_rows_ = 0, block_rows_max_ = 0;
  File file_;
  Handle trajectory_, file_space_, row_space_;
  std::vector<std::string> events_;
  std::vector<int> event_rows_;
};

/// The root's attributes in the order of their creation, which is the order the file keeps them in.
void read_about(const File& file, Trajectory& out) {
  H5O_info_t info;
  file.check(H5Oget_info(file.id(), &info), "list its attributes");
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const Handle attribute =
        file.check(H5Aopen_by_idx(file.id(), ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                   "open an attribute");
    const ssize_t length = file.check(H5Aget_name(attribute, 0, nullptr), "read the name of an attribute");
    std::string name(static_cast<std::size_t>(length), '\0');
    file.check(H5Aget_name(attribute, name.size() + 1, name.data()), "read the name of an attribute");
    const std::vector<std::string> texts = file.attribute(attribute);
    const std::string value = texts.empty() ? "" : texts.front();
    if (name == "status")
      out.status = value;
    else
      out.header.about.emplace_back(name, value);
  }
}

void read_values(const File& file, Trajectory& out) {
  const Handle data = file.open_data("trajectory");
  const std::vector<hsize_t> extent = file.shape(data);
  if (extent.size() != 2 || extent[1] == 0) throw file.fault("/trajectory is not a table with columns");
  if (file.check(H5Aexists(data, "columns"), "look for the columns' names") > 0)
    out.header.columns =
        file.attribute(file.check(H5Aopen(data, "columns", H5P_DEFAULT), H5Aclose, "read the columns' names"));
  else
    out.header.columns = file.texts("columns");
  if (out.header.columns.size() != extent[1]) throw file.fault("/trajectory does not have one name per column");
  out.values = file.read<double>("trajectory", std::numeric_limits<hssize_t>::max());
}

void read_events(const File& file, Trajectory& out) {
  if (!file.has("events")) return;
  const std::vector<std::string> names = file.texts("events");
  const std::vector<int> rows = file.read<int>("event_rows");
  if (names.size() != rows.size()) throw file.fault("/events does not have one name per row");
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto row = static_cast<std::size_t>(rows[k]);  // a negative one is larger than any
    if (row >= out.rows()) throw file.fault(fmt::format("/event_rows names row {}; there are {}", rows[k], out.rows()));
    out.events.push_back({names[k], row});
  }
}

/// A killed run leaves room for rows that never came.
void drop_unwritten_rows(Trajectory& out) {
  const auto last = std::find_if(out.values.rbegin(), out.values.rend(), [](double x) { return !std::isnan(x); });
  const auto used = static_cast<std::size_t>(out.values.rend() - last), width = out.header.columns.size();
  out.values.resize((used + width - 1) / width * width);
}

Trajectory read_tried(const std::string& path) {
  const Session session;
  const File file = File::open(path);
  Trajectory trajectory;
  read_values(file, trajectory);
  read_about(file, trajectory);
  if (trajectory.status.empty()) drop_unwritten_rows(trajectory);
  read_events(file, trajectory);
  if (file.has("model"))
    for (const std::string& text : file.texts("model")) trajectory.header.model = text;
  return trajectory;
}

}  // namespace

bool hdf5_available() { return true; }

std::unique_ptr<Recorder> open_hdf5_recorder(const std::string& path, const RecordHeader& header) {
  const Session session;
  return std::make_unique<Hdf5Recorder>(path, header);
}

Trajectory read_hdf5_record(const std::string& path) {
  try_in_child(path, [&] { read_tried(path); });
  return read_tried(path);
}

}  // namespace hinge

#else  // !HINGE_HAVE_HDF5

namespace hinge {

bool hdf5_available() { return false; }

std::unique_ptr<Recorder> open_hdf5_recorder(const std::string& path, const RecordHeader&) {
  throw cannot_write(path, "this build has no HDF5; use .csv");
}

Trajectory read_hdf5_record(const std::string& path) {
  throw OutputError("cannot read '" + path + "': this build has no HDF5; use .csv");
}

}  // namespace hinge

#endif
