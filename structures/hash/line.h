// Line: a cache line with up to three entries. An entry is a key with its payloads. A bucket of the
// hash table is a chain of lines. The first line of a chain, the *home*, is in the table. The
// others have the entries that the home has no room for.
//
// The version in the home is a sequence lock for the whole bucket. It is odd while a thread changes
// the bucket. Readers take no lock. They read the version, then the bucket, then the version again,
// and repeat this if the version was odd or has changed. All fields that a writer changes are
// atomic. Writers store with release order, and readers load with acquire order. So a reader that
// sees a part of a change also sees the odd version, which was stored before.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"
#include "base/spin_wait.h"

namespace keydrome::hash {

// How the payloads of a key are stored.
enum class Kind : uint8_t {
  kFree = 0,
  kInline = 1,    // one payload of at most 8 bytes, in the entry itself
  kBlock = 2,     // in a Block, a list of payloads (payloads.h)
  kDirectory = 3  // in several Blocks, which a Directory lists
};

// The payloads of an entry. The low two bits of `mark` are the kind; the other bits are the size of
// an inline payload.
struct Content {
  uint64_t word = 0;  // the inline payload or a pointer
  uint8_t mark = 0;

  Kind kind() const { return static_cast<Kind>(mark & 3); }
  uint32_t inline_size() const { return mark >> 2; }
};

struct alignas(kCacheLine) Line {
  static constexpr uint32_t kSlots = 3;
  static constexpr uint32_t kLocked = 1;

  struct Slot {
    std::atomic<uint64_t> key = 0;  // the key if keys have at most 8 bytes, otherwise its hash
    std::atomic<uint64_t> word = 0;
  };

  std::atomic<uint32_t> version = 0;  // used only in homes
  std::atomic<uint32_t> marks = 0;    // one byte for each slot; used slots come first
  std::atomic<Line*> next = nullptr;
  Slot slots[kSlots];

  // Functions for readers. They may run during a change.
  uint32_t read_marks() const { return marks.load(std::memory_order_acquire); }
  static uint8_t mark_in(uint32_t marks, uint32_t slot) {
    return static_cast<uint8_t>(marks >> (8 * slot));
  }
  uint64_t read_key(uint32_t slot) const { return slots[slot].key.load(std::memory_order_acquire); }
  uint64_t read_word(uint32_t slot) const {
    return slots[slot].word.load(std::memory_order_acquire);
  }
  // Returns one bit for each slot that has this key. Free slots may match, too, but they come after
  // all used slots. Not a loop, because the compiler would not unroll it.
  uint32_t matches(uint64_t key) const {
    static_assert(kSlots == 3);
    const auto bit = [&](uint32_t slot) {
      return static_cast<uint32_t>(read_key(slot) == key) << slot;
    };
    return bit(0) | bit(1) | bit(2);
  }
  const Line* read_next() const { return next.load(std::memory_order_acquire); }
  static uint32_t used(uint32_t marks) {
    uint32_t count = 0;
    while (count < kSlots && mark_in(marks, count) != 0) ++count;
    return count;
  }

  // Functions for the thread that has locked the bucket.
  void write(uint32_t slot, uint64_t key, const Content& content) {
    slots[slot].key.store(key, std::memory_order_release);
    write_content(slot, content);
  }
  void write_content(uint32_t slot, const Content& content) {
    slots[slot].word.store(content.word, std::memory_order_release);
    const uint32_t others = marks.load(std::memory_order_relaxed) & ~(0xFFu << (8 * slot));
    marks.store(others | uint32_t{content.mark} << (8 * slot), std::memory_order_release);
  }
  void clear() {
    marks.store(0, std::memory_order_release);
    next.store(nullptr, std::memory_order_release);
  }
};
static_assert(sizeof(Line) == kCacheLine);

}  // namespace keydrome::hash
