// Implements check() and statistic() of Tree (tree.h): checks the invariants, for tests, and counts
// nodes. The id of a pair is its number in a dictionary, and nodes contain ids (node.h).
#include <vector>

#include "structures/delta_storage/tree.h"

namespace keydrome::delta_storage {
namespace {

enum Broken {
  kWrongOrder = 1,  // ids of a leaf are not in the order of their pairs
  kWrongBound,      // a pair is not between the separators above it
  kWrongLevel,      // a child is not one level below its parent
  kTooSmall,        // a node other than the root is less than a third full
  kWrongLink,       // a leaf does not link to the next one
  kWrongUse,        // the dictionary does not know whether a leaf or inner node has an id
};

uint64_t nodes_of(const Node& node, uint64_t& slots, uint64_t& used) {
  if (node.level == 0) {
    slots += Leaf::kIds;
    used += node.count;
    return 1;
  }
  const auto& inner = static_cast<const Inner&>(node);
  uint64_t nodes = 1;
  for (uint32_t child = 0; child <= inner.count; ++child) {
    nodes += nodes_of(*inner.children[child], slots, used);
  }
  return nodes;
}

}  // namespace

class Tree::Checker {
 public:
  explicit Checker(const Tree& tree) : dictionaries_(tree.dictionaries_), root_(tree.root_) {
    for (uint32_t i = 0; i < dictionaries_.count(); ++i) {
      used_.emplace_back(dictionaries_.at(i).size());
    }
  }

  int run() {
    check(*root_, Dictionaries::kNone, Dictionaries::kNone);
    expect(leaf_ == nullptr || leaf_->next == nullptr, kWrongLink);
    for (uint32_t i = 0; i < dictionaries_.count(); ++i) {
      for (uint32_t position = 0; position < used_[i].size(); ++position) {
        expect(used_[i][position] == dictionaries_.at(i).uses(position), kWrongUse);
      }
    }
    return broken_;
  }

 private:
  void expect(bool holds, Broken what) {
    if (!holds && broken_ == 0) broken_ = what;
  }

  // Returns true if the pair of `left` is smaller than that of `right`, or equal if `or_equal`.
  // kNone means no bound, so the result is then true.
  bool is_before(Id left, Id right, bool or_equal) const {
    if (left == Dictionaries::kNone || right == Dictionaries::kNone) return true;
    const Pair pair = dictionaries_.pair(right);
    return dictionaries_.compare(left, {pair.key, pair.payload}) < (or_equal ? 1 : 0);
  }

  void note(Id id, Use use) {
    const uint32_t number = dictionaries_.number(id);
    const uint32_t position = dictionaries_.position(id);
    expect(position < used_[number].size() && (used_[number][position] & use) == 0, kWrongUse);
    if (broken_ == 0) used_[number][position] |= use;
  }

  // Checks a subtree. Its pairs must be >= the pair of `low` and < the pair of `high`.
  void check(const Node& node, Id low, Id high) {
    if (node.level > 0) {
      check_inner(static_cast<const Inner&>(node), low, high);
    } else {
      check_leaf(static_cast<const Leaf&>(node), low, high);
    }
  }

  void check_inner(const Inner& inner, Id low, Id high) {
    expect(&inner == root_ ? inner.count > 0 : inner.count >= Inner::kIds / 3, kTooSmall);
    for (uint32_t i = 0; i < inner.count; ++i) note(inner.ids[i], kSeparator);
    for (uint32_t i = 0; broken_ == 0 && i <= inner.count; ++i) {
      const Id from = i == 0 ? low : inner.ids[i - 1];
      const Id to = i == inner.count ? high : inner.ids[i];
      expect(is_before(from, to, false), kWrongOrder);
      expect(inner.children[i]->level + 1 == inner.level, kWrongLevel);
      if (broken_ == 0) check(*inner.children[i], from, to);
    }
  }

  void check_leaf(const Leaf& leaf, Id low, Id high) {
    expect(&leaf == root_ || leaf.count >= Leaf::kIds / 3, kTooSmall);
    expect(leaf_ == nullptr || leaf_->next == &leaf, kWrongLink);
    leaf_ = &leaf;
    for (uint32_t i = 0; i < leaf.count; ++i) {
      note(leaf.ids[i], kInLeaf);
      if (broken_ != 0) return;
      if (i > 0) expect(is_before(leaf.ids[i - 1], leaf.ids[i], false), kWrongOrder);
    }
    if (leaf.count == 0) return;
    expect(is_before(low, leaf.ids[0], true), kWrongBound);
    expect(is_before(leaf.ids[leaf.count - 1], high, false), kWrongBound);
  }

  const Dictionaries& dictionaries_;
  const Node* const root_;
  const Leaf* leaf_ = nullptr;              // the previous leaf
  std::vector<std::vector<uint8_t>> used_;  // uses seen so far, by dictionary and position
  int broken_ = 0;
};

int Tree::check() const { return Checker(*this).run(); }

uint64_t Tree::statistic(uint32_t which) const {
  uint64_t slots = 0;
  uint64_t used = 0;
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return root_->level + 1u;
    case KEYDROME_STATISTIC_NODES:
      return nodes_of(*root_, slots, used);
    case KEYDROME_STATISTIC_SLOTS:
      nodes_of(*root_, slots, used);
      return slots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      nodes_of(*root_, slots, used);
      return used;
    default:
      return 0;
  }
}

}  // namespace keydrome::delta_storage
