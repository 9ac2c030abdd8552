// The model file as a JSON schema (draft 7), for editors: made from the tables that the reader uses.
#pragma once

#include <string>

namespace hinge {

/// As text. It accepts what the reader's table of keys accepts: every key with its type, its words and its sentence.
/// What the reader computes (whether a name is known, whether an expression can be read) it does not check.
std::string model_schema();

}  // namespace hinge
