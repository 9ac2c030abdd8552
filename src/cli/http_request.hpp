// Reading one request of HTTP/1.1, and refusing what is not from the page that we have served ourselves.
#pragma once

#include <cstddef>
#include <string>

#include "cli/local_server.hpp"

namespace hinge::cli {

struct RequestRules {
  int port;                ///< the Host must be 127.0.0.1 or localhost with this port, and so must be an Origin
  std::string token;       ///< in the address (?token=) or in the header X-Hinge-Token
  std::size_t head, body;  ///< at most so many bytes
};

enum class RequestState { unfinished, complete, refused };

/// Reads `bytes`, all that has come so far, into `out`; or says in `refusal` what is wrong with it. A request is
/// refused as soon as its head is there: its body is not waited for.
RequestState read_request(const std::string& bytes, const RequestRules& rules, HttpRequest& out, HttpAnswer& refusal);

}  // namespace hinge::cli
