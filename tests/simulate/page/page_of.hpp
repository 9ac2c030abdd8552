// The page of a model's run, read back.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "places.hpp"
#include "simulate/page/page_recorder.hpp"
#include "simulate/page/read_page.hpp"

namespace hinge {

class PageOf {
 public:
  explicit PageOf(const Model& model, std::size_t most_numbers = 3'000'000)
      : path_((std::filesystem::temp_directory_path() / fmt::format("hinge_page_{}.html", ::getpid())).string()) {
    PageOptions options;
    options.system = model.system;
    options.view = model.view;
    options.start = model.simulation.start;
    options.end = model.end;
    options.momentum_maps = model.momentum_maps.size();
    options.method = model.method;
    options.model_name = model.path;
    options.model_text = model.text;
    options.most_numbers = most_numbers;
    PageRecorder page(path_, options);
    Simulation run = model.simulation_for("");
    run.keep_rows();
    run.on_row([&](const Row& row) { page.take(row); });
    run.start(model.start);
    try {
      run.until(model.end);
    } catch (const StepFailure&) {
    }
    report = run.report();
    rows = run.trajectory();
    bytes = page.write(empty_page, report);
    EXPECT_EQ(bytes, std::filesystem::file_size(path_));
    EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
    read = std::make_unique<ReadPage>(path_);
    std::filesystem::remove(path_);
  }
  Report report;
  Trajectory rows;
  std::size_t bytes = 0;
  std::unique_ptr<ReadPage> read;

 private:
  std::string path_;
};

inline PageOf page_of(const std::string& example, const std::vector<Override>& overrides = {}) {
  return PageOf(load_model(HINGE_EXAMPLES "/" + example, overrides));
}

}  // namespace hinge
