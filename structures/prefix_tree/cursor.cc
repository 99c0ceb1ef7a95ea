// Implements Cursor::seek(), which moves a cursor to a pair.
#include "structures/prefix_tree/cursor.h"

namespace keydrome::prefix_tree {

// Follows the symbols of the probe (record.h) down to some record. Then finds the first symbol in
// which the probe and this record differ. The nodes of the path that branch before this symbol are
// right, and stay on the path. Let S be the subtree below the last of them. If the root of S
// branches at this symbol, the probe belongs between two children of this root. If it branches
// later, all pairs of S are on the same side of the probe.
void Cursor::seek(Slot root, const Probe& probe, bool after) {
  depth_ = 0;
  pending_ = Slot();
  if (root.is_empty()) return;
  Slot slot = root;
  while (!slot.is_record()) {
    Node* node = slot.node();
    const uint32_t symbol = probe.symbol(node->depth);
    const uint32_t index = node->has(symbol) ? node->rank(symbol) : 0;
    frames_[depth_++] = {node, index + 1};
    slot = node->children()[index];
  }
  const Record& record = *slot.record();
  const uint32_t position = probe.first_difference(record);
  if (position == kEqual) {
    if (!after) pending_ = slot;
    return;
  }
  while (depth_ > 0 && frames_[depth_ - 1].node->depth > position) --depth_;
  const uint32_t symbol = probe.symbol(position);
  if (depth_ > 0 && frames_[depth_ - 1].node->depth == position) {
    frames_[depth_ - 1].next = frames_[depth_ - 1].node->rank(symbol);
    return;
  }
  if (symbol < symbol_of(record, position)) {
    pending_ =
        depth_ == 0 ? root : frames_[depth_ - 1].node->children()[frames_[depth_ - 1].next - 1];
  }
}

}  // namespace keydrome::prefix_tree
