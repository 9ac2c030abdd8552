// The bytes of an HDF5 file, as far as a record has them, in the oldest format (superblock 0), which every reader
// knows.
//
// HDF5's own library writes its tables in an order of its own, and a process that dies among these writes leaves a file
// that nobody can open. Here the writer knows what every byte means, so that it can write new tables where nothing
// refers to them yet, and then let one number, which one system call writes, refer to them.
//
// Source: "HDF5 File Format Specification Version 3.0", The HDF Group, sections II.A, III.A, III.D, III.E, IV.A.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hinge::hdf5 {

using Address = std::uint64_t;

/// Bytes one after the other, numbers little-endian.
class Bytes {
 public:
  template <typename Number>
  Bytes& add(Number value) {
    auto rest = static_cast<std::uint64_t>(value);
    for (std::size_t k = 0; k < sizeof(Number); ++k, rest >>= 8) text_ += static_cast<char>(rest & 255);
    return *this;
  }
  Bytes& add(const Bytes& bytes) { return add_text(bytes.text_); }
  Bytes& add_text(std::string_view text) {
    text_ += text;
    return *this;
  }
  Bytes& align(std::size_t multiple) {
    text_.resize((text_.size() + multiple - 1) / multiple * multiple);
    return *this;
  }
  Bytes& fill_to(std::size_t size) {
    text_.resize(size);
    return *this;
  }
  void put_at(std::size_t place, const Bytes& bytes) { text_.replace(place, bytes.size(), bytes.text_); }
  std::size_t size() const { return text_.size(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Where a text of variable length is: in a global heap, which is a list of numbered texts.
struct TextPlace {
  std::uint32_t length = 0;
  Address heap = 0;
  std::uint32_t number = 0;
  Bytes bytes() const;
};
/// Heaps of these texts, to be placed at `at`; appends to `places` where each text is.
Bytes text_heaps(std::span<const std::string> texts, Address at, std::vector<TextPlace>& places);

/// A heap for a text that is replaced once: `first`, and behind it room for a second one of at most `most` characters.
/// second() goes to `second_at` + 16, inside of free space; then second_header() to `second_at`, and it is there.
struct RewritableText {
  static constexpr std::string_view first = "unfinished";
  static constexpr std::size_t size = 4096, second_at = 48, most = size - second_at - 2 * 16;
  static Bytes heap();
  static Bytes second(std::string_view text);
  static Bytes second_header(std::string_view text);
};

Bytes text_type();    ///< of variable length, UTF-8
Bytes double_type();  ///< IEEE, 8 bytes
Bytes int_type();     ///< 4 bytes, signed

/// How numbers are arranged: none for one value by itself.
Bytes dataspace(std::span<const std::uint64_t> extent);
/// A table whose number of rows may grow.
Bytes growing_table(std::uint64_t rows, std::uint64_t columns);

/// What an object is, in messages.
class ObjectHeader {
 public:
  enum class Kind : std::uint16_t {
    dataspace = 1,
    datatype = 3,
    fill = 5,
    layout = 8,
    attribute = 12,
    symbol_table = 17
  };
  void add(Kind kind, Bytes message);
  void add_attribute(std::string_view name, const Bytes& type, const Bytes& space, const Bytes& value);
  Bytes bytes() const;

 private:
  Bytes messages_;
  std::uint16_t count_ = 0;
};
/// Numbers in one piece at `data`.
ObjectHeader list_header(const Bytes& type, const Bytes& space, Address data, std::uint64_t size);
/// A table of doubles in chunks of whole rows. The positions are those of numbers that change while it grows.
ObjectHeader table_header(std::uint64_t chunk_rows, std::uint64_t columns);
inline constexpr std::size_t table_rows_at = 32, table_index_at = 75;

/// Where the chunks of a table are: a B-tree, to be placed at `at`; its root is the last of its nodes.
struct ChunkIndex {
  Bytes bytes;
  Address root;
};
ChunkIndex chunk_index(std::span<const Address> chunks, std::uint64_t chunk_rows, std::uint64_t chunk_bytes,
                       Address at);

/// The root group: names and where their objects are. All names that will ever be used are given at once.
struct Link {
  std::string name;
  Address header;  ///< zero: not there yet
};
inline constexpr std::size_t group_node_bytes = 8 + 8 * 40;
/// Links that are there, in order of their names, of at most eight.
Bytes group_node(std::span<const Link> links);
/// The table of names and the tree above the node at `node`, to be placed at `at`.
struct GroupTables {
  Bytes bytes;
  Address tree, names;
};
GroupTables group_tables(std::span<const Link> links, Address node, Address at);

inline constexpr std::size_t file_end_at = 40;  ///< of the file's size in the superblock
Bytes superblock(Address root_header, const GroupTables& group, std::uint64_t file_size);

}  // namespace hinge::hdf5
