#include "simulate/record/vtk_file.hpp"

#include <initializer_list>
#include <sstream>

#include <fmt/format.h>
#ifdef HINGE_HAVE_ZLIB
#include <zlib.h>
#endif

#include "simulate/record/base64.hpp"
#include "simulate/record/output_file.hpp"

namespace hinge {

namespace {

std::string bytes_of(std::initializer_list<std::uint64_t> numbers) {
  return {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(std::uint64_t)};
}

// As VTK's inline binary wants it. Packed: the number of blocks (one), its size, the size of a last and shorter one
// (none), its packed size; then, as base64 of its own, the block. Not packed: the size and the bytes.
std::string inline_binary(const std::string& raw) {
#ifdef HINGE_HAVE_ZLIB
  if (raw.empty()) return base64(bytes_of({0, 0, 0}));
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size(), 6);
  packed.resize(size);
  return base64(bytes_of({1, raw.size(), 0, packed.size()})) + base64(packed);
#else
  return base64(bytes_of({raw.size()}) + raw);
#endif
}

#ifdef HINGE_HAVE_ZLIB
const char* const compressor = " compressor=\"vtkZLibDataCompressor\"";
#else
const char* const compressor = "";
#endif

template <typename Number>
void write_array(std::ostream& out, const std::string& name, int components, const std::vector<Number>& values) {
  const char* type = std::is_same_v<Number, double> ? "Float64" : "Int64";
  out << fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">", type, name,
                     components)
      << inline_binary({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)})
      << "</DataArray>\n";
}

// Texts are their bytes, each with a zero behind it.
void write_names(std::ostream& out, const std::vector<std::string>& names) {
  if (names.empty()) return;
  out << fmt::format("<FieldData>\n<Array type=\"String\" Name=\"names\" NumberOfTuples=\"{}\" format=\"ascii\">\n",
                     names.size());
  for (const std::string& name : names) {
    for (const char c : name) out << static_cast<int>(static_cast<unsigned char>(c)) << ' ';
    out << "0\n";
  }
  out << "</Array>\n</FieldData>\n";
}

void write_cells(std::ostream& out, const char* kind, const VtkPolyData::Cells& cells) {
  out << "<" << kind << ">\n";
  write_array(out, "connectivity", 1, cells.points);
  write_array(out, "offsets", 1, cells.ends);
  out << "</" << kind << ">\n";
}

void write_data(std::ostream& out, const char* kind, const std::vector<VtkArray>& arrays) {
  out << "<" << kind << ">\n";
  for (const VtkArray& a : arrays) write_array(out, a.name, a.components, a.values);
  out << "</" << kind << ">\n";
}

}  // namespace

void write_vtp(const std::string& path, const VtkPolyData& data) {
  std::ostringstream out;
  out << "<?xml version=\"1.0\"?>\n"
         "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\""
      << compressor << ">\n<PolyData>\n";
  write_names(out, data.names);
  out << fmt::format(
      "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"{}\">\n",
      data.points.size() / 3, data.vertices.ends.size(), data.lines.ends.size(), data.polygons.ends.size());
  write_data(out, "PointData", data.point_data);
  write_data(out, "CellData", data.cell_data);
  out << "<Points>\n";
  write_array(out, "Points", 3, data.points);
  out << "</Points>\n";
  write_cells(out, "Verts", data.vertices);
  write_cells(out, "Lines", data.lines);
  write_cells(out, "Polys", data.polygons);
  out << "</Piece>\n</PolyData>\n</VTKFile>\n";
  write_whole(path, out.view());
}

}  // namespace hinge
