// Memory: makes and frees nodes and records, with memory from the tree's environment, the allocator
// that the caller of `create` passes.
#pragma once

#include <cstring>
#include <new>

#include "keydrome/structure_class.h"
#include "structures/fptree/node.h"

namespace keydrome::fptree {

// A function that needs memory returns nullptr if there is none. Thread safety: that of the
// environment.
class Memory : public StructureMemory {
 public:
  using StructureMemory::StructureMemory;

  template <class Node>
  Node* make() const {
    void* memory = allocate(sizeof(Node), alignof(Node));
    return memory == nullptr ? nullptr : new (memory) Node;
  }
  template <class Node>
  void drop(Node* node) const {
    retire(node, sizeof(Node), alignof(Node));
  }

  Record* make_record(Bytes key, Bytes payload) const {
    void* memory = allocate(Record::bytes(key.size(), payload.size()), alignof(Record));
    if (memory == nullptr) return nullptr;
    auto* record =
        new (memory) Record{static_cast<uint8_t>(key.size()), static_cast<uint8_t>(payload.size())};
    auto* bytes = reinterpret_cast<char*>(record + 1);
    if (!key.empty()) std::memcpy(bytes, key.data(), key.size());
    if (!payload.empty()) std::memcpy(bytes + key.size(), payload.data(), payload.size());
    return record;
  }
  // `record` may be nullptr.
  void drop_record(const Record* record) const {
    if (record == nullptr) return;
    retire(const_cast<Record*>(record), record->bytes(), alignof(Record));
  }
};

}  // namespace keydrome::fptree
