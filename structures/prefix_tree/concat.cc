// Implements concat(), which adds a tree with larger pairs without copying pairs. The storage
// engine ERIS calls this "link" (T. Kissinger et al., ADMS 2014, section 3.3.2). Changes only nodes
// on the path to the largest pair of the low tree, and on the path to the smallest pair of the high
// tree. A symbol is a byte of key or payload, or an end mark (record.h).
#include <algorithm>

#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {
namespace {

// Joins two trees. The *border* is the first symbol in which the last pair of the low tree and the
// first pair of the high tree differ. A failure changes nothing: join() allocates its node before
// it calls itself for the children, and changes nodes only after this call.
class Joiner {
 public:
  Joiner(const Memory& memory, Slot low, Slot high)
      : memory_(memory),
        last_(last_record(low)),
        first_(first_record(high)),
        border_(Probe::of(*last_).first_difference(*first_)) {}

  // Returns the joined subtree, or an empty slot if out of memory. The recursion is at most
  // kSymbolsMax calls deep.
  Slot join(Slot low, Slot high) {
    const uint32_t depth = std::min({depth_of(low), depth_of(high), border_});
    const Side left{low, depth_of(low) == depth ? low.node() : nullptr};
    const Side right{high, depth_of(high) == depth ? high.node() : nullptr};
    // Before the border, the last child on the left and the first child on the right have the same
    // symbol.
    const bool is_shared = depth < border_;
    const uint32_t total = left.count() + right.count() - (is_shared ? 1 : 0);

    Node* target = nullptr;
    if (left.node != nullptr && total <= left.node->capacity()) target = left.node;
    if (left.node == nullptr && right.node != nullptr && total <= right.node->capacity()) {
      target = right.node;
    }
    const bool is_made = target == nullptr;
    if (is_made) target = memory_.make_node(depth, Node::class_for(total));
    if (target == nullptr) return Slot();
    Slot shared;
    if (is_shared) {
      shared = join(left.last(), right.first());
      if (shared.is_empty()) {
        if (is_made) memory_.drop(target);
        return Slot();
      }
    }
    fill(target, left, right, shared);
    return Slot(target);
  }

 private:
  // One of the two subtrees, as a list of children of the joined node. If `node` is nullptr, the
  // subtree itself is the child.
  struct Side {
    Slot slot;
    Node* node;

    uint32_t count() const { return node == nullptr ? 1 : node->count; }
    Slot first() const { return node == nullptr ? slot : node->children()[0]; }
    Slot last() const { return node == nullptr ? slot : node->children()[node->count - 1]; }
  };

  static uint32_t depth_of(Slot slot) { return slot.is_node() ? slot.node()->depth : kEqual; }

  // Puts the children of both sides into the target. If `shared` is not empty, it replaces the last
  // child on the left and the first child on the right.
  void fill(Node* target, const Side& left, const Side& right, Slot shared) {
    const uint32_t skipped = shared.is_empty() ? 0 : 1;
    if (target == right.node) {
      if (skipped == 1) {
        target->children()[0] = shared;
      } else {
        target->insert(symbol_of(*last_, target->depth), left.slot);
      }
      return;
    }
    if (target != left.node) {
      if (left.node == nullptr) {
        target->insert(symbol_of(*last_, target->depth), left.slot);
      } else {
        target->append(*left.node, 0, left.node->count);
        memory_.drop(left.node);
      }
    }
    if (skipped == 1) target->children()[target->count - 1] = shared;
    if (right.node != nullptr) {
      target->append(*right.node, skipped, right.node->count);
      memory_.drop(right.node);
    } else if (skipped == 0) {
      target->insert(symbol_of(*first_, target->depth), right.slot);
    }
  }

  const Memory& memory_;
  const Record* last_;
  const Record* first_;
  uint32_t border_;  // the first symbol in which the last and the first pair differ
};

}  // namespace

int Tree::concat(Tree& high) noexcept {
  if (root_.is_empty()) {
    root_ = high.root_;
  } else if (!high.root_.is_empty()) {
    const Slot joined = Joiner(memory_, root_, high.root_).join(root_, high.root_);
    if (joined.is_empty()) return KEYDROME_NO_MEMORY;
    root_ = joined;
  }
  high.root_ = Slot();
  return 0;
}

}  // namespace keydrome::prefix_tree
