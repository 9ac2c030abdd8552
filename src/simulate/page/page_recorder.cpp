#include "simulate/page/page_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "hinge/method.hpp"
#include "simulate/dae_levels.hpp"
#include "simulate/page/page_summary.hpp"
#include "simulate/record/recorder_formats.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

constexpr int most_of_a_kind = 120;  // columns

const char* z_kind(SystemKind kind) { return kind == SystemKind::hamiltonian ? "momentum" : "velocity"; }

// Names of constraints of joints: "of joint 'crank' (ground - arm: point, x)".
std::pair<std::string, std::string> joint_and_part(const std::string& text) {
  const std::size_t begin = text.find("of joint '"), end = text.rfind("' ("), part = text.rfind(": ");
  if (begin != 0 || end == std::string::npos || part == std::string::npos || part < end) return {};
  return {text.substr(10, end - 10), text.substr(part + 2, text.size() - part - 3)};
}

const std::string& row_name(const Layout& layout, std::size_t row) {
  const std::size_t positions = layout.constraints.size();
  return row < positions ? layout.constraints[row] : layout.velocity_constraints[row - positions];
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                     utc.tm_min);
}

}  // namespace

void require_page_path(const std::string& path, bool replace_anything) {
  if (ending_of(path) != ".html")
    throw cannot_write(path, "a report is a page for a browser; give it a name that ends in .html");
  std::error_code none;
  if (replace_anything || !std::filesystem::is_regular_file(path, none)) return;
  std::ifstream in(path, std::ios::binary);
  std::string start(4096, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  if (start.empty() || start.find("content=\"Hinge report page") != std::string::npos) return;
  throw cannot_write(
      path, "there is such a file, which is no report of hinge; choose another --report, or --force overwrites it");
}

PageRecorder::PageRecorder(const std::string& path, PageOptions options)
    : path_(path), options_(std::move(options)), file_(path) {}

PageRecorder::PageRecorder(PageOptions options) : options_(std::move(options)) {}

PageRecorder::~PageRecorder() = default;

// ---- Rows -----------------------------------------------------------------------------------------------------------

void PageRecorder::choose_columns(const Row& row) {
  const System& system = *options_.system;
  const Layout& l = system.layout();
  const auto add = [&](int first, int count, const char* kind, int wanted) {
    const int chosen = std::min({count, wanted, most_of_a_kind});
    for (int at = first; at < first + chosen; ++at)
      columns_.push_back({row.columns[static_cast<std::size_t>(at)], kind, at});
    if (chosen < count)
      remarks_.push_back(fmt::format("Of {} columns of the kind '{}' {} plotted; --out records all.", count, kind,
                                     chosen == 0 ? "none is" : fmt::format("the first {} are", chosen)));
  };
  // Single particles of a heap are in the scene; plots are of bodies that have a name.
  const BodyTable* table = bodies_of(system);
  const bool heap = table && table->places.size() > table->frames.size() && l.ny > most_of_a_kind;
  const BodyPlace first_particle = heap ? table->places[table->frames.size()] : BodyPlace{l.ny, 0, l.nz, 0};
  add(1, l.ny, "coordinate", first_particle.x);
  add(1 + l.ny, l.nz, z_kind(l.kind), first_particle.v);
  const std::size_t multipliers = columns_.size();
  add(1 + l.ny + l.nz, l.npsi, "multiplier", l.npsi);
  if (l.kind == SystemKind::multibody && l.npsi == l.ng() + l.nw())
    for (std::size_t k = multipliers; k < columns_.size(); ++k)
      if (const auto [joint, part] = joint_and_part(row_name(l, k - multipliers)); !joint.empty()) {
        columns_[k].kind = "reaction";
        columns_[k].group = joint;
        columns_[k].name = fmt::format("{}: {}", joint, part);
      }
  int at = 1 + l.ny + l.nz + l.npsi;
  if (system.structure().has_energy) {
    energy_ = at;
    columns_.push_back({row.columns[static_cast<std::size_t>(at++)], "energy", energy_});
    columns_.push_back({"H - H0", "energy-error"});
  }
  const int momenta = static_cast<int>(options_.momentum_maps);
  add(at, momenta, "momentum-map", momenta);
  at += momenta;
  const int quantities = static_cast<int>(row.columns.size()) - at;
  add(at, quantities, "quantity", quantities);
  if (dae_levels_ || levels_) {
    columns_.push_back({dae_levels_ ? "|F_i|" : "|g|", "constraint"});
    columns_.push_back({dae_levels_       ? "|d/dt F_i ...|"
                        : system.nw() > 0 ? "|g_t + G v|, |w|"
                                          : "|g_t + G v|",
                        "hidden-constraint"});
  }
  for (std::size_t k = 0; k < gaps_.size(); ++k) columns_.push_back({gap_names_[k], "gap"});
  columns_.push_back({"step", "step"});
  columns_.push_back({"Newton, per step", "iterations"});
  columns_.push_back({"Newton, last increment (1 is enough)", "residual", -1, "Newton's iteration"});
  if (row.contact_statistics) {
    columns_.push_back({"listed", "contacts"});
    columns_.push_back({"loaded", "contacts"});
    columns_.push_back({"contact solver, per problem", "iterations"});
    columns_.push_back({"contact problem, largest so far", "residual"});
  }
}

void PageRecorder::begin(const Row& row) {
  const System& system = *options_.system;
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (system.structure().is_dae && symbolic) {
    dae_levels_ = std::make_unique<DaeLevels>(*symbolic);
    if (dae_levels_->empty()) dae_levels_.reset();
  } else if (system.nrates() > 0) {
    levels_ = system.evaluation({Quantity::constraint, Quantity::constraint_rate});
  }
  if (symbolic) {
    const Equations& eq = symbolic->equations();
    std::vector<Node> gaps;
    for (const Equations::Gap& gap : eq.gaps) {
      if (gaps.size() == most_of_a_kind) break;
      gaps.push_back(gap.gap);
      gap_names_.push_back(gap.name.empty() ? fmt::format("gap {}", gaps.size() - 1) : gap.name);
    }
    if (!gaps.empty()) gaps_ = StateFunctions(*symbolic, *eq.graph, gaps);
    if (gaps.size() < eq.gaps.size())
      remarks_.push_back(fmt::format("Of {} gaps the first {} are plotted.", eq.gaps.size(), gaps.size()));
  }
  choose_columns(row);
  values_.assign(columns_.size(), NAN);
  rows_ = std::make_unique<ThinnedRows>(columns_.size(), options_.most_numbers / (columns_.size() + 1));
  scene_ = system.structure().has_bodies ? body_scene(system, options_.view.get())
                                         : point_scene(system, *row.state, options_.view.get());
  if (scene_) scene_->frames.expect(options_.start, options_.end);
  if (energy_ >= 0) energy0_ = row.values[static_cast<std::size_t>(energy_)];
}

// What is not in the row itself, in the order in which choose_columns() has it.
void PageRecorder::compute(const Row& row) {
  const State& s = *row.state;
  auto out = values_.begin();
  const auto put = [&](double x) { *out++ = x; };
  for (const Column& c : columns_) {
    if (c.from >= 0)
      put(row.values[static_cast<std::size_t>(c.from)]);
    else if (std::string_view(c.kind) == "energy-error")
      put(row.values[static_cast<std::size_t>(energy_)] - energy0_);
    else
      break;
  }
  if (dae_levels_) {
    dae_levels_->at(s);
    put(dae_levels_->algebraic);
    put(dae_levels_->hidden);
  } else if (levels_) {
    levels_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    put(biggest((*levels_)[Quantity::constraint], options_.system->ng()));
    put(biggest((*levels_)[Quantity::constraint_rate], options_.system->nrates()));
  }
  for (const double gap : gaps_.at(s)) put(gap);
  const auto since = [](long now, long& before) { return static_cast<double>(now - std::exchange(before, now)); };
  put(row.step > 0 ? row.step : NAN);
  const double steps = row.counters ? since(row.counters->steps, steps_) : 0,
               iterations = row.counters ? since(row.counters->iterations, iterations_) : 0;
  put(steps > 0 ? iterations / steps : NAN);
  const double solved = row.counters ? since(row.counters->solved, solved_) : 0,
               increments =
                   row.counters ? row.counters->increments - std::exchange(increments_, row.counters->increments) : 0;
  put(solved > 0 ? increments / solved : NAN);
  if (out == values_.end()) return;
  double listed = 0, loaded = 0;
  if (const ContactImpulses* c = row.contacts) {
    listed = c->contacts.count;
    const auto d = static_cast<std::size_t>(c->contacts.dimension);
    for (std::size_t k = 0; k < static_cast<std::size_t>(c->contacts.count); ++k) loaded += c->impulse[d * k] > 0;
  }
  put(listed);
  put(loaded);
  const ContactStatistics* statistics = row.contact_statistics;
  const double solves = statistics ? since(statistics->solves, solves_) : 0,
               work = statistics ? since(statistics->solver_iterations, solver_iterations_) : 0;
  put(solves > 0 ? work / solves : NAN);
  put(statistics && statistics->complementarity > 0 ? statistics->complementarity : NAN);
}

SceneFrame PageRecorder::frame_of(const State& state, const ContactImpulses* contacts) {
  SceneFrame frame;
  frame.t = state.t;
  scene_->frame(state, contacts, frame);
  return frame;
}

void PageRecorder::take_frame(const State& state, const ContactImpulses* contacts) {
  scene_->frames.add(frame_of(state, contacts));
}

void PageRecorder::take(const Row& row) {
  if (!rows_) {
    begin(row);
    last_time_ = row.state->t;
  }
  compute(row);
  last_time_ = std::max(last_time_, row.state->t);
  rows_->add(last_time_, values_);
  if (!scene_) return;
  if (scene_->frames.due(row.state->t))
    take_frame(*row.state, row.contacts);
  else if (scene_->frames.probe_due(row.state->t))
    scene_->frames.probe(frame_of(*row.state, nullptr));
}

// ---- The file -------------------------------------------------------------------------------------------------------

// Where the run goes on every column has its place, though it may have no number yet.
Json PageRecorder::table(PageBlocks& blocks) const {
  Json table = {{"name", "rows"}, {"rows", rows_->rows()}, {"time", blocks.add(std::span(rows_->times()))}};
  Json columns = Json::array();
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Column& c = columns_[k];
    const std::vector<double> x = rows_->column(k);
    if (ended_ && std::all_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) continue;
    const bool all_digits = std::string_view(c.kind).starts_with("energy");
    Json column = {
        {"name", c.name}, {"block", all_digits ? blocks.add(std::span(x)) : blocks.add_line(x)}, {"kind", c.kind}};
    if (!c.group.empty()) column["group"] = c.group;
    columns.push_back(std::move(column));
  }
  table["columns"] = std::move(columns);
  if (rows_->thinned()) table["thinned"] = {{"from", rows_->seen()}, {"bucket", rows_->bucket()}};
  return table;
}

std::vector<std::string> PageRecorder::scene_remarks() const {
  std::vector<std::string> list = scene_->remarks;
  constexpr double visible = 0.03;
  if (const double off = scene_->frames.off_the_way(); off > visible)
    list.push_back(fmt::format(
        "The scene has {} frames, and between them things are drawn on a straight way, up to {:.0f} % of the "
        "picture off the motion; a shorter run (--end) has more of them.",
        scene_->frames.size(), 100 * off));
  return list;
}

void PageRecorder::end(const State& final) {
  if (ended_) return;
  ended_ = true;
  if (rows_) rows_->finish();
  if (scene_ && scene_->frames.last_time() < final.t) take_frame(final, nullptr);
}

std::string PageRecorder::fill(std::string_view page, Json summary, const Json& live) const {
  const std::size_t place = page.find(page_placeholder);
  if (place == std::string_view::npos)
    throw cannot_write(path_, "the page in this program has no place for data; build the program anew");
  PageBlocks blocks;
  Json data = {{"hinge", 1}};
  data.update(summary);
  data["created"] = now();
  if (!options_.settings.empty()) data["settings"] = options_.settings;
  if (!options_.model_text.empty())
    data["model"] = {{"name", std::filesystem::path(options_.model_name).filename().string()},
                     {"text", options_.model_text}};
  Json tables = Json::array();
  if (rows_) tables.push_back(table(blocks));
  if (scene_ && scene_->frames.finite()) {
    Json scene = {{"dimension", scene_->frames.dimension()}};
    scene_->frames.write(scene, blocks, !ended_);
    scene_->describe(scene, blocks);
    data["scene"] = std::move(scene);
  }
  for (const std::string& remark : remarks_) data["remarks"].push_back(remark);
  if (scene_)
    for (const std::string& remark : scene_remarks()) data["remarks"].push_back(remark);
  data["blocks"] = blocks.infos();
  data["tables"] = std::move(tables);
  if (!live.is_null()) data["live"] = live;

  std::string text(page.substr(0, place));
  text += "<script type=\"application/json\" id=\"hinge-data\">";
  // every < as an escape: no element can end or begin inside
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  text += "</script>\n";
  for (std::size_t k = 0; k < blocks.texts().size(); ++k) {
    text += fmt::format("<script type=\"application/octet-stream\" id=\"hinge-block-{}\">", k);
    text += blocks.texts()[k];
    text += "</script>\n";
  }
  return text += page.substr(place + page_placeholder.size());
}

std::size_t PageRecorder::write(std::string_view page, const Report& report) {
  end(report.final);
  const std::string text = fill(page, page_summary(report, options_.method), nullptr);
  file_->write(text);
  file_->commit();
  return text.size();
}

}  // namespace hinge
