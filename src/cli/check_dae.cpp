// hinge check for F(t, x, x') = 0: what kind of DAE it is.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <Eigen/Core>

#include "cli/commands.hpp"
#include "formulation/implicit/dae_structure.hpp"
#include "formulation/implicit/linear_pencil.hpp"
#include "formulation/implicit/symbolic_problem.hpp"
#include "formulation/start/consistent_start.hpp"
#include "solve/index.hpp"
#include "solve/linear/rank.hpp"
#include "system/symbolic.hpp"

namespace hinge::cli {

namespace {

const char* times(int order) {
  static const char* const words[] = {"", "once", "twice", "three times", "four times"};
  return order < 5 ? words[order] : "many times";
}

// Rank of F_x' at a point.
int rate_rank(const SymbolicSystem& system, const State& s) {
  CompiledRows compiled(SymbolicRows::of_dae(system.equations()));
  const Pattern& p = compiled.pattern();
  std::vector<double> f_x(p.entries()), f_rate(p.entries());
  compiled.jacobian(s.t, s.y.data(), s.z.data(), f_x.data(), f_rate.data());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(p.rows, p.columns);
  for (int i = 0; i < p.rows; ++i)
    for (auto k = at(p.row_start[at(i)]); k < at(p.row_start[at(i) + 1]); ++k) a(i, p.column[k]) = f_rate[k];
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    if (const double size = a.row(i).cwiseAbs().maxCoeff(); size > 0) a.row(i) /= size;
  return static_cast<int>(PivotedQr(a, 1e-11).rank());
}

void print_structure(std::ostream& out, const DaeStructure& s) {
  std::vector<int> differential, algebraic;
  for (int j = 0; j < s.size(); ++j) (s.differential[at(j)] ? differential : algebraic).push_back(j);
  const int index = s.index();
  print_line(out, "structural index",
             fmt::format("{}{}{}", index, s.combinations.empty() ? "" : ", as combined below",
                         index == 0   ? " (an ordinary differential equation)"
                         : index <= 2 ? ""
                                      : ": integrated through the derivative array"));
  print_line(out, "degrees of freedom", fmt::format("{}", s.degrees_of_freedom()));
  print_line(out, "differential unknowns", differential.empty() ? "none" : s.unknown_list(differential, 12));
  print_line(out, "algebraic unknowns", algebraic.empty() ? "none" : s.unknown_list(algebraic, 12));
  for (const std::string& combination : s.combinations) print_line(out, "equations combined", combination);
  std::size_t largest = 0;
  for (const auto& block : s.blocks) largest = std::max(largest, block.size());
  print_line(out, "blocks",
             fmt::format("{}, the largest with {} unknown{}", s.blocks.size(), largest, largest == 1 ? "" : "s"));
  if (!s.regular && !s.singular.empty())
    print_line(out, "system Jacobian",
               fmt::format("singular: {}; the index may be higher than the structural one", s.singular));
}

void print_pencil(std::ostream& out, const LinearPencil& p) {
  if (!p.regular) return print_line(out, "linear, constant", "a singular pencil: no value of c makes c E + H regular");
  print_line(out, "linear, constant",
             fmt::format("nilpotency index {}, {} finite eigenvalue{}", p.index, p.eigenvalues.size(),
                         p.eigenvalues.size() == 1 ? "" : "s"));
  constexpr std::size_t most = 8;
  for (std::size_t k = 0; k < std::min(p.eigenvalues.size(), most); ++k) {
    const auto z = p.eigenvalues[k];
    print_line(out, k == 0 ? "finite eigenvalues" : "",
               z.imag() == 0
                   ? fmt::format("{:.10g}", z.real())
                   : fmt::format("{:.10g} {} {:.10g} i", z.real(), z.imag() < 0 ? '-' : '+', std::abs(z.imag())));
  }
  if (p.eigenvalues.size() > most) print_line(out, "", fmt::format("... {} more", p.eigenvalues.size() - most));
}

void print_hidden(std::ostream& out, const SymbolicSystem& system, const DaeStructure& s, const State& start) {
  std::string from;
  int listed = 0, more = 0;
  for (int i = 0; i < s.size(); ++i) {
    if (s.c[at(i)] == 0) continue;
    if (++listed > 8)
      ++more;
    else
      from += fmt::format("\n    equation {}, differentiated {}", s.names[at(i)], times(s.c[at(i)]));
  }
  if (more > 0) from += fmt::format("\n    and {} more", more);
  if (listed == 0) return print_line(out, "hidden constraints", "none");
  if (s.size() > 500 || !s.regular) return print_line(out, "hidden constraints", "from" + from);
  const int count = std::max(0, rate_rank(system, start) - s.degrees_of_freedom());
  if (count > 0)
    print_line(out, "hidden constraints", fmt::format("{}, from{}", count, from));
  else
    print_line(out, "hidden constraints", "none; all x' are known from" + from);
}

// With complementarity pairs: what they are, and in which mode the motion starts.
int check_pairs(std::ostream& out, const Model& model, const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  out << "\nComplementarity pairs\n";
  for (const auto& pair : eq.pairs)
    out << fmt::format("  0 <= {}  _|_  {} >= 0\n", to_text(*eq.graph, pair.a, 50), to_text(*eq.graph, pair.b, 50));
  std::vector<std::string> remarks;
  const State start = consistent_start(system, model.simulation.start, model.start, &remarks);
  std::vector<Node> functions;
  for (const auto& pair : eq.pairs) functions.insert(functions.end(), {pair.a, pair.b});
  const auto tape = eq.tape(*eq.graph, functions);
  std::vector<double> scratch = tape->make_scratch(), value(functions.size());
  const double* const inputs[] = {&start.t, start.y.data(), start.z.data(), nullptr};
  tape->evaluate(inputs, scratch.data(), value.data());
  out << fmt::format("\nAt the start, t = {:g}\n", start.t);
  for (std::size_t k = 0; k < eq.pairs.size(); ++k)
    out << fmt::format("  pair {}: a = {:.6g}, b = {:.6g}\n", k, value[2 * k], value[2 * k + 1]);
  for (const std::string& remark : remarks) out << "  " << remark << '\n';
  out << "\nThe index depends on which of each pair vanishes; implicit steps of given length take every mode.\n";
  return 0;
}

}  // namespace

int check_dae(const Model& model, std::ostream& out) {
  const auto& system = dynamic_cast<const SymbolicSystem&>(*model.system);
  const Equations& eq = system.equations();
  const int n = system.ny();
  out << model.title << '\n'
      << fmt::format("DAE F(t, x, x') = 0: {} unknown{}, {} equation{}\n\nEquations\n", n, n == 1 ? "" : "s",
                     eq.residual.size(), eq.residual.size() == 1 ? "" : "s");
  constexpr int most = 20;
  const int m = static_cast<int>(eq.residual.size());
  for (int i = 0; i < std::min(m, most); ++i)
    out << fmt::format("  0 = {}\n", to_text(*eq.graph, eq.residual[at(i)], 110));
  if (m > most) out << fmt::format("  ... {} more\n", m - most);
  if (!eq.pairs.empty()) return check_pairs(out, model, system);
  State start{model.simulation.start, model.start.position, model.start.velocity, {}};
  start.z.resize(at(n), 0.0);
  out << "\nStructure\n";
  located(model, [&] {
    const DaeStructure guess = analyse_dae(system, &start);
    print_structure(out, guess);
    if (const auto pencil = linear_pencil(system)) print_pencil(out, *pencil);
    out.flush();
    std::vector<std::string> remarks;
    start = consistent_start(system, model.simulation.start, model.start, &remarks);
    print_hidden(out, system, guess, start);
    out << "\nAt the initial values\n";
    print_start(out, remarks);
  });
  for (int j = 0; j < std::min(n, most); ++j)
    print_line(out, system.layout().y_name(j),
               fmt::format("{:<22.15g} derivative {:.10g}", start.y[at(j)], start.z[at(j)]));
  if (n > most) print_line(out, "...", fmt::format("{} more", n - most));
  return done;
}

}  // namespace hinge::cli
