// Implements build.h: lists the contents of nodes, and makes nodes from such lists.
#include "structures/btree_olc/build.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "structures/btree_olc/leaf.h"

namespace keydrome::btree_olc {
namespace {

constexpr uint32_t kTextUnit = 128;
constexpr uint32_t kTextBytesMin = 1024;

// Decides which eight bytes of a pair are its head (node.h): those after the bytes that both fences
// (the bounds of the node) share.
void set_prefix(Node& node, uint32_t key_size, const Fences& fences) {
  node.head_is_payload = false;
  node.prefix = 0;
  if (!fences.low.exists || !fences.high.exists) return;
  const Pair& low = fences.low.pair;
  const Pair& high = fences.high.pair;
  node.head_is_payload = equal_bytes(low.key, high.key);
  if (key_size > 0 && !node.head_is_payload) return;  // the head is the whole key
  const uint32_t common = node.head_is_payload ? common_bytes(low.payload, high.payload)
                                               : common_bytes(low.key, high.key);
  node.prefix = static_cast<uint8_t>(common);
}

// Completes a node: writes kNoHead after the last slot, and writes the summary, i.e. the first head
// of each group but the first.
void seal(Node& node) {
  for (uint32_t slot = node.count; slot < kSlots; ++slot) node.heads[slot] = kNoHead;
  for (uint32_t group = 1; group < kGroups; ++group)
    node.summary[group - 1] = node.heads[8 * group];
}

// Appends a pair to a node that other threads cannot see yet.
void append(TextNode& node, const Pair& pair) {
  const uint32_t bytes = TextNode::kRecordHeader + pair.key.size + pair.payload.size;
  node.heap = static_cast<uint16_t>(node.heap + bytes);
  uint8_t* record = node.at(node.bytes - node.heap);
  record[0] = static_cast<uint8_t>(pair.key.size);
  record[1] = static_cast<uint8_t>(pair.payload.size);
  record += TextNode::kRecordHeader;
  if (pair.key.size > 0) std::memcpy(record, pair.key.data, pair.key.size);
  if (pair.payload.size > 0) {
    std::memcpy(record + pair.key.size, pair.payload.data, pair.payload.size);
  }
  node.offsets[node.count] = static_cast<uint16_t>(node.bytes - node.heap);
  node.heads[node.count] = head_in(node, pair);
  ++node.count;
}

bool fits_numbers(uint32_t key_size, const Pairs& pairs, uint32_t from, uint32_t to) {
  if (key_size == 0) return false;
  for (uint32_t i = from; i < to; ++i) {
    const uint32_t payload = pairs.all[i].payload.size;
    if (payload > 8 || payload != pairs.all[from].payload.size) return false;
  }
  return true;
}

Node* build_numbers(const StructureMemory& memory, uint32_t key_size, const Pairs& pairs,
                    uint32_t from, uint32_t to) {
  void* place = memory.allocate(sizeof(NumberLeaf), kLine);
  if (place == nullptr) return nullptr;
  auto* leaf = new (place) NumberLeaf;
  leaf->kind = Kind::kNumbers;
  leaf->key_size = static_cast<uint8_t>(key_size);
  leaf->payload_size = from < to ? static_cast<uint8_t>(pairs.all[from].payload.size) : uint8_t{0};
  for (uint32_t i = from; i < to; ++i) {
    leaf->heads[leaf->count] = load_head(pairs.all[i].key, 0);
    uint64_t& value = leaf->values[leaf->count];
    value = 0;
    const Span payload = pairs.all[i].payload;
    if (payload.size > 0) std::memcpy(&value, payload.data, payload.size);
    ++leaf->count;
  }
  seal(*leaf);
  return leaf;
}

}  // namespace

void Pairs::add_all(const Node& leaf) {
  for (uint32_t slot = 0; slot < leaf.count; ++slot) {
    Pair& pair = all[count];
    if (leaf.kind == Kind::kText) {
      text(leaf).read(slot, pair);
    } else {
      uint8_t* bytes = numbers_ + count * kNumberBytes;
      store_big(bytes, leaf.heads[slot]);
      std::memcpy(bytes + 8, &numbers(leaf).values[slot], 8);
      pair = {{bytes, leaf.key_size}, {bytes + 8, leaf.payload_size}};
    }
    ++count;
  }
}

void Pairs::insert(uint32_t at, const Pair& pair) {
  std::move_backward(all + at, all + count, all + count + 1);
  all[at] = pair;
  ++count;
}

void Pairs::erase(uint32_t at) {
  std::move(all + at + 1, all + count, all + at);
  --count;
}

void Children::add_all(const Inner& node, const Pair& separator) {
  for (uint32_t i = 0; i < node.children_count(); ++i) {
    separators[count] = i == 0 ? separator : node.separator(i - 1);
    nodes[count++] = node.child(i);
  }
}

void Children::insert(uint32_t at, const Pair& separator, Node* child) {
  std::move_backward(separators + at, separators + count, separators + count + 1);
  std::move_backward(nodes + at, nodes + count, nodes + count + 1);
  separators[at] = separator;
  nodes[at] = child;
  ++count;
}

void Children::erase(uint32_t at) {
  std::move(separators + at + 1, separators + count, separators + at);
  std::move(nodes + at + 1, nodes + count, nodes + at);
  --count;
}

uint32_t record_bytes(const Pairs& pairs, uint32_t from, uint32_t to) {
  uint32_t bytes = 0;
  for (uint32_t i = from; i < to; ++i) {
    bytes += TextNode::kRecordHeader + pairs.all[i].key.size + pairs.all[i].payload.size;
  }
  return bytes;
}

Node* build_leaf(const StructureMemory& memory, uint32_t key_size, const Pairs& pairs,
                 uint32_t from, uint32_t to, const Fences& fences) {
  if (fits_numbers(key_size, pairs, from, to)) {
    return build_numbers(memory, key_size, pairs, from, to);
  }
  const uint32_t records = record_bytes(pairs, from, to);
  // Adds a quarter, so that the next insertions do not need a larger leaf.
  uint32_t bytes = static_cast<uint32_t>(sizeof(TextNode)) + records + records / 4 + kTextUnit;
  bytes = std::clamp(bytes / kTextUnit * kTextUnit, kTextBytesMin, kLeafBytesMax);
  void* place = memory.allocate(bytes, kLine);
  if (place == nullptr) return nullptr;
  auto* leaf = new (place) TextNode;
  leaf->bytes = bytes;
  set_prefix(*leaf, key_size, fences);
  for (uint32_t i = from; i < to; ++i) append(*leaf, pairs.all[i]);
  seal(*leaf);
  return leaf;
}

Node* build_inner(const StructureMemory& memory, uint32_t key_size, uint32_t level,
                  const Children& children, uint32_t from, uint32_t to, const Fences& fences) {
  uint32_t bytes = sizeof(Inner);
  for (uint32_t i = from + 1; i < to; ++i) {
    const Pair& pair = children.separators[i];
    bytes += TextNode::kRecordHeader + pair.key.size + pair.payload.size;
  }
  bytes = (bytes + kLine - 1) / kLine * kLine;
  void* place = memory.allocate(bytes, kLine);
  if (place == nullptr) return nullptr;
  auto* node = new (place) Inner;
  node->kind = Kind::kInner;
  node->bytes = bytes;
  node->level = static_cast<uint8_t>(level);
  set_prefix(*node, key_size, fences);
  for (uint32_t i = from; i < to; ++i) {
    if (i > from) append(*node, children.separators[i]);
    node->children[i - from].store(children.nodes[i], std::memory_order_relaxed);
  }
  seal(*node);
  return node;
}

void drop(const StructureMemory& memory, Node* node) {
  const size_t bytes = node->kind == Kind::kNumbers ? sizeof(NumberLeaf) : text(*node).bytes;
  memory.retire(node, bytes, kLine);
}

}  // namespace keydrome::btree_olc
