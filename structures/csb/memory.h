// Memory: makes and frees the leaves, entries and records of the tree. It takes memory from the
// KeydromeEnvironment (keydrome/structure.h), which the caller of `create` provides.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>

#include "keydrome/structure_class.h"
#include "structures/csb/entry.h"
#include "structures/csb/leaf.h"
#include "structures/csb/record.h"

namespace keydrome::csb {

// Has no state of its own, so its thread safety is that of the environment.
class Memory : public StructureMemory {
 public:
  using StructureMemory::StructureMemory;

  // Makes an empty leaf. Returns nullptr if out of memory.
  Leaf* make_leaf(Kind kind) const {
    void* memory = allocate(sizeof(Leaf), alignof(Leaf));
    return memory == nullptr ? nullptr : new (memory) Leaf(kind);
  }
  void drop(Leaf* leaf) const { retire(leaf, sizeof(Leaf), alignof(Leaf)); }

  // Makes a record with a copy of the pair. Returns nullptr if out of memory.
  Record* make_record(const Probe& pair) const {
    void* memory = allocate(Record::bytes(pair.key_size, pair.payload_size), alignof(Record));
    if (memory == nullptr) return nullptr;
    auto* record = new (memory)
        Record{static_cast<uint8_t>(pair.key_size), static_cast<uint8_t>(pair.payload_size)};
    auto* bytes = reinterpret_cast<uint8_t*>(record + 1);
    if (pair.key_size > 0) std::memcpy(bytes, pair.key, pair.key_size);
    if (pair.payload_size > 0) std::memcpy(bytes + pair.key_size, pair.payload, pair.payload_size);
    return record;
  }
  void drop(Record* record) const { retire(record, record->bytes(), alignof(Record)); }

  // Makes an entry with a copy of the pair. Returns false if out of memory.
  bool make_entry(Kind kind, const Probe& pair, Entry& entry) const {
    if (kind == Kind::kWords) {
      entry = Entry::of_words(pair);
      return true;
    }
    Record* record = make_record(pair);
    if (record == nullptr) return false;
    entry = Entry::of_record(record);
    return true;
  }
  void drop(Kind kind, const Entry& entry) const {
    if (kind == Kind::kRecords) drop(entry.record);
  }
};

}  // namespace keydrome::csb
