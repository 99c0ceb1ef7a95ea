// Block and Directory: store the payloads of one key if its entry has no room for them.
//
// A Block has some payloads in ascending order. It also has the key if the entry has only the key's
// hash. A Block never changes, except that payloads are marked as dead. So readers need no lock,
// and a deletion needs no memory. A new payload needs a new Block, and the old one is retired. If a
// Block would exceed kBlockBytes, two new Blocks divide its payloads, and a Directory lists the
// Blocks. A change of one Block replaces a pointer of the Directory. A change of the number of
// Blocks needs a new Directory. So with a million payloads of one key, an insertion copies one
// Block, and rarely the Directory.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "keydrome/structure_class.h"
#include "structures/hash/line.h"
#include "structures/hash/probe.h"

namespace keydrome::hash {

inline constexpr uint32_t kBlockBytes = 1024;

// A payload in a Block. Its bytes follow in memory.
struct Item {
  uint8_t size;
  std::atomic<uint8_t> dead;

  Bytes bytes() const { return {reinterpret_cast<const char*>(this + 1), size}; }
  bool is_dead() const { return dead.load(std::memory_order_acquire) != 0; }
  const Item* next() const {
    return reinterpret_cast<const Item*>(reinterpret_cast<const char*>(this + 1) + size);
  }
};
static_assert(sizeof(Item) == 2 && alignof(Item) == 1);

// The key and the items follow in memory.
struct Block {
  uint32_t bytes;  // size of the whole allocation
  uint16_t count;  // number of items
  uint16_t live;   // number of live items; only for the thread that has locked the bucket
  uint8_t key_size;

  Bytes key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }
  const Item* first() const {
    return reinterpret_cast<const Item*>(reinterpret_cast<const char*>(this + 1) + key_size);
  }
};

// `count` pointers and the key follow in memory.
struct Directory {
  uint32_t count;
  uint8_t key_size;
  uint64_t live;  // in all Blocks together; only for the thread that has locked the bucket

  static size_t bytes(uint32_t count, size_t key_size) {
    return sizeof(Directory) + count * sizeof(std::atomic<Block*>) + key_size;
  }
  std::atomic<Block*>* blocks() { return reinterpret_cast<std::atomic<Block*>*>(this + 1); }
  const std::atomic<Block*>* blocks() const {
    return reinterpret_cast<const std::atomic<Block*>*>(this + 1);
  }
  const Block* block(uint32_t number) const {
    return blocks()[number].load(std::memory_order_acquire);
  }
  Bytes key() const { return {reinterpret_cast<const char*>(blocks() + count), key_size}; }
  // Returns the Block to which the payload belongs: the last Block whose first payload is not
  // larger.
  uint32_t place_of(Bytes payload) const;
};

// The environment's memory. Thread-safe.
class Memory : public StructureMemory {
 public:
  using StructureMemory::retire;
  using StructureMemory::StructureMemory;

  void retire(Block* block) const { retire(block, block->bytes, alignof(Block)); }
  void retire(Directory* directory) const {
    retire(directory, Directory::bytes(directory->count, directory->key_size), alignof(Directory));
  }
};

inline Block* block_of(const Content& content) { return reinterpret_cast<Block*>(content.word); }
inline Directory* directory_of(const Content& content) {
  return reinterpret_cast<Directory*>(content.word);
}
inline Bytes inline_bytes(const Content& content) {
  return {reinterpret_cast<const char*>(&content.word), content.inline_size()};
}

// Copies the smallest payload that is larger than *after, or the smallest payload if `after` is
// null. Returns false if there is none. May run during a change. The result is right only if the
// version of the bucket is still the same afterwards.
bool copy_after(const Content& content, const Bytes* after, KeydromeBuffer& to);

// The functions below are for the thread that has locked the bucket. `narrow` is true if all keys
// have the same size of at most 8 bytes.

bool contains(const Content& content, Bytes payload);

// Sets `content` to one payload. Returns false, and changes nothing, if out of memory.
bool make(const Memory& memory, const Probe& probe, bool narrow, Bytes payload, Content& content);

// Adds a new payload. Stores the new content in `slot` of `line`, and then retires the old content.
// Returns false, and changes nothing, if out of memory.
bool add(const Memory& memory, const Probe& probe, Bytes payload, Line& line, uint32_t slot);

// Marks a payload as dead, and frees memory if possible. Returns the number of remaining payloads.
// If it is 0, the caller must remove the entry and retire its content. An inline payload is not
// marked, because its entry always has to be removed.
uint64_t erase(const Memory& memory, bool narrow, Bytes payload, Line& line, uint32_t slot);

void retire_content(const Memory& memory, const Content& content);

inline Content content_at(const Line& line, uint32_t slot) {
  return {line.read_word(slot), Line::mark_in(line.read_marks(), slot)};
}

}  // namespace keydrome::hash
