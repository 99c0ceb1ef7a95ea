// Text: the layout of a tree for all keys that Fixed (fixed/fixed.h) does not serve: strings, and
// keys of one size other than 4 or 8 bytes. text/node.h describes the nodes. The base classes
// search and change them.
#pragma once

#include <algorithm>
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
    const uint32_t from = slot;
    const uint32_t end = std::min<uint32_t>(leaf.count, from + (run.limit - run.pairs));
    const bool are_long = leaf.heap > leaf.count * (kLine / 2);
    const auto ask_for = [&](uint32_t wanted) __attribute__((always_inline)) {
      const uint8_t* bytes = TextNode::record(leaf, wanted);
      __builtin_prefetch(bytes);
      if (are_long) __builtin_prefetch(bytes + kLine);
    };
    uint32_t asked = std::min(from + kRecordsAhead, end);
    for (uint32_t i = from; i < asked; ++i) ask_for(i);
    // The loop works on copies of the run's fields. If it used the fields themselves, the compiler
    // would load and store them for each pair.
    auto* const data = static_cast<uint8_t*>(run.data);
    uint32_t size = run.size;
    bool is_set = false;
    for (; slot < end; ++slot) {
      if (asked < end) ask_for(asked++);
      const uint8_t* bytes = TextNode::record(leaf, slot);
      is_set = bytes[1] == TextNode::kSetMark;
      const uint32_t needs = 2u + bytes[0] + bytes[1];
      if (is_set || needs > run.capacity - size) break;
      write_pair(leaf, slot, bytes, run.capacity - size, data + size);
      size += needs;
    }
    run.size = size;
    run.pairs += slot - from;
    return slot == leaf.count || is_set;
  }

 private:
  // The records of a leaf are in the order of their insertion, and a scan reads them in the order
  // of their keys. The processor cannot predict these addresses, so a scan prefetches this many
  // records in advance.
  static constexpr uint32_t kRecordsAhead = 12;

  // Writes a pair with its only payload to a place with `left` free bytes, which is enough.
  KEYDROME_HOT void write_pair(const Node& leaf, uint32_t slot, const uint8_t* bytes, uint32_t left,
                               uint8_t* to) {
    const uint32_t prefix = leaf.prefix_size;
    const uint32_t rest = TextNode::rest_size(bytes[0], prefix);
    std::memcpy(to, bytes, 2);
    // With so much room left, the copies may write whole words and lines past the end of the key.
    if (left >= 2 * KEYDROME_RUN_BYTES_MIN) {
      Search::copy_loosely(to + 2, leaf.prefix, prefix);
      store_big(to + 2 + prefix, leaf.heads[slot]);
      Search::copy_loosely(to + 10 + prefix, bytes + TextNode::kRecordHeader, rest);
    } else {
      uint8_t scratch[kKeyRoom];
      std::memcpy(to + 2, scratch, TextNode::key(leaf, slot, 0, scratch));
    }
    copy_bytes(to + 2 + bytes[0], bytes + TextNode::kRecordHeader + rest, bytes[1]);
  }
};

}  // namespace keydrome::btree
