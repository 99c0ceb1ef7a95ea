// Payloads: functions on sets of payloads. A set has the payloads of one key in memcmp order. It
// has one of two forms:
//
// - a Block (block.h): a list of up to kBlockMax bytes. A search reads half of the block on
//   average. So without this limit, n insertions for one key would take time proportional to n^2.
// - a tree whose keys are the payloads (LMDB calls it a sub-tree). The bit kTreeMark of the pointer
//   marks a tree.
//
// A set does not store which memory it uses, because split and concat may move the set to an
// instance with another environment. So the caller passes the memory. If a function moves the set,
// it sets the argument `set` to the new address, or to 0 if the set has become empty.
#pragma once

#include <cstdint>
#include <cstring>

#include "structures/btree/block.h"
#include "structures/btree/memory.h"
#include "structures/btree/value.h"

namespace keydrome::btree {

template <class Layout>
class Tree;
template <class Search>
struct Text;

template <class Search>
class Payloads {
 public:
  static constexpr uint32_t kBlockMax = 1024;
  static constexpr uint32_t kTreeToBlock = 4;  // a tree with so few payloads becomes a block

  // Makes a set of one payload. Returns 0 if out of memory.
  static PayloadSet make(const Memory& memory, Span payload) {
    Block* block = make_block(memory, payload.size + 1);
    if (block == nullptr) return 0;
    insert_at(*block, 0, payload);
    return pointer(block);
  }

  static void drop(const Memory& memory, PayloadSet set) {
    if (!is_tree(set)) {
      drop_block(memory, block_of(set));
      return;
    }
    Subtree tree = subtree(memory, set);
    tree.clear();
  }

  // Returns 1 if the payload is new, 0 if it is not, or KEYDROME_NO_MEMORY. May move the set.
  static int insert(const Memory& memory, PayloadSet& set, Span payload) {
    if (is_tree(set)) {
      Subtree tree = subtree(memory, set);
      const int result = tree.put(payload.bytes(), {});
      set = pointer(tree);
      return result;
    }
    Block* block = block_of(set);
    const uint32_t offset = lower(*block, payload);
    if (offset < block->used && equal_bytes(block->at(offset), payload)) return 0;
    const uint32_t needs = block->used + payload.size + 1;
    if (needs > kBlockMax) return block_to_tree(memory, set, payload);
    if (needs > block->capacity) {
      Block* larger = make_block(memory, std::min(needs + needs / 2, kBlockMax));
      if (larger == nullptr) return KEYDROME_NO_MEMORY;
      move_to(memory, block, larger);
      set = pointer(larger);
      block = larger;
    }
    insert_at(*block, offset, payload);
    return 1;
  }

  // Returns 1 if the payload was in the set, and otherwise 0. May move the set.
  static int erase(const Memory& memory, PayloadSet& set, Span payload) {
    if (is_tree(set)) {
      Subtree tree = subtree(memory, set);
      const int result = tree.del(payload.bytes(), {});
      set = pointer(tree);
      tree_to_block(memory, set);
      return result;
    }
    Block* block = block_of(set);
    const uint32_t offset = lower(*block, payload);
    if (offset == block->used || !equal_bytes(block->at(offset), payload)) return 0;
    const uint32_t size = payload.size + 1;
    uint8_t* at = block->bytes() + offset;
    block->used -= size;
    std::memmove(at, at + size, block->used - offset);
    if (block->used == 0) {
      drop_block(memory, block);
      set = 0;
    } else if (block->used < block->capacity / 4) {
      if (Block* smaller = make_block(memory, block->used); smaller != nullptr) {
        move_to(memory, block, smaller);
        set = pointer(smaller);
      }
    }
    return 1;
  }

  static bool contains(const Memory& memory, PayloadSet set, Span payload) {
    Span found;
    uint8_t room[KEYDROME_PAYLOAD_BYTES_MAX + 8];
    return first(memory, set, {payload, false}, room, found) && equal_bytes(found, payload);
  }

  // Finds the smallest payload that the bound admits. `found` may refer to a copy in `room`.
  static bool first(const Memory& memory, PayloadSet set, const PayloadBound& bound, uint8_t* room,
                    Span& found) {
    if (is_tree(set)) {
      uint8_t bytes[KEYDROME_RUN_BYTES_MIN];
      KeydromeRun run{bytes, sizeof bytes, 0, 1, 0};
      subtree(memory, set).scan(bound.payload.bytes(), {}, bound.excludes_payload(), run);
      if (run.pairs == 0) return false;
      std::memcpy(room, bytes + 2, bytes[0]);
      found = {room, bytes[0]};
      return true;
    }
    const Block& block = *block_of(set);
    for (uint32_t at = 0; at < block.used; at += block.at(at).size + 1) {
      found = block.at(at);
      if (bound.admits(found)) return true;
    }
    return false;
  }

  // Returns true, and sets `payload`, if the set is a block with only one payload.
  static bool single(PayloadSet set, Span& payload) {
    if (is_tree(set)) return false;
    payload = block_of(set)->at(0);
    return payload.size + 1 == block_of(set)->used;
  }

  // Appends the key with each payload that the bound admits. Returns false if the run is full.
  static bool emit(const Memory& memory, PayloadSet set, PayloadBound bound, Span key,
                   KeydromeRun& run) {
    if (is_tree(set)) return emit_tree(memory, set, bound, key, run);
    const Block& block = *block_of(set);
    for (uint32_t at = 0; at < block.used; at += block.at(at).size + 1) {
      const Span payload = block.at(at);
      if (!bound.admits(payload)) continue;
      if (keydrome_run_add(&run, key.bytes(), payload.bytes()) == 0) return false;
    }
    return true;
  }

  // Returns true if the payloads ascend and, if the set is a tree, the tree is sound.
  static bool sound(const Memory& memory, PayloadSet set) {
    if (is_tree(set)) return subtree(memory, set).check() == 0;
    return is_sound(*block_of(set));
  }

 private:
  using Subtree = Tree<Text<Search>>;
  static constexpr PayloadSet kTreeMark = 1;

  static bool is_tree(PayloadSet set) { return (set & kTreeMark) != 0; }
  static Block* block_of(PayloadSet set) { return reinterpret_cast<Block*>(set); }
  static PayloadSet pointer(const Block* block) { return reinterpret_cast<PayloadSet>(block); }
  static PayloadSet pointer(const Subtree& tree) {
    return reinterpret_cast<PayloadSet>(tree.root()) | kTreeMark;
  }
  static Subtree subtree(const Memory& memory, PayloadSet set) {
    return Subtree(memory, reinterpret_cast<Text<Search>::Node*>(set & ~kTreeMark), 0);
  }

  static int block_to_tree(const Memory& memory, PayloadSet& set, Span payload) {
    auto* root = Text<Search>::make(memory, 0);
    if (root == nullptr) return KEYDROME_NO_MEMORY;
    Subtree tree(memory, root, 0);
    Block* block = block_of(set);
    bool all = tree.put(payload.bytes(), {}) >= 0;
    for (uint32_t at = 0; all && at < block->used; at += block->at(at).size + 1) {
      all = tree.put(block->at(at).bytes(), {}) >= 0;
    }
    if (!all) {
      tree.clear();
      return KEYDROME_NO_MEMORY;
    }
    drop_block(memory, block);
    set = pointer(tree);
    return 1;
  }

  // The set stays a tree if there is no memory for a block.
  static void tree_to_block(const Memory& memory, PayloadSet& set) {
    Subtree tree = subtree(memory, set);
    if (tree.root()->level > 0 || tree.root()->count > kTreeToBlock) return;
    if (tree.root()->count > 0) {
      uint8_t bytes[kTreeToBlock * KEYDROME_RUN_BYTES_MIN];
      KeydromeRun run{bytes, sizeof bytes, 0, kTreeToBlock, 0};
      tree.scan({}, {}, false, run);
      Block* block = make_block(memory, run.size - run.pairs);
      if (block == nullptr) return;
      KeydromeBytes payload, none;
      for (uint32_t at = 0; at < run.size;) {
        at = keydrome_run_read(&run, at, &payload, &none);
        insert_at(*block, block->used, Span::of(payload));
      }
      set = pointer(block);
    } else {
      set = 0;
    }
    tree.clear();
  }

  static bool emit_tree(const Memory& memory, PayloadSet set, PayloadBound bound, Span key,
                        KeydromeRun& run) {
    uint8_t bytes[4096];
    uint8_t last[KEYDROME_PAYLOAD_BYTES_MAX];
    for (;;) {
      KeydromeRun part{bytes, sizeof bytes, 0, run.limit - run.pairs, 0};
      if (part.limit == 0) return false;
      const int more =
          subtree(memory, set).scan(bound.payload.bytes(), {}, bound.excludes_payload(), part);
      KeydromeBytes payload{}, none{};
      for (uint32_t at = 0; at < part.size;) {
        at = keydrome_run_read(&part, at, &payload, &none);
        if (keydrome_run_add(&run, key.bytes(), payload) == 0) return false;
      }
      if (more == 0) return true;
      std::memcpy(last, payload.data, payload.size);
      bound = {{last, payload.size}, true};
    }
  }
};

}  // namespace keydrome::btree
