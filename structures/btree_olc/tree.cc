#include "structures/btree_olc/tree.h"

#include <new>

#include "structures/btree_olc/build.h"

namespace keydrome::btree_olc {

Tree::Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
    : memory_(environment),
      number_bytes_(setup.key_bytes == 4 || setup.key_bytes == 8 ? setup.key_bytes : 0) {
  const Pairs none{};
  Node* root = build_leaf(memory_, number_bytes_, none, 0, 0, {});
  if (root == nullptr) throw std::bad_alloc();
  root_.store(root, std::memory_order_release);
}

Tree::~Tree() { clear(root()); }

// The recursion is at most kLevels deep.
void Tree::clear(Node* node) {
  if (node->level > 0) {
    const Inner& parent = inner(*node);
    for (uint32_t i = 0; i < parent.children_count(); ++i) clear(parent.child(i));
  }
  drop(memory_, node);
}

int Tree::load(const KeydromeRun& run) noexcept {
  KeydromeBytes key, payload;
  for (uint32_t at = 0; at < run.size;) {
    at = keydrome_run_read(&run, at, &key, &payload);
    if (put(key, payload) < 0) return KEYDROME_NO_MEMORY;
  }
  return 0;
}

}  // namespace keydrome::btree_olc
