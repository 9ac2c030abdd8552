#include "solve/contact/body_fronts.hpp"

#include <algorithm>

namespace hinge {

BodyFronts::BodyFronts(const SparseRows& A, int contacts, int rows, int bilateral) {
  const int columns = static_cast<int>(A.cols());
  // Bodies of six or three velocities, or single velocities where that does not fit.
  const int size = columns % 6 == 0 ? 6 : columns % 3 == 0 ? 3 : 1;
  std::vector<std::vector<int>> nodes;
  for (int e = 0; e < contacts + bilateral; ++e) {
    const int first = e < contacts ? rows * e : rows * contacts + e - contacts, count = e < contacts ? rows : 1;
    std::vector<int> list;
    for (int k = 0; k < count; ++k)
      for (SparseRows::InnerIterator entry(A, first + k); entry; ++entry)
        list.push_back(static_cast<int>(entry.col()) / size);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    Eigen::MatrixXd element = Eigen::MatrixXd::Zero(count, static_cast<Eigen::Index>(list.size()) * size);
    for (int k = 0; k < count; ++k)
      for (SparseRows::InnerIterator entry(A, first + k); entry; ++entry) {
        const auto place =
            std::lower_bound(list.begin(), list.end(), static_cast<int>(entry.col()) / size) - list.begin();
        element(k, place * size + entry.col() % size) = entry.value();
      }
    elements_.push_back(std::move(element));
    nodes.push_back(std::move(list));
  }
  fronts_ = FrontalLu(columns / size, size, nodes);
}

}  // namespace hinge
