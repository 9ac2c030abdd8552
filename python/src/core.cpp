// The module hinge._core, on which the package hinge is built. Its functions do what the commands of the program do.
#include "core.hpp"

#include <string_view>

#include <nanobind/stl/string.h>

#include "cli/json.hpp"
#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::python {

Numbers array_of(std::vector<double> numbers) {
  auto* const kept = new std::vector<double>(std::move(numbers));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Numbers(kept->data(), {kept->size()}, owner);
}

bool says_stop(nb::handle answer) {
  if (answer.is(Py_False)) return true;
  const std::string_view type = Py_TYPE(answer.ptr())->tp_name;
  return type.starts_with("numpy.bool") && PyObject_IsTrue(answer.ptr()) == 0;
}

std::function<bool(double)> progress_of(nb::object callback) {
  const bool silent = callback.is_none();
  // The object is given back where the interpreter's lock is held, whoever lets go of this function last.
  const std::shared_ptr<nb::object> kept(new nb::object(std::move(callback)), [](nb::object* object) {
    const WithLock lock;
    delete object;
  });
  return [kept, silent](double t) {
    const WithLock lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (silent) return true;
    const nb::object answer = (*kept)(t);
    return !says_stop(answer);
  };
}

}  // namespace hinge::python

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  using namespace hinge;
  m.doc() = "What the package hinge stands on; import hinge.";
  nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no concern of users
  spare_hdf5_cleanup();
  python::bind_errors();
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&python::leave_interpreter));
  m.def("version", &version);
  m.def("build_features", &build_features);
  m.def("hdf5_available", &hdf5_available);
  m.def("methods_json", [] { return cli::json_text(methods()); });
  python::bind_model(m);
  python::bind_result(m);
  python::bind_run(m);
  python::bind_session(m);
  python::bind_study(m);
  python::bind_sweep(m);
  python::bind_contact(m);
  python::bind_dae(m);
}
