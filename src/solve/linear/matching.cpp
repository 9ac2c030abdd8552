#include "solve/linear/matching.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "solve/index.hpp"

namespace hinge {

namespace {

std::vector<std::vector<int>> rows_of_columns(const Pattern& p) {
  std::vector<std::vector<int>> rows(at(p.columns));
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) rows[at(p.column[at(k)])].push_back(i);
  return rows;
}

// An alternating path from `row` to a free column, breadth first; flips it.
bool augment(const Pattern& p, int row, Matching& m, std::vector<int>& seen_from, std::vector<int>& queue) {
  queue.assign(1, row);
  std::vector<int> touched;
  int found = -1;
  for (std::size_t head = 0; head < queue.size() && found < 0; ++head) {
    const int i = queue[head];
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
      const int j = p.column[at(k)];
      if (seen_from[at(j)] >= 0) continue;
      seen_from[at(j)] = i;
      touched.push_back(j);
      if (m.row_of_column[at(j)] < 0) {
        found = j;
        break;
      }
      queue.push_back(m.row_of_column[at(j)]);
    }
  }
  for (int j = found; j >= 0;) {
    const int i = seen_from[at(j)];
    m.row_of_column[at(j)] = i;
    std::swap(m.column_of_row[at(i)], j);
  }
  for (const int j : touched) seen_from[at(j)] = -1;
  return found >= 0;
}

}  // namespace

Matching maximum_matching(const Pattern& p) {
  Matching m{std::vector<int>(at(p.rows), -1), std::vector<int>(at(p.columns), -1), 0};
  for (int i = 0; i < p.rows; ++i)  // what is free for the taking
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
      if (const int j = p.column[at(k)]; m.row_of_column[at(j)] < 0) {
        m.row_of_column[at(j)] = i;
        m.column_of_row[at(i)] = j;
        ++m.size;
        break;
      }
  std::vector<int> seen(at(p.columns), -1), queue;
  for (int i = 0; i < p.rows; ++i)
    if (m.column_of_row[at(i)] < 0 && augment(p, i, m, seen, queue)) ++m.size;
  return m;
}

SingularParts singular_parts(const Pattern& p, const Matching& m) {
  SingularParts parts;
  const std::vector<std::vector<int>> rows = rows_of_columns(p);
  std::vector<char> row(at(p.rows), 0), column(at(p.columns), 0);
  for (int i = 0; i < p.rows; ++i)
    if (m.column_of_row[at(i)] < 0) parts.over_rows.push_back(i), row[at(i)] = 1;
  for (std::size_t head = 0; head < parts.over_rows.size(); ++head) {
    const int i = parts.over_rows[head];
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
      const int j = p.column[at(k)];
      if (std::exchange(column[at(j)], 1)) continue;
      parts.over_columns.push_back(j);
      if (const int next = m.row_of_column[at(j)]; !std::exchange(row[at(next)], 1)) parts.over_rows.push_back(next);
    }
  }
  std::fill(row.begin(), row.end(), 0);
  std::fill(column.begin(), column.end(), 0);
  for (int j = 0; j < p.columns; ++j)
    if (m.row_of_column[at(j)] < 0) parts.under_columns.push_back(j), column[at(j)] = 1;
  for (std::size_t head = 0; head < parts.under_columns.size(); ++head)
    for (const int i : rows[at(parts.under_columns[head])]) {
      if (std::exchange(row[at(i)], 1)) continue;
      parts.under_rows.push_back(i);
      if (const int j = m.column_of_row[at(i)]; !std::exchange(column[at(j)], 1)) parts.under_columns.push_back(j);
    }
  for (auto* list : {&parts.over_rows, &parts.over_columns, &parts.under_rows, &parts.under_columns})
    std::sort(list->begin(), list->end());
  return parts;
}

// Tarjan's algorithm with its own stack: column j needs the other columns of its row.
std::vector<std::vector<int>> triangular_blocks(const Pattern& p, const Matching& m) {
  const int n = p.columns;
  std::vector<int> number(at(n), -1), low(at(n), 0), next(at(n), 0), stack, path;
  std::vector<char> open(at(n), 0);
  std::vector<std::vector<int>> blocks;
  int count = 0;
  for (int root = 0; root < n; ++root) {
    if (number[at(root)] >= 0) continue;
    path.push_back(root);
    while (!path.empty()) {
      const int j = path.back();
      const int i = m.row_of_column[at(j)];
      if (number[at(j)] < 0) {
        number[at(j)] = low[at(j)] = count++;
        next[at(j)] = p.row_start[at(i)];
        stack.push_back(j);
        open[at(j)] = 1;
      }
      bool deeper = false;
      while (next[at(j)] < p.row_start[at(i) + 1]) {
        const int l = p.column[at(next[at(j)]++)];
        if (number[at(l)] < 0) {
          path.push_back(l);
          deeper = true;
          break;
        }
        if (open[at(l)]) low[at(j)] = std::min(low[at(j)], number[at(l)]);
      }
      if (deeper) continue;
      path.pop_back();
      if (!path.empty()) low[at(path.back())] = std::min(low[at(path.back())], low[at(j)]);
      if (low[at(j)] != number[at(j)]) continue;
      blocks.emplace_back();
      for (int l = -1; l != j;) {
        l = stack.back();
        stack.pop_back();
        open[at(l)] = 0;
        blocks.back().push_back(l);
      }
      std::sort(blocks.back().begin(), blocks.back().end());
    }
  }
  return blocks;
}

// Successive shortest paths with costs -weight and potentials, so that reduced costs stay non-negative.
Transversal best_transversal(const Pattern& p, const std::vector<int>& weight) {
  const int n = p.rows;
  int top = 0;
  for (const int w : weight) top = std::max(top, w);
  std::vector<long> row_potential(at(n), 0), column_potential(at(n), 0);
  Matching m{std::vector<int>(at(n), -1), std::vector<int>(at(n), -1), 0};
  const auto cost = [&](int i, int k) {
    return static_cast<long>(top - weight[at(k)]) - row_potential[at(i)] - column_potential[at(p.column[at(k)])];
  };
  // What is best for its row and free for the taking.
  for (int i = 0; i < n; ++i) {
    int heaviest = 0;
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) heaviest = std::max(heaviest, weight[at(k)]);
    row_potential[at(i)] = top - heaviest;
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1] && m.column_of_row[at(i)] < 0; ++k)
      if (const int j = p.column[at(k)]; weight[at(k)] == heaviest && m.row_of_column[at(j)] < 0) {
        m.row_of_column[at(j)] = i;
        m.column_of_row[at(i)] = j;
        ++m.size;
      }
  }
  constexpr long far = std::numeric_limits<long>::max();
  std::vector<long> distance(at(n), far);
  std::vector<int> from(at(n), -1);
  std::vector<char> done(at(n), 0);
  for (int root = 0; root < n; ++root) {
    if (m.column_of_row[at(root)] >= 0) continue;
    std::vector<int> touched;
    using Item = std::pair<long, int>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
    const auto relax = [&](int i, long base) {
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
        const int j = p.column[at(k)];
        const long length = base + cost(i, k);
        if (done[at(j)] || length >= distance[at(j)]) continue;
        if (distance[at(j)] == far) touched.push_back(j);
        distance[at(j)] = length;
        from[at(j)] = i;
        queue.emplace(length, j);
      }
    };
    relax(root, 0);
    int end = -1;
    while (!queue.empty()) {
      const auto [length, j] = queue.top();
      queue.pop();
      if (std::exchange(done[at(j)], 1)) continue;
      if (m.row_of_column[at(j)] < 0) {
        end = j;
        break;
      }
      relax(m.row_of_column[at(j)], length);
    }
    if (end < 0) break;  // no full matching: not for this function
    const long reach = distance[at(end)];
    row_potential[at(root)] += reach;
    for (const int j : touched) {
      if (done[at(j)] && distance[at(j)] < reach) {
        column_potential[at(j)] += distance[at(j)] - reach;
        if (const int i = m.row_of_column[at(j)]; i >= 0) row_potential[at(i)] += reach - distance[at(j)];
      }
    }
    for (int j = end; j >= 0;) {
      const int i = from[at(j)];
      m.row_of_column[at(j)] = i;
      std::swap(m.column_of_row[at(i)], j);
    }
    ++m.size;
    for (const int j : touched) distance[at(j)] = far, from[at(j)] = -1, done[at(j)] = 0;
  }

  // The smallest offsets: from c = 0 upwards until nothing changes (Pryce 2001, algorithm 3.1).
  Transversal result{std::move(m), std::vector<int>(at(n), 0), std::vector<int>(at(n), 0)};
  std::vector<int> matched(at(n), 0);
  for (int i = 0; i < n; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
      if (p.column[at(k)] == result.matching.column_of_row[at(i)]) matched[at(i)] = weight[at(k)];
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < n; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        result.d[at(p.column[at(k)])] = std::max(result.d[at(p.column[at(k)])], weight[at(k)] + result.c[at(i)]);
    for (int i = 0; i < n; ++i) {
      const int c = result.d[at(result.matching.column_of_row[at(i)])] - matched[at(i)];
      changed = changed || c != result.c[at(i)];
      result.c[at(i)] = c;
    }
  }
  return result;
}

}  // namespace hinge
