// Access to the bytes of a leaf that one thread may change while others read them. Readers throw
// away what they have read if the version of the leaf has changed (version.h), but the compiler
// must not assume that the bytes stay the same.
//
// Words are read by acquire loads and written by release stores, which are plain instructions on
// x86-64. So a reader that sees a word of a change also sees that the leaf was latched (H. Boehm,
// "Can Seqlocks Get Along With Programming Language Memory Models?", MSPC 2012). Byte strings are
// copied by memcpy; memory fences (below) then give the same order. ThreadSanitizer does not
// support fences, so under it each byte is read and written as an atomic word.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#if defined(__SANITIZE_THREAD__)
#define KEYDROME_BTREE_OLC_WORDS_ONLY 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KEYDROME_BTREE_OLC_WORDS_ONLY 1
#endif
#endif

namespace keydrome::btree_olc {

#ifdef KEYDROME_BTREE_OLC_WORDS_ONLY
inline constexpr bool kWordsOnly = true;
inline void fence_before_check() {}
inline void fence_after_latch() {}
#else
inline constexpr bool kWordsOnly = false;
// Pairs with fence_after_latch(): a reader that has seen a byte of a change sees the latch, too.
inline void fence_before_check() { std::atomic_thread_fence(std::memory_order_acquire); }
inline void fence_after_latch() { std::atomic_thread_fence(std::memory_order_release); }
#endif

template <class Word>
__attribute__((always_inline)) inline Word load(const Word& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
template <class Word>
__attribute__((always_inline)) inline void store(Word& word, Word value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

// Copies from a leaf that may change meanwhile.
inline void copy_from_shared(uint8_t* to, const uint8_t* from, uint32_t size) {
  if constexpr (kWordsOnly) {
    for (uint32_t i = 0; i < size; ++i) to[i] = load(from[i]);
  } else if (size == 8) {
    std::memcpy(to, from, 8);  // frequent; a copy of constant size needs no call
  } else if (size > 0) {
    std::memcpy(to, from, size);
  }
}

// Copies to a leaf that this thread has latched, or that no other thread knows.
inline void copy_to_shared(uint8_t* to, const uint8_t* from, uint32_t size) {
  if constexpr (kWordsOnly) {
    for (uint32_t i = 0; i < size; ++i) store(to[i], from[i]);
  } else if (size > 0) {
    std::memcpy(to, from, size);
  }
}

// Moves words of a latched leaf. The new place may overlap the old one.
template <class Word>
inline void move_shared(Word* to, const Word* from, uint32_t count) {
  if constexpr (!kWordsOnly) {
    std::memmove(to, from, count * sizeof(Word));
  } else if (to < from) {
    for (uint32_t i = 0; i < count; ++i) store(to[i], from[i]);
  } else {
    for (uint32_t i = count; i-- > 0;) store(to[i], from[i]);
  }
}

// Compares bytes of a leaf with others, like memcmp.
inline int compare_shared(const uint8_t* shared, const uint8_t* other, uint32_t size) {
  if constexpr (kWordsOnly) {
    for (uint32_t i = 0; i < size; ++i) {
      if (const int order = int{load(shared[i])} - int{other[i]}; order != 0) return order;
    }
    return 0;
  } else {
    return size == 0 ? 0 : std::memcmp(shared, other, size);
  }
}

}  // namespace keydrome::btree_olc
