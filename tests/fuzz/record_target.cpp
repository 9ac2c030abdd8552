// Recorded runs, CSV and HDF5. Bytes that begin as HDF5 does are such a file; those that begin with a zero say what
// HDF5 is to write into one; all others are CSV text. What is read is whole: complete rows, events that have a row.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz/byte_reader.hpp"
#include "fuzz/scratch_file.hpp"
#include "fuzz/trial_child.hpp"
#include "hinge/error.hpp"
#include "hinge/record.hpp"
#include "simulate/record/distrust.hpp"
#include "simulate/record/hdf5.hpp"

using namespace hinge;

namespace {

using hdf5::File;
using hdf5::Handle;

constexpr std::uint8_t signature[] = {0x89, 'H', 'D', 'F'};

void require(bool truth, const char* claim) {
  if (truth) return;
  std::fprintf(stderr, "it does not hold that %s\n", claim);
  std::abort();
}

std::vector<std::string> texts(test::ByteReader& in, std::size_t count) {
  std::vector<std::string> list;
  for (std::size_t k = 0; k < count; ++k) list.push_back(in.text());
  return list;
}

/// rows x columns numbers, with as many names or others.
void write_table(const File& file, test::ByteReader& in) {
  const hsize_t extent[2] = {in.byte() % 8u, in.byte() % 5u};
  const int rank = in.byte() < 0xf0 ? 2 : 1;
  const Handle space = file.check(H5Screate_simple(rank, extent, nullptr), H5Sclose, "fuzz");
  const hid_t type = in.byte() < 0xf0 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT;
  const Handle data = file.check(
      H5Dcreate2(file.id(), "trajectory", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose, "fuzz");
  std::vector<double> values(extent[0] * extent[1]);
  for (double& x : values) x = in.number();
  if (!values.empty() && rank == 2)
    file.check(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "fuzz");
  const std::size_t names = in.byte() < 0xe0 ? extent[1] : in.byte() % 5;
  const std::uint8_t where = in.byte();
  if (where < 0x80)
    file.write_attribute(data, "columns", texts(in, names), File::Shape::list);
  else if (where < 0xf0)
    file.write_texts("columns", texts(in, names), File::Shape::list);
}

void write_record(const std::string& path, test::ByteReader in) {
  const hdf5::Session session;
  const File file = File::create(path);
  write_table(file, in);
  if (in.byte() % 2) file.write_attribute(file.id(), "status", texts(in, 1), File::Shape::one);
  if (in.byte() % 2) file.write_attribute(file.id(), "about", texts(in, in.byte() % 4), File::Shape::list);
  if (in.byte() % 2) file.write_texts("model", texts(in, in.byte() % 3), File::Shape::list);
  if (in.byte() % 2) {
    file.write_texts("events", texts(in, in.byte() % 4), File::Shape::list);
    if (in.byte() < 0xf0) file.write<int>("event_rows", in.list<int>());
  }
  file.save();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::ScratchFile csv(".csv"), hdf5(".h5");
  static test::TrialChild trial([] { read_record(hdf5.path()); });
  const bool is_hdf5 = size >= sizeof signature && std::memcmp(data, signature, sizeof signature) == 0;
  const bool described = size > 0 && data[0] == 0;
  const bool whole_way = is_hdf5 && test::goes_the_whole_way(data, size);
  distrust_hdf5_files(whole_way);
  try {
    if (described)
      write_record(hdf5.path(), {data + 1, size - 1});  // HDF5 may refuse what the bytes ask for
    else
      (is_hdf5 ? hdf5 : csv).write(data, size);
    if (is_hdf5 && !whole_way && !trial.survives()) return 0;
    const Trajectory record = read_record(is_hdf5 || described ? hdf5.path() : csv.path());
    const std::size_t width = record.header.columns.size();
    require(width > 0, "a record has columns");
    require(record.values.size() == record.rows() * width, "rows are complete");
    for (const Trajectory::Event& event : record.events) require(event.row < record.rows(), "an event has its row");
    for (const std::string& name : record.header.columns) record.column(name);
  } catch (const Error&) {
  }
  return 0;
}
