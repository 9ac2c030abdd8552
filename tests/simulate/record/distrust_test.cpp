// Files on which HDF5 itself fails are refused by a program that asks for it.
#include "simulate/record/distrust.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <string>

#include "cli/program.hpp"
#include "hinge/error.hpp"
#include "hinge/record.hpp"
#include "places.hpp"

namespace hinge::distrust_test {
namespace {

class Distrust : public testing::Test {
 protected:
  Distrust() { distrust_hdf5_files(); }
  ~Distrust() override { distrust_hdf5_files(false); }

  std::string refusal(const std::function<void()>& read) {
    try {
      try_in_child(folder_.write("some.h5", "some bytes"), read);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
  test::Folder folder_;
};

TEST_F(Distrust, WhatCrashesOrComesToNoEndIsRefused) {
  EXPECT_NE(refusal([] { std::raise(SIGSEGV); }).find("HDF5 crashes on it"), std::string::npos);
  const auto for_ever = [] {
    for (std::atomic<bool> on = true; on;) {
    }
  };
  EXPECT_NE(refusal(for_ever).find("HDF5 comes to no end with it"), std::string::npos);
}

TEST_F(Distrust, WhatIsReadOrRefusedByTheReaderIsLeftToIt) {
  int here = 0;
  EXPECT_EQ(refusal([&] { ++here; }), "");
  EXPECT_EQ(here, 0);  // the child has memory of its own
  EXPECT_EQ(refusal([] { throw InputError("wrong"); }), "");
  EXPECT_NO_THROW(try_in_child(folder_.file("missing.h5"), [] { std::raise(SIGSEGV); }));
}

TEST_F(Distrust, AHeapWithAnEmptyEntryIsAnEndlessLoopInHdf5) {
  if (!hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  const std::string file = HINGE_TEST_DATA "/hdf5-loops.h5";
  EXPECT_THROW(read_record(file), InputError);
}

TEST(Trust, ALibraryDoesNotForkUnasked) {
  EXPECT_NO_THROW(try_in_child("/dev/null", [] { std::raise(SIGSEGV); }));
}

}  // namespace
}  // namespace hinge::distrust_test
