// Models as Python holds them: read, looked at, never changed. Another setting is another model.
#include <sstream>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <toml++/toml.h>

#include "cli/commands.hpp"
#include "core.hpp"
#include "formulation/start/consistent_start.hpp"
#include "formulation/start/constraint_rank.hpp"
#include "hinge/error.hpp"
#include "model/override.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::python {

std::vector<Override> overrides_of(const std::vector<SettingText>& settings) {
  std::vector<Override> list;
  for (const auto& [key, value, option] : settings) list.push_back({key, value, option});
  return list;
}

HeldModel kept(Model model) {
  model.picture_file.clear();
  model.output_file.clear();
  return {std::make_shared<const Model>(std::move(model))};
}

namespace {

const char* kind_word(SystemKind kind) {
  switch (kind) {
    case SystemKind::lagrangian: return "lagrangian";
    case SystemKind::hamiltonian: return "hamiltonian";
    case SystemKind::mechanical: return "mechanical";
    case SystemKind::odae: return "odae";
    case SystemKind::dae: return "dae";
    case SystemKind::multibody: return "multibody";
    case SystemKind::own: return "own";
  }
  return "";
}

nb::dict check(const HeldModel& held) {
  const std::shared_ptr<const Model> model = held.model;
  std::ostringstream text, warnings;
  State start;
  ConstraintRank rank;
  const System& system = *model->system;
  const Layout& layout = system.layout();
  const bool dae = layout.kind == SystemKind::dae;
  {
    const WithoutLock free;
    cli::check(*model, text, warnings);
    const bool pairs = dae && text.str().find("Complementarity pairs") != std::string::npos;
    if (!pairs) start = consistent_start(system, model->simulation.start, model->start);
    if (!dae) rank = constraint_rank(system, start.t, start.y.data(), start.z.data());
  }
  nb::dict d;
  d["text"] = text.str();
  d["warnings"] = warnings.str();
  d["kind"] = kind_word(layout.kind);
  d["coordinates"] = layout.ny;
  d["velocities"] = layout.nz;
  d["constraints"] = system.ng();
  if (!dae) {
    d["rank"] = rank.rank;
    d["degrees_of_freedom"] = (layout.kind == SystemKind::multibody ? layout.nz : layout.ny) - rank.rank;
    d["index"] = system.ng() > 0 ? 3 : system.nw() > 0 ? 2 : 0;
  }
  d["t"] = start.t;
  d["y"] = array_of(start.y);
  d["z"] = array_of(start.z);
  d["multipliers"] = array_of(start.psi);
  return d;
}

nb::object value_of(const toml::node& node) {
  if (const auto* list = node.as_array()) {
    nb::list values;
    for (const toml::node& entry : *list) values.append(value_of(entry));
    return values;
  }
  if (const auto number = node.value_exact<std::int64_t>()) return nb::int_(*number);
  if (const auto number = node.value<double>()) return nb::float_(*number);
  return nb::str(node.value_or<std::string>("").c_str());
}

toml::table with_settings(const std::string& text, const std::string& name, const std::vector<SettingText>& settings) {
  try {
    toml::table table = toml::parse(text);
    Source source{name, {}, {}, {}, 0, {}};
    for (const Override& o : overrides_of(settings)) apply_override(table, o, source);
    return table;
  } catch (const toml::parse_error& e) {
    throw InputError(fmt::format("{}: this is not TOML: {}", name, e.description()));
  }
}

// The parameters as they are written: expressions stay texts.
nb::dict parameters(const std::string& text, const std::string& name, const std::vector<SettingText>& settings) {
  nb::dict found;
  const toml::table table = with_settings(text, name, settings);
  if (const toml::table* given = table["parameters"].as_table())
    for (const auto& [key, value] : *given) found[std::string(key.str()).c_str()] = value_of(value);
  return found;
}

// The text of a model file with what was set.
std::string merged(const std::string& text, const std::string& name, const std::vector<SettingText>& settings) {
  std::ostringstream out;
  out << toml::toml_formatter(with_settings(text, name, settings)) << '\n';
  return out.str();
}

// A property that is a member of the model.
template <auto member>
auto get(const HeldModel& held) {
  return (*held.model).*member;
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<HeldModel>(m, "Model", "A model that was read.")
      .def_prop_ro("path", &get<&Model::path>)
      .def_prop_ro("text", &get<&Model::text>)
      .def_prop_ro("title", &get<&Model::title>)
      .def_prop_ro("settings", &get<&Model::settings>)
      .def_prop_ro("section", &get<&Model::section>)
      .def_prop_ro("method", &get<&Model::method>)
      .def_prop_ro("end", &get<&Model::end>)
      .def_prop_ro("start", [](const HeldModel& h) { return h.model->simulation.start; })
      .def_prop_ro("step", [](const HeldModel& h) { return h.model->simulation.step; })
      .def_prop_ro("tolerance", [](const HeldModel& h) { return h.model->simulation.tolerance.relative; })
      .def_prop_ro("description", [](const HeldModel& h) { return h.model->choice.description; })
      .def_prop_ro(
          "position", [](const HeldModel& h) { return array_of(h.model->start.position); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "velocity", [](const HeldModel& h) { return array_of(h.model->start.velocity); }, nb::rv_policy::automatic)
      .def_prop_ro("state_columns", [](const HeldModel& h) { return state_columns(h.model->system->layout()); });
  m.def(
      "load",
      [](const std::string& path, const std::vector<SettingText>& settings) {
        return kept(load_model(path, overrides_of(settings)));
      },
      nb::arg("path"), nb::arg("settings"), nb::call_guard<WithoutLock>());
  m.def(
      "parse",
      [](const std::string& text, const std::string& name, const std::vector<SettingText>& settings) {
        return kept(parse_model(text, name, overrides_of(settings)));
      },
      nb::arg("text"), nb::arg("name"), nb::arg("settings"), nb::call_guard<WithoutLock>());
  m.def("check", &check, nb::arg("model"));
  m.def("merged", &merged, nb::arg("text"), nb::arg("name"), nb::arg("settings"));
  m.def("parameters", &parameters, nb::arg("text"), nb::arg("name"), nb::arg("settings"));
}

}  // namespace hinge::python
