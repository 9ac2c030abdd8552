// Steps of grains on the cores of the host. Every phase is shared out; what is summed is summed in blocks of a fixed
// size, so that no bit depends on the number of threads.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "method/nonsmooth/grain_host.hpp"

namespace hinge {

namespace grain {

template <class Count, class Work>
void GrainHost::each_stage(int stages, Count&& count, Work&& work) {
  constexpr int worth_it = 2000;  // contacts
  stages_.run(contacts_ < worth_it ? 1 : threads_, stages, 1, count, [&](int s, int first, int last) {
    for (int i = first; i < last; ++i) work(s, i);
  });
}

template <class Part>
double GrainHost::largest_of_parts(int n, Part&& part) {
  const int chunks = (n + chunk - 1) / chunk;
  room(sums_, at(chunks));
  each(
      chunks, [&](int c) { sums_[at(c)] = part(c * chunk, std::min(n, (c + 1) * chunk)); }, 4);
  return chunks > 0 ? *std::max_element(sums_.begin(), sums_.begin() + chunks) : 0;
}

template <class Value>
double GrainHost::largest(int n, Value&& value) {
  return largest_of_parts(n, [&](int first, int end) {
    double most = 0;
    for (int i = first; i < end; ++i)
      if (const double x = value(i); !(x <= most)) most = std::isnan(x) ? HUGE_VAL : x;
    return most;
  });
}

// counts[i] becomes the sum of all before it, counts[n] that of all.
void GrainHost::add_up(std::vector<int>& counts, int n) {
  constexpr int part = 16384;
  const int parts = n / part + 1;
  std::vector<int>& sums = parts_;
  sums.assign(at(parts) + 1, 0);
  each(
      parts,
      [&](int p) {
        int sum = 0;
        for (int i = p * part; i < std::min(n, (p + 1) * part); ++i) sum += counts[at(i)];
        sums[at(p) + 1] = sum;
      },
      1);
  for (int p = 0; p < parts; ++p) sums[at(p) + 1] += sums[at(p)];
  each(
      parts,
      [&](int p) {
        int sum = sums[at(p)];
        for (int i = p * part; i < std::min(n, (p + 1) * part); ++i) {
          const int here = counts[at(i)];
          counts[at(i)] = sum;
          sum += here;
        }
      },
      1);
  counts[at(n)] = sums[at(parts)];
}

void GrainHost::list_blocks() {
  const std::vector<int>& first = kept_[now_].first;
  const int cells = cells_of_block();
  busy_.clear();
  first_busy_.assign(1, 0);
  for (int kind = 0; kind < 8; ++kind) {
    for (int k = 0; k < blocks() / 8; ++k) {
      const int b = block_of_class(k, kind, grid_);
      if (first[at(start_[at(b * cells)])] < first[at(start_[at((b + 1) * cells)])]) busy_.push_back(b);
    }
    first_busy_.push_back(static_cast<int>(busy_.size()));
  }
}

int GrainHost::search(const GrainGrid& grid, double band, const Eigen::Vector3d& fall) {
  grid_ = grid;
  fall_ = fall;
  Kept& kept = kept_[now_];
  const int cells = blocks() * cells_of_block();
  room(count_, at(cells));
  room(start_, at(cells) + 1);
  each(
      cells, [&](int c) { count_[at(c)] = 0; }, 8192);
  each(n_, [&](int i) { count_in_cell(i, x_.data(), grid_, cell_.data(), count_.data()); });
  each(
      cells, [&](int c) { start_[at(c)] = count_[at(c)]; }, 8192);
  add_up(start_, cells);
  each(n_, [&](int i) { put_into_cell(i, cell_.data(), start_.data(), count_.data(), order_.data()); });
  each(
      cells, [&](int c) { sort_cell(c, start_.data(), order_.data()); }, 8192);
  each(n_, [&](int s) {
    gather(s, order_.data(), x_.data(), v_.data(), w_.data(), fall[0], fall[1], fall[2], kept.place.data(), xs_.data(),
           free_v_.data(), free_w_.data(), vs_.data(), ws_.data());
  });
  const int planes = static_cast<int>(planes_.size());
  each(n_, [&](int s) {
    kept.first[at(s)] = contacts_of(s, xs_.data(), order_.data(), start_.data(), grid_, planes_.data(), planes, band,
                                    nullptr, nullptr, nullptr, 0);
  });
  add_up(kept.first, n_);
  contacts_ = kept.first[at(n_)];
  room(owner_, at(contacts_));
  room(partner_, at(contacts_));
  room(kept.partner_id, at(contacts_));
  each(n_, [&](int s) {
    contacts_of(s, xs_.data(), order_.data(), start_.data(), grid_, planes_.data(), planes, band, owner_.data(),
                partner_.data(), kept.partner_id.data(), kept.first[at(s)]);
  });
  return contacts_;
}

void GrainHost::assemble(double h, double speed, double longer) {
  Kept& kept = kept_[now_];
  const Kept& last = kept_[1 - now_];
  const std::size_t n = at(contacts_);
  room(colour_, n);
  room(colour_start_, at(blocks()) * (MOST_COLOURS + 1));
  room(colours_, at(blocks()));
  room(kept.contact_place, n);
  room(kept.reaction, n);
  room(pair_, n);
  room(normal_, n);
  room(data_, n);
  room(gaps_, n);
  pushed_ = false;
  list_blocks();
  std::fill(colours_.begin(), colours_.end(), 0);
  each_block(1, [&](int b) {
    colour_block(b, cells_of_block(), start_.data(), kept.first.data(), owner_.data(), partner_.data(), taken_.data(),
                 colour_.data(), colour_start_.data(), colours_.data(), kept.contact_place.data());
  });
  each(contacts_, [&](int c) {
    make_contact(c, owner_.data(), partner_.data(), kept.partner_id.data(), kept.contact_place.data(), order_.data(),
                 xs_.data(), vs_.data(), ws_.data(), friction_.data(), restitution_.data(), planes_.data(), n_, h,
                 fall_[0], fall_[1], fall_[2], speed, pair_.data(), normal_.data(), data_.data(), kept.reaction.data(),
                 gaps_.data(), longer, last.place.data(), last.first.data(), last.partner_id.data(),
                 last.contact_place.data(), last.reaction.data());
  });
  if (longer > 0)
    each_block(1, [&](int b) {
      each_contact(b, [&](int k) {
        add_reaction(k, pair_.data(), normal_.data(), data_.data(), kept.reaction.data(), vs_.data(), ws_.data());
      });
    });
}

GrainSize GrainHost::size() {
  return {largest(contacts_,
                  [&](int k) {
                    return size_of_q(k, pair_.data(), normal_.data(), data_.data(), free_v_.data(), free_w_.data());
                  }),
          largest(contacts_, [&](int k) { return -gaps_[at(k)]; })};
}

void GrainHost::sweep(int count) {
  Real4* r = kept_[now_].reaction.data();
  const LaneSweep sweep{0, pair_.data(), normal_.data(), data_.data(), r, r, vs_.data(), ws_.data()};
  each_block(count, [&](int b) { sweep_block(b, sweep); });
}

void GrainHost::sweep_further(const std::vector<double>& betas) {
  room(last_reaction_, at(contacts_));
  for (auto* v : {&last_v_, &last_w_}) v->resize(at(n_));
  std::vector<Real4>& reaction = kept_[now_].reaction;
  Real4* both[] = {reaction.data(), last_reaction_.data()};
  const int parts = (n_ + chunk - 1) / chunk, sweeps = static_cast<int>(betas.size());
  // before the classes of a sweep: velocities
  each_stage(
      9 * sweeps, [&](int s) { return s % 9 == 0 ? parts : first_busy_[at(s % 9)] - first_busy_[at(s % 9 - 1)]; },
      [&](int s, int i) {
        const double beta = betas[at(s / 9)];
        if (s % 9 == 0) {
          for (int g = i * chunk; g < std::min(n_, (i + 1) * chunk); ++g) {
            go_further(g, beta, vs_.data(), last_v_.data());
            go_further(g, beta, ws_.data(), last_w_.data());
          }
          return;
        }
        const Real4* from = both[s / 9 % 2];
        Real4* to = both[1 - s / 9 % 2];
        sweep_block(busy_[at(first_busy_[at(s % 9 - 1)] + i)],
                    {beta, pair_.data(), normal_.data(), data_.data(), from, to, vs_.data(), ws_.data()});
      });
  if (sweeps % 2 == 1) reaction.swap(last_reaction_);
}

double GrainHost::residual() {
  Real4* r = kept_[now_].reaction.data();
  const LaneSweep now{0, pair_.data(), normal_.data(), data_.data(), r, r, vs_.data(), ws_.data()};
  if (lanes_.largest_residual)
    return largest_of_parts(contacts_, [&](int first, int end) { return lanes_.largest_residual(now, first, end); });
  return largest(contacts_, [&](int k) {
    return residual_of(k, pair_.data(), normal_.data(), data_.data(), r, vs_.data(), ws_.data());
  });
}

GrainStretch GrainHost::stretch() {
  Real4* r = kept_[now_].reaction.data();
  const int cells = GrainCoarse::cells(grid_), sums = cells * COARSE_SUMS;
  room(stress_, at(n_) * STRESS_NUMBERS);
  room(stretch_, at(n_));
  room(block_sums_, at(blocks()) * COARSE_SUMS);
  room(coarse_sums_, at(sums));
  each(n_, [&](int s) { std::fill_n(stress_.data() + at(s) * STRESS_NUMBERS, STRESS_NUMBERS, 0.0); });
  each_block(1, [&](int b) {
    each_contact(b, [&](int k) {
      add_stress(k, n_, pair_.data(), normal_.data(), data_.data(), r, xs_.data(), vs_.data(), ws_.data(),
                 stress_.data());
    });
  });
  each(
      blocks(),
      [&](int b) {
        sum_of_block(b, cells_of_block(), grid_, start_.data(), xs_.data(), free_v_.data(), free_w_.data(), vs_.data(),
                     ws_.data(), stress_.data(), block_sums_.data());
      },
      16);
  each(sums, [&](int k) { sum_of_cell(k, grid_, block_sums_.data(), coarse_sums_.data()); });
  const std::vector<double>& field = coarse_.solve(grid_, coarse_sums_.data());
  each(n_, [&](int s) { stretch_[at(s)] = stretch_at(s, xs_.data(), grid_, field.data()); });
  each_block(1, [&](int b) {
    each_contact(b, [&](int k) {
      stretch_contact(k, n_, pair_.data(), normal_.data(), data_.data(), r, stretch_.data(), vs_.data(), ws_.data());
    });
  });
  return coarse_.change();
}

void GrainHost::stop_pushing(double deep, double h, double speed) {
  moving_v_.resize(at(n_));
  moving_w_.resize(at(n_));
  each(n_, [&](int s) {
    moving_v_[at(s)] = vs_[at(s)];
    moving_w_[at(s)] = ws_[at(s)];
  });
  pushed_ = true;
  const Real4* r = kept_[now_].reaction.data();
  each(contacts_, [&](int k) { stop_pushing_contact(k, normal_.data(), r, gaps_.data(), deep, h, speed); });
}

GrainSums GrainHost::sums(const Eigen::Vector3d& fall) {
  GrainSums total;
  const int grains = (n_ + chunk - 1) / chunk, chunks = (contacts_ + chunk - 1) / chunk;
  room(sums_, at(std::max(grains, chunks)) * per_sum);
  each(
      grains,
      [&](int c) {
        GrainSums part;
        part.low.setConstant(HUGE_VAL);
        part.high.setConstant(-HUGE_VAL);
        for (int s = c * chunk; s < std::min(n_, (c + 1) * chunk); ++s) {
          const Wide4 &x = xs_[at(s)], &v = vs_[at(s)], gained = momentum_gained(s, free_v_.data(), vs_.data());
          const double speed = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
          if (!(speed <= part.fastest)) part.fastest = std::isnan(speed) ? HUGE_VAL : speed;
          part.low = part.low.cwiseMin(Eigen::Vector3d(x.x, x.y, x.z));
          part.high = part.high.cwiseMax(Eigen::Vector3d(x.x, x.y, x.z));
          part.gained += Eigen::Vector3d(gained.x, gained.y, gained.z);
          part.moving += speed * speed;
        }
        double* out = sums_.data() + at(c) * per_sum;
        out[0] = part.fastest, out[10] = part.moving;
        for (int k = 0; k < 3; ++k) out[1 + k] = part.low[k], out[4 + k] = part.high[k], out[7 + k] = part.gained[k];
      },
      4);
  total.low.setConstant(HUGE_VAL);
  total.high.setConstant(-HUGE_VAL);
  for (int c = 0; c < grains; ++c) {
    const double* from = sums_.data() + at(c) * per_sum;
    total.fastest = std::max(total.fastest, from[0]);
    total.moving += from[10];
    total.low = total.low.cwiseMin(Eigen::Vector3d(from + 1));
    total.high = total.high.cwiseMax(Eigen::Vector3d(from + 4));
    total.gained += Eigen::Vector3d(from + 7);
  }
  const Real4* r = kept_[now_].reaction.data();
  each(
      chunks,
      [&](int c) {
        double* out = sums_.data() + at(c) * per_sum;
        std::fill(out, out + 6, 0.0);
        for (int k = c * chunk; k < std::min(contacts_, (c + 1) * chunk); ++k) {
          const Wide4 work = work_of(k, pair_.data(), normal_.data(), data_.data(), r, free_v_.data(), free_w_.data(),
                                     vs_.data(), ws_.data(), fall[0], fall[1], fall[2]);
          const Wide4 wall = wall_impulse(k, n_, pair_.data(), normal_.data(), r);
          out[0] += work.x, out[1] += work.y, out[2] += work.z, out[3] += wall.x, out[4] += wall.y, out[5] += wall.z;
        }
      },
      4);
  for (int c = 0; c < chunks; ++c) {
    const double* from = sums_.data() + at(c) * per_sum;
    total.normal_work += from[0];
    total.friction_work += from[1];
    total.loaded += static_cast<long>(from[2]);
    total.walls += Eigen::Vector3d(from + 3);
  }
  return total;
}

void GrainHost::move(double h) {
  const Wide4 *mv = pushed_ ? moving_v_.data() : vs_.data(), *mw = pushed_ ? moving_w_.data() : ws_.data();
  each(n_, [&](int s) {
    move_grain(s, h, order_.data(), mv, vs_.data(), mw, ws_.data(), x_.data(), v_.data(), w_.data(), turn_.data());
  });
  for (std::size_t k = 0; k < walls_.size(); ++k) planes_[k].offset += h * walls_[k].normal.dot(walls_[k].velocity);
  now_ = 1 - now_;
}

void GrainHost::contacts(GrainContacts& list) {
  const Real4* reaction = kept_[1 - now_].reaction.data();
  list.resize(at(contacts_));
  each(contacts_, [&](int k) {
    const Int2 ab = pair_[at(k)];
    const Real4 &n = normal_[at(k)], &q = data_[at(k)], &r = reaction[k];
    const int b = ab.y < n_ ? order_[at(ab.y)] : n_ - 1 - ab.y;
    list[at(k)] = {order_[at(ab.x)], b, {n.x, n.y, n.z}, n.w, q.x, q.y, q.z, r.x, {r.y, r.z, r.w}};
  });
}

// Every contact once, and of every contact its two grains: what of that is in a cache is not known here.
double GrainHost::sweep_bytes(bool further) {
  const double contact = sizeof(Int2) + (further ? 13 : 12) * sizeof(Real4);
  return contacts_ * contact + (further ? n_ * 8.0 * sizeof(Real4) : 0);
}

double GrainHost::copy_rate(double megabytes) {
  const int n = static_cast<int>(megabytes * 1e6 / sizeof(Wide4));
  const std::vector<Wide4> from(at(n));
  std::vector<Wide4> to(at(n));
  double least = HUGE_VAL;
  for (int k = 0; k < 4; ++k) {
    const auto start = std::chrono::steady_clock::now();
    each(n, [&](int i) { to[at(i)] = from[at(i)]; });
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2.0 * n * sizeof(Wide4) / least;
}

}  // namespace grain

std::unique_ptr<GrainBackend> grains_on_host(const GrainScene& scene, int threads) {
  return std::make_unique<grain::GrainHost>(scene, threads);
}

}  // namespace hinge
