#include "body/spin_rows.hpp"

#include "body/turn.hpp"
#include "solve/index.hpp"
#include "solve/parallel.hpp"

namespace hinge {

SpinRows::SpinRows(const BodyTable& table, int nz) {
  if (table.dimension != 3) return;
  first_.assign(at(nz), -1);
  for (std::size_t b = 0; b < table.places.size(); ++b) {
    spins_.push_back(table.places[b].spin);
    rotations_.push_back(table.places[b].rotation);
    first_[at(table.places[b].spin)] = static_cast<int>(b);
  }
  turns_.resize(9 * spins_.size());
  turning_.resize(spins_.size());
}

bool SpinRows::turn(const double* z, double time, ContactList& list) {
  if (time == 0 || list.count == 0) return false;
  bool any = false;
  shared_loop(static_cast<int>(spins_.size()), [&](int b) {
    const double* w = z + spins_[at(b)];
    const double a[3] = {time * w[0], time * w[1], time * w[2]}, square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    turning_[at(b)] = square > 1e-34;  // else nothing that a double could hold
    if (turning_[at(b)]) back_by(a, turns_.data() + 9 * b);
  });
  for (const char turning : turning_) any = any || turning;
  if (any) apply(list);
  return any;
}

bool SpinRows::turn_between(const double* y0, const double* y1, ContactList& list) {
  if (list.count == 0) return false;
  bool any = false;
  shared_loop(static_cast<int>(spins_.size()), [&](int b) {
    turning_[at(b)] = back_between(y0 + rotations_[at(b)], y1 + rotations_[at(b)], turns_.data() + 9 * b);
  });
  for (const char turning : turning_) any = any || turning;
  if (any) apply(list);
  return any;
}

void SpinRows::apply(ContactList& list) const {
  shared_loop(list.count, [&](int i) {
    for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k) {
      const int body = first_[at(list.column[at(k)])];
      if (body < 0) continue;
      if (turning_[at(body)]) {
        const double* r = turns_.data() + 9 * body;
        double *x = list.H.data() + 3 * k, *y = x + 3, *w = y + 3;
        for (int row = 0; row < 3; ++row) {
          const double v[3] = {x[row], y[row], w[row]};
          x[row] = r[0] * v[0] + r[1] * v[1] + r[2] * v[2];
          y[row] = r[3] * v[0] + r[4] * v[1] + r[5] * v[2];
          w[row] = r[6] * v[0] + r[7] * v[1] + r[8] * v[2];
        }
      }
      k += 2;
    }
  });
}

}  // namespace hinge
