// Implements check() and statistic() of Tree (tree.h): checks the invariants of the T-tree, for
// tests, and counts its nodes.
#include <utility>

#include "structures/ttree/tree.h"

namespace keydrome::ttree {
namespace {

// The numbers that check() returns: the first broken invariant, or kNone.
enum Broken {
  kNone,
  kCount,       // a node is empty or too full, or has a wrong capacity
  kBounds,      // min_head or max_head of a node is wrong
  kOrder,       // keys are not ascending
  kHead,        // the head of an entry is not the first eight bytes of its key
  kHeight,      // the height of a node is wrong
  kBalance,     // the heights of two children differ by more than one
  kList,        // the list of nodes is not in the order of the keys
  kSize,        // the set counts a wrong number of entries
  kDuplicates,  // a set of payloads is empty, or one of its entries has a set itself
};

// Walks through a set in the order of its keys.
class SetCheck {
 public:
  explicit SetCheck(const Set& set) : set_(set) {}

  Broken run() {
    const Broken broken = subtree(set_.root());
    if (broken != kNone) return broken;
    if (node_before_ != nullptr && node_before_->next != nullptr) return kList;
    return entries_ == set_.size() ? kNone : kSize;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): the tree is balanced, so at most 64 levels
  Broken subtree(const Node* node) {
    if (node == nullptr) return kNone;
    const Broken left = subtree(node->left);
    if (left != kNone) return left;
    const Broken here = check(*node);
    if (here != kNone) return here;
    return subtree(node->right);
  }

  Broken check(const Node& node) {
    const int left = Node::height_of(node.left), right = Node::height_of(node.right);
    if (node.height != 1 + std::max(left, right)) return kHeight;
    if (left - right > 1 || right - left > 1) return kBalance;
    if (node.count == 0 || node.count > node.capacity) return kCount;
    const bool is_alone = &node == set_.root() && node.is_leaf();
    if (node.capacity != Node::kCapacity && !is_alone) return kCount;
    const Node* before = std::exchange(node_before_, &node);
    if (node.previous != before || (before != nullptr && before->next != &node)) return kList;
    return check_entries(node);
  }

  Broken check_entries(const Node& node) {
    const Entry* entries = node.entries();
    if (node.min_head != entries[0].head) return kBounds;
    if (node.max_head != entries[node.count - 1].head) return kBounds;
    for (uint32_t i = 0; i < node.count; ++i) {
      if (entries[i].head != head_of(entries[i].item.key())) return kHead;
      const Entry* before = std::exchange(entry_before_, &entries[i]);
      if (before != nullptr && before->item.key() >= entries[i].item.key()) return kOrder;
    }
    entries_ += node.count;
    return kNone;
  }

  const Set& set_;
  const Node* node_before_ = nullptr;
  const Entry* entry_before_ = nullptr;
  uint64_t entries_ = 0;
};

}  // namespace

int Tree::check() const {
  const Broken broken = SetCheck(keys_).run();
  if (broken != kNone) return broken;
  for (Place at = keys_.first(); at.node != nullptr; at.advance()) {
    const Item item = at.entry().item;
    if (!item.has_duplicates()) continue;
    const Set& payloads = Duplicates::of(item).payloads;
    if (payloads.size() == 0) return kDuplicates;
    const Broken inner = SetCheck(payloads).run();
    if (inner != kNone) return inner;
    for (Place payload = payloads.first(); payload.node != nullptr; payload.advance()) {
      if (payload.entry().item.has_duplicates()) return kDuplicates;
    }
  }
  return kNone;
}

// Counts the nodes of the keys, not those of Duplicates.
uint64_t Tree::statistic(uint32_t which) const {
  uint64_t nodes = 0, slots = 0;
  for (const Node* node = keys_.first().node; node != nullptr; node = node->next) {
    ++nodes;
    slots += node->capacity;
  }
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return static_cast<uint64_t>(Node::height_of(keys_.root()));
    case KEYDROME_STATISTIC_NODES:
      return nodes;
    case KEYDROME_STATISTIC_SLOTS:
      return slots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return keys_.size();
    default:
      return 0;
  }
}

}  // namespace keydrome::ttree
