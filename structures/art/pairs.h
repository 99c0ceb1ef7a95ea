// Pairs: reads the pairs of a leaf, page or word page of the adaptive radix tree, in ascending
// order. AnyPair: reads one of them.
#pragma once

#include <bit>
#include <cstdint>

#include "structures/art/link.h"
#include "structures/art/page.h"
#include "structures/art/pair.h"
#include "structures/art/words.h"

namespace keydrome::art {

// A *word leaf* has a key and a payload of 8 bytes each. The thread that has locked the owner of
// the leaf may replace the payload in place. Other threads must therefore read the payload by
// word_payload().
inline bool is_word_leaf(Link link) {
  return link.kind() == Kind::kLeaf && link.key_size() == kWordBytes &&
         link.payload_size() == kWordBytes;
}
inline std::atomic<uint64_t>& word_payload(Link leaf) {
  return leaf.at<std::atomic<uint64_t>>()[1];
}
// Returns the pair of a leaf. The bytes are in the leaf.
inline Pair leaf_pair(Link leaf) {
  const auto* bytes = leaf.at<const uint8_t>();
  return {bytes, bytes + leaf.key_size(), leaf.key_size(), leaf.payload_size()};
}

// Returns one bit for each live pair: bit number `index` of a page, or the slot of a word page. A
// leaf has bit 0.
inline uint32_t live_of(Link link) {
  if (link.kind() == Kind::kWords) return Words(link).live();
  return link.kind() == Kind::kPage ? Page(link).live() : 1;
}

// Returns true if the pair with this bit is live and has this payload. The caller has locked the
// word page, or the owner of another page or leaf, so no other thread changes the pair.
inline bool has_payload(Link link, uint32_t bit, const Pair& pair) {
  if ((live_of(link) >> bit & 1) == 0) return false;
  if (link.kind() == Kind::kPage) return true;  // the payloads of a page do not change
  const Pair stored = link.kind() == Kind::kWords ? Words(link).pair(bit) : leaf_pair(link);
  return stored.payload_size == pair.payload_size &&
         equal_bytes(stored.payload, pair.payload, pair.payload_size);
}

// The pairs of a leaf or page, live or dead. Of a word page, it has a sorted copy of the pairs that
// were live when the object was made.
class Pairs {
 public:
  explicit Pairs(Link link) : link_(link) {
    if (is_word_leaf(link)) payloads_[0] = word_payload(link).load(std::memory_order_acquire);
    if (link.kind() == Kind::kWords) copy(Words(link));
  }
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;

  uint32_t count() const {
    if (link_.kind() == Kind::kWords) return count_;
    return link_.kind() == Kind::kPage ? link_.page_pairs() : 1;
  }
  // Returns one bit for each pair, set if the pair is live.
  uint32_t live() const {
    return link_.kind() == Kind::kWords ? UINT32_MAX >> (kPagePairs - count_) : live_of(link_);
  }
  // The bytes belong to this object, or to the leaf or page.
  Pair operator[](uint32_t index) const {
    if (link_.kind() == Kind::kPage) return Page(link_).pair(index);
    if (link_.kind() == Kind::kWords) return word_pair(index);
    Pair pair = leaf_pair(link_);
    if (is_word_leaf(link_)) pair.payload = bytes(payloads_[0]);
    return pair;
  }

  // REQUIRES: the link is a word page.
  Pair word_pair(uint32_t index) const {
    return {bytes(keys_[index]), bytes(payloads_[index]), kWordBytes, kWordBytes};
  }

  // The position of a pair in the order, whether the pair is stored or not.
  struct Rank {
    uint32_t index;  // of the first stored pair that is not smaller
    bool exact;      // the pair at `index` is the pair itself, live or dead
  };
  Rank rank(const Pair& probe) const {
    uint32_t low = 0;
    uint32_t high = count();
    if (link_.kind() == Kind::kPage) Page(link_).narrow(probe, low, high);
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      const int order = compare(probe, (*this)[middle]);
      if (order == 0) return {middle, true};
      (order < 0 ? high : low) = order < 0 ? middle : middle + 1;
    }
    return {low, false};
  }

 private:
  static const uint8_t* bytes(const uint64_t& word) {
    return reinterpret_cast<const uint8_t*>(&word);
  }
  void copy(const Words& words) {
    uint8_t slots[kPagePairs];
    count_ = words.sort(words.live(), slots);
    for (uint32_t i = 0; i < count_; ++i) {
      keys_[i] = words.key(slots[i]);
      payloads_[i] = words.payload(slots[i]);
    }
  }

  Link link_;
  uint32_t count_ = 0;             // only for a word page
  uint64_t keys_[kPagePairs];      // the same
  uint64_t payloads_[kPagePairs];  // for a word page or a word leaf; the rest is not initialised
};

// One of the pairs of a leaf or page, live or dead.
class AnyPair {
 public:
  explicit AnyPair(Link link) : pair_(read(link, payload_)) {}
  AnyPair(const AnyPair&) = delete;
  AnyPair& operator=(const AnyPair&) = delete;

  // The bytes belong to this object, or to the leaf or page.
  const Pair& operator*() const { return pair_; }
  const Pair* operator->() const { return &pair_; }

 private:
  static Pair read(Link link, uint64_t& payload) {
    if (link.kind() == Kind::kPage) return Page(link).pair(0);
    Pair pair{};
    if (link.kind() == Kind::kWords) {
      const Words words(link);
      const auto slot = static_cast<uint32_t>(std::countr_zero(words.live()));
      pair = words.pair(slot);
      payload = words.payload(slot);
    } else {
      pair = leaf_pair(link);
      if (!is_word_leaf(link)) return pair;
      payload = word_payload(link).load(std::memory_order_acquire);
    }
    pair.payload = reinterpret_cast<const uint8_t*>(&payload);
    return pair;
  }

  uint64_t payload_ = 0;
  Pair pair_;
};

// Prefetches all cache lines of a leaf or page at once. Otherwise a lookup would wait for the line
// with the tags or keys before it requests the line with the payload.
[[gnu::always_inline]] inline void ask_for_pairs(Link link) {
  const auto* bytes = link.at<const char>();
  __builtin_prefetch(bytes);
  const uint32_t size = link.kind() == Kind::kWords  ? Words::bytes_for(link.slots())
                        : link.kind() == Kind::kPage ? link.page_bytes()
                                                     : link.key_size() + link.payload_size();
  for (uint32_t at = 64; at < size; at += 64) __builtin_prefetch(bytes + at);
  if (size > 0) __builtin_prefetch(bytes + size - 1);
}

}  // namespace keydrome::art
