// Contact problem files. Bytes that begin as HDF5 does are the file itself; all others say what HDF5 is to write into
// one: which parts there are, of which kind, with which numbers, so that what is read reaches Hinge's own checks.
// A problem that is read is solved for a few iterations.
#include <cstdint>
#include <cstring>
#include <string>

#include "fuzz/byte_reader.hpp"
#include "fuzz/scratch_file.hpp"
#include "fuzz/trial_child.hpp"
#include "hinge/contact.hpp"
#include "simulate/record/distrust.hpp"
#include "simulate/record/hdf5.hpp"

using namespace hinge;

namespace {

using hdf5::File;

constexpr std::uint8_t signature[] = {0x89, 'H', 'D', 'F'};

/// A part of the file: mostly what it should be, else another kind, or missing.
void write_part(const File& file, test::ByteReader& in, const std::string& name, bool whole) {
  const std::vector<int> integers = in.list<int>();
  const std::vector<double> numbers = in.list<double>();
  switch (in.byte()) {
    case 0xff: return;
    case 0xfe: return file.write_text(name, in.text());
    case 0xfd: return file.write<double>(name + "/deeper", numbers);
    case 0xfc: whole = !whole;
  }
  whole ? file.write<int>(name, integers) : file.write<double>(name, numbers);
}

void write_integer(const File& file, test::ByteReader& in, const std::string& name, int usual) {
  const int x = in.byte() < 0xe0 ? usual : in.integer();
  file.write(name, std::span<const int>(&x, 1));
}

/// A matrix that fits, m x n with entries on its diagonal, or any.
void write_matrix(const File& file, test::ByteReader& in, const std::string& name, int m, int n) {
  write_integer(file, in, name + "/m", m);
  write_integer(file, in, name + "/n", n);
  if (in.byte() < 0xc0) {
    std::vector<int> places(static_cast<std::size_t>(std::min(m, n)));
    std::vector<double> entries(places.size());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k), entries[k] = in.number();
    write_integer(file, in, name + "/nz", static_cast<int>(places.size()));
    file.write<int>(name + "/p", places);
    file.write<int>(name + "/i", places);
    return file.write<double>(name + "/x", entries);
  }
  write_integer(file, in, name + "/nz", in.byte() % 2 ? -1 : -2);
  write_part(file, in, name + "/p", true);
  write_part(file, in, name + "/i", true);
  write_part(file, in, name + "/x", false);
}

void write_vector(const File& file, test::ByteReader& in, const std::string& name, int size) {
  if (in.byte() >= 0xf0) return write_part(file, in, name, false);
  std::vector<double> x(static_cast<std::size_t>(size));
  for (double& entry : x) entry = in.number();
  file.write<double>(name, x);
}

void write_problem(const std::string& path, test::ByteReader in) {
  const hdf5::Session session;
  const File file = File::create(path);
  const int dimension = 1 + in.byte() % 3, contacts = in.byte() % 5, rows = dimension * contacts;
  const int velocities = 1 + in.byte() % 12, bilateral = in.byte() % 3;
  const std::uint8_t kind = in.byte() % 3;
  const std::string group = kind == 0 ? "fclib_local/" : kind == 1 ? "fclib_global/" : "lcp/";
  if (kind == 2) {
    write_matrix(file, in, "lcp/M", rows, rows);
    write_vector(file, in, "lcp/q", rows);
  } else {
    write_integer(file, in, group + "spacedim", dimension);
    write_vector(file, in, group + "vectors/mu", contacts);
    if (kind == 0) {
      write_matrix(file, in, group + "W", rows, rows);
      write_vector(file, in, group + "vectors/q", rows);
      if (bilateral > 0) write_matrix(file, in, group + "V", rows, bilateral);
      if (bilateral > 0) write_matrix(file, in, group + "R", bilateral, bilateral);
      if (bilateral > 0) write_vector(file, in, group + "vectors/s", bilateral);
    } else {
      write_matrix(file, in, group + "M", velocities, velocities);
      write_matrix(file, in, group + "H", velocities, rows);
      write_vector(file, in, group + "vectors/f", velocities);
      write_vector(file, in, group + "vectors/w", rows);
      if (bilateral > 0) write_matrix(file, in, group + "G", velocities, bilateral);
      if (bilateral > 0) write_vector(file, in, group + "vectors/b", bilateral);
    }
  }
  if (in.byte() % 2) file.write_text(group + "info/title", in.text());
  if (in.byte() % 2) write_vector(file, in, "guesses/1/r", rows);
  if (in.byte() % 2) write_part(file, in, "solution/r", false);
  file.save();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::ScratchFile scratch(".hdf5");
  static test::TrialChild trial([] { read_contact_file(scratch.path()); });
  const bool is_hdf5 = size >= sizeof signature && std::memcmp(data, signature, sizeof signature) == 0;
  const bool whole_way = is_hdf5 && test::goes_the_whole_way(data, size);
  distrust_hdf5_files(whole_way);
  try {
    if (is_hdf5)
      scratch.write(data, size);
    else
      write_problem(scratch.path(), {data, size});  // HDF5 may refuse what the bytes ask for
    if (is_hdf5 && !whole_way && !trial.survives()) return 0;
    const ContactFile file = read_contact_file(scratch.path());
    if (file.problem.rows() > 100 || refusal(file.problem, "auto") != "") return 0;
    ContactOptions options;
    options.iterations = 20;
    options.seconds = 0.2;
    solve_contact(file.problem, "auto", options);
  } catch (const Error&) {
  }
  return 0;
}
