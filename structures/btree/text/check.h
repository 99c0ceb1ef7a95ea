// TextCheck: tests the invariants of a text node (text/node.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/text/build.h"

namespace keydrome::btree {

struct TextCheck : TextBuild {
  // All keys must be >= `low` and < `high`, where nullptr means no bound.
  static bool sound(const Node& node, const TextSeparator* low, const TextSeparator* high) {
    if (items(node) > kSlots || node.dead > node.heap) return false;
    if (used(node) > size(node)) return false;
    uint8_t keys[2][kKeyRoom];
    uint32_t live = 0;
    for (uint32_t i = 0; i < node.count; ++i) {
      if (node.slots[i] > node.heap) return false;
      const Span own{keys[i % 2], key(node, i, 0, keys[i % 2])};
      const Span before{keys[(i + 1) % 2], i == 0 ? uint32_t{0} : record(node, i - 1)[0]};
      if (i > 0 && compare_bytes(before, own) >= 0) return false;
      if (!slot_is_sound(node, i, own) || !is_between(own, low, high)) return false;
      live += record_size(node, i);
    }
    return ends_are_sound(node) && (node.count == 0 || live + node.dead == node.heap);
  }

 private:
  static bool slot_is_sound(const Node& node, uint32_t slot, Span key) {
    return key.size >= node.prefix_size && key.size <= KEYDROME_KEY_BYTES_MAX &&
           node.heads[slot] == load_head(key, node.prefix_size) &&
           (node.level > 0 || node.tags[slot] == tag_of(key));
  }
  static bool is_between(Span key, const TextSeparator* low, const TextSeparator* high) {
    return (low == nullptr || compare_bytes(low->span(), key) <= 0) &&
           (high == nullptr || compare_bytes(key, high->span()) < 0);
  }
  static bool ends_are_sound(const Node& node) {
    for (uint32_t i = node.count; i < places(node.level, node.count); ++i) {
      if (node.heads[i] != kNone) return false;
    }
    for (uint32_t group = 1; group < 8; ++group) {
      if (node.summary[group - 1] != first_head(node, group)) return false;
    }
    return true;
  }
};

}  // namespace keydrome::btree
