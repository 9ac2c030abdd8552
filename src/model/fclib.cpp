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

#include "simulate/record/recorder_formats.hpp"

#ifdef HINGE_HAVE_HDF5

#include "simulate/record/hdf5.hpp"

namespace hinge {
namespace {

using namespace hdf5;
using Eigen::Index;
using Eigen::VectorXd;

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), check_(path_, Check::reading) {
    require_system_opens(path, O_RDONLY, Check::reading);
    if (std::filesystem::is_directory(path)) throw cannot_read(path, "it is a folder, not a file");
    if (H5Fis_hdf5(path.c_str()) <= 0)
      throw cannot_read(path, "it is no HDF5 file; contact problems come as FCLIB's HDF5 files");
    file_ = check_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open the file");
  }

  // Every part of the path has to be asked for by itself.
  bool has(const std::string& name) const {
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
      if (H5Lexists(file_.get(), name.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
    return H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT) > 0;
  }

  VectorXd numbers(const std::string& name) const {
    const Handle data = open(name);
    VectorXd x(count(data, name));
    if (x.size() > 0 && H5Dread(data.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()) < 0)
      throw fault(fmt::format("'{}' cannot be read as numbers", name));
    return x;
  }

  std::vector<int> integers(const std::string& name) const {
    const Handle data = open(name);
    std::vector<int> x(static_cast<std::size_t>(count(data, name)));
    if (!x.empty() && H5Dread(data.get(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, x.data()) < 0)
      throw fault(fmt::format("'{}' cannot be read as whole numbers", name));
    return x;
  }

  int integer(const std::string& name) const {
    const std::vector<int> x = integers(name);
    if (x.size() != 1) throw fault(fmt::format("'{}' should be one number and has {}", name, x.size()));
    return x[0];
  }

  /// Texts come in fixed or variable length; empty where there is none.
  std::string text(const std::string& name) const {
    if (!has(name)) return "";
    const Handle data = open(name);
    const Handle type = check_(H5Dget_type(data.get()), H5Tclose, "read a text");
    if (H5Tget_class(type.get()) != H5T_STRING || count(data, name) != 1) return "";
    if (H5Tis_variable_str(type.get()) > 0) {
      char* pointer = nullptr;
      const Handle memory = check_(H5Tcopy(type.get()), H5Tclose, "read a text");
      if (H5Dread(data.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer) < 0 || !pointer) return "";
      std::string value = pointer;
      H5free_memory(pointer);
      return value;
    }
    std::string value(H5Tget_size(type.get()), '\0');
    check_(H5Dread(data.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.data()), "read a text");
    return value.c_str();
  }

  SparseRows matrix(const std::string& name) const {
    const int m = integer(name + "/m"), n = integer(name + "/n"), nz = integer(name + "/nz");
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

  InputError fault(const std::string& what) const { return cannot_read(path_, what); }

 private:
  Handle open(const std::string& name) const {
    if (!has(name)) throw fault(fmt::format("there is no '{}' in it", name));
    const hid_t data = H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT);
    if (data < 0) throw fault(fmt::format("'{}' should be numbers or a text, and is something else (a group?)", name));
    return check_(data, H5Dclose, "open a part of it");
  }
  Index count(const Handle& data, const std::string& name) const {
    const Handle space = check_(H5Dget_space(data.get()), H5Sclose, "read its shape");
    const hssize_t n = H5Sget_simple_extent_npoints(space.get());
    if (n < 0 || n > (hssize_t{1} << 28)) throw fault(fmt::format("'{}' is too long", name));
    return static_cast<Index>(n);
  }

  std::string path_;
  Check check_;
  Handle file_;
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

VectorXd joined(const VectorXd& a, const VectorXd& b) {
  VectorXd x(a.size() + b.size());
  x << a, b;
  return x;
}

void read_local(const Reader& in, ContactProblem& p) {
  p.dimension = in.integer("fclib_local/spacedim");
  p.mu = in.numbers("fclib_local/vectors/mu");
  p.W = in.matrix("fclib_local/W");
  p.q = in.numbers("fclib_local/vectors/q");
  if (!in.has("fclib_local/V")) return;
  const SparseRows V = in.matrix("fclib_local/V");
  const VectorXd s = in.numbers("fclib_local/vectors/s");
  SparseRows R(V.cols(), V.cols());
  if (in.has("fclib_local/R")) R = in.matrix("fclib_local/R");
  if (V.rows() != p.W.rows() || R.rows() != V.cols() || R.cols() != V.cols())
    throw in.fault(fmt::format("W is {} x {}, V {} x {} and R {} x {}; they do not fit", p.W.rows(), p.W.cols(),
                               V.rows(), V.cols(), R.rows(), R.cols()));
  p.bilateral = static_cast<int>(V.cols());
  p.W = stacked(p.W, V, SparseRows(V.transpose()), R);
  p.q = joined(p.q, s);
}

void read_global(const Reader& in, ContactProblem& p) {
  p.dimension = in.integer("fclib_global/spacedim");
  p.mu = in.numbers("fclib_global/vectors/mu");
  p.M = in.matrix("fclib_global/M");
  p.H = in.matrix("fclib_global/H").transpose();
  p.f = in.numbers("fclib_global/vectors/f");
  p.w = in.numbers("fclib_global/vectors/w");
  if (!in.has("fclib_global/G")) return;
  const SparseRows G = in.matrix("fclib_global/G").transpose();
  if (G.cols() != p.H.cols())
    throw in.fault(fmt::format("H has {} rows and G {}; both have one per velocity", p.H.cols(), G.cols()));
  p.bilateral = static_cast<int>(G.rows());
  p.H = stacked(p.H, SparseRows(p.H.rows(), 0), G, SparseRows(G.rows(), 0));
  p.w = joined(p.w, in.numbers("fclib_global/vectors/b"));
}

// r, and l of bilateral rows behind it. The problem does not need them: what does not fit is passed over with a remark.
VectorXd read_reactions(const Reader& in, const std::string& group, const ContactProblem& p, std::string& remarks) {
  if (!in.has(group + "/r")) return {};
  try {
    VectorXd r = in.numbers(group + "/r");
    if (p.bilateral > 0) r = joined(r, in.has(group + "/l") ? in.numbers(group + "/l") : VectorXd::Zero(p.bilateral));
    if (r.size() == p.rows()) return r;
    remarks += fmt::format("{}'{}/r' has {} entries where {} are needed and is passed over",
                           remarks.empty() ? "" : "; ", group, r.size(), p.rows());
  } catch (const InputError& e) {
    remarks += fmt::format("{}{}", remarks.empty() ? "" : "; ", e.what());
  }
  return {};
}

class Writer {
 public:
  Writer(const std::string& path) : path_(path), check_(path_, Check::writing) {
    require_system_opens(path, O_WRONLY | O_CREAT, Check::writing);
    file_ = check_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "create the file");
    links_ = check_(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "set up the file");
    check_(H5Pset_create_intermediate_group(links_.get(), 1), "set up the file");
    // Without time stamps the same problem writes the same bytes.
    create_ = check_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "set up the file");
    check_(H5Pset_obj_track_times(create_.get(), false), "set up the file");
  }
  void numbers(const std::string& name, const VectorXd& x) const {
    put(name, H5T_NATIVE_DOUBLE, room(static_cast<hsize_t>(x.size())), x.data());
  }
  void integers(const std::string& name, const std::vector<int>& x) const {
    put(name, H5T_NATIVE_INT, room(x.size()), x.data());
  }
  void text(const std::string& name, const std::string& value) const {
    const Handle type = check_(H5Tcopy(H5T_C_S1), H5Tclose, "make a string type");
    check_(H5Tset_size(type.get(), value.size() + 1), "make a string type");
    const Handle space = check_(H5Screate(H5S_SCALAR), H5Sclose, "make room");
    put(name, type.get(), space, value.c_str());
  }
  void matrix(const std::string& name, SparseRows a) const {
    a.makeCompressed();
    const auto nz = static_cast<std::size_t>(a.nonZeros());
    const int *p = a.outerIndexPtr(), *i = a.innerIndexPtr();
    integers(name + "/m", {static_cast<int>(a.rows())});
    integers(name + "/n", {static_cast<int>(a.cols())});
    integers(name + "/nz", {-2});
    integers(name + "/nzmax", {static_cast<int>(nz)});
    integers(name + "/p", std::vector<int>(p, p + a.rows() + 1));
    integers(name + "/i", std::vector<int>(i, i + nz));
    numbers(name + "/x", Eigen::Map<const VectorXd>(a.valuePtr(), a.nonZeros()));
  }
  void close() { check_(file_.close(), "close the file"); }

 private:
  Handle room(hsize_t n) const { return check_(H5Screate_simple(1, &n, nullptr), H5Sclose, "make room"); }
  // Nothing is written where there is nothing: `data` of an empty vector may be no address.
  void put(const std::string& name, hid_t type, const Handle& space, const void* data) const {
    const Handle set =
        check_(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), links_.get(), create_.get(), H5P_DEFAULT),
               H5Dclose, "create a part of it");
    if (H5Sget_simple_extent_npoints(space.get()) == 0) return;
    check_(H5Dwrite(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "write a part of it");
  }

  std::string path_;
  Check check_;
  Handle file_, links_, create_;
};

}  // namespace

ContactFile read_contact_file(const std::string& path) {
  const Quiet quiet;
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
    p = linear_complementarity(in.matrix("lcp/M"), in.numbers("lcp/q"));
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

void write_contact_file(const std::string& path, const ContactProblem& p, const VectorXd& r,
                        const std::string& description) {
  validate(p);
  if (r.size() != 0 && r.size() != p.rows())
    throw OutputError(fmt::format("cannot write '{}': r has {} entries where {} are needed", path, r.size(), p.rows()));
  const Quiet quiet;
  Writer out(path);
  const Index contact_rows = static_cast<Index>(p.contacts()) * p.dimension, nb = p.bilateral;
  std::string group = "fclib_local";
  if (p.matrix_free()) {
    group = "fclib_global";
    out.matrix(group + "/M", p.M);
    out.matrix(group + "/H", SparseRows(SparseRows(p.H.topRows(contact_rows)).transpose()));
    if (nb > 0) out.matrix(group + "/G", SparseRows(SparseRows(p.H.bottomRows(nb)).transpose()));
    out.numbers(group + "/vectors/f", p.f);
    out.numbers(group + "/vectors/w", p.w.head(contact_rows));
    if (nb > 0) out.numbers(group + "/vectors/b", p.w.tail(nb));
  } else if (p.dimension == 1 && nb == 0) {
    group = "lcp";
    out.matrix("lcp/M", p.W);
    out.numbers("lcp/q", p.q);
  } else {
    const SparseRows top = p.W.topRows(contact_rows);
    const Eigen::SparseMatrix<double> columns = top;
    out.matrix(group + "/W", SparseRows(columns.leftCols(contact_rows)));
    out.numbers(group + "/vectors/q", p.q.head(contact_rows));
    if (nb > 0) {
      const Eigen::SparseMatrix<double> bottom = SparseRows(p.W.bottomRows(nb));
      out.matrix(group + "/V", SparseRows(columns.rightCols(nb)));
      out.matrix(group + "/R", SparseRows(bottom.rightCols(nb)));
      out.numbers(group + "/vectors/s", p.q.tail(nb));
    }
  }
  if (group != "lcp") {
    out.integers(group + "/spacedim", {p.dimension});
    out.numbers(group + "/vectors/mu", p.mu);
  }
  out.text(group + "/info/title", p.title);
  out.text(group + "/info/description", description);
  if (r.size() > 0) {
    out.numbers("solution/r", r.head(contact_rows));
    out.numbers("solution/u", contact_velocity(p, r).head(contact_rows));
    if (nb > 0) out.numbers("solution/l", r.tail(nb));
    if (p.matrix_free()) out.numbers("solution/v", body_velocity(p, r));
  }
  out.close();
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
