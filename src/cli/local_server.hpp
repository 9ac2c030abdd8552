// A small HTTP server for one's own browser and nobody else: it listens on 127.0.0.1 only, and what does not carry its
// token, or comes from a page of another origin, is refused before anything is looked at. No files are served: there is
// nothing but what the handler answers. One thread, the caller's; every connection has one request, and a time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace hinge::cli {

struct HttpRequest {
  std::string method, path;                    ///< "GET", "/api/rows"
  std::map<std::string, std::string> query;    ///< "after" -> "10"
  std::map<std::string, std::string> headers;  ///< names in small letters
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::string body;
  std::string type = "application/json";
};

/// { "error": message }, which the page shows.
HttpAnswer http_error(int status, const std::string& message);

struct ServerLimits {
  std::size_t head = 16 << 10, body = 64 << 10;  ///< bytes of a request
  std::size_t connections = 32;                  ///< at once; others wait
  double request_seconds = 10, answer_seconds = 60;
};

class LocalServer {
 public:
  /// Port 0: any that is free. Throws InputError where the port is taken.
  explicit LocalServer(int port, ServerLimits limits = {});
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  int port() const { return port_; }
  const std::string& token() const { return token_; }
  /// Where the page is: http://127.0.0.1:PORT/?token=TOKEN
  std::string address() const;

  /// Answers until `stopped` says so; it is asked several times a second.
  void serve(const std::function<HttpAnswer(const HttpRequest&)>& handle, const std::function<bool()>& stopped) const;

 private:
  int port_ = 0, socket_ = -1;
  ServerLimits limits_;
  std::string token_;
};

}  // namespace hinge::cli
