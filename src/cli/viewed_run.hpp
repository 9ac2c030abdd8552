// A run that is looked at while it goes on: of a model, computed in a thread of its own, or of a record, which another
// program may still be writing. Ends with its object.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "hinge/model.hpp"
#include "simulate/page/page_recorder.hpp"

namespace hinge::cli {

/// The model that a record carries, with what was set on top of it.
struct RecordedModel {
  std::string text;
  std::vector<Override> overrides;
  Model model;
};
/// Throws InputError where there is none in it.
RecordedModel recorded_model(const std::string& path);

class ViewedRun {
 public:
  /// Starts it; what is wrong with the model is thrown here, with its place. `number` tells runs from each other.
  static std::unique_ptr<ViewedRun> of_model(Model model, int number);
  /// `model` is the one that the record carries. A record that nobody writes any more is read at once.
  static std::unique_ptr<ViewedRun> of_record(const std::string& path, Model model, int number);
  ~ViewedRun();
  ViewedRun(const ViewedRun&) = delete;
  ViewedRun& operator=(const ViewedRun&) = delete;

  const Model& model() const { return model_; }
  /// The page as it is now; the name of the run is added to `live`, unless that is null.
  std::string page(std::string_view page, Json live) const;
  /// The answer to GET /api/rows.
  Json news(std::size_t rows, std::size_t frames) const;
  bool over() const;
  /// "finished", "failed" ...; "running".
  std::string status() const;

 private:
  ViewedRun(Model model, int number);
  std::string name() const;  // of this run as pages know it: they load themselves anew where it changes
  void compute();
  void follow(const std::string& path);
  std::size_t take_rows(const Trajectory& record, std::size_t from);
  void conclude(Json summary, const State& final);

  Model model_;
  int number_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<State> row_state_;
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;  // for all that follows
  PageRecorder page_;
  Json summary_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace hinge::cli
