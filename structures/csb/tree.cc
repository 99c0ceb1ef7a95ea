// Implements parts of Tree (tree.h): makes and destroys the tree, and makes a new directory.
#include "structures/csb/tree.h"

#include <new>

namespace keydrome::csb {

Tree::Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
    : memory_(environment),
      kind_(setup.key_bytes == kWordBytes ? Kind::kWords : Kind::kRecords),
      directory_(Directory::create(memory_, 1)),
      first_(memory_.make_leaf(kind_)),
      last_(first_) {
  if (directory_ == nullptr || first_ == nullptr) {
    if (directory_ != nullptr) Directory::destroy(memory_, directory_);
    if (first_ != nullptr) memory_.drop(first_);
    throw std::bad_alloc();
  }
  directory_->fence(0) = nullptr;
  directory_->leaf(0) = first_;
  directory_->fill_heads();
}

Tree::~Tree() {
  for (Leaf* leaf = first_; leaf != nullptr;) {
    Leaf* next = leaf->next();
    for (uint32_t i = 0; i < leaf->count; ++i) memory_.drop(leaf->kind, leaf->entries[i]);
    memory_.drop(leaf);
    leaf = next;
  }
  for (uint32_t slot = 1; slot < directory_->slots(); ++slot) memory_.drop(directory_->fence(slot));
  for (uint32_t item = 0; item < directory_->pending_count(); ++item) {
    memory_.drop(directory_->pending(item).fence);
  }
  Directory::destroy(memory_, directory_);
}

// Makes a new directory with all slots that are not dead, in order. A dead slot has the same leaf
// as the slot before it. Returns false if out of memory. The old directory then stays in use.
bool Tree::rebuild() {
  Directory* made = Directory::create(memory_, leaves_);
  if (made == nullptr) return false;
  uint32_t slots = 0;
  const auto append = [&](Record* fence, Leaf* leaf) {
    if (slots > 0 && made->leaf(slots - 1) == leaf) {
      memory_.drop(fence);
      return;
    }
    made->fence(slots) = fence;
    made->leaf(slots++) = leaf;
  };
  uint32_t item = 0;
  for (uint32_t slot = 0; slot < directory_->slots(); ++slot) {
    append(directory_->fence(slot), directory_->leaf(slot));
    for (; item < directory_->pending_count() && directory_->pending_after(item) == slot; ++item) {
      append(directory_->pending(item).fence, directory_->pending(item).leaf);
    }
  }
  made->fill_heads();
  Directory::destroy(memory_, directory_);
  directory_ = made;
  return true;
}

}  // namespace keydrome::csb
