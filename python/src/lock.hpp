// The interpreter's lock, taken and given back such that a run may go on in a daemon thread while Python ends.
#pragma once

#include <nanobind/nanobind.h>

namespace hinge::python {

/// Without the lock: other threads of Python go on. Long work is done so.
class WithoutLock {
 public:
  WithoutLock();
  ~WithoutLock();
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

/// With the lock, in the midst of such work: functions of the user are called so.
class WithLock {
 public:
  WithLock();
  ~WithLock();
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  PyGILState_STATE state_;
};

/// While there is one, a thread computes that Python does not know; it ends soon when Python does.
class Computing {
 public:
  Computing();
  ~Computing();
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
};

/// Does Python end?
bool interpreter_ends();

/// From now on no other thread gets the lock by these; waits a moment for those that have it or compute. At exit, where
/// daemon threads alone are left.
void leave_interpreter();

}  // namespace hinge::python
