// Makes, destroys and rebuilds the tree.
#include "structures/csb/tree.h"

#include <new>

namespace keydrome::csb {

Tree* Tree::create(const KeydromeEnvironment& environment) {
  const Memory memory(environment);
  void* place = memory.allocate(sizeof(Tree), alignof(Tree));
  Leaf* leaf = memory.make_leaf();
  Directory* directory = Directory::create(memory, 1);
  if (place == nullptr || leaf == nullptr || directory == nullptr) {
    if (directory != nullptr) Directory::destroy(memory, directory);
    if (leaf != nullptr) memory.drop(leaf);
    if (place != nullptr) memory.retire(place, sizeof(Tree), alignof(Tree));
    return nullptr;
  }
  directory->fence(0) = nullptr;
  directory->leaf(0) = leaf;
  directory->fill_heads();
  return new (place) Tree(environment, directory, leaf);
}

void Tree::destroy(Tree* tree) {
  const Memory memory = tree->memory_;
  for (Leaf* leaf = tree->first_; leaf != nullptr;) {
    Leaf* next = leaf->next;
    for (uint32_t i = 0; i < leaf->count; ++i) memory.drop(leaf->entries[i].record);
    memory.drop(leaf);
    leaf = next;
  }
  Directory* directory = tree->directory_;
  for (uint32_t slot = 1; slot < directory->slots(); ++slot) memory.drop(directory->fence(slot));
  for (uint32_t item = 0; item < directory->pending_count(); ++item) {
    memory.drop(directory->pending(item).fence);
  }
  Directory::destroy(memory, directory);
  memory.retire(tree, sizeof(Tree), alignof(Tree));
}

// Makes a directory of all slots that are not dead, in order. Returns false if out of memory. The
// old directory then remains.
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
