// What makes a result doubtful although the run came to its end.
#pragma once

#include <string>

namespace hinge {

/// One reason to doubt a result. Watches, methods and records give them; Report collects them, and none means `sound`.
struct Doubt {
  std::string cause;   ///< "energy was created"
  double value = 0;    ///< how much, as the cause says it
  std::string remedy;  ///< "take shorter steps"
};

}  // namespace hinge
