// Results: rows as arrays without a copy, and what the run said.
#include <sstream>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "cli/json.hpp"
#include "core.hpp"
#include "hinge/error.hpp"
#include "simulate/dae_levels.hpp"
#include "simulate/record/recorder.hpp"
#include "solve/linear/vectors.hpp"
#include "system/symbolic.hpp"

namespace hinge::python {

namespace {

Table values_of(const Result& result) {
  auto* const owned = new std::shared_ptr<const Trajectory>(result.rows);
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Trajectory>*>(p); });
  const Trajectory& rows = *result.rows;
  return Table(rows.values.data(), {rows.rows(), rows.header.columns.size()}, owner);
}

// max |g| and max |g_t + G v| row by row; for a DAE of its algebraic equations and of the hidden ones.
std::pair<std::vector<double>, std::vector<double>> levels(const Result& result) {
  if (!result.model) throw InputError("this record has no model in it, and so no constraints");
  const System& system = *result.model->system;
  const Layout& l = system.layout();
  const Trajectory& rows = *result.rows;
  const std::size_t n = rows.rows();
  std::vector<double> position(n, 0), velocity(n, 0);
  const auto count = [](int k) { return static_cast<std::size_t>(k); };
  if (rows.header.columns.size() < 1 + count(l.ny) + count(l.nz) + count(l.npsi))
    throw InputError("the columns of this record are not those of its model");
  const SymbolicSystem* const symbolic = symbolic_part(system);
  std::unique_ptr<DaeLevels> dae;
  std::unique_ptr<Evaluation> evaluation;
  if (system.structure().is_dae && symbolic)
    dae = std::make_unique<DaeLevels>(*symbolic);
  else if (system.nrates() > 0)
    evaluation = system.evaluation({Quantity::constraint, Quantity::constraint_rate});
  State s;
  for (std::size_t k = 0; k < n; ++k) {
    const double* at = rows.row(k).data();
    s.t = *at++;
    s.y.assign(at, at + l.ny);
    s.z.assign(at + l.ny, at + l.ny + l.nz);
    s.psi.assign(at + l.ny + l.nz, at + l.ny + l.nz + l.npsi);
    if (dae && !dae->empty()) {
      dae->at(s);
      position[k] = dae->algebraic;
      velocity[k] = dae->hidden;
    } else if (evaluation) {
      evaluation->at(s.t, s.y.data(), s.z.data(), s.psi.data());
      position[k] = biggest((*evaluation)[Quantity::constraint], system.ng());
      velocity[k] = biggest((*evaluation)[Quantity::constraint_rate], system.nrates());
    }
  }
  return {position, velocity};
}

void save(const Result& result, const std::string& path, bool force) {
  require_known_ending(path);
  if (!force) require_replaceable(path);
  const Trajectory& rows = *result.rows;
  const std::unique_ptr<Recorder> recorder = open_recorder(path, rows.header);
  auto event = rows.events.begin();
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    Row row{.values = rows.row(k), .columns = rows.header.columns};
    if (event != rows.events.end() && event->row == k) row.event = (event++)->name;
    recorder->record(row);
  }
  recorder->finish(rows.status);
}

Result read(const std::string& path) {
  Result result;
  result.rows = std::make_shared<const Trajectory>(read_record(path));
  return result;
}

Result::Said said_of(const Result& result) {
  if (!result.report) return result.said;
  std::ostringstream out;
  out << *result.report;
  return {cli::json_text(*result.report, result.method), out.str(), verdict_text(*result.report)};
}

// What a pickle holds: all but the model, which is another object's.
using Pickle = std::tuple<std::vector<std::string>, std::vector<std::pair<std::string, std::string>>, std::string,
                          std::string, std::vector<std::pair<std::string, std::size_t>>,
                          std::tuple<std::string, std::string, std::string>, Table>;

Pickle state_of(const Result& result) {
  const Trajectory& rows = *result.rows;
  std::vector<std::pair<std::string, std::size_t>> events;
  for (const Trajectory::Event& e : rows.events) events.emplace_back(e.name, e.row);
  const auto [json, text, verdict] = said_of(result);
  return {rows.header.columns, rows.header.about,     rows.header.model, rows.status,
          std::move(events),   {json, text, verdict}, values_of(result)};
}

void restore(Result& result, const Pickle& pickle) {
  const auto& [columns, about, model, status, events, said, values] = pickle;
  const auto rows = std::make_shared<Trajectory>();
  rows->header = {columns, about, model};
  rows->status = status;
  for (const auto& [name, row] : events) rows->events.push_back({name, row});
  rows->values.assign(values.data(), values.data() + values.size());
  if (columns.empty() || values.shape(1) != columns.size()) throw InputError("this is no pickled result");
  new (&result) Result{{}, rows, {}, {std::get<0>(said), std::get<1>(said), std::get<2>(said)}, {}, 0, {}};
}

nb::list events_of(const Result& result) {
  nb::list list;
  for (const Trajectory::Event& e : result.rows->events) list.append(nb::make_tuple(e.name, e.row));
  return list;
}

}  // namespace

void bind_result(nb::module_& m) {
  nb::class_<Result>(m, "Result", "Rows of a run, and its report.")
      .def_prop_ro("values", &values_of, nb::rv_policy::automatic)
      .def_prop_ro("columns", [](const Result& r) { return r.rows->header.columns; })
      .def_prop_ro("about", [](const Result& r) { return r.rows->header.about; })
      .def_prop_ro("model", [](const Result& r) { return HeldModel{r.model}; })
      .def_prop_ro("model_text", [](const Result& r) { return r.rows->header.model; })
      .def_prop_ro("status", [](const Result& r) { return r.rows->status; })
      .def_prop_ro("events", &events_of)
      .def_ro("failure", &Result::failure)
      .def_ro("failed_at", &Result::failed_at)
      .def_prop_ro("json", [](const Result& r) { return said_of(r).json; })
      .def_prop_ro("text", [](const Result& r) { return said_of(r).text; })
      .def_prop_ro("verdict", [](const Result& r) { return said_of(r).verdict; })
      .def("__getstate__", &state_of)
      .def("__setstate__", &restore)
      .def("levels",
           [](const Result& r) {
             std::pair<std::vector<double>, std::vector<double>> both;
             {
               const WithoutLock free;
               both = levels(r);
             }
             return nb::make_tuple(array_of(std::move(both.first)), array_of(std::move(both.second)));
           })
      .def("with_model",
           [](const Result& r, const HeldModel& model) {
             Result copy = r;
             copy.model = model.model;
             return copy;
           })
      .def("save", &save, nb::arg("path"), nb::arg("force") = false, nb::call_guard<WithoutLock>());
  m.def("read", &read, nb::arg("path"), nb::call_guard<WithoutLock>());
}

}  // namespace hinge::python
