#include "simulate/rate_watch.hpp"

#include <algorithm>
#include <cmath>

#include "expression/derivative.hpp"
#include "solve/index.hpp"
#include "system/states.hpp"

namespace hinge {

namespace {
constexpr double long_share = 0.005;   // of the size of a number
constexpr double meaningless = 1e-10;  // of the largest number: what is smaller means nothing
}  // namespace

void RateWatch::begin(const System& system, bool resolved, int order) {
  *this = RateWatch();
  const Structure& has = system.structure();
  const SymbolicSystem* symbolic = symbolic_part(system);
  if (resolved || has.has_contacts || has.gaps > 0 || has.pairs > 0 || has.has_noise) return;
  is_dae_ = has.is_dae;
  order_ = order;
  if (is_dae_) {
    std::vector<char> found(at(system.ny()), symbolic ? 0 : 1);
    if (symbolic) {
      const Equations& eq = symbolic->equations();
      Graph graph = *eq.graph;
      for (const int j : jacobian(graph, eq.residual, eq.z).column) found[at(j)] = 1;
    }
    for (std::size_t j = 0; j < found.size(); ++j)
      if (found[j]) followers_.push_back({.place = j});
  } else if (const int count = count_states(system.layout()); count > 0 && symbolic) {
    const Equations& eq = symbolic->equations();
    std::vector<Node> rates;
    for (std::size_t j = eq.z.size() - at(count); j < eq.z.size(); ++j) {
      if (std::any_of(eq.samples.begin(), eq.samples.end(), [&](const auto& s) { return s.z == j; })) continue;
      followers_.push_back({.place = j});
      rates.push_back(eq.f[j]);
    }
    if (!rates.empty()) rates_ = StateFunctions(*symbolic, *eq.graph, rates);
    coordinates_ = eq.y.size() - at(count);
  }
  sizes_.resize(coordinates_);
}

void RateWatch::see(const State& s, double h) {
  if (followers_.empty()) return;
  const double* own = is_dae_ ? nullptr : rates_.at(s).data();
  const double* x = values(s).data();
  for (std::size_t k = 0; k < followers_.size(); ++k) {
    Follower& f = followers_[k];
    const double now = x[f.place], rate = own ? own[k] : s.z[f.place];
    f.most = std::max(f.most, std::abs(now));
    f.fastest = std::max(f.fastest, std::abs(rate));
    if (h > 0) {
      const double turn = h_before_ > 0 ? rate - f.rate - h / h_before_ * (f.rate - f.rate_before) : 0,
                   way = h * f.fastest;
      const double off = std::max(std::abs(now - f.x - h * (f.rate + rate) / 2), h * std::abs(turn) / 12);
      const double angle = way > 0 ? std::min(1.0, std::sqrt(12 * off / way)) : 1;
      f.off += off * std::pow(angle, std::max(0, order_ - 2));
    }
    f.x = now;
    f.rate_before = f.rate;
    f.rate = rate;
  }
  for (std::size_t i = 0; i < sizes_.size(); ++i) sizes_[i] = std::max(sizes_[i], std::abs(s.y[i]));
  h_before_ = h;
}

double RateWatch::size() const {
  double size = 0;
  for (const Follower& f : followers_) size = std::max(size, f.most);
  return size;
}

bool RateWatch::suspect(double growth) const {
  const double floor = meaningless * size();
  return std::any_of(followers_.begin(), followers_.end(),
                     [&](const Follower& f) { return growth * f.off > std::max(floor, long_share * f.most); });
}

double RateWatch::apart(const State& end, const State& other) const {
  double most = 0, floor = 0;
  const auto compare = [&](double a, double b, double size) {
    if (std::abs(a - b) > floor) most = std::max(most, std::abs(a - b) / size);
  };
  floor = meaningless * size();
  for (const Follower& f : followers_) compare(values(end)[f.place], values(other)[f.place], f.most);
  for (const double x : sizes_) floor = std::max(floor, meaningless * x);
  for (std::size_t i = 0; i < sizes_.size(); ++i) compare(end.y[i], other.y[i], sizes_[i]);
  return most;
}

}  // namespace hinge
