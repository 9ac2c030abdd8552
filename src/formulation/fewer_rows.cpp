#include "formulation/fewer_rows.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "body/multibody_system.hpp"
#include "expression/substitute.hpp"
#include "solve/index.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

using Q = Quantity;

Layout fewer(Layout layout, const RowChoice& choice) {
  std::vector<std::string> names;
  for (const int i : choice.rows) names.push_back(layout.constraints[at(i)]);
  layout.constraints = std::move(names);
  layout.npsi = static_cast<int>(choice.multipliers.size());
  layout.psi = {Block{"psi", {layout.npsi}}};
  if (layout.npsi == 0) layout.psi.clear();
  return layout;
}

// Friction of joints asks for the rows of its joint by their numbers: those that are kept stand together still.
// Multipliers of the others are zero in its `width`, too.
std::shared_ptr<const BodyTable> fewer(const std::shared_ptr<const BodyTable>& table, const RowChoice& choice,
                                       Graph& graph, const std::vector<Node>& without) {
  if (!table || !table->has_joint_friction()) return table;
  const std::vector<Node> zeros(without.size(), graph.constant(0));
  auto contacts = std::make_shared<JointContacts>(*table->joint_contacts);
  const auto place = [&](int row) {
    return static_cast<int>(std::lower_bound(choice.rows.begin(), choice.rows.end(), row) - choice.rows.begin());
  };
  for (JointContact& joint : contacts->list) {
    const int first = joint.first_row, end = place(first + joint.rows);
    joint.first_row = place(first);
    joint.rows = end - joint.first_row;
    if (joint.load_rows > 0) {
      joint.load_columns.clear();
      for (int k = joint.first_row; k < end; ++k) joint.load_columns.push_back(choice.rows[at(k)] - first);
    }
    if (joint.friction) joint.width = substitute(graph, {&joint.width, 1}, without, zeros, graph)[0];
  }
  auto other = std::make_shared<BodyTable>(*table);
  other->joint_contacts = std::move(contacts);
  return other;
}

std::shared_ptr<const SymbolicSystem> fewer(const SymbolicSystem& system, const RowChoice& choice) {
  Equations eq = system.equations();
  SystemHooks hooks = system.hooks();
  auto graph = std::make_shared<Graph>(*eq.graph);
  std::vector<Node> g, psi, without;
  for (const int i : choice.rows) g.push_back(eq.g[at(i)]);
  std::vector<char> stays(eq.psi.size(), 0);
  for (const int i : choice.multipliers) stays[at(i)] = 1;
  for (std::size_t i = 0; i < eq.psi.size(); ++i) (stays[i] ? psi : without).push_back(eq.psi[i]);
  const std::vector<Node> zeros(without.size(), graph->constant(0));
  eq.r = substitute(*graph, eq.r, without, zeros, *graph);
  hooks.bodies = fewer(hooks.bodies, choice, *graph, without);
  eq.g = std::move(g);
  eq.psi = std::move(psi);
  eq.graph = std::move(graph);
  return std::make_shared<SymbolicSystem>(fewer(system.layout(), choice), std::move(eq), std::move(hooks));
}

bool has_row_per_constraint(Quantity q) {
  return q == Q::constraint || q == Q::constraint_rate || q == Q::constraint_y || q == Q::constraint_rate_y ||
         q == Q::constraint_rate_z || q == Q::constraint_rate_t || q == Q::constraint_curvature;
}

// Of a system of functions: rows and columns of what it computes.
class FewerRows final : public System {
 public:
  FewerRows(std::shared_ptr<const System> whole, const RowChoice& choice)
      : System(fewer(whole->layout(), choice), whole->structure()), whole_(std::move(whole)), choice_(choice) {
    for (int k = 0; k < quantity_count; ++k) {
      const auto q = static_cast<Quantity>(k);
      if (q == Q::reaction_psi)
        select_columns(whole_->pattern(q));
      else if (has_row_per_constraint(q))
        patterns_[static_cast<std::size_t>(q)] =
            some_rows(whole_->pattern(q), choice_.rows, from_[static_cast<std::size_t>(q)]);
    }
  }

  const Pattern& pattern(Quantity q) const override {
    return selected(q) ? patterns_[static_cast<std::size_t>(q)] : whole_->pattern(q);
  }
  bool is_constant(Quantity q) const override { return whole_->is_constant(q); }
  std::unique_ptr<ContactFinder> contact_finder() const override { return whole_->contact_finder(); }
  void move(const double* y, const double* z, double h, double* out) const override { whole_->move(y, z, h, out); }
  std::unique_ptr<Evaluation> evaluation(Quantities wanted) const override;

 private:
  friend class FewerValues;
  static bool selected(Quantity q) { return q == Q::reaction_psi || has_row_per_constraint(q); }

  void select_columns(const Pattern& p) {
    Pattern& part = patterns_[static_cast<std::size_t>(Q::reaction_psi)];
    std::vector<int>& from = from_[static_cast<std::size_t>(Q::reaction_psi)];
    part.rows = p.rows;
    part.columns = static_cast<int>(choice_.multipliers.size());
    std::vector<int> place(at(p.columns), -1);
    for (std::size_t k = 0; k < choice_.multipliers.size(); ++k)
      place[at(choice_.multipliers[k])] = static_cast<int>(k);
    for (int i = 0; i < p.rows; ++i) {
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        if (const int j = place[at(p.column[at(k)])]; j >= 0) {
          part.column.push_back(j);
          from.push_back(k);
        }
      part.row_start.push_back(static_cast<int>(part.column.size()));
    }
  }

  std::shared_ptr<const System> whole_;
  RowChoice choice_;
  std::array<Pattern, quantity_count> patterns_;
  std::array<std::vector<int>, quantity_count> from_;
};

class FewerValues final : public Evaluation {
 public:
  FewerValues(const FewerRows& system, Quantities wanted)
      : system_(system), whole_(system.whole_->evaluation(wanted)), psi_(hinge::at(system.whole_->npsi()), 0.0) {
    for (int k = 0; k < quantity_count; ++k) {
      const auto q = static_cast<Quantity>(k);
      if (wanted.contains(q) && FewerRows::selected(q))
        values_[hinge::at(k)].resize(system.from_[hinge::at(k)].size() + 1);
    }
  }
  void at(double t, const double* y, const double* z, const double* psi) override {
    using hinge::at;
    const std::vector<int>& places = system_.choice_.multipliers;
    if (psi)
      for (std::size_t k = 0; k < places.size(); ++k) psi_[at(places[k])] = psi[k];
    whole_->at(t, y, z, psi_.data());
    for (std::size_t q = 0; q < values_.size(); ++q) {
      const double* all = (*whole_)[static_cast<Quantity>(q)];
      if (values_[q].empty()) {
        value_[q] = all;
        continue;
      }
      const std::vector<int>& from = system_.from_[q];
      for (std::size_t k = 0; k < from.size(); ++k) values_[q][k] = all[from[k]];
      value_[q] = values_[q].data();
    }
  }

 private:
  const FewerRows& system_;
  std::unique_ptr<Evaluation> whole_;
  std::vector<double> psi_;
  std::array<std::vector<double>, quantity_count> values_;
};

std::unique_ptr<Evaluation> FewerRows::evaluation(Quantities wanted) const {
  return std::make_unique<FewerValues>(*this, wanted);
}

}  // namespace

RowChoice choice_of(std::vector<int> rows, int count) {
  RowChoice choice{rows, rows, {}, true};
  for (int i = 0; i < count; ++i)
    if (!std::binary_search(rows.begin(), rows.end(), i)) choice.left_out.push_back(i);
  return choice;
}

std::shared_ptr<const System> with_fewer_rows(std::shared_ptr<const System> system, const RowChoice& choice) {
  if (const auto* symbolic = dynamic_cast<const SymbolicSystem*>(system.get())) return fewer(*symbolic, choice);
  if (const auto* bodies = dynamic_cast<const MultibodySystem*>(system.get())) {
    auto part = fewer(bodies->symbolic(), choice);
    auto table = part->hooks().bodies;
    return bodies->with_bodies(fewer(bodies->layout(), choice), std::move(part), std::move(table));
  }
  return std::make_shared<FewerRows>(std::move(system), choice);
}

Pattern some_rows(const Pattern& p, const std::vector<int>& rows, std::vector<int>& from) {
  Pattern part;
  part.rows = static_cast<int>(rows.size());
  part.columns = p.columns;
  for (const int i : rows) {
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
      part.column.push_back(p.column[at(k)]);
      from.push_back(k);
    }
    part.row_start.push_back(static_cast<int>(part.column.size()));
  }
  return part;
}

void pick(const std::vector<double>& x, const std::vector<int>& places, std::vector<double>& out) {
  out.resize(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) out[k] = x[at(places[k])];
}

}  // namespace hinge
