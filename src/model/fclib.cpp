// Contact problems as HDF5, in FCLIB's layout:
//
//   /fclib_local    W, V, R (matrices), vectors/{q, mu, s}, spacedim      u = W r + V l + q,  V^T r + R l + s = 0
//   /fclib_global   M, H, G, vectors/{f, w, mu, b}, spacedim              M v = H r + G l + f,  u = H^T v + w,  G^T v +
//   b = 0 /lcp            M, q                                                  w = M z + q /solution       r, u, v, l;
//   /guesses/1    the same
//
// A matrix is a group of m, n, nz, nzmax, p, i, x; nz says how: -1 compressed columns, -2 compressed rows, else
// triplets with the rows in i and the columns in p.
#include "hinge/contact.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "hinge/version.hpp"
#include "simulate/record/recorder_formats.hpp"

#ifdef HINGE_HAVE_HDF5

#include "simulate/record/distrust.hpp"
#include "simulate/record/hdf5.hpp"

namespace hinge {
namespace {

using namespace hdf5;
using Eigen::Index;
using Eigen::VectorXd;

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(opened(path)) {}

  bool has(const std::string& name) const { return file_.has(name); }
  std::vector<int> integers(const std::string& name) const { return file_.read<int>(name); }
  VectorXd numbers(const std::string& name) const {
    const std::vector<double> x = file_.read<double>(name);
    return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
  }

  int integer(const std::string& name) const {
    const std::vector<int> x = integers(name);
    if (x.size() != 1) throw fault(fmt::format("'{}' should be one number and has {}", name, x.size()));
    return x[0];
  }

  /// Empty where there is none.
  std::string text(const std::string& name) const {
    if (!has(name)) return "";
    const std::vector<std::string> texts = file_.texts(name);
    return texts.size() == 1 ? texts[0] : "";
  }

  /// With one row and one column for each entry of vectors of these sizes: what a matrix claims must not decide how
  /// much memory is taken. Whether it fits is said later.
  SparseRows matrix(const std::string& name, Index rows, Index columns) const {
    constexpr Index harmless = 1'000'000;
    const int m = integer(name + "/m"), n = integer(name + "/n"), nz = integer(name + "/nz");
    if (m > std::max(rows, harmless) || n > std::max(columns, harmless))
      throw fault(fmt::format("'{}' is {} x {} and its vectors have {} and {} entries", name, m, n, rows, columns));
    std::vector<int> p = integers(name + "/p"), i = integers(name + "/i");
    const VectorXd x = numbers(name + "/x");
    if (m < 0 || n < 0) throw fault(fmt::format("'{}' is {} x {}", name, m, n));
    const auto outer = static_cast<std::size_t>(nz == -2 ? m : n);
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](int row, int column, double value) {
      if (row < 0 || row >= m || column < 0 || column >= n)
        throw fault(fmt::format("'{}' is {} x {} and has an entry in row {}, column {}", name, m, n, row, column));
      entries.emplace_back(row, column, value);
    };
    if (nz >= 0) {
      const auto size = static_cast<std::size_t>(nz);
      if (p.size() < size || i.size() < size || x.size() < nz)
        throw fault(fmt::format("'{}' says {} entries and lists fewer", name, nz));
      for (std::size_t k = 0; k < size; ++k) add(i[k], p[k], x[static_cast<Index>(k)]);
    } else if (nz == -1 || nz == -2) {
      if (p.size() != outer + 1)
        throw fault(fmt::format("'{}/p' has {} entries where {} are needed", name, p.size(), outer + 1));
      for (std::size_t j = 0; j < outer; ++j)
        for (int k = p[j]; k < p[j + 1]; ++k) {
          if (k < 0 || static_cast<std::size_t>(k) >= i.size() || k >= x.size())
            throw fault(fmt::format("'{}' lists fewer entries than its p says", name));
          const int inner = i[static_cast<std::size_t>(k)], at = static_cast<int>(j);
          nz == -2 ? add(at, inner, x[k]) : add(inner, at, x[k]);
        }
    } else {
      throw fault(
          fmt::format("'{}/nz' is {}; FCLIB knows -1 (columns), -2 (rows) and the number of triplets", name, nz));
    }
    SparseRows a(m, n);
    a.setFromTriplets(entries.begin(), entries.end());
    return a;
  }

  InputError fault(const std::string& what) const { return file_.fault(what); }

 private:
  static File opened(const std::string& path) {
    require_system_opens(path);
    std::error_code none;
    if (std::filesystem::is_directory(path, none)) throw cannot_read(path, "it is a folder, not a file");
    if (h5().H5Fis_hdf5(path.c_str()) <= 0)
      throw cannot_read(path, "it is no HDF5 file; contact problems come as FCLIB's HDF5 files");
    return File::open(path);
  }

  File file_;
};

SparseRows stacked(const SparseRows& top_left, const SparseRows& top_right, const SparseRows& bottom_left,
                   const SparseRows& bottom_right) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](const SparseRows& a, Index row, Index column) {
    for (Index i = 0; i < a.outerSize(); ++i)
      for (SparseRows::InnerIterator e(a, i); e; ++e)
        entries.emplace_back(static_cast<int>(row + e.row()), static_cast<int>(column + e.col()), e.value());
  };
  add(top_left, 0, 0);
  add(top_right, 0, top_left.cols());
  add(bottom_left, top_left.rows(), 0);
  add(bottom_right, top_left.rows(), top_left.cols());
  SparseRows whole(top_left.rows() + bottom_left.rows(), top_left.cols() + top_right.cols());
  whole.setFromTriplets(entries.begin(), entries.end());
  return whole;
}

VectorXd stacked(const VectorXd& a, const VectorXd& b) {
  VectorXd x(a.size() + b.size());
  x << a, b;
  return x;
}

void read_local(const Reader& in, ContactProblem& p) {
  p.dimension = in.integer("fclib_local/spacedim");
  const VectorXd mu = in.numbers("fclib_local/vectors/mu");
  p.mu.assign(mu.begin(), mu.end());
  p.q = in.numbers("fclib_local/vectors/q");
  p.W = in.matrix("fclib_local/W", p.q.size(), p.q.size());
  if (!in.has("fclib_local/V")) return;
  const VectorXd s = in.numbers("fclib_local/vectors/s");
  const SparseRows V = in.matrix("fclib_local/V", p.q.size(), s.size());
  SparseRows R(V.cols(), V.cols());
  if (in.has("fclib_local/R")) R = in.matrix("fclib_local/R", s.size(), s.size());
  if (V.rows() != p.W.rows() || R.rows() != V.cols() || R.cols() != V.cols())
    throw in.fault(fmt::format("W is {} x {}, V {} x {} and R {} x {}; they do not fit", p.W.rows(), p.W.cols(),
                               V.rows(), V.cols(), R.rows(), R.cols()));
  p.bilateral = static_cast<int>(V.cols());
  p.W = stacked(p.W, V, SparseRows(V.transpose()), R);
  p.q = stacked(p.q, s);
}

void read_global(const Reader& in, ContactProblem& p) {
  p.dimension = in.integer("fclib_global/spacedim");
  const VectorXd mu = in.numbers("fclib_global/vectors/mu");
  p.mu.assign(mu.begin(), mu.end());
  p.f = in.numbers("fclib_global/vectors/f");
  p.w = in.numbers("fclib_global/vectors/w");
  p.M = in.matrix("fclib_global/M", p.f.size(), p.f.size());
  p.H = in.matrix("fclib_global/H", p.f.size(), p.w.size()).transpose();
  if (!in.has("fclib_global/G")) return;
  const VectorXd b = in.numbers("fclib_global/vectors/b");
  const SparseRows G = in.matrix("fclib_global/G", p.f.size(), b.size()).transpose();
  if (G.cols() != p.H.cols())
    throw in.fault(fmt::format("H has {} rows and G {}; both have one per velocity", p.H.cols(), G.cols()));
  p.bilateral = static_cast<int>(G.rows());
  p.H = stacked(p.H, SparseRows(p.H.rows(), 0), G, SparseRows(G.rows(), 0));
  p.w = stacked(p.w, b);
}

// r, and l of bilateral rows behind it. The problem does not need them: what does not fit is passed over with a remark.
VectorXd read_reactions(const Reader& in, const std::string& group, const ContactProblem& p, std::string& remarks) {
  if (!in.has(group + "/r")) return {};
  try {
    VectorXd r = in.numbers(group + "/r");
    if (p.bilateral > 0) r = stacked(r, in.has(group + "/l") ? in.numbers(group + "/l") : VectorXd::Zero(p.bilateral));
    if (r.size() == p.rows()) return r;
    remarks += fmt::format("{}'{}/r' has {} entries where {} are needed and is passed over",
                           remarks.empty() ? "" : "; ", group, r.size(), p.rows());
  } catch (const InputError& e) {
    remarks += fmt::format("{}{}", remarks.empty() ? "" : "; ", e.what());
  }
  return {};
}

void write(const File& file, const std::string& name, const VectorXd& x) {
  file.write(name, std::span<const double>(x.data(), static_cast<std::size_t>(x.size())));
}

void write(const File& file, const std::string& name, int x) { file.write(name, std::span<const int>(&x, 1)); }

void write(const File& file, const std::string& name, SparseRows a) {
  a.makeCompressed();
  const auto nz = static_cast<std::size_t>(a.nonZeros()), rows = static_cast<std::size_t>(a.rows());
  write(file, name + "/m", static_cast<int>(a.rows()));
  write(file, name + "/n", static_cast<int>(a.cols()));
  write(file, name + "/nz", -2);
  write(file, name + "/nzmax", static_cast<int>(nz));
  file.write(name + "/p", std::span<const int>(a.outerIndexPtr(), rows + 1));
  file.write(name + "/i", std::span<const int>(a.innerIndexPtr(), nz));
  file.write(name + "/x", std::span<const double>(a.valuePtr(), nz));
}

ContactFile read_tried(const std::string& path) {
  const Session session;
  const Reader in(path);
  ContactFile file;
  ContactProblem& p = file.problem;
  std::string group;
  if (in.has("fclib_local")) {
    group = "fclib_local";
    read_local(in, p);
  } else if (in.has("fclib_global")) {
    group = "fclib_global";
    read_global(in, p);
  } else if (in.has("lcp")) {
    group = "lcp";
    const VectorXd q = in.numbers("lcp/q");
    p = linear_complementarity(in.matrix("lcp/M", q.size(), q.size()), q);
  } else {
    throw in.fault("it has no group fclib_local, fclib_global or lcp, so it is no contact problem");
  }
  p.title = in.text(group + "/info/title");
  file.description = in.text(group + "/info/description");
  try {
    validate(p);
  } catch (const InputError& e) {
    throw in.fault(e.what());
  }
  file.solution = read_reactions(in, "solution", p, file.remarks);
  file.guess = read_reactions(in, "guesses/1", p, file.remarks);
  return file;
}

}  // namespace

ContactFile read_contact_file(const std::string& path) {
  h5();  // loaded here, not in the child
  try_in_child(path, [&] { read_tried(path); });
  return read_tried(path);
}

void write_contact_file(const std::string& path, const ContactProblem& p, const VectorXd& r,
                        const std::string& description) {
  validate(p);
  if (p.by_bodies()) {
    ContactProblem all = written_out(p);
    all.title = p.title;
    return write_contact_file(path, all, r, description);
  }
  if (r.size() != 0 && r.size() != p.rows())
    throw OutputError(fmt::format("cannot write '{}': r has {} entries where {} are needed", path, r.size(), p.rows()));
  const Session session;
  const File out = File::create(path);
  const std::string program = "hinge " + version();  // first, so that it stands near the beginning
  out.write_attribute(out.id(), "program", std::span(&program, 1), File::Shape::one);
  const Index contact_rows = static_cast<Index>(p.contacts()) * p.dimension, nb = p.bilateral;
  std::string group = "fclib_local";
  if (p.matrix_free()) {
    group = "fclib_global";
    write(out, group + "/M", p.M);
    write(out, group + "/H", SparseRows(SparseRows(p.H.topRows(contact_rows)).transpose()));
    if (nb > 0) write(out, group + "/G", SparseRows(SparseRows(p.H.bottomRows(nb)).transpose()));
    write(out, group + "/vectors/f", p.f);
    write(out, group + "/vectors/w", p.w.head(contact_rows));
    if (nb > 0) write(out, group + "/vectors/b", p.w.tail(nb));
  } else if (p.dimension == 1 && nb == 0) {
    group = "lcp";
    write(out, "lcp/M", p.W);
    write(out, "lcp/q", p.q);
  } else {
    const SparseRows top = p.W.topRows(contact_rows);
    const Eigen::SparseMatrix<double> columns = top;
    write(out, group + "/W", SparseRows(columns.leftCols(contact_rows)));
    write(out, group + "/vectors/q", p.q.head(contact_rows));
    if (nb > 0) {
      const Eigen::SparseMatrix<double> bottom = SparseRows(p.W.bottomRows(nb));
      write(out, group + "/V", SparseRows(columns.rightCols(nb)));
      write(out, group + "/R", SparseRows(bottom.rightCols(nb)));
      write(out, group + "/vectors/s", p.q.tail(nb));
    }
  }
  if (group != "lcp") {
    write(out, group + "/spacedim", p.dimension);
    write(out, group + "/vectors/mu", Eigen::Map<const VectorXd>(p.mu.data(), p.contacts()));
  }
  out.write_text(group + "/info/title", p.title);
  out.write_text(group + "/info/description", description);
  if (r.size() > 0) {
    write(out, "solution/r", r.head(contact_rows));
    write(out, "solution/u", contact_velocity(p, r).head(contact_rows));
    if (nb > 0) write(out, "solution/l", r.tail(nb));
    if (p.matrix_free()) write(out, "solution/v", body_velocity(p, r));
  }
  out.save();
}

}  // namespace hinge

#else  // !HINGE_HAVE_HDF5

namespace hinge {

ContactFile read_contact_file(const std::string& path) {
  throw cannot_read(path,
                    "this build has no HDF5, and contact problems come as HDF5 files; install libhdf5-dev and "
                    "build again");
}

void write_contact_file(const std::string& path, const ContactProblem&, const Eigen::VectorXd&, const std::string&) {
  throw cannot_write(path, "this build has no HDF5; install libhdf5-dev and build again");
}

}  // namespace hinge

#endif
