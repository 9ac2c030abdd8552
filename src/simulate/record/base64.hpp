#pragma once

#include <string>
#include <string_view>

namespace hinge {

/// Bytes as letters, four for each three, with = at the end (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace hinge
