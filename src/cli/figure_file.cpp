#include "cli/figure_file.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "cli/browser.hpp"
#include "cli/other_program.hpp"
#include "hinge/error.hpp"
#include "simulate/record/output_file.hpp"

namespace hinge::cli {

namespace {

namespace fs = std::filesystem;

constexpr double pixels = 3;  // of a PNG for each one of the SVG: 288 to the inch

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string by_rsvg(const std::string& program, const std::string& svg, const std::string& format) {
  const TemporaryFolder folder;
  const std::string made = folder.file("figure");
  std::vector<std::string> words{"--format", format, "--output", made, "--background-color", "white"};
  if (format == "png") words.insert(words.end(), {"--zoom", fmt::format("{}", pixels)});
  OtherProgram rsvg(program, words);
  const bool taken = rsvg.write(svg);
  if (const int status = rsvg.finish(); !taken || status != 0)
    throw InputError(fmt::format("{} ended with status {}; --out FILE.svg works without it", program, status));
  return contents(made);
}

double number_behind(const std::string& svg, const std::string& word) {
  const std::size_t at = svg.find(word);
  return at == std::string::npos ? 0 : std::strtod(svg.c_str() + at + word.size(), nullptr);
}

std::string by_browser(const std::string& svg, bool pdf) {
  const TemporaryFolder folder;
  const std::string page = folder.file("figure.html");
  write_whole(page, "<!doctype html><meta charset=\"utf-8\"><style>body{margin:0}svg{display:block}</style>" + svg);
  Browser browser(static_cast<int>(std::ceil(number_behind(svg, " width=\""))),
                  static_cast<int>(std::ceil(number_behind(svg, " height=\""))));
  browser.open(page);
  return pdf ? browser.paper() : browser.picture(pixels);
}

}  // namespace

void require_figure_format(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".svg") return;
  if (ending != ".pdf" && ending != ".png")
    throw InputError(
        fmt::format("--out {}: figures are .svg, .pdf or .png; give it a name that ends in one of these", path));
  if (find_program({"rsvg-convert"}).empty() && find_browser().empty())
    throw InputError(fmt::format(
        "--out {}: {} takes rsvg-convert or Chromium, and neither is here: install one (as root: apt-get install "
        "librsvg2-bin), or write FILE.svg",
        path, ending));
}

std::string as_figure_file(const std::string& svg, const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".svg") return svg;
  const std::string rsvg = find_program({"rsvg-convert"});
  return rsvg.empty() ? by_browser(svg, ending == ".pdf") : by_rsvg(rsvg, svg, ending.substr(1));
}

}  // namespace hinge::cli
