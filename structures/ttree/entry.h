// Defines Entry, a key in a node, with a pointer to its payloads.
//
// A key with one payload has a Record. A key with several payloads has Duplicates (duplicates.h): a
// separate tree, whose keys are the payloads. So nodes have one entry for each key, however many
// payloads the key has.
#pragma once

#include <cstdint>

#include "structures/ttree/record.h"

namespace keydrome::ttree {

// The part of Duplicates that a comparison reads: a record with the key. The payload of this record
// has no meaning.
struct DuplicatesKey {
  Record* record;
};

// A pointer to a Record or to Duplicates. Both have even addresses, so the lowest bit can say to
// which of them the pointer leads.
class Item {
 public:
  explicit Item(Record* record) : bits_(reinterpret_cast<uintptr_t>(record)) {}
  explicit Item(DuplicatesKey* key) : bits_(reinterpret_cast<uintptr_t>(key) | 1) {}

  bool has_duplicates() const { return (bits_ & 1) != 0; }
  // Requires has_duplicates().
  DuplicatesKey* duplicates_key() const { return reinterpret_cast<DuplicatesKey*>(bits_ - 1); }
  // The record with the key.
  Record* record() const {
    return has_duplicates() ? duplicates_key()->record : reinterpret_cast<Record*>(bits_);
  }
  std::string_view key() const { return record()->key(); }
  [[gnu::always_inline]] void prefetch() const {
    __builtin_prefetch(reinterpret_cast<const void*>(bits_ & ~uintptr_t{1}));
  }

 private:
  uintptr_t bits_;
};

struct Entry {
  uint64_t head;  // the first eight bytes of the key, as a number
  Item item;
};
static_assert(sizeof(Entry) == 16);

// Returns a number < 0, 0 or > 0 if the entry's key is smaller than, equal to or larger than the
// probe. If both keys have eight bytes, equal heads mean equal keys.
inline int compare(const Entry& entry, const Probe& probe) {
  if (entry.head != probe.head) return entry.head < probe.head ? -1 : 1;
  const std::string_view key = entry.item.key();
  if (key.size() == sizeof probe.head && probe.key.size() == sizeof probe.head) return 0;
  return key.compare(probe.key);
}

}  // namespace keydrome::ttree
