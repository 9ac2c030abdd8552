#include "simulate/record/hdf5_layout.hpp"

#include <algorithm>
#include <limits>

namespace hinge::hdf5 {
namespace {

constexpr Address nowhere = ~Address{0};
constexpr std::size_t heap_least = 4096;
constexpr std::size_t texts_per_heap = 30'000;  // their numbers have 16 bits

std::size_t padded(std::size_t size) { return (size + 7) / 8 * 8; }

Bytes heap_start(std::size_t size) {
  Bytes out;
  out.add_text("GCOL").add(std::uint32_t{1}).add(std::uint64_t{size});
  return out;
}

/// In front of a text in a heap; number 0 is the free space at its end, this header included.
Bytes heap_entry(std::size_t number, std::size_t size) {
  Bytes out;
  out.add(static_cast<std::uint16_t>(number)).add(static_cast<std::uint16_t>(number > 0)).add(std::uint32_t{0});
  out.add(std::uint64_t{size});
  return out;
}

void close_heap(Bytes& heap, std::size_t size) {
  if (heap.size() < size) heap.add(heap_entry(0, size - heap.size())).fill_to(size);
}

}  // namespace

// ---- Texts --------------------------------------------------------------------------------------------------------

Bytes TextPlace::bytes() const {
  Bytes out;
  out.add(length).add(heap).add(number);
  return out;
}

Bytes text_heaps(std::span<const std::string> texts, Address at, std::vector<TextPlace>& places) {
  Bytes all;
  for (std::size_t begin = 0; begin < texts.size(); begin += texts_per_heap) {
    const auto part = texts.subspan(begin, std::min(texts_per_heap, texts.size() - begin));
    std::size_t used = 16;
    for (const std::string& text : part)
      if (!text.empty()) used += 16 + padded(text.size());
    const std::size_t size = used + 16 <= heap_least ? heap_least : used;
    const Address here = at + all.size();
    Bytes heap = heap_start(size);
    std::uint32_t number = 0;
    for (const std::string& text : part) {
      places.push_back({});
      if (text.empty()) continue;  // of no length and nowhere
      places.back() = {static_cast<std::uint32_t>(text.size()), here, ++number};
      heap.add(heap_entry(number, text.size())).add_text(text).align(8);
    }
    close_heap(heap, size);
    all.add(heap);
  }
  return all;
}

Bytes RewritableText::heap() {
  Bytes out = heap_start(size);
  out.add(heap_entry(1, first.size())).add_text(first).align(8);
  close_heap(out, size);
  return out;
}

Bytes RewritableText::second(std::string_view text) {
  Bytes out;
  out.add_text(text).align(8);
  out.add(heap_entry(0, size - second_at - 16 - out.size()));
  return out;
}

Bytes RewritableText::second_header(std::string_view text) { return heap_entry(2, text.size()); }

// ---- Types and spaces ---------------------------------------------------------------------------------------------

namespace {

enum Class : std::uint8_t { whole_number = 0, real_number = 1, variable_length = 9 };

Bytes type_start(Class of, std::uint32_t flags, std::uint32_t size) {
  Bytes out;
  out.add(static_cast<std::uint32_t>(0x10U | of | flags << 8)).add(size);  // version 1
  return out;
}

}  // namespace

Bytes text_type() {
  Bytes character = type_start(whole_number, 0, 1);
  character.add(std::uint16_t{0}).add(std::uint16_t{8});
  return type_start(variable_length, 0x101, 16).add(character);  // a text, UTF-8
}

Bytes double_type() {
  Bytes out = type_start(real_number, 0x3f20, 8);  // sign in bit 63, the leading one of the mantissa not stored
  out.add(std::uint16_t{0}).add(std::uint16_t{64});
  // exponent, then mantissa: first bit, number of bits; and what the exponent is off by
  return out.add(std::uint32_t{52 | 11 << 8 | 0 << 16 | 52 << 24}).add(std::uint32_t{1023});
}

Bytes int_type() {
  Bytes out = type_start(whole_number, 8, 4);  // signed
  return out.add(std::uint16_t{0}).add(std::uint16_t{32});
}

Bytes dataspace(std::span<const std::uint64_t> extent) {
  Bytes out;
  out.add(std::uint8_t{1}).add(static_cast<std::uint8_t>(extent.size())).fill_to(8);
  for (const std::uint64_t n : extent) out.add(n);
  return out;
}

Bytes growing_table(std::uint64_t rows, std::uint64_t columns) {
  Bytes out;
  out.add(std::uint8_t{1}).add(std::uint8_t{2}).add(std::uint8_t{1}).fill_to(8);  // with largest extents
  return out.add(rows).add(columns).add(nowhere).add(columns);
}

// ---- Objects ------------------------------------------------------------------------------------------------------

void ObjectHeader::add(Kind kind, Bytes message) {
  message.align(8);
  messages_.add(static_cast<std::uint16_t>(kind)).add(static_cast<std::uint16_t>(message.size())).add(std::uint32_t{0});
  messages_.add(message);
  ++count_;
}

void ObjectHeader::add_attribute(std::string_view name, const Bytes& type, const Bytes& space, const Bytes& value) {
  Bytes out;
  out.add(std::uint16_t{1});
  for (const std::size_t size : {name.size() + 1, type.size(), space.size()}) out.add(static_cast<std::uint16_t>(size));
  out.add_text(name).add('\0').align(8).add(type).align(8).add(space).align(8).add(value);
  add(Kind::attribute, std::move(out));
}

Bytes ObjectHeader::bytes() const {
  Bytes out;
  out.add(std::uint16_t{1}).add(count_).add(std::uint32_t{1}).add(static_cast<std::uint32_t>(messages_.size()));
  return out.fill_to(16).add(messages_);
}

ObjectHeader list_header(const Bytes& type, const Bytes& space, Address data, std::uint64_t size) {
  ObjectHeader header;
  header.add(ObjectHeader::Kind::dataspace, space);
  header.add(ObjectHeader::Kind::datatype, type);
  Bytes fill;  // version 2; allocated late, written where it is set; the default value
  fill.add_text(std::string_view("\2\2\2\1", 4)).add(std::uint32_t{0});
  header.add(ObjectHeader::Kind::fill, fill);
  Bytes layout;  // version 3, in one piece
  layout.add(std::uint8_t{3}).add(std::uint8_t{1}).add(data).add(size);
  header.add(ObjectHeader::Kind::layout, layout);
  return header;
}

ObjectHeader table_header(std::uint64_t chunk_rows, std::uint64_t columns) {
  ObjectHeader header;
  header.add(ObjectHeader::Kind::dataspace, growing_table(0, columns));
  Bytes layout;  // version 3, in chunks of rows x columns x bytes; no index yet
  layout.add(std::uint8_t{3}).add(std::uint8_t{2}).add(std::uint8_t{3}).add(nowhere);
  for (const std::uint64_t n : {chunk_rows, columns, std::uint64_t{8}}) layout.add(static_cast<std::uint32_t>(n));
  header.add(ObjectHeader::Kind::layout, layout);
  header.add(ObjectHeader::Kind::datatype, double_type());
  Bytes fill;  // version 2; allocated as needed, written then; NaN
  fill.add_text(std::string_view("\2\3\0\1", 4)).add(std::uint32_t{8}).add(std::uint64_t{0x7ff8} << 48);
  header.add(ObjectHeader::Kind::fill, fill);
  return header;
}

// ---- Trees and the root group -------------------------------------------------------------------------------------

namespace {

/// Children of a node at most: 64 chunks (or nodes of them), 32 nodes of links.
constexpr std::size_t chunk_children = 64, link_children = 32;
constexpr std::size_t chunk_node_bytes = 24 + (chunk_children + 1) * 32 + chunk_children * 8;

Bytes node_start(std::uint8_t kind, std::uint8_t level, std::size_t children, Address left, Address right) {
  Bytes out;
  out.add_text("TREE").add(kind).add(level).add(static_cast<std::uint16_t>(children)).add(left).add(right);
  return out;
}

Bytes chunk_key(std::uint64_t chunk_bytes, std::uint64_t row) {
  Bytes out;
  out.add(static_cast<std::uint32_t>(chunk_bytes)).add(std::uint32_t{0}).add(row);
  return out.add(std::uint64_t{0}).add(std::uint64_t{0});
}

}  // namespace

ChunkIndex chunk_index(std::span<const Address> chunks, std::uint64_t chunk_rows, std::uint64_t chunk_bytes,
                       Address at) {
  ChunkIndex index{{}, nowhere};
  std::vector<Address> children(chunks.begin(), chunks.end());
  std::uint64_t rows = chunk_rows;  // of a child
  for (std::uint8_t level = 0; !children.empty(); ++level, rows *= chunk_children) {
    const std::size_t nodes = (children.size() + chunk_children - 1) / chunk_children;
    const Address first = at + index.bytes.size();
    std::vector<Address> parents;
    for (std::size_t n = 0; n < nodes; ++n) {
      const Address here = first + n * chunk_node_bytes;
      const std::size_t begin = n * chunk_children, end = std::min(begin + chunk_children, children.size());
      Bytes node = node_start(1, level, end - begin, n > 0 ? here - chunk_node_bytes : nowhere,
                              n + 1 < nodes ? here + chunk_node_bytes : nowhere);
      for (std::size_t k = begin; k < end; ++k) node.add(chunk_key(chunk_bytes, k * rows)).add(children[k]);
      node.add(chunk_key(chunk_bytes, std::min(end * rows, chunks.size() * chunk_rows)));
      index.bytes.add(node.fill_to(chunk_node_bytes));
      parents.push_back(here);
    }
    index.root = first;
    if (nodes == 1) break;
    children = std::move(parents);
  }
  return index;
}

namespace {

/// Where each name is in the table of names, which begins with an empty one.
std::vector<std::size_t> name_places(std::span<const Link> links) {
  std::vector<std::size_t> places{8};
  for (const Link& link : links) places.push_back(places.back() + padded(link.name.size() + 1));
  return places;
}

}  // namespace

Bytes group_node(std::span<const Link> links) {
  const std::vector<std::size_t> names = name_places(links);
  Bytes entries;
  std::uint16_t count = 0;
  for (std::size_t k = 0; k < links.size(); ++k) {
    if (links[k].header == 0) continue;
    entries.add(std::uint64_t{names[k]}).add(links[k].header).fill_to(entries.size() + 24);
    ++count;
  }
  Bytes out;
  return out.add_text("SNOD").add(std::uint16_t{1}).add(count).add(entries).fill_to(group_node_bytes);
}

GroupTables group_tables(std::span<const Link> links, Address node, Address at) {
  const std::vector<std::size_t> names = name_places(links);
  GroupTables out{{}, at, 0};
  out.bytes = node_start(0, 0, 1, nowhere, nowhere);
  out.bytes.add(std::uint64_t{0}).add(node).add(std::uint64_t{names[links.size() - 1]});
  out.bytes.fill_to(24 + (link_children + 1) * 8 + link_children * 8);
  out.names = at + out.bytes.size();
  Bytes table;  // without free space, which 1 says
  table.add_text("HEAP").add(std::uint32_t{0}).add(std::uint64_t{names.back()}).add(std::uint64_t{1});
  out.bytes.add(table.add(out.names + 32).add(std::uint64_t{0}));
  for (const Link& link : links) out.bytes.add_text(link.name).add('\0').align(8);
  return out;
}

Bytes superblock(Address root_header, const GroupTables& group, std::uint64_t file_size) {
  Bytes out;
  out.add_text("\x89HDF\r\n\x1a\n").fill_to(13);
  out.add(std::uint8_t{8}).add(std::uint8_t{8}).fill_to(16);     // bytes of addresses and of sizes
  out.add(std::uint16_t{4}).add(std::uint16_t{16}).fill_to(24);  // half the children of nodes of links
  out.add(Address{0}).add(nowhere).add(file_size).add(nowhere);
  out.add(std::uint64_t{0}).add(root_header).add(std::uint32_t{1}).add(std::uint32_t{0});
  return out.add(group.tree).add(group.names);
}

}  // namespace hinge::hdf5
