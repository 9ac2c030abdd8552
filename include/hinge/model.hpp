// A TOML model file -> System, method, initial values and output choices, ready to run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

/// One `--set key=value`: overrides a key of the file.
struct Override {
  std::string key, value;
  std::string option{};  ///< the option that stands for it in messages, such as --step; empty for --set
};

struct View;

struct Model {
  std::string path, text, title;
  std::string settings;  ///< the overrides, as they are recorded with a run
  std::shared_ptr<const System> system;
  std::string section;  ///< that describes it: "lagrangian"
  std::string method;
  Options method_options;
  MethodChoice choice;  ///< the method, made of these two
  SimulationOptions simulation;
  double end = 0;  ///< NaN when the file gives none
  Start start;
  struct Quantity {
    std::string name;
    Vector value;
    std::vector<int> shape;
  };
  std::vector<Quantity> quantities;
  std::vector<std::string> forces;  ///< names of forces that quantities may use: "hinge_torque"
  std::vector<std::pair<std::string, MomentumMap>> momentum_maps;  ///< [output] momentum
  std::vector<Event> events;                                       ///< [[event]]
  std::string output_file;                                         ///< [output] file, in the folder of the model
  std::string picture_file;                                        ///< [output] vtk, there too
  ExactSolution exact;                                             ///< [exact]
  std::shared_ptr<const View> view;                                ///< [view]; null: all of it is derived
  std::vector<std::string> warnings;  ///< what of it does something else than it seems to, with --step and --end

  /// A simulation with the method bound, quantities observed and output set; start() has not been called.
  Simulation simulation_for(const std::string& output_path) const;
};

/// Reads a model. Throws InputError with file, line, column, cause and remedy.
Model load_model(const std::string& path, const std::vector<Override>& overrides = {});
/// The same from text; `name` stands for the file name in messages.
Model parse_model(const std::string& text, const std::string& name, const std::vector<Override>& overrides = {});

/// One model many times over, with other values of some keys: runs of a sweep. Where these are numbers of [parameters]
/// and [initial], what is read, derived and compiled is made once and taken with other numbers in its place, as long as
/// the same would be made: a value of 0 or 1, or the same as another one, may simplify an expression, and exponents,
/// conditions and sizes change it. Each model is what parse_model() gives, and runs of it have the same bits; but it
/// has no `view` then.
class ModelVariants {
 public:
  /// `always`: what all have.
  ModelVariants(std::string text, std::string name, std::vector<Override> always = {});
  ModelVariants(const ModelVariants&) = delete;
  ModelVariants& operator=(const ModelVariants&) = delete;
  ~ModelVariants();
  /// May be called by several threads at once. Throws as parse_model() does.
  Model with(const std::vector<Override>& values) const;
  /// So many times there was one to take.
  long found() const;

 private:
  struct Shelf;
  Model read(const std::vector<Override>& all, const std::string& keys, const std::vector<double>& numbers) const;

  std::string text_, name_;
  std::vector<Override> always_;
  std::unique_ptr<Shelf> shelf_;
};

/// Why a path lies outside of the folder of the model, links followed; empty where it does not.
std::string why_outside(const Model& model, const std::string& path);

}  // namespace hinge
