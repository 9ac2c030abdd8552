// Claims about HDF5 files from an unknown source: what is read is in the file itself, and what a file claims to hold
// does not decide how much memory is taken.
#ifdef HINGE_HAVE_HDF5

#include <fstream>

#include <gtest/gtest.h>
#include <hdf5.h>

#include "cli/program.hpp"
#include "hinge/contact.hpp"
#include "hinge/error.hpp"
#include "simulate/record/recorder.hpp"

namespace hinge::foreign_hdf5_test {
namespace {

constexpr hsize_t rows = 6;
const char* const q = "fclib_local/vectors/q";

/// A small contact problem whose q is to be made anew, and a secret beside it.
class ForeignHdf5 : public testing::Test {
 protected:
  ForeignHdf5() {
    ContactProblem p;
    p.dimension = 3;
    p.mu = {0.5, 0.5};
    p.W = Eigen::MatrixXd(Eigen::MatrixXd::Identity(rows, rows)).sparseView();
    p.q = -Eigen::VectorXd::Ones(rows);
    write_contact_file(path_, p);
    write_contact_file(folder_.file("other.hdf5"), p);
    const std::vector<double> numbers(rows, 1.5);
    std::ofstream(folder_.file("secret.bin"), std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()), sizeof(double) * rows);
    file_ = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    made_ = H5Pcreate(H5P_DATASET_CREATE);
    H5Ldelete(file_, q, H5P_DEFAULT);
  }
  void make_q(hsize_t size = rows) {
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t data = H5Dcreate2(file_, q, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made_, H5P_DEFAULT);
    ASSERT_GE(data, 0);
    H5Dclose(data);
    H5Sclose(space);
  }
  void write_number(const char* name, int number) const {
    const hid_t data = H5Dopen2(file_, name, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &number), 0);
    H5Dclose(data);
  }
  std::string refusal() {
    H5Pclose(made_);
    H5Fclose(file_);
    try {
      read_contact_file(path_);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }

  const test::Folder folder_;
  const std::string path_ = folder_.file("p.hdf5");
  hid_t file_ = -1, made_ = -1;
};

TEST_F(ForeignHdf5, TheControlIsRead) {
  make_q();
  EXPECT_EQ(refusal(), "");
}

TEST_F(ForeignHdf5, NumbersKeptInAnotherFileAreRefused) {
  H5Pset_external(made_, folder_.file("secret.bin").c_str(), 0, sizeof(double) * rows);
  make_q();
  EXPECT_NE(refusal().find("kept in another file"), std::string::npos);
}

TEST_F(ForeignHdf5, NumbersKeptInADeviceAreRefused) {
  H5Pset_external(made_, "/dev/zero", 0, sizeof(double) * rows);
  make_q();
  EXPECT_NE(refusal().find("kept in another file"), std::string::npos);
}

TEST_F(ForeignHdf5, VirtualNumbersAreRefused) {
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  H5Pset_virtual(made_, space, folder_.file("other.hdf5").c_str(), q, space);
  H5Sclose(space);
  make_q();
  EXPECT_NE(refusal().find("kept in another file"), std::string::npos);
}

TEST_F(ForeignHdf5, LinksToOtherFilesAreRefused) {
  H5Lcreate_external(folder_.file("other.hdf5").c_str(), q, file_, q, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_NE(refusal(), "");
}

TEST_F(ForeignHdf5, GroupsInOtherFilesAreRefused) {
  H5Ldelete(file_, "fclib_local/W", H5P_DEFAULT);
  H5Lcreate_external(folder_.file("other.hdf5").c_str(), "fclib_local/W", file_, "fclib_local/W", H5P_DEFAULT,
                     H5P_DEFAULT);
  make_q();
  EXPECT_NE(refusal(), "");
}

TEST_F(ForeignHdf5, LinksToLinksToOtherFilesAreRefused) {
  H5Lcreate_external(folder_.file("other.hdf5").c_str(), q, file_, "there", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/there", file_, q, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_NE(refusal(), "");
}

TEST_F(ForeignHdf5, LinksWithinTheFileAreFollowed) {
  make_q();
  H5Lmove(file_, q, file_, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/elsewhere", file_, q, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_EQ(refusal(), "");
}

TEST_F(ForeignHdf5, ClaimsAreNoReasonToTakeMemory) {
  make_q(hsize_t{1} << 27);  // a gigabyte that is not there
  EXPECT_NE(refusal().find("holds far fewer"), std::string::npos);
}

TEST_F(ForeignHdf5, MatricesOfAllTheRowsThereCanBeAreRefused) {
  make_q();
  for (const char* name : {"fclib_local/W/m", "fclib_local/W/n"}) write_number(name, 2147483647);
  write_number("fclib_local/W/nz", 0);  // triplets: no list is as long as the matrix has rows
  EXPECT_NE(refusal().find("its vectors have 6 and 6 entries"), std::string::npos);
}

TEST_F(ForeignHdf5, RecordsAreReadFromTheirOwnFileOnly) {
  const std::string path = folder_.file("r.h5");
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external(folder_.file("other.hdf5").c_str(), q, file, "trajectory", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_THROW(read_record(path), InputError);
}

}  // namespace
}  // namespace hinge::foreign_hdf5_test

#endif
