// Trajectories as HDF5:
//
//   /trajectory           rows x columns, double, chunked, extendible, fill value NaN
//     attribute columns   the names; a dataset /columns where there are too many for an attribute
//   /model                the model file's text, if there is one (a dataset: attributes end at 64 kB)
//   /events, /event_rows  names of the events and the rows of their states, if there were any; written at the end
//   attributes of /       status, "unfinished" until the record is closed; one for each `about` pair
//
// The file is complete after every single write, so that the death of the process can take no row away, wherever it
// comes. What is new is written where nothing refers to it; then one number, within one sector of the file, refers to
// it: the rows of the table after a row, the root of the table of chunks after a growth, the list of links after the
// events, the place of the status at the very end. (A crash of the machine can take rows away: nothing is synced.)
//
// How recorded rows survive a full disk: the space of a growth is reserved before it is used, and the status has its
// place from the beginning.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "simulate/record/recorder_formats.hpp"

#ifdef HINGE_HAVE_HDF5

#include "simulate/record/distrust.hpp"
#include "simulate/record/hdf5.hpp"
#include "simulate/record/hdf5_layout.hpp"
#include "simulate/record/output_file.hpp"

namespace hinge {
namespace {

using namespace hdf5;

static_assert(std::endian::native == std::endian::little, "rows are written as they are in memory");

constexpr std::uint64_t chunk_bytes_most = 1 << 20;  ///< where a row is not longer than that
constexpr std::uint64_t chunk_rows_most = 1024;
constexpr std::uint64_t block_bytes_most = 16 << 20;  ///< growth at a time, or an eighth of what there is
constexpr std::uint64_t block_rows_most = 65536;
constexpr std::uint64_t table_bytes = 1 << 16;      ///< reserved for what is written at the end
constexpr std::size_t attribute_names_most = 4000;  ///< 16 bytes each, and an attribute holds 64 kB
constexpr std::size_t sector = 512;                 ///< what changes does not cross a multiple of this

Bytes all_of(std::span<const TextPlace> places) {
  Bytes out;
  for (const TextPlace& place : places) out.add(place.bytes());
  return out;
}

/// A file without rows, and where in it is what will change.
struct EmptyRecord {
  EmptyRecord(const RecordHeader& header, std::uint64_t chunk_rows);

  Bytes bytes;
  Address node = sector, status_heap = 2 * sector, table = 0, status = 0;
  std::vector<Link> links{{"columns", 0}, {"event_rows", 0}, {"events", 0}, {"model", 0}, {"trajectory", 0}};

 private:
  Address add(const Bytes& part) {
    const Address at = bytes.align(8).size();
    bytes.add(part);
    return at;
  }
  Address add_sector(const Bytes& part) {
    bytes.align(sector);
    return add(part);
  }
  Address add_texts(const Bytes& space, std::span<const TextPlace> places) {
    const Bytes data = all_of(places);
    return add(list_header(text_type(), space, add(data), data.size()).bytes());
  }
};

// The root comes early: what wrote the file is said within its first sectors.
EmptyRecord::EmptyRecord(const RecordHeader& header, std::uint64_t chunk_rows) {
  bytes.fill_to(status_heap).add(RewritableText::heap());
  std::vector<TextPlace> about, names, model;
  std::vector<std::string> values;
  for (const auto& [key, value] : header.about) values.push_back(value);
  bytes.add(text_heaps(values, bytes.size(), about));
  const GroupTables group = group_tables(links, node, bytes.align(8).size());
  bytes.add(group.bytes);
  ObjectHeader root;
  root.add(ObjectHeader::Kind::symbol_table, Bytes().add(group.tree).add(group.names));
  const TextPlace unfinished{static_cast<std::uint32_t>(RewritableText::first.size()), status_heap, 1};
  root.add_attribute("status", text_type(), dataspace({}), unfinished.bytes());
  constexpr Address status_in_root = 96;  // behind the tables and the attribute's name, type and space
  for (std::size_t k = 0; k < about.size(); ++k)
    root.add_attribute(header.about[k].first, text_type(), dataspace({}), about[k].bytes());
  const Address root_header = add_sector(root.bytes());
  status = root_header + status_in_root;

  const std::uint64_t columns = header.columns.size();
  bytes.align(8);
  bytes.add(text_heaps(header.columns, bytes.size(), names));
  ObjectHeader trajectory = table_header(chunk_rows, columns);
  if (columns <= attribute_names_most)
    trajectory.add_attribute("columns", text_type(), dataspace(std::span(&columns, 1)), all_of(names));
  else
    links[0].header = add_texts(dataspace(std::span(&columns, 1)), names);
  links[4].header = table = add_sector(trajectory.bytes());
  if (!header.model.empty()) {
    bytes.add(text_heaps(std::span(&header.model, 1), bytes.align(8).size(), model));
    links[3].header = add_texts(dataspace({}), model);
  }
  bytes.align(8);
  bytes.put_at(0, superblock(root_header, group, bytes.size()));
  bytes.put_at(node, group_node(links));
}

class Hdf5Recorder final : public Recorder {
 public:
  Hdf5Recorder(const std::string& path, const RecordHeader& header)
      : row_bytes_(header.columns.size() * sizeof(double)),
        chunk_rows_(std::clamp<std::uint64_t>(chunk_bytes_most / row_bytes_, 1, chunk_rows_most)),
        block_rows_(chunk_rows_),
        record_(header, chunk_rows_),
        begin_(record_.bytes.size()),
        end_(begin_),
        file_(path, OutputFile::Writing::anywhere) {
    try {
      file_.write_at(0, record_.bytes.text());
      grow();
    } catch (...) {
      file_.cut(0);  // half a file would be worse than none
      throw;
    }
    record_.bytes = {};
  }

  ~Hdf5Recorder() override {
    try {
      if (file_.open()) settle();
    } catch (...) {  // Nobody is left to hear of it; the file is as it was, with all rows.
    }
  }

  void record(const Row& row) override {
    require_row_width(file_.path(), row.values.size(), row_bytes_ / sizeof(double));
    if (!file_.open()) throw cannot_write(file_.path(), "its recording is finished");
    if (rows_ == chunks_.size() * chunk_rows_) grow();
    file_.write_at(chunks_[rows_ / chunk_rows_] + rows_ % chunk_rows_ * row_bytes_,
                   {reinterpret_cast<const char*>(row.values.data()), row_bytes_});
    write_number(record_.table + table_rows_at, rows_ + 1);
    if (!row.event.empty()) {
      event_rows_.push_back(static_cast<int>(rows_));
      events_.emplace_back(row.event);
    }
    ++rows_;
  }

  void finish(const std::string& status) override {
    if (!file_.open()) return;
    try {
      settle();
    } catch (const OutputError& error) {
      write_status(fmt::format("failed: {}", error.what()));
      throw;
    }
    write_status(status);
    file_.close();
  }

 private:
  void write_number(Address at, std::uint64_t number) const { file_.write_at(at, Bytes().add(number).text()); }

  void reserve(std::uint64_t from, std::uint64_t size) const {
    if (const int error = file_.reserve(from, size); error != 0) throw_cannot_write(file_.path(), error);
  }

  /// Room for another block of rows: chunks, and behind the old ones an index of all of them.
  void grow() {
    const std::uint64_t chunk_bytes = chunk_rows_ * row_bytes_, more = block_rows_ / chunk_rows_;
    std::vector<Address> chunks(chunks_.size() + more);
    const std::size_t index_bytes = chunk_index(chunks, chunk_rows_, chunk_bytes, 0).bytes.size();
    const Address first = end_ + index_bytes, end = first + more * chunk_bytes;
    std::copy(chunks_.begin(), chunks_.end(), chunks.begin());
    for (std::uint64_t k = 0; k < more; ++k) chunks[chunks_.size() + k] = first + k * chunk_bytes;
    reserve(end_, end + table_bytes);
    const ChunkIndex index = chunk_index(chunks, chunk_rows_, chunk_bytes, end_);
    file_.write_at(end_, index.bytes.text());
    refer_to(index, end);
    chunks_ = std::move(chunks);
    const std::uint64_t rows = chunks_.size() * chunk_rows_;
    const std::uint64_t most = std::min(block_bytes_most / row_bytes_, block_rows_most);
    block_rows_ =
        std::max(std::min(2 * block_rows_, std::max(most, rows / 8)) / chunk_rows_, std::uint64_t{1}) * chunk_rows_;
  }

  void refer_to(const ChunkIndex& index, std::uint64_t end) {
    if (end > end_) write_number(file_end_at, end);
    end_ = std::max(end, end_);
    write_number(record_.table + table_index_at, index.root);
  }

  /// What follows the last row: an index of the chunks that are used, and the events. They come where there is room for
  /// rows that will not be written any more; what is behind them is cut off.
  void settle() {
    const std::uint64_t chunk_bytes = chunk_rows_ * row_bytes_;
    chunks_.resize((rows_ + chunk_rows_ - 1) / chunk_rows_);
    const Address at = chunks_.empty() ? begin_ : chunks_.back() + chunk_bytes;
    const ChunkIndex index = chunk_index(chunks_, chunk_rows_, chunk_bytes, at);
    Bytes tail = index.bytes;
    if (!events_.empty()) add_events(tail, at);
    const std::uint64_t end = at + tail.size();
    reserve(at, end);
    file_.write_at(at, tail.text());
    refer_to(index, end);
    if (!events_.empty()) file_.write_at(record_.node, group_node(record_.links).text());
    write_number(file_end_at, end);
    file_.cut(end);
    end_ = end;
  }

  void add_events(Bytes& tail, Address at) {
    const std::uint64_t count = events_.size();
    const Bytes space = dataspace(std::span(&count, 1));
    std::vector<TextPlace> places;
    tail.add(text_heaps(events_, at + tail.size(), places));
    const auto add = [&](Link& link, const Bytes& type, const Bytes& data) {
      const Address here = at + tail.size();
      tail.add(data).align(8);
      link.header = at + tail.size();
      tail.add(list_header(type, space, here, data.size()).bytes());
    };
    Bytes rows;
    for (const int row : event_rows_) rows.add(row);
    add(record_.links[1], int_type(), rows);
    add(record_.links[2], text_type(), all_of(places));
  }

  void write_status(std::string status) const {
    if (status.size() > RewritableText::most) {
      status.resize(RewritableText::most - 3);
      while (!status.empty() && (static_cast<unsigned char>(status.back()) & 0x80) != 0) status.pop_back();
      status += "...";
    }
    const Address second = record_.status_heap + RewritableText::second_at;
    file_.write_at(second + 16, RewritableText::second(status).text());
    file_.write_at(second, RewritableText::second_header(status).text());
    const TextPlace place{static_cast<std::uint32_t>(status.size()), status.empty() ? 0 : record_.status_heap, 2};
    file_.write_at(record_.status, place.bytes().text());
  }

  std::uint64_t row_bytes_, chunk_rows_, block_rows_;
  std::uint64_t rows_ = 0;
  EmptyRecord record_;
  std::uint64_t begin_, end_;  // of chunks; what the file says of its size
  std::vector<Address> chunks_;
  std::vector<std::string> events_;
  std::vector<int> event_rows_;
  OutputFile file_;
};

/// The root's attributes in the order of their creation, which is the order the file keeps them in.
void read_about(const File& file, Trajectory& out) {
  H5O_info_t info;
  file.check(h5().H5Oget_info(file.id(), &info), "list its attributes");
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const Handle attribute =
        file.check(h5().H5Aopen_by_idx(file.id(), ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, H5P_DEFAULT, H5P_DEFAULT),
                   h5().H5Aclose, "open an attribute");
    const ssize_t length = file.check(h5().H5Aget_name(attribute, 0, nullptr), "read the name of an attribute");
    std::string name(static_cast<std::size_t>(length), '\0');
    file.check(h5().H5Aget_name(attribute, name.size() + 1, name.data()), "read the name of an attribute");
    const std::vector<std::string> texts = file.attribute(attribute);
    const std::string value = texts.empty() ? "" : texts.front();
    if (name == "status")
      out.status = value == RewritableText::first ? "" : value;
    else
      out.header.about.emplace_back(name, value);
  }
}

void read_values(const File& file, Trajectory& out) {
  const Handle data = file.open_data("trajectory");
  const std::vector<hsize_t> extent = file.shape(data);
  if (extent.size() != 2 || extent[1] == 0) throw file.fault("/trajectory is not a table with columns");
  if (file.check(h5().H5Aexists(data, "columns"), "look for the columns' names") > 0)
    out.header.columns = file.attribute(
        file.check(h5().H5Aopen(data, "columns", H5P_DEFAULT), h5().H5Aclose, "read the columns' names"));
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

/// A run of version 0.1 that was killed leaves room for rows that never came, and no status.
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
void spare_hdf5_cleanup() { spare_cleanup(); }

std::unique_ptr<Recorder> open_hdf5_recorder(const std::string& path, const RecordHeader& header) {
  return std::make_unique<Hdf5Recorder>(path, header);
}

Trajectory read_hdf5_record(const std::string& path) {
  h5();  // loaded here, not in the child
  try_in_child(path, [&] { read_tried(path); });
  return read_tried(path);
}

}  // namespace hinge

#else  // !HINGE_HAVE_HDF5

namespace hinge {

bool hdf5_available() { return false; }
void spare_hdf5_cleanup() {}

std::unique_ptr<Recorder> open_hdf5_recorder(const std::string& path, const RecordHeader&) {
  throw cannot_write(path, "this build has no HDF5; use .csv");
}

Trajectory read_hdf5_record(const std::string& path) {
  throw OutputError("cannot read '" + path + "': this build has no HDF5; use .csv");
}

}  // namespace hinge

#endif
