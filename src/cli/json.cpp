#include "cli/json.hpp"

#include <nlohmann/json.hpp>

#include "expression/native.hpp"

namespace hinge::cli {

namespace {

const char* const part_keys[] = {"y", "z", "multiplier"};

Json block_json(const std::vector<int>& shape, const double* x) {
  if (shape.empty()) return *x;
  Json list = Json::array();
  const std::vector<int> inner(shape.begin() + 1, shape.end());
  int width = 1;
  for (const int extent : inner) width *= extent;
  for (int k = 0; k < shape[0]; ++k) list.push_back(block_json(inner, x + k * width));
  return list;
}

Json blocks_json(const std::vector<Block>& blocks, const std::vector<Block>& names, const std::vector<double>& x) {
  Json object = Json::object();
  for (std::size_t k = 0; k < blocks.size(); ++k)
    object[names[k].name] = block_json(blocks[k].shape, x.data() + blocks[k].first);
  return object;
}

Json final_json(const Report& r) {
  const Layout& l = r.layout;
  Json f;
  f["t"] = r.final.t;
  if (l.kind == SystemKind::dae) {
    f["unknowns"] = blocks_json(l.y, l.y, r.final.y);
    f["derivatives"] = blocks_json(l.y, l.y, r.final.z);
  } else if (l.kind == SystemKind::odae || l.kind == SystemKind::own) {
    f["y"] = blocks_json(l.y, l.y, r.final.y);
    f["z"] = blocks_json(l.z, l.z, r.final.z);
  } else {
    f["position"] = blocks_json(l.y, l.y, r.final.y);
    if (l.kind == SystemKind::multibody) {
      // angular velocities along the axes of the bodies, by names without the prime
      std::vector<Block> names = l.z;
      for (Block& b : names)
        if (b.name.back() == '\'') b.name.pop_back();
      f["velocity"] = blocks_json(l.z, names, r.final.z);
      f["momentum"] = blocks_json(l.z, names, r.momentum);
    } else {
      f["velocity"] = blocks_json(l.y, l.y, r.velocity);
      f["momentum"] = blocks_json(l.z, l.kind == SystemKind::hamiltonian ? l.z : l.y, r.momentum);
    }
  }
  f["multiplier"] = r.final.psi;
  if (!r.quantities.empty()) {
    Json q = Json::object();
    for (const auto& item : r.quantities) q[item.name] = block_json(item.shape, item.value.data());
    f["quantities"] = q;
  }
  return f;
}

// The parts that there are, by the names of the problem class: { "y": ..., "z": ..., "multiplier": ... }.
Json errors_json(const StateErrors& errors) {
  Json object = Json::object();
  for (std::size_t k = 0; k < errors.size(); ++k)
    if (errors[k]) object[part_keys[k]] = *errors[k];
  return object;
}

// What runs of both kinds of study have in common.
template <class Point>
Json run_json(const Point& p) {
  Json j;
  j["status"] = p.failure.empty() ? "finished" : "failed";
  if (!p.failure.empty()) j["message"] = p.failure;
  return j;
}

Json point_json(const ConvergencePoint& p) {
  Json j = {{"step", p.step}, {"steps", p.steps}, {"fitted_last_step", p.fitted}};
  j.update(run_json(p));
  j["error"] = errors_json(p.error);
  j["observed_order"] = errors_json(p.order);
  j["at_round_off"] = Json::array();
  for (std::size_t k = 0; k < 3; ++k)
    if (p.round_off[k]) j["at_round_off"].push_back(part_keys[k]);
  j["newton_iterations"] = p.counters.iterations;
  j["evaluations"] = p.counters.evaluations;
  j["wall_seconds"] = p.wall_seconds;
  return j;
}

Json reference_json(const Reference& r) {
  Json j = {{"kind", r.kind == Reference::Kind::exact    ? "exact"
                     : r.kind == Reference::Kind::method ? "method"
                                                         : "file"},
            {"description", r.description}};
  if (r.kind == Reference::Kind::method && r.step > 0) j["step"] = r.step;
  if (const Json own = errors_json(r.own_error); !own.empty()) j["own_error"] = own;
  if (!r.doubts.empty()) j["doubts"] = r.doubts;
  return j;
}

Json work_json(const WorkPoint& p) {
  Json j;
  if (p.tolerance > 0) j["tolerance"] = p.tolerance;
  if (p.step > 0) j["step"] = p.step;
  j.update(run_json(p));
  j["steps"] = p.steps;
  j["rejected"] = p.counters.rejected + p.counters.failed;
  j["error"] = errors_json(p.error);
  for (std::size_t k = 0; k < 3; ++k)
    if (p.below[k]) j["below_reference"].push_back(part_keys[k]);
  j["newton_iterations"] = p.counters.iterations;
  j["evaluations"] = p.counters.evaluations;
  j["factorisations"] = p.counters.factorisations;
  j["wall_seconds"] = p.seconds;
  return j;
}

Json series_json(const ConvergenceSeries& s) {
  Json j;
  j["name"] = s.name;
  j["order"] = s.order;
  if (s.multiplier_order > 0) j["multiplier_order"] = s.multiplier_order;
  j["points"] = Json::array();
  for (const ConvergencePoint& p : s.points) j["points"].push_back(point_json(p));
  StateErrors orders;
  Json used = Json::object();
  for (std::size_t k = 0; k < 3; ++k) {
    orders[k] = s.fitted[k].order;
    if (s.fitted[k].points > 0) used[part_keys[k]] = s.fitted[k].points;
  }
  j["fitted_order"] = errors_json(orders);
  j["fitted_points"] = used;
  return j;
}

Json contacts_json(const ContactStatistics& c) {
  Json j = {
      {"contacts", c.contacts},
      {"most_contacts", c.most_contacts},
      {"loaded", c.loaded},
      {"impacts", c.impacts},
      {"penetration", c.penetration},
      {"complementarity_residual", c.complementarity},
      {"cone_violation", c.cone},
      {"energy_lost_in_impacts", c.impact_loss},
      {"energy_lost_in_friction", c.friction_loss},
      {"contact_problems", c.solves},
      {"solver_iterations", c.solver_iterations},
      {"not_to_tolerance", c.unconverged},
      {"solver", c.solver},
      {"seconds", {{"search", c.search_seconds}, {"assembly", c.assembly_seconds}, {"solver", c.solver_seconds}}}};
  if (c.momentum_balance >= 0) j["momentum_balance"] = c.momentum_balance;
  for (const auto& event : c.events) j["events"].push_back({{"t", event.t}, {"what", event.what}});
  return j;
}

Json verdict_json(const Report& r) {
  Json doubts = Json::array();
  for (const Doubt& d : r.doubts) doubts.push_back({{"cause", d.cause}, {"value", d.value}, {"remedy", d.remedy}});
  return {{"sound", r.sound()}, {"doubts", doubts}};
}

template <class Study>
Json study_json(const Study& study, const std::string& title) {
  return {{"title", title},
          {"status", study.stopped          ? "stopped"
                     : study.failures() > 0 ? "failed"
                                            : "finished"},
          {"time", {{"start", study.begin}, {"end", study.end}}},
          {"reference", reference_json(study.reference)},
          {"methods", Json::array()}};
}

}  // namespace

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string json_text(const Report& r, const std::string& method_name) {
  Json j;
  j["title"] = r.title;
  j["method"] = {{"name", method_name}, {"order", r.order > 0 ? Json(r.order) : Json()}, {"description", r.method}};
  if (!r.method_facts.empty()) j["method"]["facts"] = r.method_facts;
  j["status"] = r.status == RunStatus::finished ? "finished" : r.status == RunStatus::stopped ? "stopped" : "failed";
  if (!r.message.empty()) j["message"] = r.message;
  j["verdict"] = verdict_json(r);
  if (!r.warnings.empty()) j["warnings"] = r.warnings;
  j["time"] = {{"start", r.start}, {"end", r.end}, {"step", r.step}, {"steps", r.steps}, {"rejected", r.rejected}};
  if (r.tolerance.given()) {
    j["time"].erase("step");
    j["time"]["tolerance"] = {{"relative", r.tolerance.relative}, {"absolute", r.tolerance.absolute}};
    j["time"]["shortest_step"] = r.shortest;
    j["time"]["longest_step"] = r.longest;
  }
  if (!r.remarks.empty()) j["remarks"] = r.remarks;
  j["final"] = final_json(r);
  if (!r.events.empty()) {
    j["events"] = Json::array();
    for (const Occurrence& e : r.events) j["events"].push_back({{"name", e.name}, {"t", e.state.t}});
  }
  Json d;
  d["constraint"] = r.constraint;
  d["hidden_constraint"] = r.hidden_constraint;
  if (r.velocity_constraint) d["velocity_constraint"] = *r.velocity_constraint;
  if (r.energy_error) d["energy_error"] = *r.energy_error;
  if (r.discrete_energy_error) d["discrete_energy_error"] = *r.discrete_energy_error;
  for (const Report::Momentum& m : r.momentum_maps) d["momentum"][m.name] = {{"value", m.value}, {"error", m.error}};
  if (r.condition)
    d["condition"] = {
        {"value", *r.condition},
        {"norm", 2},
        {"step", "first"},
        {"scaling", "equations of motion times h; unknowns q1, p1 and, where they are unknown, multipliers"}};
  if (const Json exact = errors_json(r.exact_error); !exact.empty()) d["exact_error"] = exact;
  if (r.contacts) d["contacts"] = contacts_json(*r.contacts);
  d["newton_iterations"] = r.counters.iterations;
  if (r.counters.solved > 0) d["newton_increment"] = r.counters.increments / static_cast<double>(r.counters.solved);
  if (r.counters.augmentations > 0) d["augmentations"] = r.counters.augmentations;
  d["evaluations"] = r.counters.evaluations;
  d["factorisations"] = r.counters.factorisations;
  j["diagnostics"] = d;
  if (!r.output.empty()) j["output"] = {{"file", r.output}, {"rows", r.recorded}};
  j["native_functions"] = native_functions();  // none: the tape was used
  j["wall_seconds"] = r.wall_seconds;
  return json_text(j);
}

std::string json_text(const ConvergenceStudy& study, const std::string& title) {
  Json j = study_json(study, title);
  for (const ConvergenceSeries& s : study.series) j["methods"].push_back(series_json(s));
  j["notes"] = study.notes();
  return json_text(j);
}

std::string json_text(const WorkPrecision& work, const std::string& title) {
  Json j = study_json(work, title);
  for (const WorkSeries& s : work.series) {
    Json series = {{"name", s.name}, {"points", Json::array()}};
    for (const WorkPoint& p : s.points) series["points"].push_back(work_json(p));
    j["methods"].push_back(series);
  }
  return json_text(j);
}

std::string json_text(const std::vector<MethodInfo>& methods) {
  Json list = Json::array();
  for (const MethodInfo& m : methods) {
    const Preserves& p = m.preserves;
    Json options = Json::array();
    for (const OptionInfo& o : m.options)
      options.push_back({{"name", o.name}, {"meaning", meaning_text(o)}, {"default", default_text(o)}});
    list.push_back({{"name", m.name},
                    {"summary", m.summary},
                    {"order", m.order},
                    {"multiplier_order", m.multiplier_order},
                    {"preserves",
                     {{"position_level", p.position_level},
                      {"velocity_level", p.velocity_level},
                      {"symplectic", p.symplectic},
                      {"symmetric", p.symmetric},
                      {"momentum_maps", p.momentum_maps},
                      {"energy", p.energy}}},
                    {"options", options},
                    {"reference", m.reference}});
    if (!m.condition.empty()) list.back()["preserves_if"] = m.condition;
  }
  return json_text(list);
}

}  // namespace hinge::cli
