// Words: a page of the adaptive radix tree for pairs whose keys and payloads all have 8 bytes, such
// as integers. The layout, with byte offsets:
//
//    0   lock: a writer takes it to change the page
//    4   live: one bit for each slot, set if the slot has a live pair
//    8   used: one bit for each slot, set if the slot was ever filled
//   12   tags: one byte for each slot, a hash of its key
//    .   slots: key and payload; they begin at a multiple of 16
//
// A page has 2 to 32 slots. A page of 8 slots or more begins at a cache line, and the hash of a key
// also selects a *favourite* line. The pair is in a slot of this line if one was free. So a search
// asks for two lines at once, that of the tags and the favourite one, and seldom needs a third.
//
// Unlike a page of other pairs (page.h), a word page changes in place. Each change becomes visible
// by one store:
//
// - An insertion fills a free slot and then sets its bit in `live`.
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

#include "base/cache_line.h"
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
    return slots_at(slots) + slots * uint32_t{sizeof(Entry)};
  }
  static uint32_t alignment_for(uint32_t slots) {
    return slots < kFavourites ? Link::kUnit : uint32_t{kCacheLine};
  }
  // Makes an empty page in memory of bytes_for(slots) bytes.
  static Link make(void* memory, uint32_t slots) { return Link::words(new (memory) Head{}, slots); }

  // Functions for all threads.

  // Prefetches the lines in which a search for the key will look.
  [[gnu::always_inline]] void ask_for(uint64_t key) const {
    const auto* bytes = reinterpret_cast<const char*>(head_);
    __builtin_prefetch(bytes);
    const uint32_t at = slots_ < kFavourites ? bytes_for(slots_) - 1
                                             : slots_at(slots_) + favourite(hash_of(key)) * 16;
    __builtin_prefetch(bytes + at);
  }
  Lock& lock() const { return head_->lock; }
  // Returns the live slots, one bit for each. Acquire: pairs with the releases below, so that the
  // caller sees the pairs of these slots.
  uint32_t live() const { return head_->live.load(std::memory_order_acquire); }
  uint64_t key(uint32_t slot) const { return slots()[slot].key; }
  uint64_t payload(uint32_t slot) const {
    return slots()[slot].payload.load(std::memory_order_acquire);
  }

  // Returns the slots that have this key. `among` is a set of slots, one bit for each; other slots
  // are ignored.
  [[gnu::always_inline]] uint32_t matches(uint64_t key, uint32_t among) const {
    uint32_t equal = 0;
    for (uint32_t some = candidates(key, among); some != 0; some &= some - 1) {
      equal |= this->key(static_cast<uint32_t>(std::countr_zero(some))) == key ? some & -some : 0;
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

  // Sorts the slots of the set `among` by their pairs, and writes their numbers to `sorted`.
  // Returns how many there are.
  uint32_t sort(uint32_t among, uint8_t (&sorted)[kPagePairs]) const;  // words.cc

  // Functions for the thread that has locked the page, or that no other thread knows of.

  // The bytes are in the page. Other threads may read them, but do not change them.
  Pair pair(uint32_t slot) const {
    return {reinterpret_cast<const uint8_t*>(&slots()[slot].key),
            reinterpret_cast<const uint8_t*>(&slots()[slot].payload), kWordBytes, kWordBytes};
  }
  uint32_t used() const { return head_->used; }
  bool has_room() const { return free_slots() != 0; }
  // Fills a free slot: one of the favourite line if possible.
  void add(uint64_t key, uint64_t payload) const {
    const uint64_t hash = hash_of(key);
    const uint32_t line = slots_ < kFavourites ? 0 : free_slots() & line_of(favourite(hash));
    const auto slot = static_cast<uint32_t>(std::countr_zero(line != 0 ? line : free_slots()));
    const uint32_t bit = uint32_t{1} << slot;
    head_->used |= bit;
    tags()[slot] = tag_of(hash);
    slots()[slot].key = key;
    slots()[slot].payload.store(payload, std::memory_order_relaxed);
    set_live(live() | bit);
  }
  void remove(uint32_t slot) const { set_live(live() & ~(uint32_t{1} << slot)); }
  // Returns true if the payload of the slot may be replaced in place.
  bool is_only_slot_of_key(uint32_t slot) const {
    return matches(key(slot), used()) == uint32_t{1} << slot;
  }
  void set_payload(uint32_t slot, uint64_t payload) const {
    slots()[slot].payload.store(payload, std::memory_order_release);
  }
  // For check().
  bool has_right_tag(uint32_t slot) const { return tags()[slot] == tag_of(hash_of(key(slot))); }

 private:
  struct alignas(Link::kUnit) Head {
    Lock lock;
    std::atomic<uint32_t> live = 0;
    uint32_t used = 0;
    uint8_t tags[4];  // not initialised; a page of more than 4 slots has more tags after the head
  };
  struct Entry {
    uint64_t key;
    std::atomic<uint64_t> payload;
  };
  static_assert(sizeof(Head) == 16 && sizeof(Entry) == 16);

  static constexpr uint32_t kTagsAt = 12;
  static constexpr uint32_t kFavourites = 8;  // pages with fewer slots have no favourite lines
  static constexpr uint32_t kSlotsInLine = kCacheLine / 16;

  static uint32_t slots_at(uint32_t slots) { return (kTagsAt + slots + 15) / 16 * 16; }
  static uint64_t hash_of(uint64_t key) { return in_order(key) * 0x9E3779B97F4A7C15u; }
  static uint8_t tag_of(uint64_t hash) { return static_cast<uint8_t>(hash >> 56); }
  uint32_t favourite(uint64_t hash) const {
    return static_cast<uint32_t>((hash >> 40 & 0xFFFF) * slots_ >> 16);
  }
  // Returns the slots on the same cache line.
  uint32_t line_of(uint32_t slot) const {
    const uint32_t before = slots_at(slots_) / 16;  // units of 16 bytes before the slots
    const uint32_t first = (before + slot) / kSlotsInLine * kSlotsInLine;
    constexpr uint64_t kLine = (uint64_t{1} << kSlotsInLine) - 1;
    return static_cast<uint32_t>(kLine << first >> before);
  }
  uint32_t free_slots() const { return ~head_->used & (UINT32_MAX >> (kPagePairs - slots_)); }
  Entry* slots() const {
    return reinterpret_cast<Entry*>(reinterpret_cast<char*>(head_) + slots_at(slots_));
  }
  uint8_t* tags() const { return reinterpret_cast<uint8_t*>(head_) + kTagsAt; }
  void set_live(uint32_t live) const { head_->live.store(live, std::memory_order_release); }

  // Returns the slots of the set `among` whose tag is that of the key. Only they may have the key.
  [[gnu::always_inline]] uint32_t candidates(uint64_t key, uint32_t among) const {
#ifdef KEYDROME_ART_WORDS_SSE2
    // The loads end inside the page, because a page has 16 bytes for each slot. They may read tags
    // that another thread writes; `among` excludes their slots.
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(tag_of(hash_of(key))));
    const auto sixteen = [&](uint32_t from) {
      const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags() + from));
      return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, wanted)));
    };
    return (slots_ <= 16 ? sixteen(0) : sixteen(0) | sixteen(16) << 16) & among;
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
