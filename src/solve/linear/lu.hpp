// P A = L U of full matrices, rows exchanged. Of Eigen's decompositions each is compiled in one file of this room only:
// they take seconds each, wherever they are used.
#pragma once

#include <complex>
#include <vector>

#include <Eigen/LU>

namespace hinge {

/// For double and std::complex<double>. After the first factor() of a size nothing is allocated.
template <class Number>
class Lu {
 public:
  using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Number, Eigen::Dynamic, 1>;
  using RowMatrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  explicit Lu(Eigen::Index rows = 0);
  explicit Lu(const Matrix& a);
  void factor(const Matrix& a);
  /// Is the smallest pivot more than `ratio` times the largest?
  bool regular(double ratio) const { return pivot_ratio() > ratio; }
  /// The smallest pivot by the largest; 1 where there are none.
  double pivot_ratio() const;
  Number determinant() const;
  /// Sign of a real determinant: 1 or -1.
  int determinant_sign() const;
  /// x <- A^-1 x
  void solve(Number* x) const;
  Vector solve(Vector x) const {
    solve(x.data());
    return x;
  }
  Matrix inverse() const;
  void inverse(RowMatrix& out) const;

 private:
  Eigen::PartialPivLU<Matrix> lu_;
  mutable Vector work_;
  mutable std::vector<char> visited_;
};

}  // namespace hinge
