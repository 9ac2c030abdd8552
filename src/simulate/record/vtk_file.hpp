// One .vtp file: points, cells, and numbers on either, packed by zlib where that is there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hinge {

struct VtkArray {
  std::string name;
  int components = 1;
  std::vector<double> values;
};

struct VtkPolyData {
  std::vector<double> points;  ///< three per point
  /// Cells: vertices, then lines, then polygons; each has the points between its offset and the one before.
  struct Cells {
    std::vector<std::int64_t> points, ends;
    void add(std::span<const std::int64_t> cell) {
      points.insert(points.end(), cell.begin(), cell.end());
      ends.push_back(static_cast<std::int64_t>(points.size()));
    }
  };
  Cells vertices, lines, polygons;
  std::vector<VtkArray> point_data, cell_data;
  std::vector<std::string> names;  ///< of bodies, by their number; as field data "names"
};

/// Throws OutputError.
void write_vtp(const std::string& path, const VtkPolyData& data);

}  // namespace hinge
