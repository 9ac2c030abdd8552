// Named bodies, made of expressions, and particles, which are not: the first numbers of y and z belong to the bodies,
// the others to the particles, whose equations are
//
//   x' = v,  q' = q (0, omega)/2,   m v' = m g,   J omega' = 0
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "body/body_table.hpp"
#include "system/symbolic.hpp"

namespace hinge {

struct ParticleData {
  std::vector<double> mass, moment;  ///< of all particles
  std::vector<BodyPlace> places;     ///< in y and z of the whole system
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();
  int dimension = 3;
};

class MultibodySystem final : public System, public PartlySymbolic {
 public:
  /// `layout` is that of the whole.
  MultibodySystem(Layout layout, std::shared_ptr<const SymbolicSystem> bodies, ParticleData particles,
                  std::shared_ptr<const BodyTable> table);

  const SymbolicSystem& symbolic() const override { return *bodies_; }
  const BodyTable& table() const { return *table_; }
  /// The same particles beside other equations of the same bodies.
  std::shared_ptr<const MultibodySystem> with_bodies(Layout layout, std::shared_ptr<const SymbolicSystem> bodies,
                                                     std::shared_ptr<const BodyTable> table) const {
    return std::make_shared<MultibodySystem>(std::move(layout), std::move(bodies), particles_, std::move(table));
  }
  const Pattern& pattern(Quantity q) const override;
  bool is_constant(Quantity q) const override;
  std::unique_ptr<ContactFinder> contact_finder() const override;
  void move(const double* y, const double* z, double h, double* out) const override;
  std::unique_ptr<Evaluation> evaluation(Quantities wanted) const override;

 private:
  friend class MultibodyEvaluation;
  std::shared_ptr<const SymbolicSystem> bodies_;
  ParticleData particles_;
  std::shared_ptr<const BodyTable> table_;
  mutable std::array<std::unique_ptr<Pattern>, quantity_count> patterns_;
  mutable std::mutex mutex_;
};

}  // namespace hinge
