// Defines Entry, the place of one pair in a leaf, and the two kinds of entries.
//
// A *word pair* has a key and a payload of eight bytes each, e.g. two integers. An entry contains a
// word pair itself: the head (record.h) is the whole key, and the second word is the payload. So a
// lookup does not wait for a record. Any other pair is a record outside of the leaf.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/csb/record.h"

namespace keydrome::csb {

struct Leaf;

// The kind of all entries of a leaf.
enum class Kind : uint32_t { kWords, kRecords };

constexpr uint32_t kWordBytes = 8;

struct Entry {
  uint64_t head;  // of the key
  union {
    Record* record;    // Kind::kRecords
    uint64_t payload;  // Kind::kWords: the bytes of the payload, in the order of the payload
    Leaf* next;        // only in the last entry of a leaf, which has no pair (leaf.h)
  };

  static Entry of_record(Record* record) {
    Entry entry{head_of(record->key(), record->key_size), {}};
    entry.record = record;
    return entry;
  }
  // REQUIRES: the probe is a word pair.
  static Entry of_words(const Probe& pair) {
    Entry entry{pair.head, {}};
    std::memcpy(&entry.payload, pair.payload, kWordBytes);
    return entry;
  }

  // Compares the pair with a probe. REQUIRES: the heads are equal.
  int compare_words(const Probe& probe) const {
    if (probe.past_key) return -1;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&payload);
    return compare(bytes, kWordBytes, probe.payload, probe.payload_size);
  }
  int compare_pair(Kind kind, const Probe& probe) const {
    return kind == Kind::kWords ? compare_words(probe) : compare(*record, probe);
  }
  bool has_key(Kind kind, const Probe& probe) const {
    return head == probe.head && (kind == Kind::kWords || compare_keys(*record, probe) == 0);
  }
  // The bytes belong to the entry or to its record.
  KeydromeBytes payload_bytes(Kind kind) const {
    return kind == Kind::kWords ? KeydromeBytes{&payload, kWordBytes} : record->payload_bytes();
  }
};
static_assert(sizeof(Entry) == 16);

// The pair of an entry as a probe. The bytes belong to this object or to the record.
class StoredPair {
 public:
  StoredPair(Kind kind, const Entry& entry) {
    if (kind == Kind::kRecords) {
      probe_ = Probe::of(*entry.record);
      return;
    }
    store_big(key_, entry.head);
    payload_ = entry.payload;
    probe_ = Probe::of({key_, kWordBytes}, {&payload_, kWordBytes});
  }
  StoredPair(const StoredPair&) = delete;
  StoredPair& operator=(const StoredPair&) = delete;

  const Probe& operator*() const { return probe_; }
  const Probe* operator->() const { return &probe_; }

 private:
  uint8_t key_[kWordBytes];
  uint64_t payload_;
  Probe probe_;
};

}  // namespace keydrome::csb
