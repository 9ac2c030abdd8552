// Claims about `hinge view`: its page can be opened by whoever has the address and by nobody else, a run is followed,
// and what is changed on the page is run.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace hinge::test::view_test {
namespace {

/// One request as it stands, and all that comes back.
std::string sent(int port, const std::string& request) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(s, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
    send(s, request.data(), request.size(), MSG_NOSIGNAL);
    char piece[65536];
    for (ssize_t n; (n = recv(s, piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<std::size_t>(n));
  }
  close(s);
  return answer;
}

int status_of(const std::string& answer) { return answer.size() < 12 ? 0 : std::atoi(answer.c_str() + 9); }
std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

class View {
 public:
  explicit View(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "view");
    program = std::make_unique<Program>(folder, arguments);
    for (int k = 0; k < 2000 && token.empty(); ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (!folder.has(".stdout")) continue;
      const std::string said = folder.read(".stdout");
      if (said.find('\n') == std::string::npos) continue;
      port = std::atoi(said.c_str() + std::strlen("http://127.0.0.1:"));
      token = said.substr(said.find("token=") + 6, 32);
    }
  }
  std::string get(const std::string& path, const std::string& headers = "") const {
    return sent(port, fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", path, port, headers));
  }
  std::string page() const { return get("/?token=" + token); }
  nlohmann::json rows(int after, int frames) const {
    return nlohmann::json::parse(
        body_of(get(fmt::format("/api/rows?after={}&frames={}&token={}", after, frames, token))));
  }
  std::string post(const std::string& body, const std::string& headers) const {
    return sent(port, fmt::format("POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\n{}\r\n{}",
                                  port, body.size(), headers, body));
  }
  std::string run_again(const std::string& body) const { return post(body, "X-Hinge-Token: " + token + "\r\n"); }
  /// The metadata of the page as it is now.
  nlohmann::json data() const {
    const std::string text = page(), mark = "id=\"hinge-data\">";
    const auto from = text.find(mark) + mark.size();
    return nlohmann::json::parse(text.substr(from, text.find("</script>", from) - from));
  }
  nlohmann::json finished() const {
    for (int k = 0; k < 1000 && rows(0, 0)["status"] == "running"; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return data();
  }

  Folder folder;
  std::unique_ptr<Program> program;
  int port = 0;
  std::string token;
};

#define REQUIRE_PAGE(view)                                                                      \
  if ((view).token.empty() &&                                                                   \
      (view).folder.read(".stderr").find("built without the report page") != std::string::npos) \
    GTEST_SKIP() << "built without the report page";                                            \
  ASSERT_FALSE((view).token.empty()) << (view).folder.read(".stderr")

std::string pendulum_file(const Folder& folder) { return folder.write("m.toml", pendulum); }

TEST(View, ServesThePageToWhoHasTheAddress) {
  const Folder models;
  View view({pendulum_file(models)});
  REQUIRE_PAGE(view);
  EXPECT_EQ(view.token.size(), 32U);
  const std::string page = view.page();
  EXPECT_EQ(status_of(page), 200);
  for (const char* header : {"X-Frame-Options: DENY", "Cache-Control: no-store", "Referrer-Policy: no-referrer"})
    EXPECT_NE(page.find(header), std::string::npos) << header;
  const nlohmann::json data = view.finished();
  EXPECT_EQ(data["status"], "finished");
  EXPECT_EQ(data["live"]["token"], view.token);
  EXPECT_EQ(data["live"]["form"]["parameters"][1], nlohmann::json({{"name", "m"}, {"value", "2"}}));
  view.program->send(SIGINT);
  EXPECT_EQ(view.program->wait().status, 0);
}

TEST(View, RefusesEverybodyElse) {
  const Folder models;
  View view({pendulum_file(models)});
  REQUIRE_PAGE(view);
  const auto plain = [&](const std::string& text) { return status_of(sent(view.port, text)); };
  const std::string good = "GET /?token=" + view.token + " HTTP/1.1\r\n", host = fmt::format("127.0.0.1:{}", view.port);
  EXPECT_EQ(plain(good + "Host: " + host + "\r\n\r\n"), 200);  // the control
  std::string other = view.token;
  other[31] = other[31] == '0' ? '1' : '0';
  for (const std::string& token : {std::string(), other, view.token + "0", view.token.substr(1)})
    EXPECT_EQ(status_of(view.get("/?token=" + token)), 403) << token;
  EXPECT_EQ(status_of(view.get("/")), 403);
  EXPECT_EQ(status_of(view.get("/api/rows?after=0&frames=0")), 403);
  for (const char* name : {"evil.example", "evil.example:80", "127.0.0.1", "localhost:1", "[::1]"})
    EXPECT_EQ(plain(good + "Host: " + name + "\r\n\r\n"), 403) << name;
  EXPECT_EQ(plain(good + "\r\n"), 403);                                              // no Host
  EXPECT_EQ(plain(good + "Host: " + host + "\r\nHost: " + host + "\r\n\r\n"), 400);  // two of them
  EXPECT_EQ(plain(good + fmt::format("Host: localhost:{}\r\n\r\n", view.port)), 200);
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1"})
    EXPECT_EQ(status_of(view.get("/?token=" + view.token, fmt::format("Origin: {}\r\n", origin))), 403) << origin;
  EXPECT_EQ(status_of(view.get("/?token=" + view.token, "Origin: http://" + host + "\r\n")), 200);
  EXPECT_EQ(status_of(view.get("/?token=" + view.token, "Sec-Fetch-Site: cross-site\r\n")), 403);
  for (const char* path : {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "//etc/passwd", "/api",
                           "/api/../", "/m.toml", "/index.html", "http://evil.example/"})
    EXPECT_EQ(status_of(view.get(std::string(path) + "?token=" + view.token)), 404) << path;
  // what changes something needs the token in a header, which a form of another page cannot send
  const std::string change = R"({"parameters":{"l":"2"},"method":"rattle","options":{}})";
  EXPECT_EQ(status_of(view.post(change, "")), 403);
  EXPECT_EQ(status_of(sent(view.port,
                           fmt::format("POST /api/run?token={} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{}",
                                       view.token, host, change.size(), change))),
            403);
  EXPECT_EQ(status_of(view.post(change, "X-Hinge-Token: " + view.token + "\r\nOrigin: http://evil.example\r\n")), 403);
  EXPECT_EQ(status_of(view.get("/api/run?token=" + view.token)), 405);
  EXPECT_EQ(plain("DELETE / HTTP/1.1\r\nHost: " + host + "\r\nX-Hinge-Token: " + view.token + "\r\n\r\n"), 405);
  EXPECT_EQ(view.data()["live"]["form"]["parameters"][0]["value"], "1");  // nothing was changed
}

TEST(View, RefusesWhatIsTooLong) {
  const Folder models;
  View view({pendulum_file(models)});
  REQUIRE_PAGE(view);
  const std::string token = "X-Hinge-Token: " + view.token + "\r\n";
  EXPECT_EQ(status_of(view.post(std::string(64 << 10, ' '), token)), 400);  // no JSON, but not too long
  EXPECT_EQ(status_of(view.post(std::string((64 << 10) + 1, ' '), token)), 413);
  const std::string host = fmt::format("Host: 127.0.0.1:{}\r\n", view.port);
  EXPECT_EQ(status_of(sent(view.port, "POST /api/run HTTP/1.1\r\n" + host + token +
                                          "Content-Length: 99999999999999999999999\r\n\r\n")),
            413);
  EXPECT_EQ(status_of(sent(view.port, "POST /api/run HTTP/1.1\r\n" + host + token + "Content-Length: -1\r\n\r\n")),
            400);
  EXPECT_EQ(status_of(sent(view.port, "POST /api/run HTTP/1.1\r\n" + host + token +
                                          "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
            411);
  EXPECT_EQ(status_of(view.get("/?token=" + view.token, "X: " + std::string(20000, 'x') + "\r\n")), 431);
  EXPECT_EQ(status_of(sent(view.port, std::string(20000, 'x'))), 431);
  EXPECT_EQ(status_of(sent(view.port, "hello\r\n\r\n")), 400);
  EXPECT_EQ(status_of(view.page()), 200);
}

// One who says nothing does not keep others waiting.
TEST(View, AnswersWhileOthersSayNothing) {
  const Folder models;
  View view({pendulum_file(models)});
  REQUIRE_PAGE(view);
  std::vector<int> silent;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(view.port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int k = 0; k < 20; ++k) {
    silent.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(silent.back(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    if (k % 2) send(silent.back(), "GET / HT", 8, MSG_NOSIGNAL);
  }
  EXPECT_EQ(status_of(view.page()), 200);
  view.program->send(SIGINT);  // nor does it keep the program from ending
  EXPECT_EQ(view.program->wait().status, 0);
  for (const int s : silent) close(s);
}

TEST(View, RunsAgainWithWhatIsChanged) {
  const Folder models;
  View view({pendulum_file(models)});
  REQUIRE_PAGE(view);
  const nlohmann::json before = view.finished();
  const std::string answer =
      view.run_again(R"({"parameters":{"l":"1"},"method":"rattle","options":{},"step":"0.005","end":"0.1"})");
  EXPECT_EQ(status_of(answer), 202) << answer;
  const nlohmann::json after = view.finished();
  EXPECT_EQ(after["status"], "finished");
  EXPECT_EQ(after["method"]["name"], "rattle");
  EXPECT_EQ(after["time"]["steps"], 20);
  EXPECT_EQ(after["live"]["form"]["end"], "0.1");
  EXPECT_NE(after["live"]["run"], before["live"]["run"]);
  EXPECT_EQ(after["settings"], "integrate.end=0.1 integrate.method=rattle integrate.step=0.005 parameters.l=1");
  // a tolerance takes the place of the step, options are those of the method
  EXPECT_EQ(status_of(view.run_again(
                R"({"parameters":{},"method":"radau","options":{"formulation":"ggl"},"tolerance":"1e-6"})")),
            202);
  const nlohmann::json radau = view.finished();
  EXPECT_EQ(radau["time"]["tolerance"]["relative"], 1e-6);
  EXPECT_NE(radau["settings"].get<std::string>().find("integrate.formulation=ggl"), std::string::npos);
}

TEST(View, SaysWhatIsWrongWithAChangeAndKeepsTheRun) {
  const Folder models;
  View view({pendulum_file(models)});
  REQUIRE_PAGE(view);
  const nlohmann::json before = view.finished();
  const auto refused = [&](const std::string& body, const std::string& why) {
    const std::string answer = view.run_again(body);
    EXPECT_EQ(status_of(answer), 400) << body;
    EXPECT_NE(answer.find(why), std::string::npos) << answer;
  };
  refused("[1, 2]", "JSON object");
  refused("{", "JSON object");
  refused(R"({"parameters":{"length":"2"},"method":"rattle"})", "no parameter 'length'");
  refused(R"({"parameters":{"l":2},"method":"rattle"})", "expected a text");
  refused(R"({"parameters":{"l":"long"},"method":"rattle"})", "long");
  refused(R"({"method":"ratle"})", "no method 'ratle'");
  refused(R"({"method":"rattle","options":{"file":"/tmp/x.csv"}})", "no option 'file'");
  refused(R"({"method":"rattle","step":"-1"})", "positive");
  refused(R"({"method":"rattle","step":"0.1\noutput.file = \"x.csv\""})", "one line");
  EXPECT_EQ(view.data()["live"]["run"], before["live"]["run"]);
}

TEST(View, FollowsARunInProgress) {
  const Folder models;
  View view({models.write("long.toml", with(pendulum, "end = 0.05", "end = 1e9"))});
  REQUIRE_PAGE(view);
  const nlohmann::json data = view.data();
  EXPECT_EQ(data["status"], "running");
  EXPECT_FALSE(data.contains("verdict"));
  const std::size_t rows = data["tables"][0]["rows"], columns = data["tables"][0]["columns"].size();
  nlohmann::json news = view.rows(static_cast<int>(rows), data["scene"]["frames"]["count"]);
  for (int k = 0; k < 500 && news["rows"] == 0; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    news = view.rows(static_cast<int>(rows), data["scene"]["frames"]["count"]);
  }
  EXPECT_EQ(news["status"], "running");
  EXPECT_GT(news["rows"], 0);
  EXPECT_EQ(news["columns"].size(), columns);
  const std::size_t doubles = news["rows"], text = (8 * doubles + 2) / 3 * 4;
  EXPECT_EQ(news["time"].get<std::string>().size(), text);
  EXPECT_EQ(news["columns"][0].get<std::string>().size(), text);
  EXPECT_EQ(status_of(view.get("/api/rows?after=-1&token=" + view.token)), 400);
  EXPECT_EQ(view.rows(1 << 30, 1 << 30)["rows"], 0);
  view.program->send(SIGINT);  // in the middle of it
  EXPECT_EQ(view.program->wait().status, 0);
}

TEST(View, ShowsARecordAndRunsItsModelAgain) {
  const Folder folder;
  const std::string model = pendulum_file(folder), record = folder.file("run.csv");
  ASSERT_EQ(hinge(folder, {"run", model, "--set", "parameters.m=3", "--out", record}).status, 0);
  std::filesystem::remove(model);  // the record has it
  View view({record});
  REQUIRE_PAGE(view);
  const nlohmann::json data = view.finished();
  EXPECT_EQ(data["status"], "finished");
  EXPECT_EQ(data["tables"][0]["rows"], 6);
  EXPECT_EQ(data["settings"], "parameters.m=3");
  EXPECT_FALSE(data.contains("verdict"));  // that is not in a record
  EXPECT_LT(data["preserved"][0]["value"], 1e-14);
  EXPECT_EQ(status_of(view.run_again(R"({"parameters":{"m":"4"},"method":"gauss-lobatto"})")), 202);
  EXPECT_EQ(view.finished()["settings"], "parameters.m=4");
}

TEST(View, FollowsARecordThatIsBeingWritten) {
  const Folder folder;
  const std::string record = folder.file("run.csv");
  Program writer(folder,
                 {"run", folder.write("long.toml", with(pendulum, "end = 0.05", "end = 1e9")), "--out", record});
  for (int k = 0; k < 1000 && !(folder.has("run.csv") && std::filesystem::file_size(record) > 20000); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  View view({record});
  REQUIRE_PAGE(view);
  const nlohmann::json first = view.rows(0, 0);
  EXPECT_EQ(first["status"], "running");
  writer.send(SIGINT);
  writer.wait();
  const nlohmann::json last = view.finished();
  EXPECT_EQ(last["status"], "stopped");
  EXPECT_GT(last["tables"][0]["rows"], first["rows"]);
}

TEST(View, RefusesWhatItCannotShow) {
  const Folder folder;
  const auto refused = [&](std::vector<std::string> arguments, const std::string& why) {
    arguments.insert(arguments.begin(), "view");
    const Answer answer = hinge(folder, arguments);
    if (answer.err.find("built without the report page") != std::string::npos) return;
    EXPECT_EQ(answer.status, 2);
    EXPECT_NE(answer.err.find(why), std::string::npos) << answer.err;
  };
  refused({folder.file("none.toml")}, "cannot read");
  refused({folder.file("none.h5")}, "none.h5");
  refused({folder.write("numbers.csv", "t,x\n0,1\n"), "--set", "a.b=1"}, "--set changes a model");
  refused({folder.write("numbers.csv", "t,x\n0,1\n")}, "no model text");
  refused({pendulum_file(folder), "--port", "70000"}, "0 to 65535");
}

}  // namespace
}  // namespace hinge::test::view_test
