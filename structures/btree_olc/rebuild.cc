// Implements rebuild.h: splits and merges leaves, and replaces the inner nodes above them.
#include "structures/btree_olc/rebuild.h"

#include <algorithm>

#include "structures/btree_olc/search.h"
#include "structures/btree_olc/search/plain.h"

namespace keydrome::btree_olc {
namespace {

constexpr uint32_t kMergedMost = kSlots * 3 / 4;  // most pairs or children of a merged node
constexpr uint32_t kRecordBytesMax = kLeafBytesMax - sizeof(TextNode);
// An inner node with fewer children is merged with a neighbour, or takes some of the neighbour's
// children.
constexpr uint32_t kThin = 14;

// Returns how many of the pairs go to the first leaf: all of them if one leaf is enough.
uint32_t cut_of(const Pairs& pairs, bool append) {
  const uint32_t bytes = record_bytes(pairs, 0, pairs.count);
  if (pairs.count <= kSlots && bytes <= kRecordBytesMax) return pairs.count;
  // The new pair comes after all others, so pairs probably ascend. Only this pair goes to the new
  // leaf, and the old leaf stays full.
  if (append) return pairs.count - 1;
  uint32_t cut = 0;
  for (uint32_t left = 0; left < bytes / 2; ++cut) left += record_bytes(pairs, cut, cut + 1);
  return std::clamp(cut, 1u, pairs.count - 1);
}

// Returns true if one leaf has room for the pairs of both leaves, and for some more.
bool is_mergeable(const Node& a, const Node& b) {
  if (a.count == 0 || b.count == 0) return true;
  if (a.count + b.count > static_cast<int>(kMergedMost)) return false;
  Pairs pairs;
  pairs.add_all(a);
  pairs.add_all(b);
  return record_bytes(pairs, 0, pairs.count) <= kRecordBytesMax * 3 / 4;
}

}  // namespace

Rebuild::Rebuild(TreeBase& tree, const Probe& probe) : tree_(tree) {
  Node* node = tree.root();
  top_ = node->level;
  for (uint32_t level = top_; level > 0; --level) {
    path_[level] = node;
    at_[level] = NodeSearch<SearchPlain>::child_index(inner(*node), probe);
    node = inner(*node).child(at_[level]);
  }
  path_[0] = node;
  node->version.latch();  // not obsolete, because only the owner of the tree latch replaces leaves
}

Rebuild::~Rebuild() {
  if (is_visible_) return;
  path_[0]->version.unlatch(is_changed_);
  if (neighbour_ != nullptr) neighbour_->version.unlatch(false);
  while (made_count_ > 0) drop(tree_.memory_, made_[--made_count_]);
}

Node* Rebuild::made(Node* node) {
  if (node != nullptr) made_[made_count_++] = node;
  return node;
}

// Must be called directly after the store that makes the new nodes visible. Until now the old
// leaves were latched, and now they become obsolete. So no reader accepts what it reads in an old
// leaf after that store.
void Rebuild::become_visible() {
  is_visible_ = true;
  path_[0]->version.make_obsolete();
  if (neighbour_ != nullptr) neighbour_->version.make_obsolete();
  while (replaced_count_ > 0) drop(tree_.memory_, replaced_[--replaced_count_]);
}

// Returns the lower bound of a node: of child `index` of the parent of path_[level].
Fence Rebuild::low_fence(uint32_t level, uint32_t index) const {
  if (level == top_) return {};
  if (index > 0) return {parent(level).separator(index - 1), true};
  return low_fence(level + 1, this->index(level + 1));
}

Fence Rebuild::high_fence(uint32_t level, uint32_t index) const {
  if (level == top_) return {};
  if (index < parent(level).count) return {parent(level).separator(index), true};
  return high_fence(level + 1, this->index(level + 1));
}

Fences Rebuild::fences(uint32_t level, uint32_t first, uint32_t last) const {
  return {low_fence(level, first), high_fence(level, last)};
}

bool Rebuild::insert(uint32_t slot, const Pair& pair) {
  Pairs pairs;
  pairs.add_all(leaf());
  const bool append = slot == pairs.count && !high_fence(0, index(0)).exists;
  pairs.insert(slot, pair);
  return replace_leaves(pairs, index(0), 1, append);
}

bool Rebuild::insert_instead(uint32_t slot, const Pair& pair, uint32_t erased) {
  Pairs pairs;
  pairs.add_all(leaf());
  pairs.erase(erased);
  pairs.insert(slot > erased ? slot - 1 : slot, pair);
  return replace_leaves(pairs, index(0), 1, false);
}

void Rebuild::merge() {
  if (top_ == 0) return;
  const Inner& parent = this->parent(0);
  const uint32_t own = index(0);
  for (const uint32_t left : {own, own - 1}) {
    if (left >= parent.count) continue;  // `left` has no right neighbour, or is -1
    Node* other = parent.child(left == own ? own + 1 : left);
    other->version.latch();
    neighbour_ = other;
    if (is_mergeable(leaf(), *other)) {
      Pairs pairs;
      pairs.add_all(left == own ? leaf() : *other);
      pairs.add_all(left == own ? *other : leaf());
      replace_leaves(pairs, left, 2, false);  // without memory, the leaves stay as they are
      return;
    }
    neighbour_ = nullptr;
    other->version.unlatch(false);
  }
}

bool Rebuild::replace_leaves(const Pairs& pairs, uint32_t first, uint32_t old, bool append) {
  const Fences all = fences(0, first, first + old - 1);
  const uint32_t cut = cut_of(pairs, append);
  const auto build = [&](uint32_t from, uint32_t to, const Fences& own) {
    return made(build_leaf(tree_.memory_, tree_.number_bytes_, pairs, from, to, own));
  };
  Part part{first, old, 1, {}, {}};
  if (cut == pairs.count) {
    part.nodes[0] = build(0, cut, all);
  } else {
    part.count = 2;
    part.separator = shortest_between(pairs.all[cut - 1], pairs.all[cut]);
    const Fence middle{part.separator, true};
    part.nodes[0] = build(0, cut, {all.low, middle});
    if (part.nodes[0] != nullptr) part.nodes[1] = build(cut, pairs.count, {middle, all.high});
  }
  if (part.nodes[part.count - 1] == nullptr) return false;
  replaced(path_[0]);
  if (neighbour_ != nullptr) replaced(neighbour_);
  return replace(0, part);
}

// Replaces nodes of a level. If one new node replaces one old node, the parent only exchanges a
// pointer. Otherwise its separators change, so the parent is replaced, too.
bool Rebuild::replace(uint32_t level, const Part& part) {
  if (level == top_) return replace_top(part);
  Inner& parent = inner(*path_[level + 1]);
  if (part.old == 1 && part.count == 1) {
    // Pairs with the acquire load in Inner::child().
    parent.children[part.first].store(part.nodes[0], std::memory_order_release);
    become_visible();
    return true;
  }
  Children children;
  children.add_all(parent, {});
  children.nodes[part.first] = part.nodes[0];
  if (part.old == 2) children.erase(part.first + 1);
  if (part.count == 2) children.insert(part.first + 1, part.separator, part.nodes[1]);
  replaced(&parent);
  return replace_inner(level + 1, children);
}

bool Rebuild::replace_top(const Part& part) {
  Node* root = part.nodes[0];
  if (part.count == 2) {
    if (top_ + 1 == kLevels) return false;
    Children two;
    two.insert(0, {}, part.nodes[0]);
    two.insert(1, part.separator, part.nodes[1]);
    root = made(build_inner(tree_.memory_, tree_.number_bytes_, top_ + 1, two, 0, 2, {}));
    if (root == nullptr) return false;
  }
  // Pairs with the acquire load in TreeBase::root().
  tree_.root_.store(root, std::memory_order_release);
  become_visible();
  return true;
}

// Replaces path_[level] by one or two nodes with these children. If there are few children, also
// replaces a neighbour. The new nodes then have the children of both.
bool Rebuild::replace_inner(uint32_t level, Children& children) {
  if (level == top_ && children.count == 1) return replace_top({0, 1, 1, {children.nodes[0]}, {}});
  if (level < top_ && children.count < kThin) return join(level, children);
  return divide(level, children, index(level), 1);
}

// Replaces `old` nodes of a level by one or two new nodes with these children.
bool Rebuild::divide(uint32_t level, const Children& children, uint32_t first, uint32_t old) {
  const Fences all = fences(level, first, first + old - 1);
  const auto build = [&](uint32_t from, uint32_t to, const Fences& own) {
    return made(build_inner(tree_.memory_, tree_.number_bytes_, level, children, from, to, own));
  };
  const bool is_one = children.count <= (old == 1 ? Inner::kChildren : kMergedMost);
  if (is_one) {
    Node* node = build(0, children.count, all);
    return node != nullptr && replace(level, {first, old, 1, {node}, {}});
  }
  // Ascending insertions change the right edge of the tree. There, the left node stays nearly full.
  const uint32_t cut =
      old == 1 && !all.high.exists ? children.count - kThin : (children.count + 1) / 2;
  const Pair separator = children.separators[cut];
  const Fence middle{separator, true};
  Node* low = build(0, cut, {all.low, middle});
  Node* high = low == nullptr ? nullptr : build(cut, children.count, {middle, all.high});
  return high != nullptr && replace(level, {first, old, 2, {low, high}, separator});
}

// Replaces path_[level], which would have few children, and a neighbour by one or two nodes.
bool Rebuild::join(uint32_t level, const Children& children) {
  const Inner& parent = this->parent(level);
  const uint32_t own = index(level);
  const bool is_left = own < parent.count;  // path_[level] is to the left of `other`
  const uint32_t first = is_left ? own : own - 1;
  Node* other = parent.child(is_left ? own + 1 : own - 1);
  const Pair middle = parent.separator(first);
  Children all;
  if (!is_left) all.add_all(inner(*other), {});
  for (uint32_t i = 0; i < children.count; ++i) {
    all.insert(all.count, i == 0 ? middle : children.separators[i], children.nodes[i]);
  }
  if (is_left) all.add_all(inner(*other), middle);
  replaced(other);
  return divide(level, all, first, 2);
}

}  // namespace keydrome::btree_olc
