// What the files of hinge._core share: models, runs and results as Python holds them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "hinge/model.hpp"
#include "lock.hpp"

namespace hinge::python {

namespace nb = nanobind;

using Numbers = nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig>;
using Table = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig>;

/// An array that owns the numbers.
Numbers array_of(std::vector<double> numbers);

/// A model as Python holds it: shared by all runs of it.
struct HeldModel {
  std::shared_ptr<const Model> model;
};

/// What is set on top of a model's text: key, value as TOML, the option of the program that stands for it.
using SettingText = std::tuple<std::string, std::string, std::string>;
std::vector<Override> overrides_of(const std::vector<SettingText>& settings);

/// The model without the files that it would write: they are written where Python asks for them.
HeldModel kept(Model model);

/// A result: rows, and what is said of them. Rows stay where they are; arrays keep what they show alive.
struct Result {
  std::shared_ptr<const Model> model;  ///< null for a record without one, and for runs of a sweep
  std::shared_ptr<const Trajectory> rows;
  std::optional<Report> report;  ///< none for a record that was read
  struct Said {
    std::string json, text, verdict;
  };
  Said said{};          ///< by the report, where another process had it
  std::string failure;  ///< why the run failed; empty where it did not
  double failed_at = 0;
  std::string method{};  ///< by its name
};

/// Runs the model to its end, with its rows kept. Numerics that fail are told in the result. `prepare` is called before
/// the start; `out` is a file to record to.
Result completed(const std::shared_ptr<const Model>& model, const std::function<void(Simulation&)>& prepare,
                 const std::string& out = {});

/// A message as a text of Python; names of files and what models say may be no UTF-8.
nb::object sentence(const std::string& message);

/// Has a function of the user returned False, Python's or NumPy's?
bool says_stop(nb::handle answer);

/// Calls Python between steps, about ten times a second: Ctrl-C, and whoever wants to know how far a run is. Whatever
/// is raised there goes through the library as an exception and arrives as it was.
std::function<bool(double)> progress_of(nb::object callback);

void bind_errors();
void bind_model(nb::module_& m);
void bind_run(nb::module_& m);
void bind_result(nb::module_& m);
void bind_session(nb::module_& m);
void bind_study(nb::module_& m);
void bind_sweep(nb::module_& m);
void bind_contact(nb::module_& m);
void bind_dae(nb::module_& m);

}  // namespace hinge::python
