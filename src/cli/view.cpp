// hinge view: the report page, served to one's own browser while the run goes on, with values to change and run again.
#include <spawn.h>
#include <sys/wait.h>

#include <charconv>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/local_server.hpp"
#include "cli/page_template.hpp"
#include "cli/terminal.hpp"
#include "cli/view_form.hpp"
#include "cli/viewed_run.hpp"
#include "hinge/error.hpp"

extern char** environ;

namespace hinge::cli {

namespace {

// What is looked at: a model, or a record with the model in it, and what was changed on the page.
class Viewing {
 public:
  explicit Viewing(const ViewArguments& a) : path_(a.file), overrides_(a.overrides) {
    if (std::filesystem::path(path_).extension() == ".toml") {
      run_ = ViewedRun::of_model(load_model(path_, overrides_), number_);
      return;
    }
    if (!overrides_.empty())
      throw InputError(fmt::format("--set changes a model, and '{}' is a record of a run", path_));
    RecordedModel recorded = recorded_model(path_);
    recorded_text_ = recorded.text;
    overrides_ = recorded.overrides;
    run_ = ViewedRun::of_record(path_, std::move(recorded.model), number_);
  }

  HttpAnswer answer(const HttpRequest& request, const std::string& token) {
    if (request.path == "/" || request.path == "/api/rows") {
      if (request.method != "GET") return http_error(405, "only GET is answered here");
      return request.path == "/" ? page(token) : rows(request);
    }
    if (request.path != "/api/run") return http_error(404, "there is nothing here");
    if (request.method != "POST") return http_error(405, "only POST is answered here");
    return run_again(request.body);
  }

 private:
  Model read(const std::vector<Override>& overrides) const {
    return recorded_text_.empty() ? load_model(path_, overrides) : parse_model(recorded_text_, path_, overrides);
  }

  HttpAnswer page(const std::string& token) const {
    const Json live = {
        {"token", token}, {"poll_ms", 300}, {"form", form_of(run_->model(), with_changes(overrides_, changes_))}};
    return {200, run_->page(page_template(), live), "text/html; charset=utf-8"};
  }

  HttpAnswer rows(const HttpRequest& request) const {
    std::size_t from[2] = {0, 0};
    const char* const names[2] = {"after", "frames"};
    for (int k = 0; k < 2; ++k) {
      const auto given = request.query.find(names[k]);
      if (given == request.query.end()) continue;
      const std::string& text = given->second;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), from[k]);
      if (error != std::errc() || stop != text.data() + text.size())
        return http_error(400, fmt::format("{} must be a whole number", names[k]));
    }
    return {200, run_->news(from[0], from[1]).dump()};
  }

  // The run that goes on is ended only when the new one has begun.
  HttpAnswer run_again(const std::string& body) {
    try {
      const Changes after = changes_after(changes_, body, run_->model(), with_changes(overrides_, changes_));
      std::unique_ptr<ViewedRun> next = ViewedRun::of_model(read(with_changes(overrides_, after)), number_ + 1);
      run_ = std::move(next);
      changes_ = after;
      ++number_;
      return {202, Json{{"run", std::to_string(number_)}}.dump()};
    } catch (const Error& e) {
      return http_error(400, e.what());
    } catch (const std::bad_alloc&) {
      return http_error(400, "there is not enough memory for this");
    }
  }

  std::string path_, recorded_text_;
  std::vector<Override> overrides_;
  Changes changes_;
  int number_ = 1;
  std::unique_ptr<ViewedRun> run_;
};

void open_in_browser(const std::string& address) {
  std::string program = "xdg-open", where = address;
  char* const words[] = {program.data(), where.data(), nullptr};
  pid_t process = 0;
  if (posix_spawnp(&process, "xdg-open", nullptr, nullptr, words, environ) != 0)
    std::cerr << "hinge: there is no xdg-open here; open the address in a browser yourself\n";
}

}  // namespace

int view(const ViewArguments& arguments) {
  require_page_template("hinge view");
  Viewing viewing(arguments);
  const LocalServer server(arguments.port);
  catch_interrupts();
  std::cout << fmt::format("{}\nopen this address in a browser on this machine; Ctrl-C ends it\n", server.address())
            << std::flush;
  if (arguments.open) open_in_browser(server.address());
  server.serve([&](const HttpRequest& request) { return viewing.answer(request, server.token()); }, stop_asked);
  return done;
}

}  // namespace hinge::cli
