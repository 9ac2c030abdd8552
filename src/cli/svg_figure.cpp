#include "cli/svg_figure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "simulate/page/thinned_rows.hpp"

namespace hinge::cli {

namespace {

constexpr double width = 480, height = 320, left = 70, right = 16, top = 30, bottom = 50;
constexpr double legend_row = 16, row_of_names = 14;
constexpr std::size_t points_of_a_line = 4000;  // more than a printer shows; minima and maxima of more are kept

// Colours that the colour-blind can tell apart (Okabe and Ito), and dashes for those who print in black.
const char* const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9"};
const char* const dashes[] = {"", "7 3", "2 2", "8 3 2 3", "12 3", "4 4", "1 3"};

const char* colour_of(std::size_t k) { return colours[k % std::size(colours)]; }
std::string dash_of(std::size_t k) {
  return k == 0 ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes[k % std::size(dashes)]);
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
  double length() const { return std::abs(to - from); }
};

std::string mark_text(double x, bool power_of_ten) {
  if (!power_of_ten) return fmt::format("{:.6g}", x);
  return fmt::format("10<tspan dy=\"-6\" font-size=\"9\">{:.0f}</tspan>", std::round(std::log10(x)));
}

bool is_power_of_ten(double x) { return x > 0 && std::abs(std::log10(x) - std::round(std::log10(x))) < 1e-9; }

void draw_axis(const Axis& axis, bool upright, std::string& svg) {
  const std::vector<double> marks = axis_marks(axis.low, axis.high, axis.logarithmic);
  const bool powers = axis.logarithmic && std::all_of(marks.begin(), marks.end(), is_power_of_ten);
  double taken = -INFINITY;  // by the number before: where marks are not evenly spaced they come close
  for (const double x : marks) {
    const double p = axis.at(x);
    const double room = upright ? 13 : powers ? 26 : 7.5 * static_cast<double>(mark_text(x, false).size());
    const double place = upright ? -p : p;
    const bool numbered = place - room / 2 >= taken;
    if (numbered) taken = place + room / 2;
    const std::string text = numbered ? mark_text(x, powers) : "";
    if (upright)
      svg += fmt::format(
          "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.2f}\" y2=\"{2:.2f}\"/><text x=\"{3}\" y=\"{4:.2f}\" "
          "text-anchor=\"end\">{5}</text>\n",
          left, width - right, p, left - 6, p + 4, text);
    else
      svg += fmt::format(
          "<line class=\"grid\" x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.2f}\" y=\"{3}\" "
          "text-anchor=\"middle\">{4}</text>\n",
          p, top, height - bottom, height - bottom + 16, text);
  }
}

// Names in the place of numbers, one below the other where they are many.
void draw_columns(const std::vector<std::string>& names, const Axis& x, std::string& svg) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double p = x.at(static_cast<double>(k));
    svg += fmt::format(
        "<text x=\"{0:.2f}\" y=\"{1:.2f}\" text-anchor=\"end\" transform=\"rotate(-25 {0:.2f} {1:.2f})\" "
        "font-size=\"11\">{2}</text>\n",
        p + 4, height - bottom + row_of_names, escaped(names[k]));
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

// A mark of its own for each line: a circle, a square, a triangle, a diamond.
std::string mark_at(double x, double y, std::size_t k) {
  switch (k % 4) {
    case 0: return fmt::format("M{:.2f} {:.2f}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", x, y);
    case 1: return fmt::format("M{:.2f} {:.2f}h5.6v5.6h-5.6z", x - 2.8, y - 2.8);
    case 2: return fmt::format("M{:.2f} {:.2f}l3.6 6h-7.2z", x, y - 4);
    default: return fmt::format("M{:.2f} {:.2f}l3.8 3.8l-3.8 3.8l-3.8 -3.8z", x, y - 3.8);
  }
}

void draw_line(const FigureLine& line, std::size_t k, bool stems, const Axis& x, const Axis& y, std::string& svg) {
  if (!stems)
    svg +=
        fmt::format("<path class=\"line\" stroke=\"{}\"{} d=\"{}\"/>\n", colour_of(k), dash_of(k), path_of(line, x, y));
  if (!line.marks && !stems) return;
  std::string marks, feet;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!x.shows(line.x[i]) || !y.shows(line.y[i])) continue;
    const double at = x.at(line.x[i]) + (stems ? 6 * static_cast<double>(k) : 0);
    marks += mark_at(at, y.at(line.y[i]), k);
    if (stems) feet += fmt::format("M{:.2f} {:.2f}V{:.2f}", at, y.from, y.at(line.y[i]));
  }
  if (stems) svg += fmt::format("<path class=\"line\" stroke=\"{}\" d=\"{}\"/>\n", colour_of(k), feet);
  svg += fmt::format("<path class=\"mark\" fill=\"{}\" d=\"{}\"/>\n", colour_of(k), marks);
}

// A triangle as wide as a sixth of the axis, with its hypotenuse of the slope p: below and to the right where errors
// grow with x, else below and to the left.
void draw_slopes(const Figure& f, const Axis& x, const Axis& y, std::string& svg) {
  if (!f.log_x || !f.log_y) return;
  double offset = 0;
  for (const double p : f.slopes) {
    const double decade_x = x.length() / (x.scale(x.high) - x.scale(x.low)),
                 decade_y = y.length() / (y.scale(y.high) - y.scale(y.low));
    const double tall = 0.15 * x.length() / decade_x * p * decade_y;
    const double h = std::clamp(tall, -120.0, 120.0), w = 0.15 * x.length() * (tall == 0 ? 1 : h / tall);
    const double x0 = p < 0 ? x.from + 14 + offset : x.to - w - 24 - offset, y0 = y.from - 14 - std::max(0.0, -h);
    svg += p < 0 ? fmt::format(
                       "<path class=\"slope\" d=\"M{:.2f} {:.2f}v{:.2f}h{:.2f}z\"/><text x=\"{:.2f}\" "
                       "y=\"{:.2f}\">{:g}</text>\n",
                       x0, y0, -h, w, x0 + 3, y0 - h - 4, p)
                 : fmt::format(
                       "<path class=\"slope\" d=\"M{:.2f} {:.2f}h{:.2f}v{:.2f}z\"/><text x=\"{:.2f}\" "
                       "y=\"{:.2f}\">{:g}</text>\n",
                       x0, y0, w, -h, x0 + w + 4, y0 - h / 2 + 4, p);
    offset += w + 30;
  }
}

void draw_scene(const FigureScene& s, std::string& svg) {
  const double scale = std::min((width - 2 * right) / (s.right - s.left), (height - top - right) / (s.top - s.bottom));
  const double x0 = (width - scale * (s.right - s.left)) / 2, y0 = height - right;
  const auto px = [&](double x) { return x0 + scale * (x - s.left); };
  const auto py = [&](double y) { return y0 - scale * (y - s.bottom); };
  svg += fmt::format("<path class=\"wall\" d=\"M{:.2f} {:.2f}V{:.2f}H{:.2f}V{:.2f}\"/>\n", px(s.left), py(s.top),
                     py(s.bottom), px(s.right), py(s.top));
  for (const FigureScene::Disk& d : s.disks)
    svg += fmt::format("<circle class=\"{}\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\"/>\n",
                       d.highlighted ? "chosen" : "disk", px(d.x), py(d.y), scale * d.radius);
  double widest = 0;
  for (const FigureScene::Disk& d : s.disks) widest = std::max(widest, scale * d.radius);
  for (const FigureScene::Force& f : s.forces) {
    const double w = widest * std::sqrt(std::min(1.0, f.strength / s.strongest));
    if (w < 0.05) continue;
    svg += fmt::format("<path class=\"force\" stroke-width=\"{:.2f}\" d=\"M{:.2f} {:.2f}L{:.2f} {:.2f}\"/>\n", w,
                       px(f.x0), py(f.y0), px(f.x1), py(f.y1));
  }
}

// Where both axes have one unit, the shorter one shows more.
void make_equal(Axis& x, Axis& y) {
  const double unit = std::max((x.high - x.low) / x.length(), (y.high - y.low) / y.length());
  for (Axis* axis : {&x, &y}) {
    const double more = (unit * axis->length() - (axis->high - axis->low)) / 2;
    axis->low -= more;
    axis->high += more;
  }
}

double legend_height(const Figure& f) {
  return f.lines.size() > 1 ? legend_row * static_cast<double>(f.lines.size()) : 0;
}
double height_of(const Figure& f) {
  double names = 0;
  for (const std::string& n : f.columns) names = std::max(names, 2.6 * static_cast<double>(n.size()));
  return height + names + legend_height(f);
}

void draw_legend(const Figure& f, double from, std::string& svg) {
  for (std::size_t k = 0; f.lines.size() > 1 && k < f.lines.size(); ++k) {
    const double at = from + 8 + legend_row * static_cast<double>(k);  // below, where no line of the figure is
    if (f.columns.empty())
      svg += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"1.4\"{4}/>",
                         left + 10, left + 38, at - 4, colour_of(k), dash_of(k));
    if (f.lines[k].marks || !f.columns.empty())
      svg += fmt::format("<path class=\"mark\" fill=\"{}\" d=\"{}\"/>", colour_of(k), mark_at(left + 24, at - 4, k));
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left + 44, at, escaped(f.lines[k].name));
  }
}

// Long titles are smaller, so that they fit; longer ones have two lines.
void draw_title(const std::string& title, std::string& svg) {
  const auto size_of = [](std::size_t letters, double most) {
    return std::clamp(13 * 66 / static_cast<double>(std::max<std::size_t>(letters, 1)), 7.0, most);
  };
  const auto line = [&](const std::string& text, int y, double size) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"{:.3g}\">{}</text>\n", width / 2, y,
                       size, escaped(text));
  };
  const std::size_t middle = title.find(' ', title.size() / 2), before = title.rfind(' ', title.size() / 2);
  if (size_of(title.size(), 13) >= 10 || before == std::string::npos) return line(title, 18, size_of(title.size(), 13));
  const std::size_t split = middle < title.size() - before ? middle : before;
  const double size = size_of(std::max(split, title.size() - split - 1), 11.5);
  line(title.substr(0, split), 12, size);
  line(title.substr(split + 1), 25, size);
}

// A panel, at the origin.
void draw_panel(const Figure& f, std::string& svg) {
  draw_title(f.title, svg);
  if (f.scene.shown()) return draw_scene(f.scene, svg);
  Axis x{.from = left, .to = width - right, .logarithmic = f.log_x && f.columns.empty()},
      y{.from = height - bottom, .to = top, .logarithmic = f.log_y};
  for (const FigureLine& line : f.lines)
    for (std::size_t k = 0; k < line.x.size(); ++k)
      if (x.shows(line.x[k]) && y.shows(line.y[k])) x.include(line.x[k]), y.include(line.y[k]);
  if (!(x.low <= x.high))
    throw InputError(
        "there is nothing to draw: no number of these columns is finite, or positive where an axis is logarithmic");
  if (!f.columns.empty()) x.include(-0.5), x.include(static_cast<double>(f.columns.size()) - 0.5);
  x.widen();
  y.widen();
  if (f.equal) make_equal(x, y);
  if (f.columns.empty())
    draw_axis(x, false, svg);
  else
    draw_columns(f.columns, x, svg);
  draw_axis(y, true, svg);
  svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#000\"/>\n", left, top,
                     width - left - right, height - top - bottom);
  for (std::size_t k = 0; k < f.lines.size(); ++k) draw_line(f.lines[k], k, !f.columns.empty(), x, y, svg);
  draw_slopes(f, x, y, svg);
  draw_legend(f, height_of(f) - legend_height(f), svg);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                     height_of(f) - legend_height(f) - 12, escaped(f.x_label));
  svg += fmt::format("<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     (top + height - bottom) / 2, escaped(f.y_label));
}

std::string beginning(double w, double h) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
      "font-family=\"'Latin Modern Roman','CMU Serif','Times New Roman',Times,serif\" font-size=\"12\">\n"
      "<style>.grid{{stroke:#ddd;stroke-width:.6}}.line{{fill:none;stroke-width:1.2;stroke-linejoin:round}}"
      ".slope{{fill:none;stroke:#555;stroke-width:.8}}.disk{{fill:#e8eef4;stroke:#8a9bab;stroke-width:.3}}"
      ".chosen{{fill:#009E73;stroke:#005a42;stroke-width:.6}}.force{{stroke:#D55E00;stroke-linecap:round}}"
      ".wall{{fill:none;stroke:#000;stroke-width:1.2}}</style>\n<rect width=\"{0:g}\" height=\"{1:g}\" "
      "fill=\"#fff\"/>\n",
      w, h);
}

}  // namespace

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

std::vector<double> axis_marks(double low, double high, bool logarithmic) {
  std::vector<double> marks;
  if (logarithmic) {
    const double first = std::ceil(std::log10(low) - 1e-9), last = std::floor(std::log10(high) + 1e-9);
    const double stride = std::max(1.0, std::ceil((last - first) / 8));
    for (double k = std::ceil(first / stride) * stride; k <= last; k += stride) marks.push_back(std::pow(10, k));
    if (high >= 100 * low) return marks;
    marks.clear();  // a short axis has round numbers
    for (double k = first - 1; k <= last + 1; ++k)
      for (const double lead : {1.0, 2.0, 5.0})
        if (const double x = lead * std::pow(10, k); x >= low && x <= high) marks.push_back(x);
    if (marks.size() >= 3) return marks;
    marks.clear();
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

std::string svg_of(const Figure& figure) {
  std::string svg = beginning(width, height_of(figure));
  draw_panel(figure, svg);
  return svg + "</svg>\n";
}

std::string svg_of(const std::string& title, const std::vector<Figure>& panels) {
  if (panels.size() == 1) {
    Figure one = panels[0];
    if (one.title.empty()) one.title = title;
    return svg_of(one);
  }
  const double heading = title.empty() ? 0 : 26;
  double tallest = 0;
  for (const Figure& f : panels) tallest = std::max(tallest, height_of(f));
  const double rows = std::ceil(static_cast<double>(panels.size()) / 2);
  std::string svg = beginning(2 * width, heading + rows * tallest);
  if (!title.empty())
    svg += fmt::format("<text x=\"{}\" y=\"20\" text-anchor=\"middle\" font-size=\"15\">{}</text>\n", width,
                       escaped(title));
  for (std::size_t k = 0; k < panels.size(); ++k) {
    svg += fmt::format("<g transform=\"translate({:g} {:g})\">\n", k % 2 == 0 ? 0 : width,
                       heading + static_cast<double>(k / 2) * tallest);
    draw_panel(panels[k], svg);
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace hinge::cli
