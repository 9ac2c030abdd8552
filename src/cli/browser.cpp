#include "cli/browser.hpp"

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

constexpr double patience = 120;  // seconds for one answer

std::string from_base64(const std::string& text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int digit = -1;
    if (c >= 'A' && c <= 'Z') digit = c - 'A';
    if (c >= 'a' && c <= 'z') digit = c - 'a' + 26;
    if (c >= '0' && c <= '9') digit = c - '0' + 52;
    if (c == '+') digit = 62;
    if (c == '/') digit = 63;
    if (digit < 0) continue;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((count += 6) >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xffU);
  }
  return out;
}

std::string address_of(const std::string& file) {
  std::string address = "file://";
  for (const char c : std::filesystem::absolute(file).lexically_normal().string()) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-~").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

}  // namespace

std::string find_browser() {
  if (const char* own = std::getenv("HINGE_CHROMIUM")) return find_program({own});
  return find_program({"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"});
}

Browser::Browser(int width, int height) : width_(width), height_(height) {
  std::vector<std::string> arguments{"--headless=new", "--remote-debugging-pipe", "--no-first-run", "--mute-audio",
                                     "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
                                     // rendered in software: the same on every machine, and no display is needed
                                     "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                                     "--ignore-gpu-blocklist", "--user-data-dir=" + folder_.path(),
                                     fmt::format("--window-size={},{}", width, height)};
  if (geteuid() == 0) arguments.emplace_back("--no-sandbox");  // Chromium's sandbox refuses root
  arguments.emplace_back("about:blank");
  program_ = std::make_unique<OtherProgram>(find_browser(), arguments, true);
  const nlohmann::json target = ask("Target.createTarget", {{"url", "about:blank"}});
  session_ = ask("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}}).at("sessionId");
  ask("Emulation.setDeviceMetricsOverride",
      {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  ask("Page.enable", nlohmann::json::object());
}

nlohmann::json Browser::next_message() {
  std::size_t end = 0;
  while ((end = waiting_.find('\0')) == std::string::npos) {
    const std::string piece = program_->read(patience);
    if (piece.empty()) throw InputError(fmt::format("{} does not answer", find_browser()));
    waiting_ += piece;
  }
  const nlohmann::json message = nlohmann::json::parse(waiting_.substr(0, end), nullptr, false);
  waiting_.erase(0, end + 1);
  return message;
}

nlohmann::json Browser::ask(const std::string& method, const nlohmann::json& parameters) {
  nlohmann::json request = {{"id", ++asked_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) request["sessionId"] = session_;
  if (!program_->write(request.dump() + '\0')) throw InputError(fmt::format("{} has ended", find_browser()));
  while (true) {
    const nlohmann::json answer = next_message();
    if (answer.value("id", 0) != asked_) continue;  // an event
    if (answer.contains("error"))
      throw InputError(fmt::format("{}: {}", method, answer["error"].value("message", "it failed")));
    return answer.at("result");
  }
}

void Browser::prefer(const std::string& theme) {
  const nlohmann::json features = {{{"name", "prefers-color-scheme"}, {"value", theme}},
                                   {{"name", "prefers-reduced-motion"}, {"value", "reduce"}}};
  ask("Emulation.setEmulatedMedia", {{"features", features}});
}

void Browser::open(const std::string& file) {
  ask("Page.navigate", {{"url", address_of(file)}});
  evaluate("new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))");
  // the report page: reads its data after that
  evaluate(
      "document.getElementById('hinge-data') ? new Promise((done) => { const look = () => "
      "document.documentElement.dataset.ready ? done() : setTimeout(look, 20); look(); }) : null");
}

nlohmann::json Browser::evaluate(const std::string& expression) {
  const nlohmann::json answer =
      ask("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  if (answer.contains("exceptionDetails"))
    throw InputError(fmt::format("the page failed: {}", answer["exceptionDetails"].value("text", "")));
  return answer.at("result").value("value", nlohmann::json());
}

std::string Browser::picture(double scale) {
  return from_base64(
      ask("Page.captureScreenshot",
          {{"format", "png"}, {"clip", {{"x", 0}, {"y", 0}, {"width", width_}, {"height", height_}, {"scale", scale}}}})
          .at("data"));
}

std::string Browser::paper() {
  constexpr double pixels = 96;  // per inch
  return from_base64(ask("Page.printToPDF", {{"printBackground", true},
                                             {"paperWidth", width_ / pixels},
                                             {"paperHeight", height_ / pixels},
                                             {"marginTop", 0},
                                             {"marginBottom", 0},
                                             {"marginLeft", 0},
                                             {"marginRight", 0},
                                             {"pageRanges", "1"}})
                         .at("data"));
}

}  // namespace hinge::cli
