// Steps of grains on an OpenCL device: the same functions as on the host (grain_kernels.cl), in the same order, so that
// in double precision the bits are those of the host where the device rounds as the standard says.
//
// Mixed precision: contacts, reactions and the velocities of the sweeps are single; at every look at the residual the
// velocities are computed anew in double from the reactions.
#include "method/nonsmooth/grain_device.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

std::string no_opencl(std::string* name) { return opencl::missing(name); }

namespace grain_device {

namespace {

const char* const source =
#include "grain_source.hpp"
    ;

}  // namespace

GrainOnDevice::GrainOnDevice(const GrainScene& scene, GrainPrecision precision, bool profile)
    : mixed_(precision == GrainPrecision::mixed),
      device_(
          source,
          fmt::format("-DSINGLE={} -DGROUP={} -DLANES={} -DTILE_GRAINS={}", mixed_ ? 1 : 0, group, lanes, tile_grains),
          profile),
      n_(static_cast<int>(scene.radius.size())),
      plane_count_(static_cast<int>(scene.walls.size())) {
  const auto kernel = [&](const char* name) { return device_.kernel(name); };
  k_ = {.fill = kernel("fill_int"),
        .count_in_cell = kernel("k_count_in_cell"),
        .part_sums = kernel("k_part_sums"),
        .add_parts = kernel("k_add_parts"),
        .add_up = kernel("k_add_up"),
        .put_into_cell = kernel("k_put_into_cell"),
        .sort_cell = kernel("k_sort_cell"),
        .gather = kernel("k_gather"),
        .count_contacts = kernel("k_count_contacts"),
        .list_contacts = kernel("k_list_contacts"),
        .colour_tile = kernel("k_colour_tile"),
        .colour_block = kernel("k_colour_block"),
        .make_contact = kernel("k_make_contact"),
        .sweep = kernel("k_sweep"),
        .add_reactions = kernel("k_add_reactions"),
        .round = kernel("k_round"),
        .copy = kernel("k_copy"),
        .stop_pushing = kernel("k_stop_pushing"),
        .size = kernel("k_size"),
        .residual = kernel("k_residual"),
        .grain_sums = kernel("k_grain_sums"),
        .contact_sums = kernel("k_contact_sums"),
        .move = kernel("k_move"),
        .go_further = kernel("k_go_further"),
        .clear = kernel("k_clear"),
        .add_stress = kernel("k_add_stress"),
        .sum_of_block = kernel("k_sum_of_block"),
        .sum_of_cell = kernel("k_sum_of_cell"),
        .stretch_at = kernel("k_stretch_at"),
        .stretch = kernel("k_stretch")};
  const std::size_t n = scene.radius.size();
  for (auto* v : {&x0_, &v0_, &w0_, &turn0_}) v->resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    x0_[i].w = scene.radius[i];
    v0_[i].w = 1 / scene.mass[i];
    w0_[i].w = 1 / scene.moment[i];
  }
  walls_ = scene.walls;
  std::vector<Wide4> velocities(n), spins(n);
  for (const GrainWall& w : walls_) {
    const Eigen::Vector3d spin = w.spin * w.normal;
    walls_move_ = walls_move_ || w.normal.dot(w.velocity) != 0;
    wall_places_.push_back(plane_of(w));
    velocities.push_back({w.velocity[0], w.velocity[1], w.velocity[2], 0});
    spins.push_back({spin[0], spin[1], spin[2], 0});
  }
  device_.write(planes_, wall_places_.data(), wall_places_.size() * sizeof(GrainPlane));
  device_.write(friction_, scene.friction.data(), n * sizeof(double));
  const std::vector<double> none(scene.restitution.empty() ? n : 0, 0.0);
  device_.write(restitution_, none.empty() ? scene.restitution.data() : none.data(), n * sizeof(double));
  for (Buffer* b : {&x_, &v_, &w_, &turn_, &xs_}) device_.room(*b, n * sizeof(Wide4));
  for (Buffer* b : {&free_v_, &vs_}) device_.write(*b, velocities.data(), velocities.size() * sizeof(Wide4));
  for (Buffer* b : {&free_w_, &ws_}) device_.write(*b, spins.data(), spins.size() * sizeof(Wide4));
  if (mixed_)
    for (Buffer* b : {&rv_, &rw_}) device_.room(*b, velocities.size() * 4 * sizeof(float));
  for (Buffer* b : {&cell_, &order_}) device_.room(*b, n * sizeof(int));
  device_.room(taken_, n * sizeof(unsigned long));
  for (Kept& k : kept_) {
    device_.room(k.place, n * sizeof(int));
    device_.room(k.first, (n + 1) * sizeof(int));
    for (Buffer* b : {&k.partner_id, &k.contact_place, &k.reaction}) device_.room(*b, 0);
  }
}

void GrainOnDevice::load(const GrainState& state) {
  for (std::size_t i = 0; i < at(n_); ++i) {
    const double *x = state.position.data() + 3 * i, *v = state.velocity.data() + 3 * i, *w = state.spin.data() + 3 * i,
                 *q = state.rotation.data() + 4 * i;
    x0_[i] = {x[0], x[1], x[2], x0_[i].w};
    v0_[i] = {v[0], v[1], v[2], v0_[i].w};
    w0_[i] = {w[0], w[1], w[2], w0_[i].w};
    turn0_[i] = {q[0], q[1], q[2], q[3]};
  }
  const std::size_t bytes = at(n_) * sizeof(Wide4);
  device_.write(x_, x0_.data(), bytes);
  device_.write(v_, v0_.data(), bytes);
  device_.write(w_, w0_.data(), bytes);
  device_.write(turn_, turn0_.data(), bytes);
}

void GrainOnDevice::save(GrainState& state) {
  const std::size_t bytes = at(n_) * sizeof(Wide4);
  device_.read(x_, x0_.data(), bytes);
  device_.read(v_, v0_.data(), bytes);
  device_.read(w_, w0_.data(), bytes);
  device_.read(turn_, turn0_.data(), bytes);
  for (auto* v : {&state.position, &state.velocity, &state.spin}) v->resize(3 * at(n_));
  state.rotation.resize(4 * at(n_));
  for (std::size_t i = 0; i < at(n_); ++i) {
    double *x = state.position.data() + 3 * i, *v = state.velocity.data() + 3 * i, *w = state.spin.data() + 3 * i,
           *q = state.rotation.data() + 4 * i;
    x[0] = x0_[i].x, x[1] = x0_[i].y, x[2] = x0_[i].z;
    v[0] = v0_[i].x, v[1] = v0_[i].y, v[2] = v0_[i].z;
    w[0] = w0_[i].x, w[1] = w0_[i].y, w[2] = w0_[i].z;
    q[0] = turn0_[i].x, q[1] = turn0_[i].y, q[2] = turn0_[i].z, q[3] = turn0_[i].w;
  }
}

void GrainOnDevice::add_up(const Buffer& counts, int n, Buffer& sums) {
  const int parts = static_cast<int>((at(n) + chunk - 1) / chunk);
  device_.room(parts_, (at(parts) + 1) * sizeof(int));
  chunks(k_.part_sums, n, counts, parts_);
  device_.run(k_.add_parts, group, group, {value(parts), value(parts_)});
  chunks(k_.add_up, n, counts, parts_, sums);
}

int GrainOnDevice::search(const GrainGrid& grid, double band, const Eigen::Vector3d& fall) {
  grid_ = grid;
  fall_ = fall;
  Kept& kept = kept_[now_];
  const int cells = blocks() * cells_of_block(), zero = 0;
  device_.room(count_, std::max(at(cells), at(n_)) * sizeof(int));
  device_.room(start_, (at(cells) + 1) * sizeof(int));
  device_.run(k_.fill, at(cells), group, {value(count_), value(zero), value(cells)});
  each(k_.count_in_cell, n_, x_, grid_, cell_, count_);
  add_up(count_, cells, start_);
  each(k_.put_into_cell, n_, cell_, start_, count_, order_);
  each(k_.sort_cell, cells, start_, order_);
  each(k_.gather, n_, order_, x_, v_, w_, fall[0], fall[1], fall[2], kept.place, xs_, free_v_, free_w_, vs_, ws_);
  each(k_.count_contacts, n_, xs_, order_, start_, grid_, planes_, plane_count_, band, count_);
  add_up(count_, n_, kept.first);
  device_.read(kept.first, &contacts_, sizeof(int), at(n_) * sizeof(int));
  const std::size_t ints = at(contacts_) * sizeof(int);
  for (Buffer* b : {&owner_, &partner_, &kept.partner_id}) device_.room(*b, ints);
  each(k_.list_contacts, n_, xs_, order_, start_, grid_, planes_, plane_count_, band, kept.first, owner_, partner_,
       kept.partner_id);
  return contacts_;
}

void GrainOnDevice::add_reactions() {
  const Kept& kept = kept_[now_];
  for (int kind = 0; kind < 8; ++kind)
    device_.run(k_.add_reactions, at(blocks() / 8) * lanes, lanes,
                {value(kind), value(grid_), value(colours_), value(colour_start_), value(pair_), value(normal_),
                 value(data_), value(kept.reaction), value(vs_), value(ws_)});
  if (mixed_) each(k_.round, n_ + plane_count_, vs_, ws_, rv_, rw_);
}

void GrainOnDevice::assemble(double h, double speed, double longer) {
  Kept& kept = kept_[now_];
  const Kept& last = kept_[1 - now_];
  const std::size_t n = at(contacts_), real = mixed_ ? sizeof(float) : sizeof(double);
  const std::size_t ahead = n + lanes;  // workers load the next contact, whether there is one or not
  device_.room(colour_, n);
  device_.room(colour_start_, at(blocks()) * (MOST_COLOURS + 1) * sizeof(int));
  device_.room(colours_, at(blocks()) * sizeof(int));
  device_.room(rounds_, at(blocks()) * (MOST_COLOURS + 1) * sizeof(int));
  device_.room(tile_, at(blocks()) * 4 * sizeof(int));
  device_.room(others_, n * sizeof(int));
  device_.room(kept.contact_place, n * sizeof(int));
  device_.room(pair_, 2 * n * sizeof(int));
  device_.room(ends_, ahead * sizeof(int));
  for (Buffer* b : {&kept.reaction, &normal_, &data_}) device_.room(*b, 4 * ahead * real);
  device_.room(gaps_, n * sizeof(double));
  pushed_ = false;
  const int cells = cells_of_block();
  device_.run(
      k_.colour_tile, at(blocks()) * lanes, lanes,
      {value(n_), value(cells), value(start_), value(kept.first), value(owner_), value(partner_), value(colour_start_),
       value(colours_), value(kept.contact_place), value(tile_), value(others_), value(ends_), value(rounds_)});
  for (int kind = 0; kind < 8; ++kind)
    each(k_.colour_block, blocks() / 8, kind, grid_, start_, kept.first, owner_, partner_, taken_, colour_,
         colour_start_, colours_, kept.contact_place);
  each(k_.make_contact, contacts_, owner_, partner_, kept.partner_id, kept.contact_place, order_, xs_, vs_, ws_,
       friction_, restitution_, planes_, n_, h, fall_[0], fall_[1], fall_[2], speed, pair_, normal_, data_,
       kept.reaction, gaps_, longer, last.place, last.first, last.partner_id, last.contact_place, last.reaction);
  if (longer > 0)
    add_reactions();
  else if (mixed_)
    each(k_.round, n_ + plane_count_, vs_, ws_, rv_, rw_);
}

void GrainOnDevice::sweep_blocks(double beta, const Buffer& to) {
  const float single = static_cast<float>(beta);
  for (int kind = 0; kind < 8; ++kind)
    device_.run(k_.sweep, at(blocks() / 8) * lanes, lanes,
                {value(kind), mixed_ ? value(single) : value(beta), value(grid_), value(colours_), value(colour_start_),
                 value(pair_), value(normal_), value(data_), value(kept_[now_].reaction), value(to), value(swept_v()),
                 value(swept_w()), value(tile_), value(others_), value(ends_), value(rounds_)});
}

void GrainOnDevice::sweep(int count) {
  for (int k = 0; k < count; ++k) sweep_blocks(0, kept_[now_].reaction);
}

void GrainOnDevice::sweep_further(const std::vector<double>& betas) {
  const std::size_t real4 = 4 * (mixed_ ? sizeof(float) : sizeof(double));
  device_.room(last_reaction_, (at(contacts_) + lanes) * real4);
  for (Buffer* b : {&last_v_, &last_w_}) device_.room(*b, at(n_) * real4);
  for (const double beta : betas) {
    if (mixed_)
      each(k_.go_further, n_, static_cast<float>(beta), rv_, last_v_, rw_, last_w_);
    else
      each(k_.go_further, n_, beta, vs_, last_v_, ws_, last_w_);
    sweep_blocks(beta, last_reaction_);
    kept_[now_].reaction.swap(last_reaction_);
  }
}

void GrainOnDevice::add_all_reactions() {
  each(k_.copy, n_, free_v_, vs_);
  each(k_.copy, n_, free_w_, ws_);
  add_reactions();
}

double GrainOnDevice::residual() {
  if (mixed_) add_all_reactions();
  const int count = chunks(k_.residual, contacts_, pair_, normal_, data_, kept_[now_].reaction, vs_, ws_, out_);
  const std::vector<double>& parts = partial(count, 1);
  return parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end());
}

GrainStretch GrainOnDevice::stretch() {
  const int cells = GrainCoarse::cells(grid_), sums = cells * COARSE_SUMS;
  device_.room(stress_, at(n_) * STRESS_NUMBERS * sizeof(double));
  device_.room(stretch_, at(n_) * sizeof(double));
  device_.room(block_sums_, at(blocks()) * COARSE_SUMS * sizeof(double));
  device_.room(coarse_sums_, at(sums) * sizeof(double));
  each(k_.clear, n_ * (STRESS_NUMBERS / 4), stress_);
  const Buffer& reaction = kept_[now_].reaction;
  for (int kind = 0; kind < 8; ++kind)
    device_.run(k_.add_stress, at(blocks() / 8) * lanes, lanes,
                {value(kind), value(grid_), value(colours_), value(colour_start_), value(n_), value(pair_),
                 value(normal_), value(data_), value(reaction), value(xs_), value(vs_), value(ws_), value(stress_)});
  each(k_.sum_of_block, blocks(), cells_of_block(), grid_, start_, xs_, free_v_, free_w_, vs_, ws_, stress_,
       block_sums_);
  each(k_.sum_of_cell, sums, grid_, block_sums_, coarse_sums_);
  sums_of_cells_.resize(at(sums));
  device_.read(coarse_sums_, sums_of_cells_.data(), sums_of_cells_.size() * sizeof(double));
  const std::vector<double>& field = coarse_.solve(grid_, sums_of_cells_.data());
  device_.write(field_, field.data(), field.size() * sizeof(double));
  each(k_.stretch_at, n_, xs_, grid_, field_, stretch_);
  for (int kind = 0; kind < 8; ++kind)
    device_.run(k_.stretch, at(blocks() / 8) * lanes, lanes,
                {value(kind), value(grid_), value(colours_), value(colour_start_), value(n_), value(pair_),
                 value(normal_), value(data_), value(reaction), value(stretch_), value(vs_), value(ws_)});
  if (mixed_) add_all_reactions();  // what was rounded is not lost
  return coarse_.change();
}

void GrainOnDevice::stop_pushing(double deep, double h, double speed) {
  for (Buffer* b : {&moving_v_, &moving_w_}) device_.room(*b, at(n_) * sizeof(Wide4));
  each(k_.copy, n_, vs_, moving_v_);
  each(k_.copy, n_, ws_, moving_w_);
  pushed_ = true;
  each(k_.stop_pushing, contacts_, normal_, kept_[now_].reaction, gaps_, deep, h, speed);
}

void GrainOnDevice::move(double h) {
  each(k_.move, n_, h, order_, pushed_ ? moving_v_ : vs_, vs_, pushed_ ? moving_w_ : ws_, ws_, x_, v_, w_, turn_);
  if (walls_move_) {
    for (std::size_t k = 0; k < walls_.size(); ++k)
      wall_places_[k].offset += h * walls_[k].normal.dot(walls_[k].velocity);
    device_.write(planes_, wall_places_.data(), wall_places_.size() * sizeof(GrainPlane));
  }
  now_ = 1 - now_;
}

}  // namespace grain_device

std::unique_ptr<GrainBackend> grains_on_device(const GrainScene& scene, GrainPrecision precision, bool profile) {
  return std::make_unique<grain_device::GrainOnDevice>(scene, precision, profile);
}

}  // namespace hinge
