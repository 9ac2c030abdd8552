#include "cli/interrupt.hpp"

#include <csignal>

namespace hinge::cli {

namespace {

volatile std::sig_atomic_t asked = 0;

extern "C" void ask_to_stop(int) { asked = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_asked() { return asked != 0; }

}  // namespace hinge::cli
