// Node: one pair of the skip list, with its links. Probe: a pair that a call looks for.
//
// The links of a node follow it in memory, one for each level, and then the bytes of the key and of
// the payload. The *head* of a key is its first eight bytes as a big-endian number, padded with
// zeros. If the heads of two keys differ, the keys have the order of their heads. So most
// comparisons read only the cache line that also has the link.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "base/spin_wait.h"
#include "keydrome/structure_class.h"
#include "structures/common/big_endian.h"

namespace keydrome::skiplist {

inline constexpr uint32_t kHeightMax = 16;

// The pair that a call looks for. Its bytes must stay valid during the call. If `past_key` is true,
// the probe is larger than every pair with the same key.
struct Probe {
  uint64_t head;
  std::string_view key;
  std::string_view payload;
  bool past_key;

  static Probe of(KeydromeBytes key, KeydromeBytes payload, bool past_key = false) {
    return {head_of(view_of(key)), view_of(key), view_of(payload), past_key};
  }
};

// Thread safety: links are atomic. `marked` may be used only by the thread that has locked the
// node. The rest never changes.
struct Node {
  using Link = std::atomic<Node*>;

  const uint64_t head;
  const uint8_t key_size;
  const uint8_t payload_size;
  const uint8_t height;  // number of links, 1 to kHeightMax
  bool marked = false;   // the node is no longer in the list
  std::atomic<bool> locked = false;

  Node(const Probe& pair, uint32_t links)
      : head(pair.head),
        key_size(static_cast<uint8_t>(pair.key.size())),
        payload_size(static_cast<uint8_t>(pair.payload.size())),
        height(static_cast<uint8_t>(links)) {
    for (uint32_t level = 0; level < links; ++level) new (&link(level)) Link(nullptr);
    char* bytes = reinterpret_cast<char*>(&link(links));
    if (key_size > 0) std::memcpy(bytes, pair.key.data(), key_size);
    if (payload_size > 0) std::memcpy(bytes + key_size, pair.payload.data(), payload_size);
  }

  static size_t bytes(size_t links, size_t key_size, size_t payload_size) {
    return sizeof(Node) + links * sizeof(Link) + key_size + payload_size;
  }
  size_t bytes() const { return bytes(height, key_size, payload_size); }

  Link& link(uint32_t level) { return reinterpret_cast<Link*>(this + 1)[level]; }
  const Link& link(uint32_t level) const { return reinterpret_cast<const Link*>(this + 1)[level]; }
  // Links of level 0 decide which pairs the list contains. All threads see the loads and stores of
  // these links in one order (seq_cst), so a thread that has changed the list also sees all earlier
  // changes.
  Node* next() const { return link(0).load(std::memory_order_seq_cst); }
  Node* next(uint32_t level) const {
    // Pairs with the release in set_next(): a thread that sees the link also sees the next node.
    return level == 0 ? next() : link(level).load(std::memory_order_acquire);
  }
  void set_next(uint32_t level, Node* node) {
    link(level).store(node, level == 0 ? std::memory_order_seq_cst : std::memory_order_release);
  }

  std::string_view key() const { return {reinterpret_cast<const char*>(&link(height)), key_size}; }
  std::string_view payload() const { return {key().data() + key_size, payload_size}; }

  void lock() {
    for (SpinWait wait; locked.exchange(true, std::memory_order_acquire); wait.once()) {
    }
  }
  void unlock() { locked.store(false, std::memory_order_release); }
};
static_assert(sizeof(Node) % alignof(Node::Link) == 0);

// Returns a number < 0, 0 or > 0 if the key of the node is smaller than, equal to or larger than
// that of the probe. If both keys have eight bytes, equal heads mean equal keys.
inline int compare_keys(const Node& node, const Probe& probe) {
  if (node.head != probe.head) return node.head < probe.head ? -1 : 1;
  if (node.key_size == sizeof probe.head && probe.key.size() == sizeof probe.head) return 0;
  return node.key().compare(probe.key);
}

inline int compare(const Node& node, const Probe& probe) {
  const int order = compare_keys(node, probe);
  if (order != 0) return order;
  return probe.past_key ? -1 : node.payload().compare(probe.payload);
}

}  // namespace keydrome::skiplist
