// Four operations at a time, where there are copies of the same: forces between pairs, say.
//
// Operations are of one class where they do the same with operands of the same classes. Four of a class are taken
// together; so are, then, the operations that make what they multiply, and those that multiply these with each other.
#include <algorithm>
#include <map>
#include <set>

#include "method/taylor/series_builder.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

using P = SeriesProgram;
using Lanes = std::array<int, P::lanes>;

class Packing {
 public:
  explicit Packing(SeriesProgram& program)
      : p_(program), producer_(at(program.slots), -1), class_(p_.operations.size()) {
    for (std::size_t k = 0; k < p_.operations.size(); ++k) producer_[at(p_.operations[k].result)] = static_cast<int>(k);
    for (const auto& c : p_.completions) open_.insert(c.result);
    p_.lane_of.assign(at(p_.slots), {});
  }

  void pack() {
    classify();
    for (const auto& [size, number] : by_size_) {
      std::vector<int> waiting;
      for (const int k : members_[at(number)])
        if (!packed(k)) waiting.push_back(k);
      for (std::size_t k = 0; k + P::lanes <= waiting.size(); k += P::lanes) {
        fresh_.clear();
        if (unify({waiting[k], waiting[k + 1], waiting[k + 2], waiting[k + 3]})) commit();
      }
      pack_users();
    }
    order();
  }

 private:
  bool packed(int k) const { return p_.lane_of[at(p_.operations[at(k)].result)].four >= 0; }
  bool multiplies(const P::Operation& op) const {
    return op.groups_end > op.groups || op.kind == P::Kind::quotient || op.kind == P::Kind::root;
  }
  bool suitable(const P::Operation& op) const {
    const bool kind = op.kind == P::Kind::sum || op.kind == P::Kind::integral || op.kind == P::Kind::quotient ||
                      op.kind == P::Kind::root || op.kind == P::Kind::derivative;
    return kind && !op.nothing && !open_.count(op.result);
  }
  // Operands that series are multiplied with.
  std::vector<int> factors(const P::Operation& op) const {
    std::vector<int> list;
    for (int g = op.groups; g < op.groups_end; ++g)
      for (int k = p_.groups[at(g)].first; k < p_.groups[at(g)].end; ++k)
        for (const P::Operand* o : {&p_.products[at(k)].a, &p_.products[at(k)].b}) list.push_back(o->slot);
    if (op.kind == P::Kind::quotient) list.push_back(op.b.slot);
    return list;
  }

  // What an operation does, in numbers; of operands their classes, where these are made in the same stage.
  void classify() {
    std::map<std::vector<double>, int> known;
    for (std::size_t k = 0; k < p_.operations.size(); ++k) {
      const P::Operation& op = p_.operations[k];
      std::vector<double> text{static_cast<double>(op.kind), static_cast<double>(op.level),
                               static_cast<double>(op.groups_end - op.groups)};
      const auto operand = [&](const P::Operand& o) {
        const int producer = o.slot >= 0 ? producer_[at(o.slot)] : -1;
        const bool here = o.where == P::Where::stage && producer >= 0;
        for (const double x : {static_cast<double>(o.slot >= 0), static_cast<double>(o.level),
                               static_cast<double>(o.where), here ? static_cast<double>(class_[at(producer)]) : -1.0})
          text.push_back(x);
      };
      for (int l = op.linear; l < op.linear_end; ++l)
        text.push_back(p_.linear[at(l)].factor), operand(p_.linear[at(l)].a);
      for (int g = op.groups; g < op.groups_end; ++g) {
        const P::Group& group = p_.groups[at(g)];
        text.push_back(group.factor);
        text.push_back(group.end - group.first);
        for (int i = group.first; i < group.end; ++i) {
          const P::Product& product = p_.products[at(i)];
          text.push_back(product.minus);
          text.push_back(product.a.slot == product.b.slot);
          operand(product.a), operand(product.b);
        }
      }
      if (op.kind != P::Kind::integral)
        for (const P::Operand* o : {&op.a, &op.b}) operand(*o);
      const auto [found, fresh] = known.try_emplace(text, static_cast<int>(members_.size()));
      if (fresh) members_.emplace_back();
      class_[k] = found->second;
      if (suitable(op)) members_[at(class_[k])].push_back(static_cast<int>(k));
    }
    for (std::size_t c = 0; c < members_.size(); ++c)
      if (members_[c].size() >= P::lanes && multiplies(p_.operations[at(members_[c][0])]))
        by_size_.emplace_back(members_[c].size(), static_cast<int>(c));
    std::sort(by_size_.begin(), by_size_.end());
  }

  // Can these four be done together, with all that they multiply?
  bool unify(const Lanes& four) {
    if (const P::Lane first = p_.lane_of[at(p_.operations[at(four[0])].result)]; first.four >= 0)
      return p_.fours[at(first.four)].operation == four;
    if (std::find(fresh_.begin(), fresh_.end(), four) != fresh_.end()) return true;
    for (int i = 0; i < P::lanes; ++i) {
      const int k = four[at(i)];
      if (packed(k) || !suitable(p_.operations[at(k)]) || class_[at(k)] != class_[at(four[0])]) return false;
      for (const Lanes& other : fresh_)
        if (std::find(other.begin(), other.end(), k) != other.end()) return false;
      if (std::count(four.begin(), four.end(), k) > 1) return false;
    }
    fresh_.push_back(four);
    std::array<std::vector<int>, P::lanes> operands;
    for (std::size_t i = 0; i < P::lanes; ++i) operands[i] = factors(p_.operations[at(four[i])]);
    for (std::size_t f = 0; f < operands[0].size(); ++f) {
      Lanes producers{};
      for (std::size_t i = 0; i < P::lanes; ++i)
        if ((producers[i] = producer_[at(operands[i][f])]) < 0) return false;
      if (!unify(producers)) return false;
    }
    return true;
  }
  void commit() {
    for (const Lanes& four : fresh_) {
      for (int i = 0; i < P::lanes; ++i)
        p_.lane_of[at(p_.operations[at(four[at(i)])].result)] = {static_cast<int>(p_.fours.size()), i};
      p_.fours.push_back({four, false});
    }
  }

  // Operations all of whose factors stand in fours, in the same lane each.
  void pack_users() {
    for (bool changed = true; changed;) {
      changed = false;
      std::map<std::vector<int>, Lanes> found;
      for (std::size_t k = 0; k < p_.operations.size(); ++k) {
        const P::Operation& op = p_.operations[k];
        const std::vector<int> slots = factors(op);
        if (slots.empty() || packed(static_cast<int>(k)) || !suitable(op)) continue;
        std::vector<int> key{class_[k]};
        int lane = -1;
        bool good = true;
        for (const int slot : slots) {
          const P::Lane l = p_.lane_of[at(slot)];
          good = good && l.four >= 0 && (lane < 0 || lane == l.number);
          lane = l.number;
          key.push_back(l.four);
        }
        if (!good) continue;
        Lanes& four = found.try_emplace(key, Lanes{-1, -1, -1, -1}).first->second;
        if (four[at(lane)] < 0) four[at(lane)] = static_cast<int>(k);
      }
      for (const auto& [key, four] : found) {
        if (std::count(four.begin(), four.end(), -1) > 0) continue;
        fresh_.clear();
        if (!unify(four)) continue;
        commit();
        changed = true;
      }
    }
  }

  // Fours that need each other are a cluster; clusters of the same make are done in one loop. Before them the
  // operations that need no four, after them the others.
  void order() {
    std::vector<int> depth(p_.operations.size(), -1), cluster(p_.fours.size());
    std::vector<char> later(p_.operations.size(), 0);
    for (std::size_t f = 0; f < cluster.size(); ++f) cluster[f] = static_cast<int>(f);
    const auto root = [&](int f) {
      while (cluster[at(f)] != f) f = cluster[at(f)] = cluster[at(cluster[at(f)])];
      return f;
    };
    for (std::size_t k = 0; k < p_.operations.size(); ++k) {
      depth_of(static_cast<int>(k), depth);
      for_each_of_stage(p_.operations[k], [&](int producer) {
        const int mine = four_of(static_cast<int>(k)), other = four_of(producer);
        if (other >= 0 || later[at(producer)]) later[k] = 1;
        if (mine >= 0 && other >= 0) cluster[at(root(mine))] = root(other);
        entangled_ = entangled_ || (mine >= 0 && other < 0 && later[at(producer)]);
      });
    }
    std::map<int, std::vector<int>> clusters;
    for (std::size_t f = 0; f < cluster.size(); ++f) clusters[root(static_cast<int>(f))].push_back(static_cast<int>(f));
    for (P::Four& four : p_.fours)
      for (const int k : four.operation)
        four.series = four.series || multiplied_.count(p_.operations[at(k)].result) > 0;
    if (entangled_) return by_depth(depth);
    // of each cluster its fours in their order; those with the same classes in one list
    std::map<std::vector<int>, std::vector<std::vector<int>>> alike;
    for (auto& [first, list] : clusters) {
      const auto rank = [&](int f) {
        const int k = p_.fours[at(f)].operation[0];
        return std::pair(depth[at(k)], class_[at(k)]);
      };
      std::stable_sort(list.begin(), list.end(), [&](int x, int y) { return rank(x) < rank(y); });
      std::vector<int> make;
      for (const int f : list) {
        const P::Four& four = p_.fours[at(f)];
        make.push_back(2 * class_[at(four.operation[0])] + (four.series ? 1 : 0));
      }
      alike[make].push_back(list);
    }
    scalars(later, 0);
    std::vector<P::Four> fours;
    for (const auto& [make, lists] : alike) {
      p_.steps.push_back(
          {-1, static_cast<int>(fours.size()), static_cast<int>(make.size()), static_cast<int>(lists.size())});
      for (const auto& list : lists)
        for (const int f : list) fours.push_back(p_.fours[at(f)]);
    }
    scalars(later, 1);
    renumber(std::move(fours));
  }
  void renumber(std::vector<P::Four> fours) {
    p_.fours = std::move(fours);
    for (std::size_t f = 0; f < p_.fours.size(); ++f)
      for (const int k : p_.fours[f].operation) p_.lane_of[at(p_.operations[at(k)].result)].four = static_cast<int>(f);
  }
  void scalars(const std::vector<char>& later, char which) {
    for (std::size_t k = 0; k < later.size(); ++k)
      if (four_of(static_cast<int>(k)) < 0 && later[k] == which) p_.steps.push_back({static_cast<int>(k), -1, 1, 1});
  }
  // Where a four needs an operation that needs another four: what needs nothing of the stage first, then what needs
  // that, and so on.
  void by_depth(const std::vector<int>& depth) {
    std::vector<int> firsts;  // operations, and the first ones of fours
    for (int k = 0; k < static_cast<int>(p_.operations.size()); ++k)
      if (four_of(k) < 0 || p_.fours[at(four_of(k))].operation[0] == k) firsts.push_back(k);
    std::stable_sort(firsts.begin(), firsts.end(), [&](int a, int b) { return depth[at(a)] < depth[at(b)]; });
    std::vector<P::Four> fours;
    for (const int k : firsts) {
      const int four = four_of(k);
      p_.steps.push_back({four < 0 ? k : -1, four < 0 ? -1 : static_cast<int>(fours.size()), 1, 1});
      if (four >= 0) fours.push_back(p_.fours[at(four)]);
    }
    renumber(std::move(fours));
  }
  template <class Visit>
  void for_each_of_stage(const P::Operation& op, Visit&& visit) const {
    const auto need = [&](const P::Operand& o) {
      if (o.slot >= 0 && o.where == P::Where::stage) visit(producer_[at(o.slot)]);
    };
    for (int l = op.linear; l < op.linear_end; ++l) need(p_.linear[at(l)].a);
    for (int g = op.groups; g < op.groups_end; ++g)
      for (int i = p_.groups[at(g)].first; i < p_.groups[at(g)].end; ++i)
        need(p_.products[at(i)].a), need(p_.products[at(i)].b);
    if (op.kind != P::Kind::integral) need(op.a), need(op.b), need(op.c);
  }
  int four_of(int k) const { return p_.lane_of[at(p_.operations[at(k)].result)].four; }
  // How many operations of the stage must be done before, one after the other; the same for all of a class.
  int depth_of(int k, std::vector<int>& depth) {
    if (depth[at(k)] >= 0) return depth[at(k)];
    const P::Operation& op = p_.operations[at(k)];
    int most = 0;
    for_each_of_stage(op, [&](int producer) { most = std::max(most, 1 + depth_of(producer, depth)); });
    for (const int slot : factors(op)) multiplied_.insert(slot);
    if (op.kind == P::Kind::quotient || op.kind == P::Kind::root) multiplied_.insert(op.result);
    return depth[at(k)] = most;
  }

  SeriesProgram& p_;
  std::vector<int> producer_, class_;
  std::set<int> open_, multiplied_;
  bool entangled_ = false;
  std::vector<std::vector<int>> members_;
  std::vector<std::pair<std::size_t, int>> by_size_;  // classes that multiply series, small ones first
  std::vector<Lanes> fresh_;
};

}  // namespace

void SeriesBuilder::pack_lanes() { Packing(program_).pack(); }

}  // namespace hinge
