// Defines the evidence word: 8 bytes that the player, the process that calls the library under
// test, writes for each get, getNext, insertRecord and deleteRecord. From these words the judge,
// which runs in another process, knows the result of every such call. Bare calls, which may break
// the rules of the API (BareCall in program.h), leave no word. The judge of bare calls needs whole
// results, so the player writes these to the trace, a list of whole results (outcome.h).
//
// A word is small, because the player writes one after each call. It holds the result code, the tag
// of the returned payload, and 28 bits about four payload bytes. The tag is a unique number in the
// first 8 letters of each payload (payload_tag.h). The position of the four bytes is the window.
// Each read has a window of its own, chosen at random before the run, outside the player. The
// library does not know the window. So the judge detects a library that stores only the tags and
// forgets the text after them.
//
// Layout, from the low byte 0 to the high byte 7, where w are the four bytes at the window:
//   - the low half of byte i: letter i of the tag, minus 'A'
//   - the high half of byte 0: the result code plus 1, so no word is 0
//   - the high half of byte 1: the high halves of bytes 0 and 1 of w, XORed
//   - the high half of bytes 2 and 3: the high half of the same byte of w
//   - the high half of bytes 4 to 7: the low half of bytes 0 to 3 of w
// For getNext, w is XORed with four bytes of the key. They are the low bytes of an integer key, or
// the bytes of a string key at the position of the window.
//
// The letters of a tag are 'A' to 'P', so a letter minus 'A' fits into four bits. A faulty library
// may return another byte in place of a letter. If that byte minus 'A' does not fit into four bits,
// its upper bits change the high half of the byte. The word then differs from the expected word.
// The high half of the first letter is XORed into byte 1, because the code takes its place in byte
// 0.
//
// So every single bit of the tag and of w changes the word. Two faults can cancel out: for example,
// if only the high halves of bytes 0 and 1 of w change, and both in the same way.
//
// A call that returned no record, and every insert and delete, leaves only its code.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "benchmarks/kit/format/program.h"
#include "keydrome/index.h"

namespace keydrome::format {

// The largest window. Every window is a multiple of 4, so that the four bytes lie inside one of the
// wider stores with which the library has just written the payload. The CPU then forwards the
// stored bytes to the load, which need not wait until the store reaches the cache.
inline constexpr uint32_t kWindowMax = MAX_PAYLOAD_LEN - 4;
static_assert(kWindowMax % 4 == 0);

inline constexpr uint64_t kWordCode = 0xf0;  // the bits that hold the result code plus 1

// Stored in place of a result code if the library returned a number that is no ErrCode.
inline constexpr uint32_t kUndocumentedCode = FAILURE + 1;

// Returns the word of a call that returned no record.
constexpr uint64_t code_word(uint32_t code) {
  return uint64_t{code <= FAILURE ? code + 1 : kUndocumentedCode + 1} << 4;
}

// Returns the result code in a word, which may be kUndocumentedCode. Returns a number above every
// ErrCode if the word is 0.
constexpr uint32_t code_of_word(uint64_t word) {
  return static_cast<uint32_t>((word & kWordCode) >> 4) - 1;
}

inline constexpr uint64_t kWordTag = 0x0f0f0f0f0f0f0f0f;  // the bits that hold the tag

// Returns the tag in a word. It is a tag only if the word belongs to a read that returned a record.
constexpr uint32_t tag_of_word(uint64_t word) {
  uint64_t tag = __builtin_bswap64(word & kWordTag);  // one letter per byte, the first one highest
  tag = (tag | tag >> 4) & 0x00ff00ff00ff00ff;
  tag = (tag | tag >> 8) & 0x0000ffff0000ffff;
  return static_cast<uint32_t>(tag | tag >> 16);
}

// Returns the letters of the tag in a word. The low byte is the first letter.
constexpr uint64_t letters_of_word(uint64_t word) { return (word & kWordTag) + 0x4141414141414141; }

// Returns the four bytes of the window at the places that they have in a word before fold_first().
// The high half of the first byte is in the place of the code.
constexpr uint64_t spread_window(uint32_t window) {
  const uint64_t bits = window;
  return (bits | bits << 36) & ~kWordTag;
}

// XORs the bits in the place of the code into the next byte, because the code will replace them.
constexpr uint64_t fold_first(uint64_t word) { return word ^ (word & kWordCode) << 8; }

// Returns the word of a read that returned a record. `payload` points to at least window + 4 bytes,
// and `key` points to the four bytes of the key, or to zeros for a get. Takes about 1 ns.
inline uint64_t record_word(const char* payload, uint32_t window, const void* key) {
  uint64_t tag = 0;
  uint32_t text = 0, mask = 0;
  std::memcpy(&tag, payload, sizeof tag);
  std::memcpy(&text, payload + window, sizeof text);
  std::memcpy(&mask, key, sizeof mask);
  const uint64_t word = fold_first((tag - 0x4141414141414141) ^ spread_window(text ^ mask));
  return (word & ~kWordCode) | code_word(SUCCESS);
}

// Returns the bits of a record's word that the judge can predict although it does not know all four
// bytes of the window and of the key. `known` has a byte 0xff for each known byte. The second byte
// may be known only if the first is, because a word contains the XOR of their high halves. The bits
// of tag and code are always known.
constexpr uint64_t known_bits(uint32_t known) {
  return kWordTag | kWordCode | spread_window(known);
}

// Returns the word of a get. Whether the get found a record is decided without a branch, because
// such a branch would often be mispredicted.
inline uint64_t get_word(const char* payload, uint32_t window, uint32_t code) {
  constexpr uint32_t kNoKey = 0;
  const uint64_t found = code == SUCCESS ? ~kWordCode : 0;
  return (record_word(payload, window, &kNoKey) & found) | code_word(code);
}

// Returns the position of the four bytes of a key that the word of a getNext contains.
inline const char* word_bytes(const Key& key, KeyType type, uint32_t window) {
  return reinterpret_cast<const char*>(&key.keyval) + (type == VARCHAR ? window : 0);
}

}  // namespace keydrome::format
