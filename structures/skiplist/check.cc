// Implements check() and statistic() of List (list.h): checks the invariants of the list, and
// counts nodes.
#include <algorithm>

#include "structures/skiplist/list.h"

namespace keydrome::skiplist {
namespace {

enum Broken {
  kWrongOrder = 1,  // the nodes of a level are not ascending
  kWrongHeight,     // a level has a node without a link of this level, or lacks a node with one
  kWrongHead,       // the head of a node is not the first eight bytes of its key
  kLeftBehind,      // a node is locked or marked, although no change is running
};

int broken_in(const Node& node, uint32_t level) {
  if (node.head != head_of(node.key())) return kWrongHead;
  if (node.locked.load() || node.marked) return kLeftBehind;
  const Node* next = node.next(level);
  const Probe own = Probe::of(bytes_of(node.key()), bytes_of(node.payload()));
  return next != nullptr && compare(*next, own) <= 0 ? kWrongOrder : 0;
}

// Returns the first node, from `node` on, that has a link of this level.
const Node* first_of(const Node* node, uint32_t level) {
  while (node != nullptr && node->height <= level) node = node->next();
  return node;
}

}  // namespace

int List::check() const {
  if (start_->locked.load() || start_->marked) return kLeftBehind;
  for (uint32_t level = 0; level < kHeightMax; ++level) {
    const Node* expected = first_of(start_->next(), level);
    for (const Node* node = start_->next(level); node != nullptr; node = node->next(level)) {
      if (expected != node) return kWrongHeight;
      if (const int broken = broken_in(*node, level); broken != 0) return broken;
      expected = first_of(node->next(), level);
    }
    if (expected != nullptr) return kWrongHeight;
  }
  return 0;
}

uint64_t List::statistic(uint32_t which) const {
  uint64_t nodes = 0;
  uint64_t height = 0;
  for (const Node* node = start_->next(); node != nullptr; node = node->next()) {
    ++nodes;
    height = std::max<uint64_t>(height, node->height);
  }
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return height;
    case KEYDROME_STATISTIC_NODES:
    case KEYDROME_STATISTIC_SLOTS:
    case KEYDROME_STATISTIC_SLOTS_USED:
      return nodes;  // each node has room for one pair
    default:
      return 0;
  }
}

}  // namespace keydrome::skiplist
