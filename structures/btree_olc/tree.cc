// Implements parts of tree.h: makes and destroys the tree.
#include "structures/btree_olc/tree.h"

#include <new>

#include "structures/btree_olc/build.h"

namespace keydrome::btree_olc {

TreeBase::TreeBase(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
    : memory_(environment),
      number_bytes_(setup.key_bytes == 4 || setup.key_bytes == 8 ? setup.key_bytes : 0) {
  const Pairs none{};
  Node* root = build_leaf(memory_, number_bytes_, none, 0, 0, {});
  if (root == nullptr) throw std::bad_alloc();
  root_.store(root, std::memory_order_release);
}

TreeBase::~TreeBase() { clear(root()); }

// The recursion is at most kLevels deep.
void TreeBase::clear(Node* node) {
  if (node->level > 0) {
    const Inner& parent = inner(*node);
    for (uint32_t i = 0; i < parent.children_count(); ++i) clear(parent.child(i));
  }
  drop(memory_, node);
}

}  // namespace keydrome::btree_olc
