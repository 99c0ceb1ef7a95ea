// Implements put() and load() of Tree (tree.h), which add one pair or a run of ascending pairs.
//
// A symbol is a byte of key or payload, or an end mark (record.h). An insertion needs a
// *neighbour*: a stored pair that shares the most leading symbols with the new pair. Their first
// different symbol gives the position at which the new pair branches off. The insertion then
// descends from the root to this position. There it adds a child to a node, or makes a node with
// two children.
#include "structures/prefix_tree/tree.h"

namespace keydrome::prefix_tree {

int Tree::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return add(Probe::of(key, payload));
}

int Tree::add(const Probe& pair) {
  if (root_.is_empty()) {
    Record* record = memory_.make_record(pair);
    if (record == nullptr) return KEYDROME_NO_MEMORY;
    root_ = Slot(record);
    return 1;
  }
  const Record& neighbour = *closest_record(root_, pair);
  const uint32_t position = pair.first_difference(neighbour);
  if (position == kEqual) return 0;
  return insert(pair, position, neighbour);
}

// Inserts a pair, which shares the symbols before `position` with `neighbour`. No record shares
// more symbols with the pair.
int Tree::insert(const Probe& pair, uint32_t position, const Record& neighbour) {
  Slot* place = &root_;
  while (place->is_node() && place->node()->depth < position) {
    Node& node = *place->node();
    place = &node.children()[node.rank(pair.symbol(node.depth))];
  }

  Record* record = memory_.make_record(pair);
  if (record == nullptr) return KEYDROME_NO_MEMORY;
  const bool is_child = place->is_node() && place->node()->depth == position;
  if (is_child && !place->node()->is_full()) {
    place->node()->insert(pair.symbol(position), Slot(record));
    return 1;
  }
  Node* node = is_child ? memory_.resize(place->node(), place->node()->size_class + 1u)
                        : memory_.make_node(position, 0);
  if (node == nullptr) {
    memory_.drop(record);
    return KEYDROME_NO_MEMORY;
  }
  if (!is_child) node->insert(symbol_of(neighbour, position), *place);
  node->insert(pair.symbol(position), Slot(record));
  *place = Slot(node);
  return 1;
}

// The pairs of a run come after all records, so the largest record is the neighbour, and no search
// is needed.
int Tree::load(const KeydromeRun& run) noexcept {
  uint32_t at = 0;
  for (uint32_t i = 0; i < run.pairs; ++i) {
    KeydromeBytes key, payload;
    at = keydrome_run_read(&run, at, &key, &payload);
    const Probe pair = Probe::of(key, payload);
    if (root_.is_empty()) {
      if (add(pair) < 0) return KEYDROME_NO_MEMORY;
      continue;
    }
    const Record& neighbour = *last_record(root_);
    const int inserted = insert(pair, pair.first_difference(neighbour), neighbour);
    if (inserted < 0) return inserted;
  }
  return 0;
}

}  // namespace keydrome::prefix_tree
