// hinge movie: the scene of the report page, frame by frame in a browser without a window, as a film.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "cli/browser.hpp"
#include "cli/commands.hpp"
#include "cli/page_template.hpp"
#include "cli/terminal.hpp"
#include "cli/viewed_run.hpp"
#include "expression/printable.hpp"
#include "hinge/error.hpp"
#include "simulate/record/output_file.hpp"

namespace hinge::cli {

namespace {

namespace fs = std::filesystem;

constexpr double comfortable_seconds = 10, fewest_seconds = 2;

// The report page of a model, which is run first, or of a record.
std::string page_of(const MovieArguments& a) {
  std::unique_ptr<ViewedRun> run;
  if (fs::path(a.file).extension() == ".toml") {
    run = ViewedRun::of_model(load_model(a.file, a.overrides), 1);
  } else {
    if (!a.overrides.empty())
      throw InputError(fmt::format("--set changes a model, and '{}' is a record of a run", a.file));
    run = ViewedRun::of_record(a.file, recorded_model(a.file).model, 1);
  }
  StatusLine status(true);
  status.show("computing the motion");
  while (!run->over()) {
    if (stop_asked()) return "";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (run->status() == "failed") std::cerr << "hinge: warning: the run failed; the film shows what there is of it\n";
  return run->page(page_template(), nullptr);
}

// Takes pictures: into a folder, or into ffmpeg.
class Film {
 public:
  Film(const MovieArguments& a) : out_(a.out), ending_(fs::path(a.out).extension().string()) {
    if (ending_.empty()) {
      std::error_code none;
      fs::create_directories(out_, none);
      if (none) throw InputError(fmt::format("cannot make the folder '{}': {}", out_, none.message()));
      return;
    }
    beside_ = fmt::format("{}.part{}", out_, ending_);
    std::vector<std::string> words{
        "-loglevel", "error", "-y", "-f", "image2pipe", "-framerate", fmt::format("{}", a.rate),
        "-c:v",      "png",   "-i", "-"};
    const auto add = [&](std::initializer_list<const char*> more) {
      words.insert(words.end(), more.begin(), more.end());
    };
    if (ending_ == ".mp4")
      add({"-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"});
    else if (ending_ == ".webm")
      add({"-c:v", "libvpx-vp9", "-crf", "28", "-b:v", "0", "-pix_fmt", "yuv420p"});
    else
      add({"-vf", "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4"});
    words.push_back("file:" + beside_);
    ffmpeg_ = std::make_unique<OtherProgram>(find_program({"ffmpeg"}), words);
  }
  ~Film() {
    std::error_code ignored;
    if (!beside_.empty()) fs::remove(beside_, ignored);
  }
  Film(const Film&) = delete;
  Film& operator=(const Film&) = delete;

  void add(const std::string& picture) {
    ++count_;
    if (!ffmpeg_)
      write_whole((fs::path(out_) / fmt::format("{:06}.png", count_)).string(), picture);
    else if (!ffmpeg_->write(picture))
      throw InputError(fmt::format("ffmpeg has ended; can it write '{}'?", out_));
  }
  void finish() {
    if (!ffmpeg_) return;
    if (const int status = ffmpeg_->finish(); status != 0)
      throw InputError(fmt::format("ffmpeg ended with status {}; can it write '{}'?", status, out_));
    std::error_code failed;
    fs::rename(beside_, out_, failed);
    if (failed) throw InputError(fmt::format("cannot write '{}': {}", out_, failed.message()));
    beside_.clear();
  }
  int count() const { return count_; }

 private:
  std::string out_, ending_, beside_;
  std::unique_ptr<OtherProgram> ffmpeg_;
  int count_ = 0;
};

// Before a long run it is seen that the film can be written: a folder of pictures is made, above it what is there
// already takes files.
void require_place(const std::string& out, bool pictures) {
  std::error_code unknown;
  if (!pictures && fs::is_directory(out, unknown))
    throw InputError(fmt::format("--out {}: this is a folder; give the name of a file in it", printable(out)));
  if (pictures && fs::exists(out, unknown) && !fs::is_directory(out, unknown))
    throw InputError(
        fmt::format("--out {}: this is a file, and pictures go into a folder; give another name, or one that ends in "
                    ".mp4",
                    printable(out)));
  fs::path folder = pictures ? fs::path(out) : fs::path(out).parent_path();
  if (pictures)
    while (!folder.empty() && !fs::exists(folder, unknown)) folder = folder.parent_path();
  const std::string shown = folder.empty() ? "." : folder.string();
  if (!fs::is_directory(shown, unknown))
    throw InputError(fmt::format("--out {}: there is no folder '{}'; make it first", printable(out), printable(shown)));
  if (access(shown.c_str(), W_OK | X_OK) != 0)
    throw InputError(fmt::format("--out {}: nothing can be written to the folder '{}'; choose another one",
                                 printable(out), printable(shown)));
}

void check(const MovieArguments& a, int& width, int& height) {
  const std::string ending = fs::path(a.out).extension().string();
  if (a.out.empty()) throw InputError("--out needs the name of a file, as in --out film.mp4");
  if (!ending.empty() && ending != ".mp4" && ending != ".webm" && ending != ".gif")
    throw InputError(
        fmt::format("--out {}: films are .mp4, .webm or .gif, or a folder of pictures: --out frames/", a.out));
  const std::size_t by = a.size.find('x');
  if (by != std::string::npos) width = std::atoi(a.size.c_str()), height = std::atoi(a.size.c_str() + by + 1);
  if (by == std::string::npos || width < 100 || height < 100 || width > 4096 || height > 4096 || width % 2 ||
      height % 2)
    throw InputError(fmt::format("--size {}: write --size 1280x720; both even, from 100 to 4096", a.size));
  if (a.rate < 1 || a.rate > 120) throw InputError(fmt::format("--rate {}: 1 to 120 pictures per second", a.rate));
  if (!(a.seconds >= 0) || a.seconds > 3600) throw InputError("--seconds: the film takes up to 3600 seconds");
  if (a.theme != "light" && a.theme != "dark") throw InputError(fmt::format("--theme {}: light or dark", a.theme));
  std::error_code none;
  if (!a.force && !ending.empty() && fs::exists(a.out, none))
    throw InputError(fmt::format("'{}' is there already; --force overwrites it", a.out));
  require_place(a.out, ending.empty());
  if (!ending.empty() && find_program({"ffmpeg"}).empty())
    throw InputError(fmt::format(
        "{} takes ffmpeg, which is not here: install it (as root: apt-get install ffmpeg), or write pictures: --out "
        "frames/",
        a.out));
  require_page_template("hinge movie");
  if (find_browser().empty())
    throw InputError(
        "the pictures are drawn by Chromium, which is not here: install it (as root: scripts/install-deps browser, or "
        "apt-get install chromium); HINGE_CHROMIUM names another one");
}

}  // namespace

int movie(const MovieArguments& a) {
  int width = 0, height = 0;
  check(a, width, height);
  catch_interrupts();
  const TemporaryFolder folder;
  const std::string page = page_of(a), file = folder.file("page.html");
  if (stop_asked()) return interrupted;
  write_whole(file, page);
  Browser browser(width, height);
  browser.prefer(a.theme);
  browser.open(file);
  const nlohmann::json span = browser.evaluate("window.hingeFilm ? window.hingeFilm.begin() : null");
  if (!span.is_array())
    throw InputError(fmt::format("'{}' has no moving picture: a [view] section can give the model one", a.file));
  const double start = span[0], end = span[1], own = end - start;
  const double seconds = a.seconds > 0 ? a.seconds : std::clamp(own, fewest_seconds, comfortable_seconds);
  const int count = std::max(1, static_cast<int>(std::lround(seconds * a.rate)));
  Film film(a);
  StatusLine status(true);
  for (int k = 0; k < count && !stop_asked(); ++k) {
    const double t = count > 1 ? start + own * k / (count - 1) : start;
    browser.evaluate(fmt::format("window.hingeFilm.frame({})", t));
    film.add(browser.picture());
    status.show_progress(0, k + 1, count);
  }
  status.show("");
  if (stop_asked()) return interrupted;
  film.finish();
  std::cout << fmt::format("{}: {} pictures of {} x {}, {:g} s; {:.3g} of the model's time in a second\n", a.out,
                           film.count(), width, height, seconds, own / seconds);
  return done;
}

}  // namespace hinge::cli
