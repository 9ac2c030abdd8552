// Chromium without a window, driven through a pipe by its DevTools protocol: it opens a page, runs what it is told
// there, and gives pictures of it.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/other_program.hpp"

namespace hinge::cli {

/// Where Chromium (or Chrome) is; HINGE_CHROMIUM names another one. Empty: there is none.
std::string find_browser();

class Browser {
 public:
  Browser(int width, int height);
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// "light" or "dark"; and nothing moves by itself.
  void prefer(const std::string& theme);
  /// Opens a file, and waits until it is loaded.
  void open(const std::string& file);
  /// The value of an expression of JavaScript; a promise is waited for.
  nlohmann::json evaluate(const std::string& expression);
  /// The page as it is, as PNG; with `scale` times as many pixels.
  std::string picture(double scale = 1);
  /// The page on paper of its own size, as PDF.
  std::string paper();

 private:
  nlohmann::json ask(const std::string& method, const nlohmann::json& parameters);
  nlohmann::json next_message();

  int width_, height_, asked_ = 0;
  TemporaryFolder folder_;
  std::string session_, waiting_;
  std::unique_ptr<OtherProgram> program_;
};

}  // namespace hinge::cli
