// Implements leaf.h: changes one latched leaf in place.
#include "structures/btree_olc/leaf.h"

#include <algorithm>
#include <cstring>

namespace keydrome::btree_olc {
namespace {

uint64_t packed(Span payload) {
  uint64_t value = 0;
  if (payload.size > 0) std::memcpy(&value, payload.data, payload.size);
  return value;
}

uint32_t record_bytes(const Pair& pair) {
  return TextNode::kRecordHeader + pair.key.size + pair.payload.size;
}

uint32_t free_bytes(const TextNode& leaf) {
  return leaf.bytes - static_cast<uint32_t>(sizeof(TextNode)) - leaf.heap;
}

}  // namespace

bool Leaf::holds_record(const TextNode& leaf, uint32_t slot, const Pair& pair) {
  Pair held{};
  leaf.read(slot, held);
  return equal_bytes(held.key, pair.key) && equal_bytes(held.payload, pair.payload);
}

void Leaf::refresh_summary(Node& leaf, uint32_t slot) {
  for (uint32_t group = std::max(1u, (slot + 7) / 8); group < kGroups; ++group) {
    store(leaf.summary[group - 1], leaf.heads[8 * group]);
  }
}

void Leaf::set_head(Node& leaf, uint32_t slot, uint64_t head) {
  move_shared(leaf.heads + slot + 1, leaf.heads + slot, leaf.count - slot);
  store(leaf.heads[slot], head);
}

bool Leaf::insert(Node& leaf, uint32_t slot, const Pair& pair) {
  if (leaf.count == kSlots) return false;
  const bool is_inserted = leaf.kind == Kind::kNumbers ? insert_number(numbers(leaf), slot, pair)
                                                       : insert_record(text(leaf), slot, pair);
  if (!is_inserted) return false;
  store(leaf.count, static_cast<uint8_t>(leaf.count + 1));
  refresh_summary(leaf, slot);
  return true;
}

bool Leaf::insert_number(NumberLeaf& leaf, uint32_t slot, const Pair& pair) {
  if (pair.payload.size != leaf.payload_size) {
    if (leaf.count > 0 || pair.payload.size > 8) return false;
    store(leaf.payload_size, static_cast<uint8_t>(pair.payload.size));
  }
  set_head(leaf, slot, load_head(pair.key, 0));
  move_shared(leaf.values + slot + 1, leaf.values + slot, leaf.count - slot);
  store(leaf.values[slot], packed(pair.payload));
  return true;
}

bool Leaf::insert_record(TextNode& leaf, uint32_t slot, const Pair& pair) {
  const uint32_t bytes = record_bytes(pair);
  if (bytes > free_bytes(leaf)) {
    if (bytes > free_bytes(leaf) + leaf.dead) return false;
    remove_dead_bytes(leaf);
  }
  store(leaf.heap, static_cast<uint16_t>(leaf.heap + bytes));
  const uint32_t offset = leaf.bytes - leaf.heap;
  uint8_t* record = leaf.at(offset);
  store(record[0], static_cast<uint8_t>(pair.key.size));
  store(record[1], static_cast<uint8_t>(pair.payload.size));
  record += TextNode::kRecordHeader;
  copy_to_shared(record, pair.key.data, pair.key.size);
  copy_to_shared(record + pair.key.size, pair.payload.data, pair.payload.size);
  set_head(leaf, slot, head_in(leaf, pair));
  move_shared(leaf.offsets + slot + 1, leaf.offsets + slot, leaf.count - slot);
  store(leaf.offsets[slot], static_cast<uint16_t>(offset));
  return true;
}

// Moves the records of all slots to the end of the leaf, without gaps.
void Leaf::remove_dead_bytes(TextNode& leaf) {
  uint8_t records[kLeafBytesMax];
  uint32_t heap = 0;
  for (uint32_t slot = 0; slot < leaf.count; ++slot) {
    Pair pair{};
    leaf.read(slot, pair);
    const uint32_t bytes = record_bytes(pair);
    heap += bytes;
    std::memcpy(records + leaf.bytes - heap, leaf.at(leaf.offsets[slot]), bytes);
    store(leaf.offsets[slot], static_cast<uint16_t>(leaf.bytes - heap));
  }
  copy_to_shared(leaf.at(leaf.bytes - heap), records + leaf.bytes - heap, heap);
  store(leaf.heap, static_cast<uint16_t>(heap));
  store(leaf.dead, uint16_t{0});
}

void Leaf::erase(Node& leaf, uint32_t slot) {
  const uint32_t later = leaf.count - slot - 1;
  if (leaf.kind == Kind::kNumbers) {
    uint64_t* values = numbers(leaf).values;
    move_shared(values + slot, values + slot + 1, later);
  } else {
    TextNode& node = text(leaf);
    const uint32_t bytes = record_bytes(SlotPair(leaf, slot).get());
    store(node.dead, static_cast<uint16_t>(node.dead + bytes));
    move_shared(node.offsets + slot, node.offsets + slot + 1, later);
  }
  move_shared(leaf.heads + slot, leaf.heads + slot + 1, later);
  store(leaf.heads[leaf.count - 1], kNoHead);
  store(leaf.count, static_cast<uint8_t>(leaf.count - 1));
  refresh_summary(leaf, slot);
}

bool Leaf::assign(Node& leaf, uint32_t slot, const Pair& pair) {
  if (leaf.kind == Kind::kNumbers) {
    if (pair.payload.size != leaf.payload_size) return false;
    store(numbers(leaf).values[slot], packed(pair.payload));
    return true;
  }
  const SlotPair held(leaf, slot);
  if (held.get().payload.size != pair.payload.size) return false;
  const uint32_t offset = text(leaf).offsets[slot] + TextNode::kRecordHeader + pair.key.size;
  copy_to_shared(text(leaf).at(offset), pair.payload.data, pair.payload.size);
  store(leaf.heads[slot], head_in(leaf, pair));
  refresh_summary(leaf, slot);
  return true;
}

bool Leaf::fits_instead(const Node& leaf, uint32_t slot, const Pair& pair) {
  if (leaf.kind == Kind::kNumbers) {
    return pair.payload.size == leaf.payload_size || (leaf.count == 1 && pair.payload.size <= 8);
  }
  const TextNode& node = text(leaf);
  const uint32_t freed = node.dead + record_bytes(SlotPair(leaf, slot).get());
  return record_bytes(pair) <= free_bytes(node) + freed;
}

}  // namespace keydrome::btree_olc
