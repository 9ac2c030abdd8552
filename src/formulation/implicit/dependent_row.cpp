#include "formulation/implicit/dependent_row.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr double cancelled = 1e-10;       // of the terms that a sum is made of
constexpr double weak = 1e-6;             // a pivot, beside the largest entry of its row
constexpr long most_operations = 200000;  // on expressions; beyond, the structure is left as it is

// An expression, its values at the points, and how large the terms were that it is made of.
struct Cell {
  Node node;
  std::vector<double> value, size;

  bool vanishes() const {
    for (std::size_t k = 0; k < value.size(); ++k)
      if (std::abs(value[k]) > cancelled * size[k]) return false;
    return true;
  }
};
using Row = std::map<int, Cell>;

class Elimination {
 public:
  Elimination(Graph& graph, const ExpressionMatrix& a, const std::vector<std::vector<Node>>& avoid)
      : graph_(graph), a_(a), avoid_(avoid), points_(a.values.size()) {}

  // Each level by itself, which gives the shortest combinations, then each with all that are higher.
  DependentRow first(const std::vector<int>& level, const std::function<bool(DependentRow&)>& fits) {
    std::vector<int> levels(level.begin(), level.end());
    std::sort(levels.rbegin(), levels.rend());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    for (const bool alone : {true, false}) {
      pivots_.clear();
      for (const int now : levels) {
        if (alone) pivots_.clear();
        if (DependentRow found = first_of(now, level, fits); found.row >= 0) return found;
      }
    }
    return {};
  }

 private:
  struct Reduced {
    int number;
    Row entries, combination;  // what is left of the row, and of which rows it was made
    int pivot;                 // a column, -1 where nothing is left
    std::size_t reduced;       // by so many pivots
  };

  // Of the rows of a level that whose pivot is least likely to vanish elsewhere comes first.
  DependentRow first_of(int now, const std::vector<int>& level, const std::function<bool(DependentRow&)>& fits) {
    std::vector<Reduced> rows;
    for (int i = 0; i < static_cast<int>(level.size()); ++i)
      if (Row row = take(i); level[at(i)] == now && !row.empty())
        rows.push_back({i, std::move(row), {{i, constant(1)}}, -1, 0});
    while (!rows.empty()) {
      std::size_t best = 0;
      double best_score = -1;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        for (; rows[r].reduced < pivots_.size(); ++rows[r].reduced) reduce(rows[r], pivots_[rows[r].reduced]);
        if (operations_ > most_operations) return {};
        const double score = choose(rows[r]);
        if (score > best_score) best_score = score, best = r;
      }
      Reduced row = std::move(rows[best]);
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(best));
      if (row.pivot >= 0) {
        pivots_.push_back(std::move(row));
        continue;
      }
      DependentRow found{row.number, {}};
      for (const auto& [k, cell] : row.combination)
        if (k != row.number && !cell.vanishes()) found.others.emplace_back(k, cell.node);
      if (fits(found)) return found;
    }
    return {};
  }

  Cell constant(double x) {
    return {graph_.constant(x), std::vector<double>(points_, x), std::vector<double>(points_, std::abs(x))};
  }
  Row take(int i) const {
    Row row;
    for (auto k = at(a_.pattern.row_start[at(i)]); k < at(a_.pattern.row_start[at(i) + 1]); ++k) {
      const int j = a_.pattern.column[k];
      Cell cell{a_.entries[k], {}, {}};
      for (const Eigen::MatrixXd& m : a_.values) {
        cell.value.push_back(m(i, j));
        cell.size.push_back(m.row(i).cwiseAbs().maxCoeff());
      }
      if (!cell.vanishes()) row.emplace(j, std::move(cell));
    }
    return row;
  }

  // to <- to - factor * from
  void subtract(Row& to, const Row& from, const Cell& factor) {
    for (const auto& [j, cell] : from) {
      ++operations_;
      const auto [place, added] = to.emplace(j, Cell{});
      Cell& sum = place->second;
      if (added) sum = {graph_.constant(0), std::vector<double>(points_, 0.0), std::vector<double>(points_, 0.0)};
      sum.node = graph_.subtract(sum.node, graph_.multiply(factor.node, cell.node));
      for (std::size_t k = 0; k < points_; ++k) {
        sum.value[k] -= factor.value[k] * cell.value[k];
        sum.size[k] += std::abs(factor.value[k]) * cell.size[k];
      }
      if (sum.vanishes()) to.erase(place);
    }
  }
  void reduce(Reduced& row, const Reduced& pivot) {
    const auto at_pivot = row.entries.find(pivot.pivot);
    if (at_pivot == row.entries.end() || operations_ > most_operations) return;
    const Cell& divisor = pivot.entries.at(pivot.pivot);
    Cell factor = at_pivot->second;
    factor.node = graph_.divide(factor.node, divisor.node);
    for (std::size_t k = 0; k < points_; ++k) factor.value[k] /= divisor.value[k];
    row.entries.erase(at_pivot);  // zero afterwards, whatever rounding says
    Row others = pivot.entries;
    others.erase(pivot.pivot);
    subtract(row.entries, others, factor);
    subtract(row.combination, pivot.combination, factor);
  }

  // The column to eliminate with: constants first, then what contains no variable to be avoided; the largest of these.
  // Returns how good it is, with few entries in the row a little better; rows of which nothing is left come last.
  double choose(Reduced& row) const {
    row.pivot = -1;
    if (row.entries.empty()) return 0;
    std::vector<double> largest(points_, 0.0);
    for (const auto& [j, cell] : row.entries)
      for (std::size_t k = 0; k < points_; ++k) largest[k] = std::max(largest[k], std::abs(cell.value[k]));
    double best = -1;
    for (const auto& [j, cell] : row.entries) {
      double least = 1;
      for (std::size_t k = 0; k < points_; ++k) least = std::min(least, std::abs(cell.value[k]) / largest[k]);
      const bool avoided = contains(cell.node, avoid_[at(row.number)]);
      const double kind = least < weak ? 1 : graph_.is_constant(cell.node) ? 4 : avoided ? 2 : 3;
      if (kind + 0.5 * least > best) best = kind + 0.5 * least, row.pivot = j;
    }
    return best + 0.4 / static_cast<double>(row.entries.size());
  }
  bool contains(Node node, const std::vector<Node>& variables) const {
    const std::vector<Node> cone = cone_of(graph_, std::span(&node, 1));
    return std::any_of(cone.begin(), cone.end(),
                       [&](Node n) { return std::find(variables.begin(), variables.end(), n) != variables.end(); });
  }

  Graph& graph_;
  const ExpressionMatrix& a_;
  const std::vector<std::vector<Node>>& avoid_;
  std::size_t points_;
  std::vector<Reduced> pivots_;
  long operations_ = 0;
};

}  // namespace

DependentRow find_dependent_row(Graph& graph, const ExpressionMatrix& matrix, const std::vector<int>& level,
                                const std::vector<std::vector<Node>>& avoid,
                                const std::function<bool(DependentRow&)>& fits) {
  return Elimination(graph, matrix, avoid).first(level, fits);
}

}  // namespace hinge
