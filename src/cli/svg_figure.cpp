#include "cli/svg_figure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "simulate/page/thinned_rows.hpp"

namespace hinge::cli {

namespace {

constexpr double width = 480, height = 320, left = 70, right = 16, top = 30, bottom = 50;
constexpr std::size_t points_of_a_line = 4000;  // more than a printer shows; minima and maxima of more are kept

// Colours that the colour-blind can tell apart (Okabe and Ito), and dashes for those who print in black.
const char* const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"};
const char* const dashes[] = {"", "7 3", "2 2", "8 3 2 3", "12 3", "4 4", "1 3"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// One axis: from numbers to places on the paper.
struct Axis {
  double low = INFINITY, high = -INFINITY, from, to;  // from, to: on the paper
  bool logarithmic;

  bool shows(double x) const { return std::isfinite(x) && (!logarithmic || x > 0); }
  void include(double x) {
    if (!shows(x)) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  void widen() {
    if (logarithmic) {
      const double factor = low == high ? 10 : std::pow(high / low, 0.04);
      low /= factor;
      high *= factor;
      return;
    }
    const double size = high > low ? high - low : std::max(std::abs(high), 1.0);
    low -= 0.04 * size;
    high += 0.04 * size;
  }
  double scale(double x) const { return logarithmic ? std::log10(x) : x; }
  double at(double x) const { return from + (to - from) * (scale(x) - scale(low)) / (scale(high) - scale(low)); }
};

std::string mark_text(double x, bool logarithmic) {
  if (!logarithmic) return fmt::format("{:.6g}", x);
  const double power = std::round(std::log10(x));
  return fmt::format("10<tspan dy=\"-6\" font-size=\"9\">{:.0f}</tspan>", power);
}

void draw_axis(const Axis& axis, bool upright, std::string& svg) {
  for (const double x : axis_marks(axis.low, axis.high, axis.logarithmic)) {
    const double p = axis.at(x);
    if (upright)
      svg += fmt::format(
          "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.2f}\" y2=\"{2:.2f}\"/><text x=\"{3}\" y=\"{4:.2f}\" "
          "text-anchor=\"end\">{5}</text>\n",
          left, width - right, p, left - 6, p + 4, mark_text(x, axis.logarithmic));
    else
      svg += fmt::format(
          "<line class=\"grid\" x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.2f}\" y=\"{3}\" "
          "text-anchor=\"middle\">{4}</text>\n",
          p, top, height - bottom, height - bottom + 16, mark_text(x, axis.logarithmic));
  }
}

std::string path_of(const FigureLine& line, const Axis& x, const Axis& y) {
  // x need not be in order (an orbit): only what is plotted over growing x is thinned
  const bool grows = std::is_sorted(line.x.begin(), line.x.end());
  std::vector<double> xs = line.x, ys = line.y;
  if (grows && xs.size() > points_of_a_line) {
    ThinnedRows rows(1, points_of_a_line);
    for (std::size_t k = 0; k < xs.size(); ++k) rows.add(xs[k], std::vector{y.shows(ys[k]) ? ys[k] : NAN});
    rows.finish();
    xs = rows.times();
    ys = rows.column(0);
  }
  std::string path;
  bool open = false;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const bool shown = x.shows(xs[k]) && y.shows(ys[k]);
    if (shown) path += fmt::format("{}{:.2f} {:.2f}", open ? "L" : "M", x.at(xs[k]), y.at(ys[k]));
    open = shown;
  }
  return path;
}

// A triangle as wide as a fifth of the axis, with its hypotenuse of the slope p, where there is room: below, to the
// right.
void draw_slopes(const Figure& f, const Axis& x, const Axis& y, std::string& svg) {
  if (!f.log_x || !f.log_y) return;
  double offset = 0;
  for (const double p : f.slopes) {
    const double decade_x = (x.to - x.from) / (x.scale(x.high) - x.scale(x.low)),
                 decade_y = (y.from - y.to) / (y.scale(y.high) - y.scale(y.low));
    const double w = 0.15 * (x.to - x.from), h = std::clamp(w / decade_x * p * decade_y, -120.0, 120.0);
    const double x0 = x.to - w - 24 - offset, y0 = y.from - 14 - std::max(0.0, -h);
    svg += fmt::format(
        "<path class=\"slope\" d=\"M{:.2f} {:.2f}h{:.2f}v{:.2f}z\"/><text x=\"{:.2f}\" y=\"{:.2f}\">{:g}</text>\n", x0,
        y0, w, -h, x0 + w + 4, y0 - h / 2 + 4, p);
    offset += w + 30;
  }
}

}  // namespace

std::vector<double> axis_marks(double low, double high, bool logarithmic) {
  std::vector<double> marks;
  if (logarithmic) {
    const double first = std::ceil(std::log10(low) - 1e-9), last = std::floor(std::log10(high) + 1e-9);
    const double stride = std::max(1.0, std::ceil((last - first) / 8));
    for (double k = std::ceil(first / stride) * stride; k <= last; k += stride) marks.push_back(std::pow(10, k));
    return marks;
  }
  const double rough = (high - low) / 6, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double s : {1.0, 2.0, 5.0})
    if (s * power >= rough) {
      step = s * power;
      break;
    }
  for (double k = std::ceil(low / step); k * step <= high; ++k) marks.push_back(k * step + 0.0);  // no -0
  return marks;
}

std::string svg_of(const Figure& f) {
  Axis x{.from = left, .to = width - right, .logarithmic = f.log_x},
      y{.from = height - bottom, .to = top, .logarithmic = f.log_y};
  for (const FigureLine& line : f.lines)
    for (std::size_t k = 0; k < line.x.size(); ++k)
      if (x.shows(line.x[k]) && y.shows(line.y[k])) x.include(line.x[k]), y.include(line.y[k]);
  if (!(x.low <= x.high))
    throw InputError(
        "there is nothing to draw: no number of these columns is finite, or positive where an axis is logarithmic");
  x.widen();
  y.widen();
  const double whole = height + (f.lines.size() > 1 ? 16 * static_cast<double>(f.lines.size()) : 0);  // with the legend
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"'Latin Modern Roman','CMU Serif','Times New Roman',Times,serif\" font-size=\"12\">\n"
      "<style>.grid{{stroke:#ddd;stroke-width:.6}}.line{{fill:none;stroke-width:1.2;stroke-linejoin:round}}"
      ".slope{{fill:none;stroke:#555;stroke-width:.8}}</style>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      width, whole);
  draw_axis(x, false, svg);
  draw_axis(y, true, svg);
  svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#000\"/>\n", left, top,
                     width - left - right, height - top - bottom);
  for (std::size_t k = 0; k < f.lines.size(); ++k)
    svg += fmt::format("<path class=\"line\" stroke=\"{}\"{} d=\"{}\"/>\n", colours[k % std::size(colours)],
                       k == 0 ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes[k % std::size(dashes)]),
                       path_of(f.lines[k], x, y));
  draw_slopes(f, x, y, svg);
  for (std::size_t k = 0; f.lines.size() > 1 && k < f.lines.size(); ++k) {
    const double at = height + 8 + 16 * static_cast<double>(k);  // below, where no line of the figure is
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"1.4\" "
        "stroke-dasharray=\"{4}\"/>"
        "<text x=\"{5}\" y=\"{6}\">{7}</text>\n",
        left + 10, left + 38, at - 4, colours[k % std::size(colours)], dashes[k % std::size(dashes)], left + 44, at,
        escaped(f.lines[k].name));
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                     height - 12, escaped(f.x_label));
  svg += fmt::format("<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     (top + height - bottom) / 2, escaped(f.y_label));
  svg += fmt::format("<text x=\"{}\" y=\"18\" text-anchor=\"middle\" font-size=\"13\">{}</text>\n</svg>\n",
                     (left + width - right) / 2, escaped(f.title));
  return svg;
}

}  // namespace hinge::cli
