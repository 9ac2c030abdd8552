#include "cli/http_request.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace hinge::cli {

namespace {

struct Refusal {
  int status;
  const char* why;
};

std::string small(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

// %41 is A, + is a space.
std::string decoded(const std::string& text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    unsigned value = 0;
    const char* const digits = text.data() + k + 1;
    if (text[k] == '%' && k + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      k += 2;
    } else {
      out += text[k] == '+' ? ' ' : text[k];
    }
  }
  return out;
}

void read_query(const std::string& text, HttpRequest& out) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('&', at), text.size());
    const std::string pair = text.substr(at, end - at);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    out.query[decoded(pair.substr(0, equals))] = decoded(equals < pair.size() ? pair.substr(equals + 1) : "");
    at = end + 1;
  }
}

// As long for a wrong one as for the right one.
bool same(const std::string& a, const std::string& b) {
  unsigned different = a.size() != b.size();
  for (std::size_t k = 0; k < b.size(); ++k)
    different |=
        static_cast<unsigned>(static_cast<unsigned char>(k < a.size() ? a[k] : 0) ^ static_cast<unsigned char>(b[k]));
  return different == 0;
}

Refusal read_head(const std::string& head, HttpRequest& out) {
  const std::size_t line = std::min(head.find("\r\n"), head.size());
  const std::string first = head.substr(0, line);
  const std::size_t one = first.find(' '), two = first.rfind(' ');
  if (one == std::string::npos || one == two || first.substr(two + 1).rfind("HTTP/1.", 0) != 0)
    return {400, "this is no request of HTTP/1.1"};
  out.method = first.substr(0, one);
  const std::string target = first.substr(one + 1, two - one - 1);
  const std::size_t question = std::min(target.find('?'), target.size());
  out.path = target.substr(0, question);
  if (question < target.size()) read_query(target.substr(question + 1), out);
  for (std::size_t at = line + 2; at < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    const std::string header = head.substr(at, end - at);
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || colon == 0) return {400, "this is no header of HTTP/1.1"};
    if (!out.headers.emplace(small(header.substr(0, colon)), trimmed(header.substr(colon + 1))).second)
      return {400, "a header is there twice"};
    at = end + 2;
  }
  return {0, ""};
}

const std::string* header(const HttpRequest& r, const char* name) {
  const auto found = r.headers.find(name);
  return found == r.headers.end() ? nullptr : &found->second;
}

// Another page in the same browser can send requests here, and by a name of its own that leads to 127.0.0.1 even read
// the answers. It cannot choose Host and Origin, and it does not know the token.
Refusal guard(const HttpRequest& r, const RequestRules& rules) {
  const std::string* const host = header(r, "host");
  if (!host || (*host != fmt::format("127.0.0.1:{}", rules.port) && *host != fmt::format("localhost:{}", rules.port)))
    return {403, "wrong Host: open the address that hinge view has printed"};
  if (const std::string* origin = header(r, "origin"); origin && *origin != "http://" + *host)
    return {403, "wrong Origin: only the page of hinge view itself may ask"};
  if (const std::string* site = header(r, "sec-fetch-site"); site && *site != "same-origin" && *site != "none")
    return {403, "wrong Origin: only the page of hinge view itself may ask"};
  const auto in_address = r.query.find("token");
  const std::string* const in_header = header(r, "x-hinge-token");
  const std::string given = in_header ? *in_header : in_address != r.query.end() ? in_address->second : "";
  // what changes something must have it in a header, which no form and no link can send
  if (!same(given, rules.token) || (r.method != "GET" && !in_header))
    return {403, "wrong token: open the address that hinge view has printed"};
  return {0, ""};
}

Refusal read_length(const HttpRequest& r, std::size_t most, std::size_t& length) {
  length = 0;
  if (header(r, "transfer-encoding")) return {411, "the length of the request must be given"};
  const std::string* const text = header(r, "content-length");
  if (!text) return {0, ""};
  const auto end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, length);
  if (error == std::errc::result_out_of_range || length > most) return {413, "the request is too long"};
  if (error != std::errc() || stop != end) return {400, "the length of the request is not a number"};
  return {0, ""};
}

}  // namespace

RequestState read_request(const std::string& bytes, const RequestRules& rules, HttpRequest& out, HttpAnswer& refusal) {
  const auto refuse = [&](const Refusal& r) {
    refusal = http_error(r.status, r.why);
    return RequestState::refused;
  };
  const std::size_t end = bytes.find("\r\n\r\n");
  if (std::min(end, bytes.size()) > rules.head) return refuse({431, "the head of the request is too long"});
  if (end == std::string::npos) return RequestState::unfinished;
  if (const Refusal r = read_head(bytes.substr(0, end), out); r.status != 0) return refuse(r);
  std::size_t length = 0;
  const Refusal unknown = guard(out, rules), wrong = read_length(out, rules.body, length);
  if (unknown.status != 0) return refuse(unknown);
  if (wrong.status != 0) return refuse(wrong);
  if (bytes.size() - (end + 4) < length) return RequestState::unfinished;
  out.body = bytes.substr(end + 4, length);
  return RequestState::complete;
}

}  // namespace hinge::cli
