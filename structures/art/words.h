// Words: a page of the adaptive radix tree for pairs whose keys and payloads all have 8 bytes, such
// as integers. The layout, with byte offsets:
//
//    0   lock: a writer takes it to change the page
//    4   used: the number of slots that have ever been filled
//    8   live: one bit for each slot, set if the slot has a live pair
//   16   keys: 8 bytes for each slot
//    .   payloads: 8 bytes for each slot
//
// A word page has 2 to 32 slots, and its pairs are not in order. Unlike a page of other pairs
// (page.h), it changes in place. Each change becomes visible by one store:
//
// - An insertion fills the next slot and then sets its bit in `live`.
// - A deletion clears the bit, unless this is the last live pair. No slot is used twice, so the key
//   of a slot never changes.
// - A replacement stores the new payload. It is only allowed if no other slot, live or not, has the
//   same key. So a reader that compares the payloads of one key never mixes two states.
//
// Writers lock the page and not the node above it, so threads that change different pages write
// different cache lines. A page that is no longer part of the tree is obsolete (lock.h).
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <new>

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>
#define KEYDROME_ART_WORDS_SSE2 1
#endif

#include "structures/art/link.h"
#include "structures/art/lock.h"
#include "structures/art/pair.h"

namespace keydrome::art {

class Words {
 public:
  explicit Words(Link link) : head_(link.at<Head>()), slots_(link.slots()) {}

  // Returns the number of slots of a new page for this many pairs. Sizes grow in large steps, so
  // that few insertions must copy the page.
  static uint32_t slots_for(uint32_t pairs) {
    if (pairs <= 2) return 2;
    return pairs <= 16 ? std::bit_ceil(pairs) : (pairs + 7) / 8 * 8;
  }
  static uint32_t bytes_for(uint32_t slots) {
    return static_cast<uint32_t>(sizeof(Head)) + slots * 2 * kWordBytes;
  }
  // Makes an empty page in memory of bytes_for(slots) bytes.
  static Link make(void* memory, uint32_t slots) { return Link::words(new (memory) Head{}, slots); }

  // Functions for all threads.

  Lock& lock() const { return head_->lock; }
  // Returns the live slots, one bit for each. Acquire: pairs with the releases below, so that the
  // caller sees the pairs of these slots.
  uint32_t live() const { return head_->live.load(std::memory_order_acquire); }
  uint64_t key(uint32_t slot) const { return keys()[slot]; }
  uint64_t payload(uint32_t slot) const { return payloads()[slot].load(std::memory_order_acquire); }

  // Returns those of the slots `among` that have this key.
  [[gnu::always_inline]] uint32_t matches(uint64_t key, uint32_t among) const {
    uint32_t equal = 0;
    for (uint32_t some = candidates(key, among); some != 0; some &= some - 1) {
      equal |= keys()[std::countr_zero(some)] == key ? some & -some : 0;
    }
    return equal;
  }

  // Returns the slot of a live pair, or kNoSlot.
  static constexpr uint32_t kNoSlot = UINT32_MAX;
  uint32_t slot_of(const Pair& pair) const {
    if (!is_word_pair(pair)) return kNoSlot;
    uint32_t some = matches(word_at(pair.key), live());
    for (; some != 0; some &= some - 1) {
      const auto slot = static_cast<uint32_t>(std::countr_zero(some));
      if (payload(slot) == word_at(pair.payload)) return slot;
    }
    return kNoSlot;
  }

  // Writes the slots `among` to `sorted`, in the order of their pairs. Returns their number. The
  // loops count for each pair how many pairs are smaller. They have no branches that depend on the
  // pairs, because no processor could predict them.
  uint32_t sort(uint32_t among, uint8_t (&sorted)[kPagePairs]) const {
    uint32_t count = 0;
    uint8_t slots[kPagePairs];
    Wide pairs[kPagePairs];
    for (; among != 0; among &= among - 1) {
      const auto slot = static_cast<uint32_t>(std::countr_zero(among));
      slots[count] = static_cast<uint8_t>(slot);
      pairs[count++] = Wide{in_order(key(slot))} << 64 | in_order(payload(slot));
    }
    uint8_t smaller[kPagePairs];
    for (uint32_t i = 0; i < count; ++i) {
      smaller[i] = 0;
      for (uint32_t j = 0; j < i; ++j) {
        const auto before = static_cast<uint8_t>(pairs[j] < pairs[i]);
        smaller[i] = static_cast<uint8_t>(smaller[i] + before);
        smaller[j] = static_cast<uint8_t>(smaller[j] + 1 - before);
      }
    }
    for (uint32_t i = 0; i < count; ++i) sorted[smaller[i]] = slots[i];
    return count;
  }

  // Functions for the thread that has locked the page, or that no other thread knows of.

  // The bytes are in the page. Other threads may read them, but do not change them.
  Pair pair(uint32_t slot) const {
    return {reinterpret_cast<const uint8_t*>(keys() + slot),
            reinterpret_cast<const uint8_t*>(payloads() + slot), kWordBytes, kWordBytes};
  }
  uint32_t used() const { return head_->used; }
  bool has_room() const { return head_->used < slots_; }
  void add(uint64_t key, uint64_t payload) const {
    const uint32_t slot = head_->used++;
    keys()[slot] = key;
    payloads()[slot].store(payload, std::memory_order_relaxed);
    set_live(live() | uint32_t{1} << slot);
  }
  void remove(uint32_t slot) const { set_live(live() & ~(uint32_t{1} << slot)); }
  // Returns true if the payload of the slot may be replaced in place.
  bool is_only_slot_of_key(uint32_t slot) const {
    const uint32_t used = UINT32_MAX >> (kPagePairs - head_->used);
    return matches(key(slot), used) == uint32_t{1} << slot;
  }
  void set_payload(uint32_t slot, uint64_t payload) const {
    payloads()[slot].store(payload, std::memory_order_release);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  struct alignas(16) Head {
    Lock lock;
    uint32_t used = 0;
    std::atomic<uint32_t> live = 0;
  };
  static_assert(sizeof(Head) == 16);

  uint64_t* keys() const { return reinterpret_cast<uint64_t*>(head_ + 1); }
  std::atomic<uint64_t>* payloads() const {
    return reinterpret_cast<std::atomic<uint64_t>*>(keys() + slots_);
  }
  void set_live(uint32_t live) const { head_->live.store(live, std::memory_order_release); }

  // Returns those of the slots `among` that may have this key: their last four bytes are equal.
  [[gnu::always_inline]] uint32_t candidates(uint64_t key, uint32_t among) const {
#ifdef KEYDROME_ART_WORDS_SSE2
    // The loads end inside the page: a page of n slots has 16 n bytes after the head, and n is at
    // least 2. They may read slots that another thread fills; `among` excludes these slots.
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(key >> 32));
    uint32_t mask = 0;
    for (uint32_t at = 0; at < slots_; at += 4) {
      const auto* two = reinterpret_cast<const __m128i*>(keys() + at);
      const __m128 halves = _mm_shuffle_ps(_mm_castsi128_ps(_mm_load_si128(two)),
                                           _mm_castsi128_ps(_mm_load_si128(two + 1)), 0xDD);
      const __m128i equal = _mm_cmpeq_epi32(_mm_castps_si128(halves), wanted);
      mask |= static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(equal))) << at;
    }
    return mask & among;
#else
    static_cast<void>(key);
    return among;
#endif
  }

  Head* head_;
  uint32_t slots_;
};

// Holds the lock of a word page until the end of the scope. For another kind of child, does
// nothing. The caller has locked the owner of a slot with this link, so the page is not obsolete.
class HeldPage {
 public:
  explicit HeldPage(Link link)
      : lock_(link.kind() == Kind::kWords ? &Words(link).lock() : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  HeldPage(const HeldPage&) = delete;
  HeldPage& operator=(const HeldPage&) = delete;
  ~HeldPage() {
    if (lock_ != nullptr) lock_->unlock();
  }

  void make_obsolete() {
    if (lock_ != nullptr) lock_->make_obsolete();
    lock_ = nullptr;
  }

 private:
  Lock* lock_;
};

}  // namespace keydrome::art
