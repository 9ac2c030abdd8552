// Contacts given by expressions:  N row = gap_y v_z, drift = gap_t;  T rows = slip_z, drift = slip at z = 0.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "system/builders.hpp"
#include "system/gap_row.hpp"
#include "system/symbolic.hpp"

namespace hinge {

std::vector<Node> gap_row(Graph& graph, const Equations& eq, Node gap) {
  if (eq.v == eq.z) return gradient(graph, gap, eq.y);
  const std::vector<Node> rate = time_derivative(graph, std::array{gap}, eq.t, eq.y, eq.v);
  return gradient(graph, rate[0], eq.z);
}

void resolve_contacts(Graph& graph, const Layout& layout, Equations& eq) {
  const std::vector<char> moves = dependence(graph, eq.z);
  for (Equations::Gap& gap : eq.gaps) {
    if (moves[static_cast<std::size_t>(gap.gap)])
      throw InputError(
          fmt::format("the gap {} depends on a velocity; a gap is a function of t and the coordinates", gap.name));
    const SparseExpressions normal = jacobian(graph, {&gap.gap, 1}, eq.y);
    if (normal.column.empty()) throw InputError(fmt::format("the gap {} does not depend on the coordinates", gap.name));
    if (gap.slip.size() > 2)
      throw InputError(fmt::format("the contact {} has {} slip velocities; one in the plane, two in space", gap.name,
                                   gap.slip.size()));
    for (const Node s : gap.slip) {
      const SparseExpressions rows = jacobian(graph, {&s, 1}, eq.z);
      const std::vector<char> bends = dependence(graph, eq.z);
      const bool linear = !rows.entries.empty() && std::none_of(rows.entries.begin(), rows.entries.end(), [&](Node n) {
        return bends[static_cast<std::size_t>(n)];
      });
      if (!linear)
        throw InputError(fmt::format("the slip velocity {} of the contact {} is not linear in the velocities",
                                     to_text(graph, s, 60), gap.name));
    }
    if (!gap.reaction.empty()) {
      if (gap.reaction.size() != eq.z.size())
        throw InputError(fmt::format("the reaction of the contact {} has {} components; there are {} coordinates",
                                     gap.name, gap.reaction.size(), eq.z.size()));
      if (gap.friction > 0 || gap.restitution > 0 || !gap.slip.empty())
        throw InputError(fmt::format(
            "the contact {} has a reaction of its own, which contains its friction; leave out friction, slip and "
            "restitution",
            gap.name));
      const std::vector<char> uses = dependence(graph, std::array{gap.multiplier});
      if (std::none_of(gap.reaction.begin(), gap.reaction.end(),
                       [&](Node n) { return uses[static_cast<std::size_t>(n)]; }))
        throw InputError(fmt::format("the reaction of the contact {} does not contain its multiplier", gap.name));
    }
    if (gap.friction == 0 || !gap.slip.empty()) continue;
    // The one point that the gap depends on.
    const int first = normal.column.front(), last = normal.column.back();
    for (const Block& b : layout.y) {
      if (b.shape.empty()) continue;
      const int size = b.shape.back();
      for (int k = b.first; k < b.first + b.size(); k += size)
        if (first >= k && last < k + size && (size == 2 || size == 3)) gap.point = k, gap.point_size = size;
    }
    if (gap.point < 0)
      throw InputError(fmt::format(
          "the contact {} has friction but no slip; give the tangential velocity, slip = \"x'\" say (two in space), or "
          "make the gap a function of one point with two or three coordinates",
          gap.name));
  }
}

namespace {

class SymbolicContacts final : public ContactFinder {
 public:
  explicit SymbolicContacts(const SymbolicSystem& system) : zero_(static_cast<std::size_t>(system.nz())) {
    const Equations& eq = system.equations();
    Graph graph = *eq.graph;
    std::vector<Node> outputs, gaps;
    for (const Equations::Gap& g : eq.gaps) {
      names_.push_back(g.name);
      gaps.push_back(g.gap);
      dimension_ = std::max(dimension_, g.point >= 0 ? g.point_size : 1 + static_cast<int>(g.slip.size()));
    }
    for (const Equations::Gap& g : eq.gaps) {
      Contact c{g.friction, g.restitution, g.point, g.point_size, {}, outputs.size(), 0};
      std::vector<Node> rows;  // N, T1, T2 over all of z
      const std::vector<Node> normal = gap_row(graph, eq, g.gap);
      rows.insert(rows.end(), normal.begin(), normal.end());
      for (const Node s : g.slip) {
        const std::vector<Node> row = gradient(graph, s, eq.z);
        rows.insert(rows.end(), row.begin(), row.end());
      }
      outputs.push_back(g.gap);
      outputs.push_back(gradient(graph, g.gap, std::array{eq.t})[0]);
      outputs.insert(outputs.end(), g.slip.begin(), g.slip.end());
      const std::size_t n = eq.z.size();
      c.rows = static_cast<int>(rows.size() / n);
      for (std::size_t j = 0; j < n; ++j) {
        bool any = g.point >= 0 && static_cast<int>(j) >= g.point && static_cast<int>(j) < g.point + g.point_size;
        for (std::size_t k = j; k < rows.size(); k += n) any = any || !graph.is_constant(rows[k], 0);
        if (!any) continue;
        c.columns.push_back(static_cast<int>(j));
        for (std::size_t k = j; k < rows.size(); k += n) outputs.push_back(rows[k]);
      }
      contacts_.push_back(std::move(c));
    }
    all_ = eq.tape(graph, outputs);
    gaps_ = eq.tape(graph, gaps);
    all_scratch_ = all_->make_scratch();
    gap_scratch_ = gaps_->make_scratch();
    all_values_.resize(outputs.size());
    gap_values_.resize(gaps.size());
  }

  int dimension() const override { return dimension_; }
  std::string name(std::uint64_t key) const override { return names_.at(key); }

  void find(double t, const double* y, double band, ContactList& out) override {
    out.clear(dimension_);
    evaluate(*all_, all_scratch_, t, y, all_values_);
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const Contact& c = contacts_[i];
      const double* value = all_values_.data() + c.output;
      if (!(value[0] <= band)) continue;
      ++out.count;
      out.key.push_back(i);
      out.gap.push_back(value[0]);
      out.restitution.push_back(c.restitution);
      const double* rows = value + 1 + c.rows;
      if (c.point >= 0) {
        add_point(c, value[1], rows, out);
      } else {
        out.friction.push_back(c.friction);
        for (int k = 0; k < dimension_; ++k) out.drift.push_back(k < c.rows ? value[1 + k] : 0.0);
        for (std::size_t j = 0; j < c.columns.size(); ++j) {
          out.column.push_back(c.columns[j]);
          for (int k = 0; k < dimension_; ++k)
            out.H.push_back(k < c.rows ? rows[j * static_cast<std::size_t>(c.rows) + static_cast<std::size_t>(k)]
                                       : 0.0);
        }
      }
      out.first.push_back(static_cast<int>(out.column.size()));
    }
  }

  void gaps(double t, const double* y, const ContactList& list, double* out) override {
    evaluate(*gaps_, gap_scratch_, t, y, gap_values_);
    for (int i = 0; i < list.count; ++i) out[i] = gap_values_[list.key[static_cast<std::size_t>(i)]];
  }

 private:
  struct Contact {
    double friction, restitution;
    int point, point_size;
    std::vector<int> columns;
    std::size_t output;  // gap, gap_t, slips at z = 0, then `rows` numbers per column
    int rows;
  };

  void evaluate(const Evaluator& tape, std::vector<double>& scratch, double t, const double* y,
                std::vector<double>& values) const {
    const double* const inputs[] = {&t, y, zero_.data(), nullptr};
    tape.evaluate(inputs, scratch.data(), values.data());
  }

  // The gap of one point: tangents from the normal, and |normal| into the coefficient, since the reaction's length is
  // r |normal|.
  void add_point(const Contact& c, double gap_t, const double* normal, ContactList& out) {
    double n[3] = {};
    for (std::size_t j = 0; j < c.columns.size(); ++j) n[c.columns[j] - c.point] = normal[j];
    const double length = std::hypot(n[0], n[1], n[2]);
    out.friction.push_back(c.friction * length);
    const double scale = length > 0 ? 1 / length : 0;
    const double u[3] = {n[0] * scale, n[1] * scale, n[2] * scale};
    double s[3] = {u[1], -u[0], 0}, w[3] = {};
    if (c.point_size == 3) {
      // the tangent plane's frame that turns least: no jump but at u = -e3
      const double sign = std::copysign(1.0, u[2]), a = -1 / (sign + u[2]), b = u[0] * u[1] * a;
      s[0] = 1 + sign * u[0] * u[0] * a, s[1] = sign * b, s[2] = -sign * u[0];
      w[0] = b, w[1] = sign + u[1] * u[1] * a, w[2] = -u[1];
    }
    const double* const rows[] = {n, s, w};
    for (int k = 0; k < dimension_; ++k) out.drift.push_back(k == 0 ? gap_t : 0.0);
    for (const int column : c.columns) {
      out.column.push_back(column);
      for (int k = 0; k < dimension_; ++k) out.H.push_back(k < c.point_size ? rows[k][column - c.point] : 0.0);
    }
  }

  int dimension_ = 1;
  std::vector<std::string> names_;
  std::vector<Contact> contacts_;
  std::unique_ptr<Evaluator> all_, gaps_;
  std::vector<double> zero_, all_scratch_, gap_scratch_, all_values_, gap_values_;
};

}  // namespace

std::unique_ptr<ContactFinder> SymbolicSystem::contact_finder() const {
  if (hooks_.contacts) return hooks_.contacts();
  if (eq_.gaps.empty()) return nullptr;
  return std::make_unique<SymbolicContacts>(*this);
}

}  // namespace hinge
