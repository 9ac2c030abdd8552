// Rows for plots, thinned while they come so that any number of them takes the same memory, and no minimum or maximum
// of any column is lost.
//
// Each `bucket` successive rows become two, at the times of the first and the last of them, with the minimum and the
// maximum of each column in the order in which they occurred. Two such pairs become one in the same way, so that
// buckets of twice the size need no more than what is kept. Buckets of two are the rows themselves.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hinge {

class ThinnedRows {
 public:
  /// `capacity`: as many rows are kept at most; at least 4.
  ThinnedRows(std::size_t columns, std::size_t capacity);

  void add(double t, std::span<const double> values);
  /// Ends the last bucket, which may be shorter. Then nothing is added any more.
  void finish();

  std::size_t rows() const { return times_.size(); }
  std::size_t seen() const { return seen_; }
  std::size_t bucket() const { return bucket_; }
  bool thinned() const { return bucket_ > 2; }
  const std::vector<double>& times() const { return times_; }
  std::vector<double> column(std::size_t k) const { return column(k, 0, rows()); }
  /// Of `count` rows from `first` on.
  std::vector<double> column(std::size_t k, std::size_t first, std::size_t count) const;

 private:
  void start_bucket();
  void end_bucket();
  void halve();

  std::size_t columns_, capacity_, bucket_ = 2, seen_ = 0;
  std::vector<double> times_, values_;  // kept; values row by row
  // The bucket that is being filled, where it is one of more than two
  struct Extremes {
    double low, high;
    std::size_t low_at, high_at;
  };
  std::vector<Extremes> open_;
  std::size_t filled_ = 0;
  double first_time_ = 0, last_time_ = 0;
};

}  // namespace hinge
