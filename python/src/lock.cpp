// When Python ends, a daemon thread that asks for its lock is ended by an exception that no destructor lets through,
// and the process would be aborted. So such a thread waits at the door, for as long as there is a process.
#include "lock.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace hinge::python {

namespace {

std::atomic<bool> leaving = false;
std::atomic<std::thread::id> last{};  // the thread that ends Python
std::atomic<int> away = 0, inside = 0,
                 out = 0;  // without the lock; taking or having it again; before the door for good

void pass_the_door() {
  ++inside;
  if (!leaving || last.load() == std::this_thread::get_id()) return;
  --inside;
  ++out;
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

WithoutLock::WithoutLock() : state_(PyEval_SaveThread()) { ++away; }

WithoutLock::~WithoutLock() {
  pass_the_door();
  PyEval_RestoreThread(state_);
  --away;
  --inside;
}

WithLock::WithLock() {
  if (PyGILState_Check() != 0)  // who has the lock already must not keep it before the door
    ++inside;
  else
    pass_the_door();
  state_ = PyGILState_Ensure();
}

WithLock::~WithLock() {
  PyGILState_Release(state_);
  --inside;
}

Computing::Computing() { ++away; }

Computing::~Computing() { --away; }

bool interpreter_ends() { return leaving; }

void leave_interpreter() {
  last = std::this_thread::get_id();
  leaving = true;
  PyThreadState* const state = PyEval_SaveThread();
  for (int k = 0; k < 100 && (inside > 0 || away > out); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  PyEval_RestoreThread(state);
}

}  // namespace hinge::python
