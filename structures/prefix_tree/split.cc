// Implements split(), which moves a range of pairs to another tree without copying pairs. The
// storage engine ERIS calls this "unlink" (T. Kissinger et al., ADMS 2014, section 3.3.2). Only
// nodes on the path to the boundary have pairs on both sides. So a split costs one descent, and the
// division of at most one node per level.
#include "structures/prefix_tree/cursor.h"
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {
namespace {

// How the path to the boundary divides the node of one level. The first `before` children go left,
// and those from `next` on go right. If there is a child between them, the path leads through it,
// and it has been divided before.
struct Cut {
  Node* node;
  uint32_t before;
  uint32_t next;

  Cut(const Cursor& cursor, uint32_t level)
      : node(cursor.frame(level).node),
        before(cursor.frame(level).next),
        next(cursor.frame(level).next) {
    const bool is_last = level + 1 == cursor.depth();
    if (!is_last || !cursor.pending().is_empty()) --before;
  }
  bool has_divided_child() const { return before < next; }
  uint32_t after() const { return node->count - next; }
};

// The two parts of a subtree.
struct Halves {
  Slot left;
  Slot right;
};

// Divides a tree along a path. reserve() allocates all memory, so divide() cannot fail.
class Divider {
 public:
  Divider(const Cursor& cursor, const Memory& low, const Memory& high)
      : cursor_(cursor), low_(low), high_(high) {}

  // Makes the nodes that divide() needs for the right parts. Returns false if out of memory.
  bool reserve() {
    bool has_left = false;
    bool has_right = !cursor_.pending().is_empty();
    for (uint32_t level = cursor_.depth(); level-- > 0;) {
      const Cut cut(cursor_, level);
      const uint32_t lefts = cut.before + (has_left ? 1u : 0u);
      const uint32_t rights = cut.after() + (has_right ? 1u : 0u);
      made_[level] = nullptr;
      if (lefts > 0 && rights > 1) {
        made_[level] = high_.make_node(cut.node->depth, Node::class_for(rights));
        if (made_[level] == nullptr) {
          give_back(level + 1);
          return false;
        }
      }
      has_left = lefts > 0;
      has_right = rights > 0;
    }
    return true;
  }

  Halves divide(Slot root) {
    Halves halves{Slot(), cursor_.pending()};
    if (cursor_.depth() == 0 && halves.right.is_empty()) halves.left = root;
    for (uint32_t level = cursor_.depth(); level-- > 0;) {
      halves = divide_node(Cut(cursor_, level), halves, made_[level]);
    }
    return halves;
  }

 private:
  // Divides one node. `child` has the two parts of the child on the path, if there is one.
  Halves divide_node(const Cut& cut, const Halves& child, Node* made) {
    Node* node = cut.node;
    const bool is_all_left = cut.after() == 0 && child.right.is_empty();
    const bool is_all_right = cut.before == 0 && child.left.is_empty();
    if (is_all_left || is_all_right) {
      const Slot remaining = is_all_left ? child.left : child.right;
      if (cut.has_divided_child()) node->children()[cut.before] = remaining;
      return is_all_left ? Halves{Slot(node), Slot()} : Halves{Slot(), Slot(node)};
    }
    const uint32_t symbol = cut.has_divided_child() ? node->symbol_at(cut.before) : kEnd;
    Slot right = child.right;
    if (made != nullptr) {
      if (!child.right.is_empty()) made->insert(symbol, child.right);
      made->append(*node, cut.next, node->count);
      right = Slot(made);
    } else if (right.is_empty()) {
      right = node->children()[cut.next];
    }
    node->truncate(cut.before);
    if (!child.left.is_empty()) node->insert(symbol, child.left);
    return {shrink(node), right};
  }

  // Replaces a node with one child by this child, and a node that is too large by a smaller one.
  Slot shrink(Node* node) {
    if (node->count == 1) {
      const Slot child = node->children()[0];
      low_.drop(node);
      return child;
    }
    const uint32_t size_class = Node::class_for(node->count);
    if (size_class == node->size_class) return Slot(node);
    Node* made = low_.resize(node, size_class);
    return Slot(made == nullptr ? node : made);
  }

  // Frees the new nodes of `level` and of all deeper levels.
  void give_back(uint32_t level) {
    for (; level < cursor_.depth(); ++level) {
      if (made_[level] != nullptr) high_.drop(made_[level]);
    }
  }

  const Cursor& cursor_;
  const Memory& low_;
  const Memory& high_;
  std::array<Node*, kSymbolsMax> made_;  // by level; nullptr if the level needs no node
};

}  // namespace

int Tree::split(KeydromeBytes key, Tree& high) noexcept {
  Cursor cursor;
  cursor.seek(root_, Probe::of(key, {nullptr, 0}), false);
  Divider divider(cursor, memory_, high.memory_);
  if (!divider.reserve()) return KEYDROME_NO_MEMORY;
  const Halves halves = divider.divide(root_);
  root_ = halves.left;
  high.root_ = halves.right;
  return 0;
}

}  // namespace keydrome::prefix_tree
