#include "model/tableau_section.hpp"

#include <fmt/format.h>

namespace hinge {

namespace {

Eigen::VectorXd read_weights(const Item& item, const ValueReader& read) {
  if (!item.is_array() || item.size() == 0) item.fail("expected a list of numbers, as in [\"1/2\", \"1/2\"]");
  Eigen::VectorXd v(static_cast<Eigen::Index>(item.size()));
  for (std::size_t k = 0; k < item.size(); ++k) v(static_cast<Eigen::Index>(k)) = read.number(item[k]);
  return v;
}

Eigen::MatrixXd read_rows(const Item& item, const ValueReader& read) {
  if (!item.is_array() || item.size() == 0 || !item[0].is_array())
    item.fail("expected a matrix, a list of rows, as in [[0, 0], [\"1/2\", \"1/2\"]]");
  Eigen::MatrixXd m;
  for (std::size_t k = 0; k < item.size(); ++k) {
    if (!item[k].is_array()) item[k].fail("expected a row of the matrix, a list such as [\"1/2\", \"1/2\"]");
    const Eigen::VectorXd row = read_weights(item[k], read);
    if (k == 0) m.resize(static_cast<Eigen::Index>(item.size()), row.size());
    if (row.size() != m.cols())
      item[k].fail(fmt::format("this row has {} entries, the rows before it have {}", row.size(), m.cols()));
    m.row(static_cast<Eigen::Index>(k)) = row.transpose();
  }
  return m;
}

}  // namespace

SparkTableau read_tableau(const Item& item, const ValueReader& read) {
  item.expect_keys({"name", "order", "a", "ahat", "atilde", "abar", "b", "bhat", "btilde", "violates"});
  SparkTableau t;
  if (item["name"]) t.name = item["name"].expect_string("a name");
  if (const Item order = item["order"]) {
    t.order = read.integer(order);
    if (t.order < 1) order.fail(fmt::format("order = {}; give a positive number, or leave it out", t.order));
  }
  const auto matrix = [&](const char* key, Eigen::MatrixXd& m) {
    if (item[key]) m = read_rows(item[key], read);
  };
  const auto vector = [&](const char* key, Eigen::VectorXd& v) {
    if (item[key]) v = read_weights(item[key], read);
  };
  matrix("a", t.a);
  matrix("ahat", t.ahat);
  matrix("atilde", t.atilde);
  matrix("abar", t.abar);
  vector("b", t.b);
  vector("bhat", t.bhat);
  vector("btilde", t.btilde);
  if (const Item violates = item["violates"]) {
    if (!violates.is_array()) violates.fail("expected a list of conditions, as in [\"(3.3c)\", \"(4.1b)\"]");
    for (std::size_t k = 0; k < violates.size(); ++k)
      t.violates.push_back(violates[k].expect_string("a condition such as \"(3.3c)\""));
  }
  return t;
}

}  // namespace hinge
