// Implements the parts of Tree (tree.h) that several functions need: making and freeing nodes, and
// finding the place of a pair.
#include "structures/delta_storage/tree.h"

#include <new>

namespace keydrome::delta_storage {

template <class Made>
Made* Tree::make_node(uint32_t level) const {
  void* place = memory_.allocate(sizeof(Made), alignof(Made));
  if (place == nullptr) return nullptr;
  auto* node = new (place) Made;
  node->count = 0;
  node->level = static_cast<uint16_t>(level);
  if constexpr (requires { node->next; }) node->next = nullptr;
  return node;
}
template Leaf* Tree::make_node<Leaf>(uint32_t level) const;
template Inner* Tree::make_node<Inner>(uint32_t level) const;

Tree::Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
    : memory_(environment),
      options_(*Options::parse(setup.options)),
      dictionaries_(memory_, options_.dictionaries),
      root_(make_node<Leaf>(0)) {
  if (root_ == nullptr) throw std::bad_alloc();
}

Tree::~Tree() { drop_subtree(root_); }

void Tree::drop(Node* node) const {
  if (node->level == 0) {
    memory_.retire(static_cast<Leaf*>(node), sizeof(Leaf), alignof(Leaf));
  } else {
    memory_.retire(static_cast<Inner*>(node), sizeof(Inner), alignof(Inner));
  }
}

void Tree::drop_subtree(Node* node) const {
  if (node->level > 0) {
    const auto& inner = static_cast<const Inner&>(*node);
    for (uint32_t child = 0; child <= inner.count; ++child) drop_subtree(inner.children[child]);
  }
  drop(node);
}

uint32_t Tree::ids_before(const Id* ids, uint32_t count, const Probe& probe,
                          bool with_equal) const {
  const int most = with_equal ? 0 : -1;
  if (!options_.is_binary) {
    uint32_t before = 0;
    while (before < count && dictionaries_.compare(ids[before], probe) <= most) ++before;
    return before;
  }
  uint32_t first = 0;
  while (count > 0) {
    const uint32_t half = count / 2;
    if (dictionaries_.compare(ids[first + half], probe) <= most) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

const Leaf* Tree::locate(const Probe& probe, uint32_t& index) const {
  const Node* node = root_;
  while (node->level > 0) {
    const auto& inner = static_cast<const Inner&>(*node);
    node = inner.children[child_of(inner, probe)];
  }
  const auto* leaf = static_cast<const Leaf*>(node);
  index = ids_before(leaf->ids, leaf->count, probe, false);
  return leaf;
}

Tree::Path Tree::path_to(const Probe& probe) const {
  Path path;
  path.depth = 0;
  Node* node = root_;
  while (node->level > 0) {
    auto& inner = static_cast<Inner&>(*node);
    const uint32_t child = child_of(inner, probe);
    path.nodes[path.depth] = &inner;
    path.children[path.depth++] = child;
    node = inner.children[child];
  }
  path.leaf = static_cast<Leaf*>(node);
  return path;
}

}  // namespace keydrome::delta_storage
