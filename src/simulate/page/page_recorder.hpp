// The report page of a run: takes its rows while it goes on, and writes one html file at the end.
//
//   PageRecorder page("pile.html", {...});           // the file can be written, or an OutputError
//   simulation.on_row([&](const Row& row) { page.take(row); });
//   ...
//   page.write(page_without_data, simulation.report());
//
// Or, where a page is served while the run goes on, without a file: fill() and news() in the place of write().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hinge/simulate.hpp"
#include "simulate/page/page_scene.hpp"
#include "simulate/page/thinned_rows.hpp"
#include "simulate/record/output_file.hpp"
#include "simulate/state_functions.hpp"

namespace hinge {

class DaeLevels;

struct PageOptions {
  std::shared_ptr<const System> system{};
  std::shared_ptr<const View> view{};  ///< null: everything is derived
  double start = 0, end = 0;           ///< of the run
  std::size_t momentum_maps = 0;       ///< columns behind the energy
  std::string method{}, model_name{}, model_text{}, settings{};
  std::size_t most_numbers = 3'000'000;  ///< in plots; more rows are thinned
};

/// The place for the data in a page.
inline constexpr std::string_view page_placeholder = "<!--HINGE-REPORT-DATA-->";

/// Throws OutputError for an ending other than .html, and where there is such a file that is no page of ours.
void require_page_path(const std::string& path, bool replace_anything);

class PageRecorder {
 public:
  /// Opens a file beside `path`, which takes its name when it is written.
  PageRecorder(const std::string& path, PageOptions options);
  explicit PageRecorder(PageOptions options);
  ~PageRecorder();
  PageRecorder(const PageRecorder&) = delete;
  PageRecorder& operator=(const PageRecorder&) = delete;

  void take(const Row& row);
  /// Puts the data into `page`, a page without data. Returns how many bytes were written.
  std::size_t write(std::string_view page, const Report& report);

  /// The run has ended there: nothing is taken any more.
  void end(const State& final);
  /// A page with all that was taken so far. `summary`: the metadata in words, as page_summary() has it; `live`: what a
  /// page that is served gets in addition, or null.
  std::string fill(std::string_view page, Json summary, const Json& live) const;
  /// Rows from number `rows` on and frames from number `frames` on, as web/DATA.md has them; a part where there are
  /// many.
  Json news(std::size_t rows, std::size_t frames) const;
  /// Another one than before where rows or frames were thinned: whoever has some of them must begin anew.
  std::string numbering() const;
  /// Rows that were taken.
  std::size_t rows() const { return rows_ ? rows_->seen() : 0; }
  /// The largest absolute value of a kind of columns; NaN where there is none.
  double largest(std::string_view kind) const;

 private:
  struct Column {
    std::string name;
    const char* kind;
    int from = -1;  ///< place in a row; -1: computed
    std::string group{};
  };
  void begin(const Row& row);
  void choose_columns(const Row& row);
  void compute(const Row& row);
  SceneFrame frame_of(const State& state, const ContactImpulses* contacts);
  void take_frame(const State& state, const ContactImpulses* contacts);
  Json table(PageBlocks& blocks) const;
  std::vector<std::string> scene_remarks() const;

  std::string path_;
  PageOptions options_;
  std::optional<WholeFile> file_;
  bool ended_ = false;
  std::vector<Column> columns_;
  std::vector<double> values_;
  std::unique_ptr<ThinnedRows> rows_;
  std::unique_ptr<PageScene> scene_;
  std::unique_ptr<Evaluation> levels_;
  std::unique_ptr<DaeLevels> dae_levels_;
  StateFunctions gaps_;  ///< of contacts that are given by expressions
  std::vector<std::string> gap_names_;
  std::vector<std::string> remarks_;
  int energy_ = -1;  ///< place in a row
  double energy0_ = 0, last_time_ = 0;
  long steps_ = 0, iterations_ = 0, solved_ = 0, solver_iterations_ = 0, solves_ = 0;  ///< at the last row
  double increments_ = 0;
};

}  // namespace hinge
