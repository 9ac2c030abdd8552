// Ctrl-C as a request: what was computed is reported before the program ends.
#pragma once

namespace hinge::cli {

/// From now on the first SIGINT or SIGTERM is a request to stop; the second one kills as usual.
void catch_interrupts();
bool stop_asked();

}  // namespace hinge::cli
