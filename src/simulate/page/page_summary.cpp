#include "simulate/page/page_summary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/version.hpp"

namespace hinge {

Json json_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  return x;
}

namespace {

Json fact(const std::string& what, double value) { return {{"what", what}, {"value", json_number(value)}}; }
Json fact(const std::string& what, const std::string& text) { return {{"what", what}, {"text", text}}; }

Json error(const std::string& what, const std::string& symbol, double value, const std::string& note = {}) {
  Json j = {{"what", what}, {"symbol", symbol}, {"value", json_number(value)}, {"error", true}};
  if (!note.empty()) j["note"] = note;
  return j;
}

// Impacts and friction take energy away: that it changes is no error then.
bool spends_energy(const Report& r) {
  return r.contacts && r.energy_error && r.contacts->impact_loss + r.contacts->friction_loss > 0.01 * *r.energy_error;
}

Json preserved(const Report& r) {
  Json list = Json::array();
  const bool dae = r.layout.kind == SystemKind::dae;
  if (r.has_constraints) {
    const bool settled = dae && r.tolerance.given();
    list.push_back(
        dae ? error("algebraic equations", "|F_i(t, x)|", r.constraint,
                    settled ? "of the steps as they end; rows are solved for the equations once more, and plotted so"
                            : "")
            : error("constraint", "|g|", r.constraint));
    list.push_back(dae ? error("hidden constraints", "|d/dt F_i ...|", r.hidden_constraint)
                       : error("hidden constraint", "|g_t + G v|", r.hidden_constraint));
  }
  if (r.velocity_constraint) list.push_back(error("velocity constraint", "|w|", *r.velocity_constraint));
  if (r.energy_error && !spends_energy(r))
    list.push_back(error("energy", "|H - H0|", *r.energy_error, fmt::format("energy at the end {:.10g}", *r.energy)));
  if (r.discrete_energy_error)
    list.push_back(error("discrete energy", "|E - E0|", *r.discrete_energy_error, r.discrete_energy));
  for (const Report::Momentum& m : r.momentum_maps)
    list.push_back(error("momentum " + m.name, fmt::format("|{0} - {0}0|", m.name), m.error,
                         fmt::format("at the end {:.10g}", m.value)));
  return list;
}

// Above the picture: short.
Json contact_facts(const ContactStatistics& c) {
  Json list = Json::array();
  list.push_back(fact("contacts, most in a step", c.most_contacts));
  list.push_back(fact("impacts", static_cast<double>(c.impacts)));
  list.push_back(error("largest penetration", "-gap", c.penetration));
  list.push_back(error("contact problems", "residual", c.complementarity));
  if (c.unconverged > 0) list.push_back(fact("problems not solved to tolerance", static_cast<double>(c.unconverged)));
  list.push_back(fact("energy lost in impacts", c.impact_loss));
  list.push_back(fact("energy lost in friction", c.friction_loss));
  return list;
}

Json sections(const Report& r) {
  Json list = Json::array();
  if (r.contacts) {
    Json facts = contact_facts(*r.contacts);
    if (spends_energy(r)) {
      facts.push_back(fact("largest change of the energy", *r.energy_error));
      facts.back()["note"] = fmt::format("energy at the end {:.10g}", *r.energy);
    }
    list.push_back({{"title", "Contacts"}, {"facts", std::move(facts)}});
  }
  Json errors = Json::array();
  for (std::size_t k = 0; k < r.exact_error.size(); ++k)
    if (r.exact_error[k]) errors.push_back(error(r.part_names[k], "|x - exact|", *r.exact_error[k]));
  if (!errors.empty())
    list.push_back({{"title", fmt::format("Error at t = {:g} against the exact solution", r.end)}, {"facts", errors}});
  if (r.condition)
    list.push_back({{"title", "Iteration matrix of the first step"},
                    {"facts", Json::array({fact("condition number", *r.condition)})}});
  return list;
}

Json cost(const Report& r) {
  Json list = Json::array();
  const double steps = static_cast<double>(std::max(r.steps, 1L));
  const auto each = [&](const char* what, long count) {
    const double each_step = static_cast<double>(count) / steps;
    list.push_back(fact(what, each_step < 0.1 ? each_step : std::round(100 * each_step) / 100));
  };
  list.push_back(fact("wall time", fmt::format("{:.3g} s", r.wall_seconds)));
  if (r.wall_seconds > 0) list.push_back(fact("steps per second", std::round(steps / r.wall_seconds)));
  each("Newton iterations per step", r.counters.iterations);
  each("factorisations per step", r.counters.factorisations);
  each("evaluations per step", r.counters.evaluations);
  if (r.tolerance.given()) {
    list.push_back(fact("rejected by the error test", static_cast<double>(r.counters.rejected)));
    list.push_back(fact("rejected by Newton's iteration", static_cast<double>(r.counters.failed)));
  }
  return list;
}

}  // namespace

Json page_summary(const Report& r, const std::string& method_name) {
  Json j;
  j["title"] = r.title;
  j["program"] = "hinge " + version();
  j["status"] = r.status == RunStatus::finished ? "finished" : r.status == RunStatus::stopped ? "stopped" : "failed";
  if (!r.message.empty()) j["message"] = r.message;
  j["verdict"] = {{"sound", r.sound()}, {"doubts", Json::array()}};
  for (const Doubt& d : r.doubts)
    j["verdict"]["doubts"].push_back({{"cause", d.cause}, {"value", json_number(d.value)}, {"remedy", d.remedy}});
  if (!r.warnings.empty()) j["warnings"] = r.warnings;
  if (!r.remarks.empty()) j["remarks"] = r.remarks;
  j["method"] = {{"name", method_name}, {"description", r.method}};
  if (r.order > 0) j["method"]["order"] = r.order;
  if (!r.method_facts.empty()) j["method"]["facts"] = r.method_facts;
  j["time"] = {{"start", r.start}, {"end", r.end}, {"steps", r.steps}};
  if (r.tolerance.given()) {
    j["time"]["rejected"] = r.rejected;
    j["time"]["shortest"] = r.shortest;
    j["time"]["longest"] = r.longest;
    j["time"]["tolerance"] = {{"relative", r.tolerance.relative}, {"absolute", r.tolerance.absolute}};
  } else {
    j["time"]["step"] = r.step;
  }
  j["preserved"] = preserved(r);
  j["sections"] = sections(r);
  j["cost"] = cost(r);
  if (!r.events.empty()) {
    constexpr std::size_t most = 1000;
    j["events"] = Json::array();
    for (std::size_t k = 0; k < std::min(r.events.size(), most); ++k)
      j["events"].push_back({{"t", r.events[k].state.t}, {"name", r.events[k].name}});
  }
  return j;
}

}  // namespace hinge
