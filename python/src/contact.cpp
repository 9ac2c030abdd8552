// hinge.contact.solve(): one contact problem, from arrays that Python has made of its matrices.
#include <chrono>
#include <optional>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core.hpp"
#include "hinge/contact.hpp"
#include "hinge/error.hpp"
#include "solve/contact/stop.hpp"

namespace hinge::python {

namespace {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Eigen::VectorXd vector_of(const Doubles& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// Compressed rows, as scipy.sparse.csr_array has them, sorted and without repeated entries.
struct Csr {
  int rows, columns;
  Integers start, column;
  Doubles value;

  SparseRows matrix(const char* name) const {
    const bool fits = start.size() == static_cast<std::size_t>(rows) + 1 && column.size() == value.size() &&
                      start.data()[0] == 0 && start.data()[rows] == static_cast<int>(value.size());
    if (!fits) throw InputError(std::string(name) + ": the index arrays of this sparse matrix do not belong together");
    for (int i = 0; i < rows; ++i)
      for (int k = start.data()[i]; k < start.data()[i + 1]; ++k)
        if (start.data()[i + 1] > static_cast<int>(value.size()) || column.data()[k] < 0 || column.data()[k] >= columns)
          throw InputError(std::string(name) + ": this sparse matrix has an entry outside of it");
    return Eigen::Map<const SparseRows>(rows, columns, static_cast<Eigen::Index>(value.size()), start.data(),
                                        column.data(), value.data());
  }
};

struct Contact {
  ContactProblem problem;
};

// Ctrl-C. Solvers ask between iterations, those within a run as well, which has ears of its own: only a thread that is
// in solve() listens here, and not more than twenty times a second. What was raised waits in the thread's state.
thread_local std::optional<std::chrono::steady_clock::time_point> last_asked;

struct Listening {
  Listening() { last_asked = std::chrono::steady_clock::now(); }
  ~Listening() { last_asked.reset(); }
};

bool interrupted() {
  if (!last_asked) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - *last_asked < std::chrono::milliseconds(50)) return false;
  last_asked = now;
  const WithLock lock;
  return PyErr_Occurred() || PyErr_CheckSignals() != 0;
}

const char* words(ContactStatus status) {
  switch (status) {
    case ContactStatus::converged: return "converged";
    case ContactStatus::iteration_limit: return "limit reached";
    case ContactStatus::stalled: return "stalled";
    case ContactStatus::failed: break;
  }
  return "failed";
}

std::vector<double> list_of(const Eigen::VectorXd& x) { return {x.data(), x.data() + x.size()}; }

nb::dict answer(const ContactProblem& problem, const ContactResult& r, ResidualScaling scaling) {
  nb::dict d;
  d["r"] = array_of(list_of(r.r));
  d["u"] = array_of(list_of(r.u));
  if (problem.matrix_free()) d["v"] = array_of(list_of(body_velocity(problem, r.r)));
  d["converged"] = r.converged();
  d["status"] = words(r.status);
  d["message"] = r.message;
  d["solver"] = std::string(r.solver);
  d["iterations"] = r.iterations;
  d["factorisations"] = r.factorisations;
  d["contact_updates"] = r.contact_updates;
  d["seconds"] = r.seconds;
  d["residual"] = r.residual.by(scaling);
  nb::dict residuals;
  residuals["ours"] = r.residual.ours;
  residuals["siconos"] = r.residual.siconos;
  residuals["fclib"] = r.residual.fclib;
  residuals["absolute"] = r.residual.absolute;
  d["residuals"] = residuals;
  nb::dict violations;
  violations["penetration"] = r.residual.penetration;
  violations["cone"] = r.residual.cone;
  violations["signorini"] = r.residual.signorini;
  violations["dissipation"] = r.residual.dissipation;
  violations["bilateral"] = r.residual.bilateral;
  d["violations"] = violations;
  std::vector<double> history;
  for (const ContactResult::Point& p : r.history)
    history.insert(history.end(), {static_cast<double>(p.iteration), p.residual, p.seconds});
  d["history"] = array_of(std::move(history));
  return d;
}

nb::dict solve(const Contact& contact, const std::string& solver, double tolerance, int scaling, int iterations,
               double seconds, double relaxation, int threads, bool least_norm, const Doubles& start) {
  ContactOptions options;
  options.tolerance = tolerance;
  options.scaling = static_cast<ResidualScaling>(scaling);
  options.iterations = iterations;
  options.seconds = seconds;
  options.relaxation = relaxation;
  options.threads = threads;
  options.least_norm = least_norm;
  options.start = vector_of(start);
  ContactResult result;
  {
    const WithoutLock free;
    options.validate();
    if (const std::string why = refusal(contact.problem, solver); !why.empty())
      throw UnsuitableMethod(solver + " cannot solve this problem: " + why);
    const Listening here;
    result = solve_contact(contact.problem, solver, options);
  }
  if (PyErr_Occurred()) throw nb::python_error();
  return answer(contact.problem, result, options.scaling);
}

Contact of_delassus(int dimension, const Csr& w, const Doubles& q, const Doubles& mu) {
  return {frictional_contact(dimension, w.matrix("W"), vector_of(q), vector_of(mu))};
}

Contact of_masses(int dimension, const Csr& mass, const Csr& h, const Doubles& f, const Doubles& w, const Doubles& mu) {
  return {frictional_contact(dimension, mass.matrix("M"), h.matrix("H"), vector_of(f), vector_of(w), vector_of(mu))};
}

}  // namespace

void bind_contact(nb::module_& m) {
  nb::class_<Csr>(m, "Csr", "Compressed rows of a sparse matrix.")
      .def_ro("rows", &Csr::rows)
      .def(
          "__init__",
          [](Csr* self, int rows, int columns, const Integers& start, const Integers& column, const Doubles& value) {
            new (self) Csr{rows, columns, start, column, value};
          },
          nb::arg("rows"), nb::arg("columns"), nb::arg("start"), nb::arg("column"), nb::arg("value"));
  nb::class_<Contact>(m, "ContactProblem", "A contact problem of one time step.")
      .def_static("delassus", &of_delassus, nb::arg("dimension"), nb::arg("W"), nb::arg("q"), nb::arg("mu"))
      .def_static("masses", &of_masses, nb::arg("dimension"), nb::arg("M"), nb::arg("H"), nb::arg("f"), nb::arg("w"),
                  nb::arg("mu"))
      .def(
          "set",
          [](Contact& c, int bilateral, int friction, int facets) {
            c.problem.bilateral = bilateral;
            c.problem.friction = static_cast<FrictionModel>(friction);
            c.problem.facets = facets;
            validate(c.problem);
          },
          nb::arg("bilateral"), nb::arg("friction"), nb::arg("facets"))
      .def(
          "write",
          [](const Contact& c, const std::string& path, const Doubles& r) {
            write_contact_file(path, c.problem, vector_of(r));
          },
          nb::arg("path"), nb::arg("r"))
      .def_prop_ro("rows", [](const Contact& c) { return c.problem.rows(); })
      .def_prop_ro("contacts", [](const Contact& c) { return c.problem.contacts(); })
      .def_prop_ro("dimension", [](const Contact& c) { return c.problem.dimension; })
      .def_prop_ro("bilateral", [](const Contact& c) { return c.problem.bilateral; })
      .def("solve", &solve, nb::arg("solver"), nb::arg("tolerance"), nb::arg("scaling"), nb::arg("iterations"),
           nb::arg("seconds"), nb::arg("relaxation"), nb::arg("threads"), nb::arg("least_norm"), nb::arg("start"));
  m.def("read_contact", [](const std::string& path) { return Contact{read_contact_file(path).problem}; });
  m.def("contact_solvers", [] {
    nb::list list;
    for (const ContactSolverInfo& s : contact_solvers())
      list.append(nb::make_tuple(s.name, s.what, s.solves, s.reference));
    return list;
  });
  stop_contact_solvers_if(interrupted);
}

}  // namespace hinge::python
