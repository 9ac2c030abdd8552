// What contacts did to bodies in a step with gaps on both levels, for the record. A contact gives R along rows of y0
// and the rest along rows of y1, or both along rows in between; forces in space are what the rows of its body's centre
// say,
//
//   J = H0^T R + H1^T (r - R)
//
// and the record has J along the frame of y1. What a contact gave that is gone at y1 counts as another's of the same
// two bodies, where these have one.
#include <algorithm>

#include "body/body_table.hpp"
#include "body/joint_contacts.hpp"
#include "collide/narrow.hpp"
#include "method/nonsmooth/moreau_jean_both.hpp"
#include "solve/index.hpp"

namespace hinge {

void MoreauJeanBoth::record_impulses() {
  const ContactList& l = contacts_.list();
  const int d = l.dimension;
  if (recovering_ || d == 1 || l.frame.size() != 9 * at(l.count)) return;
  int place = 0;    // of the first body's centre in z
  double given[3];  // to it
  // given += factor r along the rows of contact k
  const auto give = [&](const ContactList& list, const std::vector<double>& H, int k, const double* r, double factor) {
    for (int c = list.first[at(k)]; c < list.first[at(k) + 1]; ++c)
      if (const int x = list.column[at(c)] - place; x >= 0 && x < d)
        for (int row = 0; row < d; ++row) given[x] += factor * H[at(c * d + row)] * r[row];
  };
  const auto begin = [&](const ContactList& list, int k) {
    place = table_.places[resting_.body_of(list.column[at(list.first[at(k)])])].v;
    std::fill_n(given, 3, 0.0);
  };
  // Acts the frame of contact i on that body, or on the other one?
  const auto sign = [&](int i) {
    const double* n = l.frame.data() + 9 * i;
    double along = 0;
    for (int c = l.first[at(i)]; c < l.first[at(i) + 1]; ++c)
      if (const int x = l.column[at(c)] - place; x >= 0 && x < d) along += l.H[at(c * d)] * n[x];
    return along < 0 ? -1.0 : 1.0;
  };
  for (std::size_t a = 0; a < contacts_.active.size(); ++a) {
    const int i = contacts_.active[a], j = partners_[at(i)].before;
    if (j < 0 || JointContacts::has(l.key[at(i)])) continue;
    const double* r = total_.data() + a * at(d);
    begin(l, i);
    give(l, l.H, i, r, 1);
    if (!partners_[at(i)].rebounds) {
      give(before_, before_.H, j, R_.data() + j * d, 1);
      give(l, l.H, i, R_at_end_.data() + a * at(d), -1);
    } else if (first_.first[at(j) + 1] - first_.first[at(j)] > (d == 2 ? 3 : 6)) {
      give(first_, first_.H, j, R_.data() + j * d, 1);
      give(first_, second_, j, R_struck_.data() + a * at(d), -1);
      give(first_, framed_, j, r, -part_[a]);
      give(first_, second_, j, r, part_[a]);
    }
    contacts_.record(i, given, sign(i), true);
  }
  const auto pair = [](std::uint64_t key) { return key >> contact::feature_bits; };
  for (int j = 0; j < before_.count; ++j) {
    if (!left_[at(j)] || JointContacts::has(before_.key[at(j)])) continue;
    const auto end = l.key.end() - extra_,
               found = std::lower_bound(l.key.begin(), end, pair(before_.key[at(j)]) << contact::feature_bits);
    if (found == end || pair(*found) != pair(before_.key[at(j)])) continue;
    begin(before_, j);
    give(before_, before_.H, j, R_.data() + j * d, 1);
    if (!is_gone(j)) give(first_, second_, j, R_.data() + j * d, -1);
    const int i = static_cast<int>(found - l.key.begin());
    contacts_.record(i, given, sign(i), false);
  }
}

}  // namespace hinge
