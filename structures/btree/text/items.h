// Defines separators, i.e. the boundaries between children, and the lists of items from which text
// nodes (text/node.h) are built.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/bytes.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

// Room for the largest key, and eight bytes more: TextNode::write_start() always writes the eight
// bytes of a head, i.e. of the key after the prefix of the node, even if the key ends within them.
inline constexpr uint32_t kKeyRoom = KEYDROME_KEY_BYTES_MAX + 8;

// One slot: in a leaf a key with its value, in an inner node a separator with the child to its
// right. The bytes belong to another object.
struct TextItem {
  Span key;
  Span payload;
  PayloadSet set = 0;
  uint8_t tag = 0;
  void* child = nullptr;

  uint32_t stored_size() const { return set != 0 ? 8 : payload.size; }
};

struct TextSeparator {
  uint8_t bytes[KEYDROME_KEY_BYTES_MAX];
  uint32_t size = 0;

  Span span() const { return {bytes, size}; }
  TextItem item(void* child) const { return {span(), {}, 0, 0, child}; }

  static TextSeparator of(Span key) {
    TextSeparator separator;
    separator.size = key.size;
    if (key.size > 0) std::memcpy(separator.bytes, key.data, key.size);
    return separator;
  }
  // Returns the shortest s with left < s <= right (Bayer and Unterauer, "Prefix B-Trees", 1977).
  static TextSeparator between(Span left, Span right) {
    const uint32_t shorter = std::min(left.size, right.size);
    const auto differ = std::mismatch(left.data, left.data + shorter, right.data).second;
    return of({right.data, static_cast<uint32_t>(differ - right.data) + 1});
  }
};

// The items of one or two neighbouring nodes, and one more item. A node stores a key in parts
// (prefix, head and rest), so `bytes` has room for whole copies of these keys. It also has copies
// of the keys of inserted items and of separators.
struct TextItems {
  static constexpr uint32_t kMost = 2 * 64 + 2;

  TextItem all[kMost];
  uint32_t count = 0;
  uint32_t used = 0;
  uint8_t bytes[kMost * kKeyRoom];

  // Returns room for one key.
  uint8_t* reserve() {
    uint8_t* room = bytes + used;
    used += kKeyRoom;
    return room;
  }
  void add(const TextItem& item) { all[count++] = item; }
  void insert(uint32_t at, const TextItem& item) {
    std::move_backward(all + at, all + count, all + count + 1);
    all[at] = item;
    ++count;
    own(at);
  }
  void erase(uint32_t at) {
    --count;
    std::move(all + at + 1, all + count + 1, all + at);
  }
  void set_separator(uint32_t at, const TextSeparator& separator) {
    all[at].key = separator.span();
    own(at);
  }
  void set_child(uint32_t at, void* child) { all[at].child = child; }
  void set_value(uint32_t at, const Value& value) {
    all[at].payload = value.payload;
    all[at].set = value.set;
  }

 private:
  // Copies the key of an item, because its owner may be gone before the items are used.
  void own(uint32_t at) {
    uint8_t* to = reserve();
    if (all[at].key.size > 0) std::memcpy(to, all[at].key.data, all[at].key.size);
    all[at].key.data = to;
  }
};

}  // namespace keydrome::btree
