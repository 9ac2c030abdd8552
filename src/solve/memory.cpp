#include "hinge/memory.hpp"

#include <bit>

namespace hinge {

void Memory::word(std::uint64_t& w) {
  if (!reading_) {
    words_.push_back(w);
  } else if (at_ < words_.size()) {
    w = words_[at_++];
  } else {
    broken_ = true;
  }
}

void Memory::exchange(double& x) {
  auto w = std::bit_cast<std::uint64_t>(x);
  word(w);
  x = std::bit_cast<double>(w);
}

void Memory::exchange(std::string& text) {
  std::vector<char> letters(text.begin(), text.end());
  exchange(letters);
  text.assign(letters.begin(), letters.end());
}

}  // namespace hinge
