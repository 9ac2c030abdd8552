#include "solve/linear/frontal_lu.hpp"

#include <algorithm>
#include <numeric>

#include <amd.h>
#include <Eigen/Dense>

#include "solve/index.hpp"
#include "solve/linear/dense_lu.hpp"

namespace hinge {

namespace {

using Lists = std::vector<std::vector<int>>;

Lists neighbours(int nodes, const Lists& elements) {
  Lists list(at(nodes));
  for (const auto& e : elements)
    for (const int a : e)
      for (const int b : e)
        if (a != b) list[at(a)].push_back(b);
  for (auto& l : list) {
    std::sort(l.begin(), l.end());
    l.erase(std::unique(l.begin(), l.end()), l.end());
  }
  return list;
}

std::vector<int> minimum_degree(const Lists& graph) {
  const int n = static_cast<int>(graph.size());
  std::vector<int> start{0}, index, order(at(n));
  for (const auto& l : graph) {
    index.insert(index.end(), l.begin(), l.end());
    start.push_back(static_cast<int>(index.size()));
  }
  std::iota(order.begin(), order.end(), 0);
  // AMD refuses a null pointer, which is what an empty list of neighbours has.
  if (!index.empty() && amd_order(n, start.data(), index.data(), order.data(), nullptr, nullptr) < AMD_OK)
    std::iota(order.begin(), order.end(), 0);
  return order;
}

// Structure of the factor: for each position in the order the later positions it is coupled to.
Lists structure(const Lists& graph, const std::vector<int>& order, std::vector<int>& parent) {
  const int n = static_cast<int>(graph.size());
  std::vector<int> position(at(n));
  for (int k = 0; k < n; ++k) position[at(order[at(k)])] = k;
  Lists later(at(n)), children(at(n));
  parent.assign(at(n), -1);
  std::vector<int> mark(at(n), -1);
  for (int k = 0; k < n; ++k) {
    auto& list = later[at(k)];
    mark[at(k)] = k;
    const auto take = [&](int j) {
      if (j > k && mark[at(j)] != k) mark[at(j)] = k, list.push_back(j);
    };
    for (const int node : graph[at(order[at(k)])]) take(position[at(node)]);
    for (const int child : children[at(k)])
      for (const int j : later[at(child)]) take(j);
    std::sort(list.begin(), list.end());
    if (!list.empty()) {
      parent[at(k)] = list[0];
      children[at(list[0])].push_back(k);
    }
  }
  return later;
}

// Children before parents, each subtree in one piece.
std::vector<int> postorder(const std::vector<int>& parent) {
  const int n = static_cast<int>(parent.size());
  Lists children(at(n));
  std::vector<int> roots, order, stack;
  for (int k = 0; k < n; ++k) (parent[at(k)] < 0 ? roots : children[at(parent[at(k)])]).push_back(k);
  for (const int root : roots) {
    std::vector<int> reversed;
    stack.push_back(root);
    while (!stack.empty()) {
      const int k = stack.back();
      stack.pop_back();
      reversed.push_back(k);
      for (const int c : children[at(k)]) stack.push_back(c);
    }
    order.insert(order.end(), reversed.rbegin(), reversed.rend());
  }
  return order;
}

}  // namespace

FrontalLu::FrontalLu(int nodes, int size, const Lists& elements) : size_(size), places_(elements.size()) {
  const Lists graph = neighbours(nodes, elements);
  std::vector<int> order = minimum_degree(graph), parent;
  structure(graph, order, parent);
  // The same elimination with every subtree in one piece.
  std::vector<int> sorted;
  for (const int k : postorder(parent)) sorted.push_back(order[at(k)]);
  order = std::move(sorted);
  const Lists later = structure(graph, order, parent);

  // Join k + 1 to the front that ends with k, where that adds few zeros.
  std::vector<int> front_of(at(nodes));
  for (int k = 0; k < nodes;) {
    Front front;
    int last = k;
    while (last + 1 < nodes && parent[at(last)] == last + 1) {
      const int pivots = last - k + 1;
      const int zeros = static_cast<int>(later[at(last + 1)].size()) + 1 - static_cast<int>(later[at(last)].size());
      if (pivots * zeros > std::max(8, pivots * static_cast<int>(later[at(last)].size()) / 6)) break;
      ++last;
    }
    front.pivots = last - k + 1;
    for (int j = k; j <= last; ++j) {
      front.nodes.push_back(j);
      front_of[at(j)] = static_cast<int>(fronts_.size());
    }
    front.nodes.insert(front.nodes.end(), later[at(last)].begin(), later[at(last)].end());
    fronts_.push_back(std::move(front));
    k = last + 1;
  }
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    Front& front = fronts_[f];
    if (front.nodes.size() == at(front.pivots)) continue;
    front.parent = front_of[at(front.nodes[at(front.pivots)])];
    Front& up = fronts_[at(front.parent)];
    up.children.push_back(static_cast<int>(f));
    for (std::size_t j = at(front.pivots); j < front.nodes.size(); ++j)
      front.to_parent.push_back(
          static_cast<int>(std::lower_bound(up.nodes.begin(), up.nodes.end(), front.nodes[j]) - up.nodes.begin()));
  }
  std::vector<int> position(at(nodes));
  for (int k = 0; k < nodes; ++k) position[at(order[at(k)])] = k;
  for (std::size_t e = 0; e < elements.size(); ++e) {
    int first = nodes;
    for (const int node : elements[e]) first = std::min(first, position[at(node)]);
    if (first == nodes) continue;
    Front& front = fronts_[at(front_of[at(first)])];
    front.elements.push_back(static_cast<int>(e));
    for (const int node : elements[e])
      places_[e].push_back(static_cast<int>(
          std::lower_bound(front.nodes.begin(), front.nodes.end(), position[at(node)]) - front.nodes.begin()));
  }
  for (Front& front : fronts_)
    for (int& node : front.nodes) node = order[at(node)];
}

void FrontalLu::assemble_children(std::size_t f) {
  Front& front = fronts_[f];
  const auto rows = static_cast<Eigen::Index>(front.nodes.size()) * size_;
  front.F.setZero(rows, rows);
  front.F.diagonal().head(front.pivots * size_).setConstant(diagonal_);
  for (const int c : front.children) {
    const Front& child = fronts_[at(c)];
    const int n = static_cast<int>(child.to_parent.size()), behind = child.pivots * size_;
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < size_; ++k) {
        double* to = front.F.col(child.to_parent[at(j)] * size_ + k).data();
        const double* from = child.F.col(behind + j * size_ + k).data() + behind;
        for (int i = 0; i < n; ++i) {
          double* t = to + child.to_parent[at(i)] * size_;
          for (int l = 0; l < size_; ++l) t[l] += from[i * size_ + l];
        }
      }
  }
}

void FrontalLu::add(std::size_t f, const std::vector<int>& places) {
  Eigen::MatrixXd& F = fronts_[f].F;
  const int n = static_cast<int>(places.size());
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < size_; ++k) {
      double* to = F.col(places[at(j)] * size_ + k).data();
      const double* from = element_.col(j * size_ + k).data();
      for (int i = 0; i < n; ++i)
        for (int l = 0; l < size_; ++l) to[places[at(i)] * size_ + l] += from[i * size_ + l];
    }
}

bool FrontalLu::eliminate(std::size_t f) {
  Front& front = fronts_[f];
  const int p = front.pivots * size_, n = static_cast<int>(front.F.rows());
  front.exchange.resize(at(p));
  return hinge::eliminate(n, p, front.F.data(), n, front.exchange.data());
}

double FrontalLu::operations() const {
  double sum = 0;
  for (const Front& front : fronts_) {
    const double pivots = front.pivots * size_, rest = static_cast<double>(front.nodes.size()) * size_ - pivots;
    sum += 2.0 / 3 * pivots * pivots * pivots + 2 * pivots * rest * (pivots + rest);
  }
  return sum;
}

void FrontalLu::solve(Eigen::VectorXd& x) {
  const auto gather = [&](const Front& front) {
    part_.resize(static_cast<Eigen::Index>(front.nodes.size()) * size_);
    for (std::size_t k = 0; k < front.nodes.size(); ++k)
      part_.segment(static_cast<Eigen::Index>(k) * size_, size_) = x.segment(front.nodes[k] * size_, size_);
  };
  const auto scatter = [&](const Front& front, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      x.segment(front.nodes[k] * size_, size_) = part_.segment(static_cast<Eigen::Index>(k) * size_, size_);
  };
  for (const Front& front : fronts_) {
    const Eigen::Index p = front.pivots * size_, rest = front.F.rows() - p;
    gather(front);
    for (Eigen::Index i = 0; i < p; ++i) std::swap(part_[i], part_[front.exchange[static_cast<std::size_t>(i)]]);
    front.F.topLeftCorner(p, p).triangularView<Eigen::UnitLower>().solveInPlace(part_.head(p));
    part_.tail(rest).noalias() -= front.F.bottomLeftCorner(rest, p) * part_.head(p);
    scatter(front, front.nodes.size());
  }
  for (auto front = fronts_.rbegin(); front != fronts_.rend(); ++front) {
    const Eigen::Index p = front->pivots * size_, rest = front->F.rows() - p;
    gather(*front);
    part_.head(p).noalias() -= front->F.topRightCorner(p, rest) * part_.tail(rest);
    front->F.topLeftCorner(p, p).triangularView<Eigen::Upper>().solveInPlace(part_.head(p));
    scatter(*front, at(front->pivots));
  }
}

}  // namespace hinge
