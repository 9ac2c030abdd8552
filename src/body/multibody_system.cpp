#include "body/multibody_system.hpp"

#include <algorithm>

#include "solve/index.hpp"

namespace hinge {

namespace {

using Q = Quantity;

bool is_matrix_by_y(Quantity q) {
  return q == Q::velocity_y || q == Q::momentum_y || q == Q::force_y || q == Q::reaction_y || q == Q::constraint_y ||
         q == Q::constraint_rate_y;
}
bool is_matrix_by_z(Quantity q) {
  return q == Q::velocity_z || q == Q::momentum_z || q == Q::force_z || q == Q::reaction_z || q == Q::constraint_rate_z;
}
// Rows of constraints stay what they are: particles have none.
bool has_rows_of_particles(Quantity q) {
  return q != Q::constraint && q != Q::constraint_rate && q != Q::constraint_y && q != Q::constraint_rate_y &&
         q != Q::constraint_rate_z && q != Q::constraint_rate_t && q != Q::constraint_curvature && q != Q::energy;
}
bool is_velocity(Quantity q) { return q == Q::velocity || q == Q::velocity_y || q == Q::velocity_z; }

Structure structure_of(Structure s, const ParticleData& particles, const BodyTable& table) {
  s.is_symbolic = false;
  s.velocity_is_z = particles.dimension == 2;
  s.has_contacts = table.can_collide();
  return s;
}

}  // namespace

MultibodySystem::MultibodySystem(Layout layout, std::shared_ptr<const SymbolicSystem> bodies, ParticleData particles,
                                 std::shared_ptr<const BodyTable> table)
    : System(std::move(layout), structure_of(bodies->structure(), particles, *table)),
      bodies_(std::move(bodies)),
      particles_(std::move(particles)),
      table_(std::move(table)) {}

std::unique_ptr<ContactFinder> MultibodySystem::contact_finder() const {
  return table_->can_collide() ? find_body_contacts(table_) : nullptr;
}

void MultibodySystem::move(const double* y, const double* z, double h, double* out) const {
  table_->move(y, z, h, out);
}

bool MultibodySystem::is_constant(Quantity q) const {
  const bool moves = q == Q::velocity || q == Q::momentum || q == Q::energy ||
                     (particles_.dimension == 3 && (q == Q::velocity_y || q == Q::velocity_z));
  return !moves && bodies_->is_constant(q);
}

const Pattern& MultibodySystem::pattern(Quantity q) const {
  const std::lock_guard lock(mutex_);
  auto& slot = patterns_[static_cast<std::size_t>(q)];
  if (slot) return *slot;
  Pattern p = bodies_->pattern(q);
  if (is_matrix_by_y(q)) p.columns = ny();
  if (is_matrix_by_z(q)) p.columns = nz();
  if (has_rows_of_particles(q)) {
    // Rows of particles in the order of y or z. Every row is found by its place, since blocks interleave the parts; its
    // columns stand side by side.
    const int first = p.rows, rows = is_velocity(q) ? ny() : nz(), d = particles_.dimension;
    const bool vector =
        q == Q::velocity || q == Q::momentum || q == Q::force || q == Q::reaction || q == Q::acceleration_force;
    struct Columns {
      int first = 0, count = 0;
    };
    std::vector<Columns> columns(at(rows - first), Columns{0, vector ? 1 : 0});
    const auto row = [&](int i) -> Columns& { return columns[at(i - first)]; };
    for (const BodyPlace& b : particles_.places) {
      const int turns = d == 2 ? 1 : 3, angles = d == 2 ? 1 : 4;
      if (q == Q::velocity_z) {
        for (int k = 0; k < d; ++k) row(b.x + k) = {b.v + k, 1};
        for (int k = 0; k < angles; ++k) row(b.rotation + k) = {b.spin, turns};
      } else if (q == Q::velocity_y && d == 3) {
        for (int k = 0; k < angles; ++k) row(b.rotation + k) = {b.rotation, angles};
      } else if (q == Q::momentum_z) {
        for (int k = 0; k < d; ++k) row(b.v + k) = {b.v + k, 1};
        for (int k = 0; k < turns; ++k) row(b.spin + k) = {b.spin + k, 1};
      }
    }
    for (const Columns& c : columns) {
      for (int j = 0; j < c.count; ++j) p.column.push_back(c.first + j);
      p.row_start.push_back(static_cast<int>(p.column.size()));
    }
    p.rows = rows;
  }
  slot = std::make_unique<Pattern>(std::move(p));
  return *slot;
}

class MultibodyEvaluation final : public Evaluation {
 public:
  MultibodyEvaluation(const MultibodySystem& system, Quantities wanted)
      : system_(system), bodies_(system.bodies_->evaluation(wanted)) {
    for (int k = 0; k < quantity_count; ++k) {
      const auto q = static_cast<Quantity>(k);
      if (!wanted.contains(q)) continue;
      Part part{q, system.bodies_->pattern(q).entries(), {}};
      part.values.resize(system.pattern(q).entries() + 1, 0.0);
      fill_constants(part);
      parts_.push_back(std::move(part));
    }
    for (const Part& p : parts_) value_[static_cast<std::size_t>(p.quantity)] = p.values.data();
  }

  void at(double t, const double* y, const double* z, const double* psi) override {
    bodies_->at(t, y, z, psi);
    for (Part& part : parts_) {
      std::copy_n((*bodies_)[part.quantity], part.of_bodies, part.values.begin());
      fill(part, y, z);
    }
  }

 private:
  struct Part {
    Quantity quantity;
    std::size_t of_bodies;
    std::vector<double> values;
  };
  const ParticleData& particles() const { return system_.particles_; }

  // Values that never change: mass, gravity, identity.
  void fill_constants(Part& part) {
    const ParticleData& p = particles();
    const int d = p.dimension, turns = d == 2 ? 1 : 3;
    const Pattern& pattern = system_.pattern(part.quantity);
    const auto entry = [&](int row) -> double& {
      return part.values[static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(row)])];
    };
    for (std::size_t i = 0; i < p.places.size(); ++i) {
      const BodyPlace& b = p.places[i];
      switch (part.quantity) {
        case Q::momentum_z:
          for (int k = 0; k < d; ++k) entry(b.v + k) = p.mass[i];
          for (int k = 0; k < turns; ++k) entry(b.spin + k) = p.moment[i];
          break;
        case Q::force:
        case Q::acceleration_force:
          for (int k = 0; k < d; ++k) entry(b.v + k) = p.mass[i] * p.gravity(k);
          break;
        case Q::velocity_z:
          for (int k = 0; k < d; ++k) entry(b.x + k) = 1;
          if (d == 2) entry(b.rotation) = 1;
          break;
        default: break;
      }
    }
  }

  void fill(Part& part, const double* y, const double* z) {
    const ParticleData& p = particles();
    const int d = p.dimension, turns = d == 2 ? 1 : 3;
    double* out = part.values.data();
    switch (part.quantity) {
      case Q::velocity:
        for (const BodyPlace& b : p.places) {
          for (int k = 0; k < d; ++k) out[b.x + k] = z[b.v + k];
          if (d == 2)
            out[b.rotation] = z[b.spin];
          else
            rate(y + b.rotation, z + b.spin, out + b.rotation);
        }
        break;
      case Q::momentum:
        for (std::size_t i = 0; i < p.places.size(); ++i) {
          const BodyPlace& b = p.places[i];
          for (int k = 0; k < d; ++k) out[b.v + k] = p.mass[i] * z[b.v + k];
          for (int k = 0; k < turns; ++k) out[b.spin + k] = p.moment[i] * z[b.spin + k];
        }
        break;
      case Q::energy: {
        double sum = 0;
        for (std::size_t i = 0; i < p.places.size(); ++i) {
          const BodyPlace& b = p.places[i];
          double square = 0, turn = 0, height = 0;
          for (int k = 0; k < d; ++k) {
            square += z[b.v + k] * z[b.v + k];
            height += p.gravity(k) * y[b.x + k];
          }
          for (int k = 0; k < turns; ++k) turn += z[b.spin + k] * z[b.spin + k];
          sum += p.mass[i] * (square / 2 - height) + p.moment[i] * turn / 2;
        }
        out[0] += sum;
        break;
      }
      case Q::velocity_z:
        if (d == 3) turns_by_spin(part, y);
        break;
      case Q::velocity_y:
        if (d == 3) turns_by_rotation(part, z);
        break;
      default: break;
    }
  }

  static void rate(const double* q, const double* w, double* out) {
    out[0] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
    out[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    out[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    out[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
  }

  void turns_by_spin(Part& part, const double* y) {
    const Pattern& pattern = system_.pattern(Q::velocity_z);
    for (const BodyPlace& b : particles().places) {
      const double* q = y + b.rotation;
      const double m[4][3] = {{-q[1], -q[2], -q[3]}, {q[0], -q[3], q[2]}, {q[3], q[0], -q[1]}, {-q[2], q[1], q[0]}};
      for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 3; ++j)
          part.values[static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(b.rotation + k)] + j)] =
              0.5 * m[k][j];
    }
  }

  void turns_by_rotation(Part& part, const double* z) {
    const Pattern& pattern = system_.pattern(Q::velocity_y);
    for (const BodyPlace& b : particles().places) {
      const double* w = z + b.spin;
      const double m[4][4] = {
          {0, -w[0], -w[1], -w[2]}, {w[0], 0, w[2], -w[1]}, {w[1], -w[2], 0, w[0]}, {w[2], w[1], -w[0], 0}};
      for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 4; ++j)
          part.values[static_cast<std::size_t>(pattern.row_start[static_cast<std::size_t>(b.rotation + k)] + j)] =
              0.5 * m[k][j];
    }
  }

  const MultibodySystem& system_;
  std::unique_ptr<Evaluation> bodies_;
  std::vector<Part> parts_;
};

std::unique_ptr<Evaluation> MultibodySystem::evaluation(Quantities wanted) const {
  return std::make_unique<MultibodyEvaluation>(*this, wanted);
}

}  // namespace hinge
