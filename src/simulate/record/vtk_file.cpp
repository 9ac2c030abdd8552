#include "simulate/record/vtk_file.hpp"

#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "simulate/record/output_file.hpp"

namespace hinge {

namespace {

// Base64 of a length (eight bytes) and the bytes themselves, as VTK's inline binary wants it.
std::string base64(const void* bytes, std::size_t size) {
  static const char* const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::uint64_t length = size;
  std::string raw(sizeof length + size, '\0');
  std::memcpy(raw.data(), &length, sizeof length);
  if (size > 0) std::memcpy(raw.data() + sizeof length, bytes, size);
  std::string text;
  text.reserve((raw.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < raw.size(); k += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (k + j < raw.size() ? static_cast<unsigned char>(raw[k + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += k + j > raw.size() ? '=' : letters[group >> (18 - 6 * j) & 63u];
  }
  return text;
}

template <typename Number>
void write_array(std::ostream& out, const std::string& name, int components, const std::vector<Number>& values) {
  const char* type = std::is_same_v<Number, double> ? "Float64" : "Int64";
  out << fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">", type, name,
                     components)
      << base64(values.data(), values.size() * sizeof(Number)) << "</DataArray>\n";
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
         "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n"
      << fmt::format(
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
