// Defines Duplicates: the payloads of a key that has several, in a T-tree of their own.
#pragma once

#include <new>

#include "structures/ttree/entry.h"
#include "structures/ttree/set.h"

namespace keydrome::ttree {

struct Duplicates : DuplicatesKey {
  // Records whose keys are the payloads, and whose payloads are empty.
  Set payloads;

  // Makes Duplicates without payloads. Takes over the record with the key. Returns nullptr if out
  // of memory.
  static Duplicates* make(const StructureMemory& memory, Record* key) {
    void* place = memory.allocate(sizeof(Duplicates), alignof(Duplicates));
    return place == nullptr ? nullptr : new (place) Duplicates(memory, key);
  }
  static Duplicates& of(Item item) { return *static_cast<Duplicates*>(item.duplicates_key()); }

  // Adds a payload that the key does not have yet. Returns false if out of memory.
  bool add(const StructureMemory& memory, std::string_view payload) {
    Record* stored = Record::make(memory, payload, {});
    if (stored == nullptr) return false;
    if (payloads.insert(Probe::of(payload), Item(stored))) return true;
    stored->drop(memory);
    return false;
  }
  // Removes the payload at a place.
  void remove(const StructureMemory& memory, const Place& place) {
    Record* stored = place.entry().item.record();
    payloads.erase(Probe::of(stored->key()));
    stored->drop(memory);
  }
  // Frees the payloads and this object, but not the record with the key.
  void drop(const StructureMemory& memory) {
    for (Place at = payloads.first(); at.node != nullptr; at.advance()) {
      at.entry().item.record()->drop(memory);
    }
    this->~Duplicates();
    memory.retire(this, sizeof(Duplicates), alignof(Duplicates));
  }

 private:
  Duplicates(const StructureMemory& memory, Record* key) : DuplicatesKey{key}, payloads(memory) {}
};

}  // namespace keydrome::ttree
