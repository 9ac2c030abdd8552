#include "method/symplectic/spark_code.hpp"

#include <utility>

#include "expression/substitute.hpp"
#include "formulation/motion_draft.hpp"
#include "solve/index.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr Node most_nodes = 6000;  // of one function: longer ones are most of the work themselves

}  // namespace

// Letters are those of spark.hpp.
class SparkCode::Draft {
 public:
  Draft(const SymbolicSystem& system, const SparkTableau& tableau, const Eigen::MatrixXd& n_inverse,
        const Pattern& mass_inverse)
      : system_(system), eq_(system.equations()), c_(tableau), n_inverse_(n_inverse), mass_inverse_(mass_inverse) {
    collect(system, graph_,
            {{Q::velocity, &velocity_},
             {Q::momentum, &momentum_},
             {Q::force, &force_},
             {Q::reaction, &reaction_},
             {Q::constraint, &constraint_},
             {Q::reaction_psi, &reaction_psi_},
             {Q::constraint_y, &constraint_y_},
             {Q::constraint_rate, &rate_}});
    first_own_ = graph_.size();
    h_ = variables("h", 1);
    y0_ = variables("y0", at(ny()));
    p0_ = variables("p0", at(nz()));
    for (int i = 0; i < s(); ++i) append(y_, variables("Y", at(ny())));
    for (int i = 0; i < s(); ++i) append(z_, variables("Z", at(nz())));
    for (int k = 0; k < st(); ++k) append(l_, variables("L", at(m())));
    inverse_mass_ = variables("mass", mass_inverse.entries());
    inverse_schur_ = variables("schur", at(m() * m()));
    velocity_z_ = variables("vz", velocity_is_z() ? 0 : system.pattern(Q::velocity_z).entries());
  }

  bool fits() const { return graph_.size() - first_own_ <= most_nodes; }

  CompiledFunction derive() {
    evaluate_stages();
    Nodes outputs;
    for (int k = 0; k < st(); ++k) append(outputs, node(reaction_psi_, k));
    for (int k = 1; k <= st(); ++k) append(outputs, node(constraint_y_, k));
    return compile({{eq_.t}, h_, y0_, y_, z_, l_}, outputs);
  }

  CompiledFunction improve() {
    evaluate_stages();
    const Pattern &gy = system_.pattern(Q::constraint_y), &rpsi = system_.pattern(Q::reaction_psi);
    std::vector<Nodes> node_rpsi, node_gy, residual, dl, effect;
    Nodes kept;
    for (int k = 0; k < st(); ++k) append(kept, node_rpsi.emplace_back(variables("rpsi", rpsi.entries())));
    for (int k = 0; k < st(); ++k) append(kept, node_gy.emplace_back(variables("gy", gy.entries())));
    for (int i = 0; i < s(); ++i) {
      Nodes r;
      for (int a = 0; a < nz(); ++a) r.push_back(graph_.subtract(p_[at(i)][at(a)], p0_[at(a)]));
      for (int j = 0; j < s(); ++j)
        if (c_.ahat(i, j) != 0) add(factor(-c_.ahat(i, j)), f_[at(j)], r);
      for (int k = 0; k < st(); ++k) add(factor(-c_.atilde(i, k)), r_[at(k)], r);
      residual.push_back(r);
    }
    std::vector<Nodes> mass_residual, right;
    for (const Nodes& r : residual) mass_residual.push_back(solve_mass(r));
    const Node scale = graph_.divide(graph_.constant(-1), times(h_[0], h_[0]));
    const Node over_h = graph_.divide(graph_.constant(1), h_[0]);
    for (int i = 1; i <= st(); ++i) {
      Nodes work(at(nz()), graph_.constant(0)), g = node(constraint_, i);
      for (int j = 0; j < s(); ++j) add(graph_.constant(c_.abar(i, j)), mass_residual[at(j)], work);
      const Nodes change = multiply(gy, node_gy[at(i - 1)], moved(work));
      for (std::size_t a = 0; a < g.size(); ++a) g[a] = graph_.add(times(g[a], scale), times(over_h, change[a]));
      right.push_back(g);
    }
    Nodes l = l_;
    for (int k = 0; k < st(); ++k) {
      Nodes d(at(m()), graph_.constant(0));
      for (int i = 0; i < st(); ++i) add(graph_.constant(n_inverse_(k, i)), right[at(i)], d);
      d = solve_schur(d);
      for (int a = 0; a < m(); ++a) {
        Node& x = l[at(k * m() + a)];
        x = graph_.add(x, d[at(a)]);
      }
      const Nodes work = multiply(rpsi, node_rpsi[at(k)], d);
      append_to(effect, moved(solve_mass(work)));
      for (int i = 0; i < s(); ++i) add(factor(-c_.atilde(i, k)), work, residual[at(i)]);
    }
    Nodes z = z_, increment, velocity_change;
    for (int i = 0; i < s(); ++i) {
      Nodes dz = solve_mass(residual[at(i)]);
      for (int a = 0; a < nz(); ++a) {
        Node& d = dz[at(a)];
        d = graph_.negate(d);
        Node& x = z[at(i * nz() + a)];
        x = graph_.add(x, d);
      }
      append(increment, dz);
      const Nodes change = moved(dz);
      if (!velocity_is_z()) append(velocity_change, change);
      for (int a = 0; a < ny(); ++a) v_[at(i)][at(a)] = graph_.add(v_[at(i)][at(a)], change[at(a)]);
    }
    Nodes y, position_change;
    for (int i = 0; i < s(); ++i) append(y, sum_positions(c_.a, i, true));
    for (std::size_t a = 0; a < y.size(); ++a) position_change.push_back(graph_.subtract(y_[a], y[a]));
    Nodes outputs = y;
    append(outputs, z);
    append(outputs, l);
    for (const Nodes& v : v_) append(outputs, v);
    for (const Nodes* part : {&position_change, &increment, &velocity_change}) append(outputs, *part);
    for (const Nodes& part : effect) append(outputs, part);
    return compile({{eq_.t}, h_, y0_, p0_, y_, z_, l_, kept, inverse_mass_, inverse_schur_, velocity_z_}, outputs);
  }

  CompiledFunction accept() {
    evaluate_stages();
    Nodes outputs, y1 = y0_, momentum = p0_;
    for (const Nodes& v : v_) append(outputs, v);
    for (int j = 0; j < s(); ++j) add(factor(c_.b[j]), v_[at(j)], y1);
    for (int j = 0; j < s(); ++j) add(factor(c_.bhat[j]), f_[at(j)], momentum);
    for (int k = 0; k < st(); ++k) add(factor(c_.btilde[k]), r_[at(k)], momentum);
    append(outputs, y1);
    append(outputs, momentum);
    return compile({{eq_.t}, h_, y0_, p0_, y_, z_, l_}, outputs);
  }

  CompiledFunction end() {
    const Pattern &rpsi = system_.pattern(Q::reaction_psi), &rate_z = system_.pattern(Q::constraint_rate_z);
    const Nodes work2 = variables("momentum", at(nz())), rpsi_values = variables("rpsi", rpsi.entries()),
                rate_values = variables("rate_z", rate_z.entries());
    const Node weight = factor(c_.btilde[st()]);
    Nodes r;
    for (int a = 0; a < nz(); ++a)
      r.push_back(graph_.subtract(graph_.subtract(momentum_[at(a)], work2[at(a)]), times(weight, reaction_[at(a)])));
    const Nodes mass_r = solve_mass(r);
    const Nodes product = multiply(rate_z, rate_values, mass_r);
    const Node over_weight = graph_.divide(graph_.constant(1), weight);
    Nodes d;
    for (int a = 0; a < m(); ++a)
      d.push_back(graph_.add(graph_.divide(graph_.negate(rate_[at(a)]), weight), times(over_weight, product[at(a)])));
    d = solve_schur(d);
    Nodes psi = eq_.psi, z = eq_.z, work = multiply(rpsi, rpsi_values, d);
    for (int a = 0; a < m(); ++a) psi[at(a)] = graph_.add(psi[at(a)], d[at(a)]);
    for (Node& w : work) w = times(weight, w);
    const Nodes effect = moved(solve_mass(work));
    for (int a = 0; a < nz(); ++a) r[at(a)] = graph_.subtract(r[at(a)], work[at(a)]);
    const Nodes dz = solve_mass(r);
    for (int a = 0; a < nz(); ++a) z[at(a)] = graph_.subtract(z[at(a)], dz[at(a)]);
    Nodes outputs = z;
    append(outputs, psi);
    append(outputs, dz);
    append(outputs, effect);
    return compile({{eq_.t},
                    h_,
                    eq_.y,
                    eq_.z,
                    eq_.psi,
                    work2,
                    rpsi_values,
                    rate_values,
                    inverse_mass_,
                    inverse_schur_,
                    velocity_z_},
                   outputs);
  }

 private:
  int s() const { return c_.stages(); }
  int st() const { return c_.constraint_stages(); }
  int ny() const { return system_.ny(); }
  int nz() const { return system_.nz(); }
  int m() const { return system_.npsi(); }
  bool velocity_is_z() const { return system_.structure().velocity_is_z; }

  Nodes variables(const char* name, std::size_t count) {
    Nodes list;
    for (std::size_t k = 0; k < count; ++k) list.push_back(graph_.variable(name));
    return list;
  }
  Node times(Node a, Node b) { return separate_product(graph_, a, b); }
  Node factor(double of_h) { return times(graph_.constant(of_h), h_[0]); }
  // x += w y
  void add(Node weight, const Nodes& y, Nodes& x) {
    for (std::size_t a = 0; a < x.size(); ++a) x[a] = graph_.add(x[a], times(weight, y[a]));
  }
  static void append_to(std::vector<Nodes>& list, Nodes nodes) { list.push_back(std::move(nodes)); }
  Nodes multiply(const Pattern& p, const Nodes& values, const Nodes& x) {
    Nodes y(at(p.rows), graph_.constant(0));
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        y[at(i)] = graph_.add(y[at(i)], times(values[at(k)], x[at(p.column[at(k)])]));
    return y;
  }
  Nodes solve_mass(const Nodes& x) { return multiply(mass_inverse_, inverse_mass_, x); }
  Nodes solve_schur(const Nodes& x) { return multiply(Pattern::dense(m(), m()), inverse_schur_, x); }
  // v_z dz
  Nodes moved(const Nodes& dz) {
    return velocity_is_z() ? dz : multiply(system_.pattern(Q::velocity_z), velocity_z_, dz);
  }
  Nodes evaluate(const Nodes& functions, Node t, const Nodes& y, const Nodes& z, const Nodes& psi) {
    Nodes from{eq_.t}, to{t};
    for (const auto& [variables, images] : {std::pair{&eq_.y, &y}, std::pair{&eq_.z, &z}, std::pair{&eq_.psi, &psi}}) {
      append(from, *variables);
      append(to, *images);
    }
    return substitute(graph_, functions, from, to, graph_);
  }
  static Nodes part(const Nodes& all, int i, int size) {
    return {all.begin() + i * size, all.begin() + (i + 1) * size};
  }
  Node time(double c) { return graph_.add(eq_.t, factor(c)); }
  // y0 + h sum_j w_ij V_j
  Nodes sum_positions(const Eigen::MatrixXd& w, int i, bool skip_zeros) {
    Nodes y = y0_;
    for (int j = 0; j < s(); ++j)
      if (!skip_zeros || w(i, j) != 0) add(factor(w(i, j)), v_[at(j)], y);
    return y;
  }
  Nodes node(const Nodes& functions, int k) {
    const Nodes y = k > 0 ? sum_positions(c_.abar, k, true) : y0_;
    // the last node has a constraint and no reaction
    return evaluate(functions, time(c_.ctilde[k]), y, eq_.z, k < st() ? part(l_, k, m()) : eq_.psi);
  }
  void evaluate_stages() {
    for (auto* list : {&v_, &p_, &f_, &r_}) list->clear();
    for (int i = 0; i < s(); ++i) {
      const Node t = time(c_.c[i]);
      const Nodes y = part(y_, i, ny()), z = part(z_, i, nz());
      v_.push_back(velocity_is_z() ? z : evaluate(velocity_, t, y, z, eq_.psi));
      p_.push_back(evaluate(momentum_, t, y, z, eq_.psi));
      f_.push_back(evaluate(force_, t, y, z, eq_.psi));
    }
    for (int k = 0; k < st(); ++k) r_.push_back(node(reaction_, k));
  }
  CompiledFunction compile(const std::vector<Nodes>& blocks, const Nodes& outputs) {
    return CompiledFunction(graph_, blocks, outputs, graph_.constant(1));
  }

  const SymbolicSystem& system_;
  const Equations& eq_;
  const SparkTableau& c_;
  const Eigen::MatrixXd& n_inverse_;
  const Pattern& mass_inverse_;
  Graph graph_;
  Node first_own_ = 0;
  Nodes velocity_, momentum_, force_, reaction_, constraint_, reaction_psi_, constraint_y_, rate_;
  Nodes h_, y0_, p0_, y_, z_, l_, inverse_mass_, inverse_schur_, velocity_z_;
  std::vector<Nodes> v_, p_, f_, r_;
};

std::unique_ptr<SparkCode> SparkCode::make(const System& system, const SparkTableau& tableau,
                                           const Eigen::MatrixXd& n_inverse, const SchurComplement& small) {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (!symbolic || native_use() == NativeUse::off || system.npsi() == 0 || system.ng() != system.npsi() ||
      system.npsi() > SchurComplement::largest_inverse || symbolic->equations().graph->size() > most_nodes)
    return nullptr;
  const long work = static_cast<long>(tableau.stages()) * (system.ny() + 2 * system.nz()) * (tableau.stages() + 8);
  if (work > most_nodes) return nullptr;
  Draft draft(*symbolic, tableau, n_inverse, small.mass_inverse_pattern());
  auto code = std::unique_ptr<SparkCode>(new SparkCode);
  code->s_ = tableau.stages();
  code->st_ = tableau.constraint_stages();
  code->ny_ = system.ny();
  code->nz_ = system.nz();
  code->m_ = system.npsi();
  code->change_ = system.structure().velocity_is_z ? 0 : system.ny();
  code->derive_ = draft.derive();
  code->improve_ = draft.improve();
  if (!draft.fits()) return nullptr;
  code->accept_ = draft.accept();
  code->end_ = draft.end();
  return code;
}

void SparkCode::derive(const Stages& x) {
  const double* const inputs[] = {&x.t, &x.h, x.y0, x.y, x.z, x.l};
  derive_(inputs);
}

void SparkCode::improve(const Stages& x, const SchurComplement& small, const double* velocity_z) {
  const double* const inputs[] = {
      &x.t, &x.h, x.y0, x.p0, x.y, x.z, x.l, derive_.output(), small.mass_inverse(), small.schur_inverse(), velocity_z};
  improve_(inputs);
}

void SparkCode::accept(const Stages& x) {
  const double* const inputs[] = {&x.t, &x.h, x.y0, x.p0, x.y, x.z, x.l};
  accept_(inputs);
}

void SparkCode::improve_end(const End& x, const SchurComplement& small, const double* velocity_z) {
  const double* const inputs[] = {&x.t,
                                  &x.h,
                                  x.y1,
                                  x.z1,
                                  x.psi1,
                                  x.momentum,
                                  x.reaction_psi,
                                  x.rate_z,
                                  small.mass_inverse(),
                                  small.schur_inverse(),
                                  velocity_z};
  end_(inputs);
}

}  // namespace hinge
