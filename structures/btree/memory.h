// Memory: makes and frees the nodes and entries of the B+-tree, and counts their bytes. It takes
// memory from the KeydromeEnvironment (keydrome/structure.h), which the caller of `create`
// provides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "keydrome/structure.h"
#include "structures/btree/node.h"

namespace keydrome::btree {

// Not thread-safe. The structure's functions create, destroy, put and del use it, and they have
// exclusive access to the tree.
class Memory {
 public:
  explicit Memory(const KeydromeEnvironment& environment) : environment_(environment) {}

  uint64_t bytes() const { return bytes_; }
  const KeydromeEnvironment& environment() const { return environment_; }

  // Makes a node. Returns nullptr if out of memory.
  template <class NodeType>
  NodeType* make_node() {
    static_assert(std::is_trivially_destructible_v<NodeType>);
    void* memory = allocate(sizeof(NodeType), kNodeAlignment);
    return memory == nullptr ? nullptr : new (memory) NodeType;
  }

  template <class NodeType>
  void drop_node(NodeType* node) {
    retire(node, sizeof(NodeType), kNodeAlignment);
  }

  // Makes an entry with a copy of the key and payload. Returns nullptr if out of memory.
  Entry* make_entry(const uint8_t* key, uint32_t key_size, const uint8_t* payload,
                    uint32_t payload_size) {
    void* memory = allocate(Entry::bytes(key_size, payload_size), alignof(Entry));
    if (memory == nullptr) return nullptr;
    auto* entry =
        new (memory) Entry{static_cast<uint8_t>(key_size), static_cast<uint8_t>(payload_size)};
    auto* bytes = reinterpret_cast<uint8_t*>(entry + 1);
    if (key_size > 0) std::memcpy(bytes, key, key_size);
    if (payload_size > 0) std::memcpy(bytes + key_size, payload, payload_size);
    return entry;
  }

  void drop_entry(Entry* entry) { retire(entry, entry->bytes(), alignof(Entry)); }

 private:
  void* allocate(size_t size, size_t alignment) {
    void* memory = environment_.allocate(environment_.context, size, alignment);
    if (memory != nullptr) bytes_ += size;
    return memory;
  }

  void retire(void* memory, size_t size, size_t alignment) {
    bytes_ -= size;
    environment_.retire(environment_.context, memory, size, alignment);
  }

  KeydromeEnvironment environment_;
  uint64_t bytes_ = 0;
};

}  // namespace keydrome::btree
