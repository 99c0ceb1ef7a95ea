// Implements del() and replace() of Tree (tree.h), which delete a pair or change its payload.
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {
namespace {

// The slot of a record, and the slot of the node above it. `parent` is nullptr if the record is the
// root.
struct Place {
  Slot* slot;
  Slot* parent;
};

// Returns the only place at which the pair can be. The tree must not be empty.
Place place_of(Slot* root, const Probe& pair) {
  Place place{root, nullptr};
  while (place.slot->is_node()) {
    Node& node = *place.slot->node();
    const uint32_t symbol = pair.symbol(node.depth);
    place = {&node.children()[node.has(symbol) ? node.rank(symbol) : 0], place.slot};
  }
  return place;
}

}  // namespace

int Tree::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return remove(Probe::of(key, payload));
}

// Erases a pair. If its node keeps only one child, the child replaces the node. If the remaining
// children would fill at most three quarters of a node of the next smaller size, a node of this
// size replaces the old one. If there is no memory for it, the old node stays, so remove() never
// fails.
int Tree::remove(const Probe& pair) {
  if (root_.is_empty()) return 0;
  const Place place = place_of(&root_, pair);
  Record* record = place.slot->record();
  if (pair.first_difference(*record) != kEqual) return 0;
  memory_.drop(record);
  if (place.parent == nullptr) {
    root_ = Slot();
    return 1;
  }
  Node* node = place.parent->node();
  const auto index = static_cast<uint32_t>(place.slot - node->children());
  if (node->count == 2) {
    *place.parent = node->children()[1 - index];
    memory_.drop(node);
    return 1;
  }
  node->erase(index);
  if (node->size_class > 0) {
    const uint32_t smaller = node->size_class - 1u;
    if (node->count <= Node::kCapacities[smaller] * 3u / 4u) {
      Node* made = memory_.resize(node, smaller);
      if (made != nullptr) *place.parent = Slot(made);
    }
  }
  return 1;
}

// A symbol is a byte or an end mark (record.h). If the node above the record branches before the
// first symbol that changes, the new pair belongs exactly where the old pair is. This is always the
// case if the key has one payload.
int Tree::replace(KeydromeBytes key, KeydromeBytes before_bytes, KeydromeBytes now_bytes) noexcept {
  const Probe before = Probe::of(key, before_bytes);
  const Probe now = Probe::of(key, now_bytes);
  if (root_.is_empty()) return 0;
  const Place place = place_of(&root_, before);
  Record* record = place.slot->record();
  if (before.first_difference(*record) != kEqual) return 0;
  const uint32_t position = now.first_difference(*record);
  if (position == kEqual) return 2;

  if (place.parent != nullptr && place.parent->node()->depth >= position) {
    const int inserted = add(now);
    if (inserted < 0) return inserted;
    if (inserted == 0) return 2;
    remove(before);
    return 1;
  }
  if (now.payload_size == record->payload_size) {
    std::memcpy(record->payload(), now.payload, now.payload_size);
    return 1;
  }
  Record* made = memory_.make_record(now);
  if (made == nullptr) return KEYDROME_NO_MEMORY;
  memory_.drop(record);
  *place.slot = Slot(made);
  return 1;
}

}  // namespace keydrome::prefix_tree
