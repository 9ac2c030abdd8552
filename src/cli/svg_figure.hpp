// A figure of lines for a paper, as SVG: serif labels, axes with round numbers or powers of ten, a legend; several
// panels side by side where there are several.
#pragma once

#include <string>
#include <vector>

namespace hinge::cli {

struct FigureLine {
  std::string name;
  std::vector<double> x, y;  ///< what is not finite is a gap; on a logarithmic axis also what is not positive
  bool marks = false;        ///< a mark at every point: these were computed, the line between them was not
};

/// Disks and the forces between them, in the place of axes.
struct FigureScene {
  struct Disk {
    double x, y, radius;
    bool highlighted = false;
  };
  struct Force {
    double x0, y0, x1, y1, strength;  ///< between these points; its width is in proportion to the square root
  };
  double left = 0, right = 0, bottom = 0, top = 0;  ///< what is shown; nothing where left == right
  std::vector<Disk> disks;
  std::vector<Force> forces;
  double strongest = 0;  ///< the force that is drawn as wide as a disk
  bool shown() const { return right > left; }
};

struct Figure {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  bool equal = false;                ///< one unit has the same length on both axes
  std::vector<double> slopes;        ///< triangles with these slopes, where both axes are logarithmic
  std::vector<std::string> columns;  ///< names of x = 0, 1, 2, ... in the place of numbers; stems are drawn, no lines
  std::vector<FigureLine> lines;
  FigureScene scene;
};

/// Throws InputError where there is nothing to draw.
std::string svg_of(const Figure& figure);
/// Panels of equal size, two in a row, under one title.
std::string svg_of(const std::string& title, const std::vector<Figure>& panels);

/// Round numbers that an axis from `low` to `high` has marks at; powers of ten on a logarithmic one of two decades or
/// more.
std::vector<double> axis_marks(double low, double high, bool logarithmic);

/// Text as it may stand in SVG and HTML.
std::string escaped(const std::string& text);

}  // namespace hinge::cli
