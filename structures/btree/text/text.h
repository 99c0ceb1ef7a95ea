// Text: the layout of a tree for all keys that Fixed (fixed/fixed.h) does not serve: strings, and
// keys of one size other than 4 or 8 bytes. text/node.h describes the nodes. The base classes
// search and change them.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/payloads.h"
#include "structures/btree/text/node.h"
#include "structures/btree/text/search.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

template <class Search>
struct Text : TextSearch<Search> {
  using Node = TextNode::Node;
  using Item = TextItem;
  using Items = TextItems;
  using Probe = Span;
  using Separator = TextSeparator;
  using Sets = Payloads<Search>;
  static constexpr bool kGrows = true;

  KEYDROME_HOT Probe probe(Span key, uint32_t) { return key; }
  KEYDROME_HOT bool holds(Span key, uint32_t) { return key.size <= KEYDROME_KEY_BYTES_MAX; }
  static bool fits_inline(const Node&, uint32_t) { return true; }
  static void adopt(Node&, uint32_t) {}
  static Item leaf_item(Probe key, const Value& value) {
    return {key, value.payload, value.set, tag_of(key)};
  }

  // Appends the pairs from a slot on to the run (the caller's buffer). Stops at the first slot with
  // a set of payloads (several payloads of one key), or at the end of the leaf. Returns false if
  // the run becomes full first. Sets `slot` to the first slot that has not been appended.
  KEYDROME_HOT bool emit(const Node& leaf, uint32_t& slot, uint32_t, KeydromeRun& run) {
    for (; slot < leaf.count; ++slot) {
      const uint8_t* bytes = TextNode::record(leaf, slot);
      if (bytes[1] == TextNode::kSetMark) return true;
      const uint32_t key_size = bytes[0];
      const uint32_t payload_size = bytes[1];
      const uint32_t needs = 2 + key_size + payload_size;
      const uint32_t left = run.capacity - run.size;
      if (run.pairs == run.limit || needs > left) return false;
      uint8_t* to = static_cast<uint8_t*>(run.data) + run.size;
      const uint32_t rest = TextNode::rest_size(key_size, leaf.prefix_size);
      std::memcpy(to, bytes, 2);
      // With so much room left, the copies may write whole words past the end of the key.
      if (left >= 2 * KEYDROME_RUN_BYTES_MIN) {
        Search::copy(to + 2, leaf.prefix, leaf.prefix_size);
        store_big(to + 2 + leaf.prefix_size, leaf.heads[slot]);
        Search::copy(to + 10 + leaf.prefix_size, bytes + TextNode::kRecordHeader, rest);
      } else {
        uint8_t scratch[kKeyRoom];
        std::memcpy(to + 2, scratch, TextNode::key(leaf, slot, 0, scratch));
      }
      copy_bytes(to + 2 + key_size, bytes + TextNode::kRecordHeader + rest, payload_size);
      run.size += needs;
      ++run.pairs;
    }
    return true;
  }
};

}  // namespace keydrome::btree
