#include "method/symplectic/kick_code.hpp"

#include <algorithm>

#include "formulation/motion_draft.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr Node most_kick_nodes = 6000;

}  // namespace

std::unique_ptr<KickCode> KickCode::make(const System& system, const SchurComplement& small) {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  const int m = system.npsi();
  if (!symbolic || native_use() == NativeUse::off || !system.structure().velocity_is_z || !small.diagonal_inverse() ||
      m == 0 || m > SchurComplement::largest_inverse || system.ng() != m || system.nz() > 32 ||
      symbolic->equations().graph->size() > most_kick_nodes)
    return nullptr;
  Graph graph;
  const Nodes constraint = symbolic->nodes_of(Q::constraint, graph),
              rate = symbolic->nodes_of(Q::constraint_rate, graph);
  const Equations& eq = symbolic->equations();
  const Pattern& rpsi = system.pattern(Q::reaction_psi);
  const auto variables = [&graph](const char* name, std::size_t count) {
    Nodes list;
    for (std::size_t k = 0; k < count; ++k) list.push_back(graph.variable(name));
    return list;
  };
  const auto times = [&graph](Node a, Node b) { return separate_product(graph, a, b); };
  const Nodes sizes = variables("weight", 2), values = variables("rpsi", rpsi.entries()),
              inverse = variables("mass", at(system.nz())), schur = variables("schur", at(m * m));
  const Node weight = sizes[0], h = sizes[1];
  const auto function = [&](bool on_position) {
    Nodes right, increment, z = eq.z, y = eq.y, psi = eq.psi, dz;
    for (int a = 0; a < m; ++a)
      right.push_back(on_position ? graph.divide(graph.negate(constraint[at(a)]), times(weight, h))
                                  : graph.divide(times(graph.constant(-2), rate[at(a)]), h));
    for (int a = 0; a < m; ++a) {
      Node sum = graph.constant(0);
      for (int b = 0; b < m; ++b) sum = graph.add(sum, times(schur[at(a * m + b)], right[at(b)]));
      increment.push_back(sum);
      psi[at(a)] = graph.add(psi[at(a)], sum);
    }
    for (int i = 0; i < system.nz(); ++i) {
      Node sum = graph.constant(0);
      for (int k = rpsi.row_start[at(i)]; k < rpsi.row_start[at(i) + 1]; ++k)
        sum = graph.add(sum, times(values[at(k)], increment[at(rpsi.column[at(k)])]));
      dz.push_back(times(times(weight, inverse[at(i)]), sum));
      z[at(i)] = graph.add(z[at(i)], dz.back());
      y[at(i)] = graph.add(y[at(i)], times(h, dz.back()));
    }
    Nodes outputs = z;
    append(outputs, psi);
    append(outputs, dz);
    if (on_position) append(outputs, y);
    return CompiledFunction(graph, std::vector<Nodes>{{eq.t}, eq.y, eq.z, eq.psi, sizes, values, inverse, schur},
                            outputs, graph.constant(1));
  };
  auto code = std::unique_ptr<KickCode>(new KickCode);
  code->m_ = m;
  code->position_ = function(true);
  code->velocity_ = function(false);
  return code;
}

double KickCode::improve(CompiledFunction& function, const At& x, const SchurComplement& small, bool moves_y) {
  const double sizes[] = {x.weight, x.h};
  const double* const inputs[] = {
      &x.t1, x.y, x.z, x.psi, sizes, x.reaction_psi, small.mass_inverse(), small.schur_inverse()};
  function(inputs);
  const int nz = small.mass_inverse_pattern().rows, m = m_;
  const double* const z = function.output();
  std::copy_n(z, nz, x.z);
  std::copy_n(z + nz, m, x.psi);
  if (moves_y) std::copy_n(z + nz + m + nz, nz, x.y);
  return biggest(z + nz + m, nz);
}

}  // namespace hinge
