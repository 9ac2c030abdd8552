// Claims about films and figures that other programs make: they are made where those are there, and where they are not
// it is said what to install. (That Chromium draws the frames is tested in the browser tests of the page.)
#include <stdlib.h>

#include "cli/program.hpp"

namespace hinge::test::movie_test {
namespace {

/// PATH without anything in it, for as long as it lives.
class NoPrograms {
 public:
  NoPrograms() : before_(getenv("PATH") ? getenv("PATH") : "") {
    setenv("PATH", "/nowhere", 1);
    setenv("HINGE_CHROMIUM", "/nowhere/chromium", 1);
  }
  ~NoPrograms() {
    setenv("PATH", before_.c_str(), 1);
    unsetenv("HINGE_CHROMIUM");
  }
  NoPrograms(const NoPrograms&) = delete;
  NoPrograms& operator=(const NoPrograms&) = delete;

 private:
  std::string before_;
};

TEST(Movie, SaysWhatToInstall) {
  const Folder folder;
  const std::string model = folder.write("pendulum.toml", pendulum);
  const NoPrograms none;
  const auto said = [&](const std::vector<std::string>& arguments, const char* what) {
    const Answer answer = hinge(folder, arguments);
    EXPECT_EQ(answer.status, 2);
    const bool no_page = answer.err.find("built without the report page") != std::string::npos;
    EXPECT_TRUE(no_page || answer.err.find(what) != std::string::npos) << answer.err;
  };
  said({"movie", model, "--out", folder.file("film.mp4")}, "apt-get install ffmpeg");
  said({"movie", model, "--out", folder.file("frames")}, "apt-get install chromium");
  for (const char* name : {"f.pdf", "f.png"}) {
    said({"plot", model, "--y", "energy", "--out", folder.file(name)}, "apt-get install librsvg2-bin");
    EXPECT_FALSE(folder.has(name));
  }
  EXPECT_EQ(hinge(folder, {"plot", model, "--y", "energy", "--out", folder.file("f.svg")}).status, 0);
}

TEST(Movie, WrongInputIsAnswered) {
  const Folder folder;
  const std::string model = folder.write("pendulum.toml", pendulum), there = folder.write("there.mp4", "");
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--out", folder.file("film.avi")}, ".mp4, .webm or .gif"},
      {{"--out", there}, "--force"},
      {{"--out", folder.file("none/film.mp4")}, "there is no folder"},
      {{"--out", there + "/frames"}, "there is no folder"},
      {{"--out", folder.write("file", "")}, "this is a file"},
      {{"--out", folder.file("f"), "--size", "big"}, "1280x720"},
      {{"--out", folder.file("f"), "--size", "639x360"}, "even"},
      {{"--out", folder.file("f"), "--rate", "0"}, "1 to 120"},
      {{"--out", folder.file("f"), "--seconds", "-1"}, "3600"},
      {{"--out", folder.file("f"), "--theme", "red"}, "light or dark"},
  };
  for (const auto& [more, word] : wrong) {
    std::vector<std::string> arguments{"movie", model};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer answer = hinge(folder, arguments);
    EXPECT_EQ(answer.status, 2) << word;
    EXPECT_NE(answer.err.find(word), std::string::npos) << answer.err;
  }
  EXPECT_FALSE(folder.has("f"));
}

TEST(Plot, WritesPdfAndPngByRsvg) {
  if (system("command -v rsvg-convert > /dev/null") != 0) GTEST_SKIP() << "there is no rsvg-convert";
  const Folder folder;
  const std::string model = folder.write("pendulum.toml", pendulum);
  ASSERT_EQ(hinge(folder, {"plot", model, "--y", "energy", "--out", folder.file("f.pdf")}).status, 0);
  EXPECT_TRUE(folder.read("f.pdf").starts_with("%PDF-"));
  ASSERT_EQ(hinge(folder, {"plot", model, "--y", "energy", "--out", folder.file("f.png")}).status, 0);
  const std::string png = folder.read("f.png");
  EXPECT_TRUE(png.starts_with("\x89PNG"));
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t k = at; k < at + 4; ++k) value = 256 * value + static_cast<unsigned char>(png[k]);
    return value;
  };
  EXPECT_EQ(number(16), 3 * 480);  // three pixels for each one of the figure
  EXPECT_EQ(number(20), 3 * 320);
}

}  // namespace
}  // namespace hinge::test::movie_test
