// Errors of the library as exceptions of Python (python/hinge/_errors.py), with the sentences that the program prints.
#include <stdexcept>

#include "core.hpp"
#include "expression/printable.hpp"
#include "hinge/error.hpp"

namespace hinge::python {

namespace {

void raise(nb::handle type, const char* message) { PyErr_SetObject(type.ptr(), sentence(message).ptr()); }

void raise(const char* name, const char* message) { raise(nb::module_::import_("hinge._errors").attr(name), message); }

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& e) {
    raise("InputError", e.what());
  } catch (const StepFailure& e) {
    raise("NumericalError", e.what());
  } catch (const Error& e) {
    raise("Error", e.what());
  } catch (const std::length_error&) {
    raise(nb::handle(PyExc_MemoryError), "something in this model is larger than memory can be; make it smaller");
  }
}

}  // namespace

nb::object sentence(const std::string& message) {
  const std::string text = printable(message);
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

void bind_errors() { nb::register_exception_translator(translate); }

}  // namespace hinge::python
