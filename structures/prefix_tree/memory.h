// Memory: makes and frees the nodes and records of the tree. It takes memory from the
// KeydromeEnvironment (keydrome/structure.h), which the caller of `create` provides.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>

#include "keydrome/structure_class.h"
#include "structures/prefix_tree/node.h"
#include "structures/prefix_tree/record.h"

namespace keydrome::prefix_tree {

// Has no state of its own, so its thread safety is that of the environment.
class Memory : public StructureMemory {
 public:
  using StructureMemory::StructureMemory;

  // Makes a node without children. Returns nullptr if out of memory.
  Node* make_node(uint32_t depth, uint32_t size_class) const {
    void* memory = allocate(Node::bytes(size_class), kNodeAlignment);
    return memory == nullptr ? nullptr : new (memory) Node(depth, size_class);
  }
  void drop(Node* node) const { retire(node, Node::bytes(node->size_class), kNodeAlignment); }

  // Makes a node of another size with the same children, and frees the old node. If out of memory,
  // returns nullptr and keeps the old node.
  Node* resize(Node* node, uint32_t size_class) const {
    Node* made = make_node(node->depth, size_class);
    if (made == nullptr) return nullptr;
    made->bits = node->bits;
    made->ranks = node->ranks;
    made->count = node->count;
    std::memcpy(made->children(), node->children(), node->count * sizeof(Slot));
    drop(node);
    return made;
  }

  // Makes a record with a copy of the pair. Returns nullptr if out of memory.
  Record* make_record(const Probe& pair) const {
    void* memory = allocate(Record::bytes(pair.key_size, pair.payload_size), kRecordAlignment);
    if (memory == nullptr) return nullptr;
    auto* record = new (memory)
        Record{static_cast<uint8_t>(pair.key_size), static_cast<uint8_t>(pair.payload_size)};
    auto* bytes = reinterpret_cast<uint8_t*>(record + 1);
    if (pair.key_size > 0) std::memcpy(bytes, pair.key, pair.key_size);
    if (pair.payload_size > 0) std::memcpy(bytes + pair.key_size, pair.payload, pair.payload_size);
    return record;
  }
  void drop(Record* record) const { retire(record, record->bytes(), kRecordAlignment); }
};

}  // namespace keydrome::prefix_tree
