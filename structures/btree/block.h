// Block: a sorted list of the payloads of one key of the B+-tree, one after the other in memory. If
// the list would become longer than 1 KiB, the key gets a tree of its payloads instead
// (payloads.h).
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/bytes.h"
#include "structures/btree/memory.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

struct Block {
  uint32_t used;
  uint32_t capacity;  // bytes for the list; a payload takes one byte for its size, and its bytes

  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }
  const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(this + 1); }
  Span at(uint32_t offset) const { return {bytes() + offset + 1, bytes()[offset]}; }
};

inline Block* make_block(const Memory& memory, uint32_t capacity) {
  auto* block = static_cast<Block*>(memory.allocate(sizeof(Block) + capacity, alignof(PayloadSet)));
  if (block != nullptr) *block = {0, capacity};
  return block;
}
inline void drop_block(const Memory& memory, Block* block) {
  memory.retire(block, sizeof(Block) + block->capacity, alignof(PayloadSet));
}
inline void move_to(const Memory& memory, Block* from, Block* to) {
  std::memcpy(to->bytes(), from->bytes(), from->used);
  to->used = from->used;
  drop_block(memory, from);
}
// Returns the offset of the first payload that is not smaller than `payload`, or `used` if there is
// none.
inline uint32_t lower(const Block& block, Span payload) {
  uint32_t at = 0;
  while (at < block.used && compare_bytes(block.at(at), payload) < 0) at += block.at(at).size + 1;
  return at;
}
inline void insert_at(Block& block, uint32_t offset, Span payload) {
  uint8_t* at = block.bytes() + offset;
  std::memmove(at + payload.size + 1, at, block.used - offset);
  at[0] = static_cast<uint8_t>(payload.size);
  if (payload.size > 0) std::memcpy(at + 1, payload.data, payload.size);
  block.used += payload.size + 1;
}

inline bool is_sound(const Block& block) {
  if (block.used == 0 || block.used > block.capacity) return false;
  uint32_t at = 0;
  for (uint32_t before = 0; at < block.used; before = at, at += block.at(at).size + 1) {
    if (at > 0 && compare_bytes(block.at(before), block.at(at)) >= 0) return false;
  }
  return at == block.used;
}

}  // namespace keydrome::btree
