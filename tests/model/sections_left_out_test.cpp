// Sections of a model may be missing while others are wrong: what is wrong is said, whatever is not there.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "places.hpp"
#include "random_draw.hpp"

namespace hinge::sections_left_out_test {
namespace {

using Lines = std::vector<std::string>;

std::string text_of(const Lines& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

/// The file's sections, from one "[..." to the next; first what stands before them.
std::vector<Lines> sections_of(const std::filesystem::path& path) {
  std::vector<Lines> sections(1);
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("[")) sections.emplace_back();
    sections.back().push_back(line);
  }
  return sections;
}

std::size_t any_of(std::size_t count, Draw& draw) {
  return static_cast<std::size_t>(draw.integer(0, static_cast<int>(count) - 1));
}

/// "key = value" becomes "key = something else"; false where the line is another one.
bool garble(std::string& line, Draw& draw) {
  const std::size_t at = line.find(" = ");
  if (line.empty() || at == std::string::npos || line.front() == ' ' || line.front() == '#' || line.front() == '"')
    return false;
  static const Lines others{"\"nothing known\"", "-1",        "0",    "1e400", "nan", "[]",
                            "[1, \"x\"]",        "{ a = 1 }", "true", "\"\""};
  line = line.substr(0, at) + " = " + draw.one_of(others);
  return true;
}

TEST(SectionsLeftOut, WhatIsWrongIsSaidWhateverIsMissing) {
  Draw draw(7);
  int refused = 0, read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HINGE_EXAMPLES)) {
    if (entry.path().extension() != ".toml" || entry.file_size() > 20000) continue;
    const std::vector<Lines> sections = sections_of(entry.path());
    for (int k = 0; k < 100; ++k) {
      std::vector<Lines> drawn = sections;
      for (int tries = 0; tries < 20; ++tries) {
        Lines& lines = drawn[any_of(drawn.size(), draw)];
        if (!lines.empty() && garble(lines[any_of(lines.size(), draw)], draw)) break;
      }
      if (draw.chance(0.7)) drawn.erase(drawn.begin() + static_cast<std::ptrdiff_t>(any_of(drawn.size(), draw)));
      std::string text;
      for (const Lines& lines : drawn) text += text_of(lines);
      SCOPED_TRACE(text);
      try {
        parse_model(text, entry.path().filename().string());
        ++read;
      } catch (const Error& e) {
        EXPECT_FALSE(std::string(e.what()).empty());
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 3000);
  EXPECT_GT(read, 300);
}

}  // namespace
}  // namespace hinge::sections_left_out_test
