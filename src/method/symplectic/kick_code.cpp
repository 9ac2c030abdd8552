#include "method/symplectic/kick_code.hpp"

#include <algorithm>
#include <limits>

#include "expression/substitute.hpp"
#include "formulation/motion_draft.hpp"
#include "solve/index.hpp"
#include "solve/linear/small_inverse.hpp"
#include "solve/linear/vectors.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr Node most_kick_nodes = 6000;

// What the functions are put together from, in the order of the loops.
class KickDraft {
 public:
  KickDraft(const SymbolicSystem& system, const SchurComplement& small)
      : eq_(system.equations()),
        rpsi_(system.pattern(Q::reaction_psi)),
        rate_z_(system.pattern(Q::constraint_rate_z)),
        nz_(system.nz()),
        m_(system.npsi()) {
    collect(system, graph_,
            {{Q::constraint, &constraint_},
             {Q::constraint_rate, &rate_},
             {Q::constraint_rate_z, &gradient_},
             {Q::force, &force_},
             {Q::reaction_psi, &reaction_}});
    weight_ = graph_.variable("weight");
    h_ = graph_.variable("h");
    times_ = {eq_.t, weight_, h_};
    inverse_ = variables("mass", at(small.mass_inverse_pattern().rows));
    given_reaction_ = variables("rpsi", rpsi_.entries());
    given_force_ = variables("force", at(nz_));
    given_schur_ = variables("schur", at(m_ * m_));
  }

  CompiledFunction one_more(bool on_position) {
    schur_ = given_schur_;
    Moved moved{eq_.y, eq_.z, eq_.psi, {}};
    improve(moved, given_reaction_, on_position);
    Nodes outputs = moved.z;
    append(outputs, moved.psi);
    append(outputs, moved.dz);
    if (on_position) append(outputs, moved.y);
    return {graph_, std::vector<Nodes>{times_, eq_.y, eq_.z, eq_.psi, given_reaction_, inverse_, given_schur_}, outputs,
            graph_.constant(1)};
  }

  // y0, z0, psi -> Z, psi, the change, y1, S^-1
  CompiledFunction start() {
    const auto drift = [this](const Nodes& psi) {
      Moved moved{eq_.y, kicked(given_force_, given_reaction_, psi), psi, {}};
      for (int i = 0; i < nz_; ++i) moved.y[at(i)] = graph_.add(eq_.y[at(i)], times(h_, moved.z[at(i)]));
      return moved;
    };
    Moved moved = drift(eq_.psi);
    const Node settled = invert_schur(moved, given_reaction_);
    for (int k = 0; k < 2; ++k) improve(moved, given_reaction_, true);
    const Moved anew = drift(moved.psi);
    Nodes outputs = anew.z;
    append(outputs, moved.psi);
    append(outputs, moved.dz);
    append(outputs, anew.y);
    append(outputs, schur_);
    return {graph_, std::vector<Nodes>{times_, eq_.y, eq_.z, eq_.psi, given_reaction_, inverse_, given_force_}, outputs,
            settled};
  }

  // y1, Z, psi -> z1, psi, the change, S^-1, f, r_psi
  CompiledFunction end() {
    Moved moved{eq_.y, kicked(force_, reaction_, eq_.psi), eq_.psi, {}};
    const Node settled = invert_schur(moved, reaction_);
    for (int k = 0; k < 2; ++k) improve(moved, reaction_, false);
    Nodes outputs = moved.z;
    append(outputs, moved.psi);
    append(outputs, moved.dz);
    append(outputs, force_);
    append(outputs, reaction_);
    return {graph_, std::vector<Nodes>{times_, eq_.y, eq_.z, eq_.psi, inverse_}, outputs, settled};
  }

 private:
  struct Moved {
    Nodes y, z, psi, dz;
  };

  Nodes variables(const char* name, std::size_t count) {
    Nodes list;
    for (std::size_t k = 0; k < count; ++k) list.push_back(graph_.variable(name));
    return list;
  }
  Node times(Node a, Node b) { return separate_product(graph_, a, b); }
  Nodes there(const Nodes& functions, const Moved& moved) {
    Nodes variables = eq_.y, images = moved.y;
    append(variables, eq_.z);
    append(images, moved.z);
    return variables == images ? functions : substitute(graph_, functions, variables, images, graph_);
  }
  // r_psi psi, a row of it
  Node reaction(const Nodes& values, const Nodes& psi, int row) {
    Node sum = graph_.constant(0);
    for (int k = rpsi_.row_start[at(row)]; k < rpsi_.row_start[at(row) + 1]; ++k)
      sum = graph_.add(sum, times(values[at(k)], psi[at(rpsi_.column[at(k)])]));
    return sum;
  }
  // z + p_z^-1 w (f + r_psi psi)
  Nodes kicked(const Nodes& force, const Nodes& values, const Nodes& psi) {
    Nodes z;
    for (int i = 0; i < nz_; ++i) {
      const Node kick = graph_.add(times(weight_, force[at(i)]), times(weight_, reaction(values, psi, i)));
      z.push_back(graph_.add(times(inverse_[at(i)], kick), eq_.z[at(i)]));
    }
    return z;
  }
  // S = C A^-1 B and its inverse; 1 where SchurComplement makes the same of it.
  Node invert_schur(const Moved& point, const Nodes& values) {
    struct Arithmetic {
      Graph& graph;
      Node settled;
      void demand(Node condition) { settled = graph.multiply(settled, condition); }
      void demand_strong(Node pivot, Node at_first) {
        demand(graph.make(Op::less, separate_product(graph, graph.constant(weak_pivot), graph.make(Op::abs, at_first)),
                          graph.make(Op::abs, pivot)));
      }
      Node inverse(Node a) { return graph.divide(graph.constant(1), a); }
      Node times(Node a, Node b) { return separate_product(graph, a, b); }
      Node minus(Node a, Node b) { return graph.subtract(a, b); }
      Node negate(Node a) { return graph.negate(a); }
    } arithmetic{graph_, graph_.constant(1)};
    const Nodes gradient = there(gradient_, point);
    schur_.assign(at(m_ * m_), graph_.constant(0));
    for (int i = 0; i < m_; ++i)
      for (int k = rate_z_.row_start[at(i)]; k < rate_z_.row_start[at(i) + 1]; ++k) {
        const int j = rate_z_.column[at(k)];
        for (int l = rpsi_.row_start[at(j)]; l < rpsi_.row_start[at(j) + 1]; ++l) {
          Node& sum = schur_[at(i * m_ + rpsi_.column[at(l)])];
          sum = graph_.add(sum, times(gradient[at(k)], times(inverse_[at(j)], values[at(l)])));
        }
      }
    invert_in_order(arithmetic, schur_.data(), m_);
    Node sum = graph_.constant(0);
    for (const Node n : schur_) sum = graph_.add(sum, graph_.make(Op::abs, n));
    arithmetic.demand(graph_.make(Op::less_equal, sum, graph_.constant(std::numeric_limits<double>::max())));
    return arithmetic.settled;
  }
  // One increment by schur_.
  void improve(Moved& x, const Nodes& values, bool on_position) {
    Nodes right, increment;
    for (const Node n : there(on_position ? constraint_ : rate_, x))
      right.push_back(on_position ? graph_.divide(graph_.negate(n), times(weight_, h_))
                                  : graph_.divide(times(graph_.constant(-2), n), h_));
    for (int a = 0; a < m_; ++a) {
      Node sum = graph_.constant(0);
      for (int b = 0; b < m_; ++b) sum = graph_.add(sum, times(schur_[at(a * m_ + b)], right[at(b)]));
      increment.push_back(sum);
      x.psi[at(a)] = graph_.add(x.psi[at(a)], sum);
    }
    x.dz.clear();
    for (int i = 0; i < nz_; ++i) {
      x.dz.push_back(times(times(weight_, inverse_[at(i)]), reaction(values, increment, i)));
      x.z[at(i)] = graph_.add(x.z[at(i)], x.dz.back());
      if (on_position) x.y[at(i)] = graph_.add(x.y[at(i)], times(h_, x.dz.back()));
    }
  }

  Graph graph_;
  const Equations& eq_;
  const Pattern &rpsi_, &rate_z_;
  int nz_, m_;
  Nodes constraint_, rate_, gradient_, force_, reaction_;
  Node weight_ = no_node, h_ = no_node;
  Nodes times_, inverse_, given_reaction_, given_force_, given_schur_, schur_;
};

}  // namespace

std::unique_ptr<KickCode> KickCode::make(const System& system, const SchurComplement& small) {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  const int m = system.npsi();
  if (!symbolic || native_use() == NativeUse::off || !system.structure().velocity_is_z || !small.diagonal_inverse() ||
      m == 0 || m > SchurComplement::largest_inverse || system.ng() != m || system.nz() > 32 ||
      symbolic->equations().graph->size() > most_kick_nodes)
    return nullptr;
  auto code = std::unique_ptr<KickCode>(new KickCode);
  code->m_ = m;
  code->nz_ = system.nz();
  code->force_ = 2 * code->nz_ + m;
  KickDraft draft(*symbolic, small);
  code->position_ = draft.one_more(true);
  code->velocity_ = draft.one_more(false);
  code->start_ = draft.start();
  code->end_ = draft.end();
  return code;
}

double KickCode::improve(CompiledFunction& function, const At& x, const SchurComplement& small, bool moves_y) {
  const double times[] = {x.t1, x.weight, x.h};
  const double* const inputs[] = {times, x.y, x.z, x.psi, x.reaction_psi, small.mass_inverse(), small.schur_inverse()};
  function(inputs);
  const double* const z = function.output();
  std::copy_n(z, nz_, x.z);
  std::copy_n(z + nz_, m_, x.psi);
  if (moves_y) std::copy_n(z + nz_ + m_ + nz_, nz_, x.y);
  return biggest(z + nz_ + m_, nz_);
}

bool KickCode::begin_position(const Kick& x, SchurComplement& small, double& change) {
  const double times[] = {x.t1, x.weight, x.h};
  const double* const inputs[] = {times, x.y0, x.z0, x.psi, x.reaction_psi, small.mass_inverse(), x.force};
  if (!start_(inputs)) return false;
  const double* from = start_.output();
  const auto take = [&from](int n, double* to) {
    std::copy_n(from, n, to);
    from += n;
  };
  take(nz_, x.z);
  take(m_, x.psi);
  change = biggest(from, nz_);
  from += nz_;
  take(nz_, x.y1);
  small.take_inverse(from);
  return true;
}

bool KickCode::begin_velocity(const End& x, const SchurComplement& small, double& change) {
  const double times[] = {x.t1, x.weight, x.h};
  const double* const inputs[] = {times, x.y1, x.half_z, x.psi, small.mass_inverse()};
  if (!end_(inputs)) return false;
  const double* const z = end_.output();
  std::copy_n(z, nz_, x.z1);
  std::copy_n(z + nz_, m_, x.psi);
  change = biggest(z + nz_ + m_, nz_);
  return true;
}

}  // namespace hinge
