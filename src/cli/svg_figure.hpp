// A figure of lines for a paper, as SVG: serif labels, axes with round numbers or powers of ten, a legend.
#pragma once

#include <string>
#include <vector>

namespace hinge::cli {

struct FigureLine {
  std::string name;
  std::vector<double> x, y;  ///< what is not finite is a gap; on a logarithmic axis also what is not positive
};

struct Figure {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<double> slopes;  ///< triangles with these slopes, where both axes are logarithmic
  std::vector<FigureLine> lines;
};

/// Throws InputError where there is nothing to draw.
std::string svg_of(const Figure& figure);

/// Round numbers that an axis from `low` to `high` has marks at; powers of ten on a logarithmic one.
std::vector<double> axis_marks(double low, double high, bool logarithmic);

}  // namespace hinge::cli
