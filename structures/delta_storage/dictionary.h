// Dictionary: stores pairs in the order of their arrival. Dictionaries: one Dictionary, or one for
// each core.
//
// An *id* is the number of a pair. It contains the number of the dictionary and the position in it.
// A pair keeps its id and its place in memory as long as it is in the dictionary. Positions of
// removed pairs are used again.
//
// The index (node.h) refers to a pair by its id, from a leaf, and perhaps also from an inner node,
// as a separator. A pair leaves the dictionary when both references are gone.
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "structures/delta_storage/pair.h"

namespace keydrome::delta_storage {

using Id = uint32_t;

// Who refers to a pair. A pair of a leaf may also be a separator.
enum Use : uint8_t { kInLeaf = 1, kSeparator = 2 };

// Memory for a pair whose key or payload does not have eight bytes. The bytes of the key and then
// those of the payload follow.
struct Record {
  uint8_t key_size;
  uint8_t payload_size;

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }
  std::string_view payload() const { return {key().data() + key_size, payload_size}; }
  size_t bytes() const { return sizeof(Record) + key_size + payload_size; }
};

struct Entry {
  char head[8];  // the first bytes of the key, padded with zeros
  // The payload, if key and payload have eight bytes. Otherwise the pointer to the Record. In a
  // free entry, the next free position.
  char value[8];

  template <class Value>
  Value value_as() const {
    static_assert(sizeof(Value) <= sizeof value);
    Value made;
    std::memcpy(&made, value, sizeof(Value));
    return made;
  }
  template <class Value>
  void set_value(Value from) {
    std::memcpy(value, &from, sizeof(Value));
  }
};
static_assert(sizeof(Entry) == 16);

class Dictionary {
 public:
  explicit Dictionary(const StructureMemory& memory) : memory_(memory) {}
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  ~Dictionary();

  static constexpr uint32_t kFull = UINT32_MAX;  // no position

  // Stores a copy of the pair, with the use kInLeaf. Returns its position, which is smaller than
  // `positions_max`, or kFull if there is no such position or no memory.
  uint32_t add(const Probe& pair, uint32_t positions_max);
  // Changes the uses of a pair, and removes it if none is left.
  void set_uses(uint32_t position, uint8_t uses);

  uint8_t uses(uint32_t position) const {
    return static_cast<uint8_t>(chunk(position).marks[position % kChunk] & kUses);
  }
  Pair pair(uint32_t position) const {
    const Entry& entry = chunk(position).entries[position % kChunk];
    if (is_record(position)) {
      const Record& record = *entry.value_as<const Record*>();
      return {record.key(), record.payload()};
    }
    return {{entry.head, sizeof entry.head}, {entry.value, sizeof entry.value}};
  }
  // Compares the pair at `position` with the probe. Returns < 0 if the pair is before the probe, 0
  // if the pair has the probe's key and payload and is not before the probe, and otherwise > 0.
  int compare(uint32_t position, const Probe& probe) const;
  uint32_t size() const { return size_; }  // number of positions, including free ones

 private:
  static constexpr uint32_t kChunk = 4096;  // entries
  static constexpr uint8_t kUses = kInLeaf | kSeparator;
  static constexpr uint8_t kRecord = 4;  // the entry's value is a pointer to a Record

  struct Chunk {
    std::array<Entry, kChunk> entries;
    std::array<uint8_t, kChunk> marks;  // uses and kRecord; 0: free
  };

  Chunk& chunk(uint32_t position) const { return *chunks_[position / kChunk]; }
  bool is_record(uint32_t position) const {
    return (chunk(position).marks[position % kChunk] & kRecord) != 0;
  }
  uint32_t take_position(uint32_t positions_max);
  bool grow();
  bool grow_directory();

  const StructureMemory memory_;
  Chunk** chunks_ = nullptr;
  uint32_t chunks_max_ = 0;
  // Every call reads the pointers above, and an addition writes the numbers below. If both were in
  // one cache line, an addition would abort every hardware transaction of another core (lock
  // elision).
  alignas(64) uint32_t size_ = 0;
  uint32_t first_free_ = kFull;
};

class Dictionaries {
 public:
  // `count` is a power of two. Throws std::bad_alloc if out of memory.
  Dictionaries(const StructureMemory& memory, uint32_t count);
  Dictionaries(const Dictionaries&) = delete;
  Dictionaries& operator=(const Dictionaries&) = delete;
  ~Dictionaries();

  static constexpr Id kNone = UINT32_MAX;  // no id

  // Stores a copy of the pair in the dictionary of this core. Returns its id, or kNone if the
  // dictionary is full or out of memory.
  Id add(const Probe& pair);
  void add_use(Id id, Use use) { set_uses(id, static_cast<uint8_t>(uses(id) | use)); }
  void remove_use(Id id, Use use) { set_uses(id, static_cast<uint8_t>(uses(id) & ~use)); }

  uint8_t uses(Id id) const { return of(id).uses(position(id)); }
  Pair pair(Id id) const { return of(id).pair(position(id)); }
  int compare(Id id, const Probe& probe) const { return of(id).compare(position(id), probe); }
  uint32_t count() const { return 1u << bits_; }
  const Dictionary& at(uint32_t number) const { return all_[number]; }
  // The two parts of an id: the number of the dictionary, and the position in it.
  uint32_t number(Id id) const { return id & (count() - 1); }
  uint32_t position(Id id) const { return id >> bits_; }

 private:
  const Dictionary& of(Id id) const { return all_[number(id)]; }
  void set_uses(Id id, uint8_t uses) { all_[number(id)].set_uses(position(id), uses); }
  uint32_t own_number() const;

  const StructureMemory memory_;
  const uint32_t bits_;  // how many low bits of an id are the number of the dictionary
  Dictionary* const all_;
};

}  // namespace keydrome::delta_storage
