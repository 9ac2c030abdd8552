#include "cli/local_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/http_request.hpp"
#include "hinge/error.hpp"

namespace hinge::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::string random_token() {
  unsigned char bytes[16];
  for (std::size_t have = 0; have < sizeof bytes;) {
    const ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

// One connection: a request comes in, one answer goes out, and it is closed.
struct Connection {
  int socket;
  Clock::time_point deadline;
  std::string in{}, out{};
  std::size_t sent = 0;
  bool answering = false;
};

std::string answer_text(const HttpAnswer& a) {
  static const std::map<int, const char*> reasons{{200, "OK"},
                                                  {202, "Accepted"},
                                                  {400, "Bad Request"},
                                                  {403, "Forbidden"},
                                                  {404, "Not Found"},
                                                  {405, "Method Not Allowed"},
                                                  {408, "Request Timeout"},
                                                  {409, "Conflict"},
                                                  {411, "Length Required"},
                                                  {413, "Content Too Large"},
                                                  {431, "Request Header Fields Too Large"}};
  const auto reason = reasons.find(a.status);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\r\n{}",
      a.status, reason == reasons.end() ? "Error" : reason->second, a.type, a.body.size(), a.body);
}

void close_all(std::list<Connection>& all) {
  for (const Connection& c : all) close(c.socket);
  all.clear();
}

// Takes what has come. False where the other side is gone.
bool read_some(Connection& c) {
  char piece[16384];
  const ssize_t got = recv(c.socket, piece, sizeof piece, 0);
  if (got > 0) c.in.append(piece, static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// Sends what can be sent. False where all of it is sent, or nobody listens any more.
bool write_some(Connection& c) {
  const ssize_t sent = send(c.socket, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN || errno == EINTR;
  c.sent += static_cast<std::size_t>(sent);
  return c.sent < c.out.size();
}

// An answer to a request that was not read to its end would be lost with the connection where what is left of it is
// thrown away: some of that is taken first.
void end_connection(const Connection& c) {
  shutdown(c.socket, SHUT_WR);
  char rest[16384];
  for (int k = 0; k < 64 && recv(c.socket, rest, sizeof rest, MSG_DONTWAIT) > 0; ++k) continue;
  close(c.socket);
}

Clock::time_point in_seconds(double s) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

}  // namespace

HttpAnswer http_error(int status, const std::string& message) {
  const nlohmann::ordered_json body = {{"error", message}};
  return {status, body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

LocalServer::LocalServer(int port, ServerLimits limits) : limits_(limits), token_(random_token()) {
  if (port < 0 || port > 65535) throw InputError(fmt::format("--port {}: a port is a number from 0 to 65535", port));
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  if (socket_ >= 0) setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (socket_ < 0 || bind(socket_, any, size) != 0 || listen(socket_, 64) != 0 ||
      getsockname(socket_, any, &size) != 0) {
    const int reason = errno;
    if (socket_ >= 0) close(socket_);
    throw InputError(
        fmt::format("cannot listen on 127.0.0.1, port {}: {}; choose another --port, or none: then a free "
                    "one is taken",
                    port, std::strerror(reason)));
  }
  port_ = ntohs(address.sin_port);
}

LocalServer::~LocalServer() { close(socket_); }

std::string LocalServer::address() const { return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_); }

void LocalServer::serve(const std::function<HttpAnswer(const HttpRequest&)>& handle,
                        const std::function<bool()>& stopped) const {
  constexpr int beat = 100;  // milliseconds between two looks at `stopped`
  std::list<Connection> all;
  const auto answer = [&](Connection& c, const HttpAnswer& with) {
    c.out = answer_text(with);
    c.in.clear();
    c.answering = true;
    c.deadline = in_seconds(limits_.answer_seconds);
  };
  const auto take = [&](Connection& c) {
    HttpRequest request;
    HttpAnswer refusal;
    switch (read_request(c.in, {port_, token_, limits_.head, limits_.body}, request, refusal)) {
      case RequestState::unfinished: return;
      case RequestState::refused: return answer(c, refusal);
      case RequestState::complete: return answer(c, handle(request));
    }
  };
  while (!stopped()) {
    std::vector<pollfd> watched{{socket_, static_cast<short>(all.size() < limits_.connections ? POLLIN : 0), 0}};
    for (const Connection& c : all)
      watched.push_back({c.socket, static_cast<short>(c.answering ? POLLOUT : POLLIN), 0});
    if (poll(watched.data(), watched.size(), beat) < 0 && errno != EINTR) break;
    std::size_t at = 1;
    for (auto c = all.begin(); c != all.end(); ++at) {
      bool open = Clock::now() < c->deadline;
      if (!open && !c->answering && !c->in.empty()) {
        answer(*c, http_error(408, "the request took too long"));
        c->deadline = in_seconds(1);
        open = true;
      }
      if (open && watched[at].revents != 0) {
        open = c->answering ? write_some(*c) : read_some(*c);
        if (open && !c->answering) take(*c);
      }
      if (!open) end_connection(*c);
      c = open ? std::next(c) : all.erase(c);
    }
    if ((watched[0].revents & POLLIN) == 0) continue;
    const int come = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (come >= 0) all.push_back({come, in_seconds(limits_.request_seconds)});
  }
  close_all(all);
}

}  // namespace hinge::cli
