// History: what a recorded run hands to the checker.
//
// Keys of a History are in order as int64_t, for all three key types: int32 and int64 keys are
// their value, varchar keys their rank in `varchar_keys`. rank_varchar_keys() makes ranks of the
// fingerprints that a recorder writes.
//
// Nothing in it is trusted: certify() checks every index number, stamp and sequence. Thread safety:
// plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "checker/event.h"
#include "keydrome/index.h"

namespace keydrome {

struct HistoryIndex {
  KeyType type = SHORT;
  std::string name;
};

// A key that a call returned and nobody knows.
struct UnknownKey {
  uint32_t thread = 0;
  uint32_t position = 0;
  uint64_t fingerprint = 0;
};

struct History {
  std::vector<HistoryIndex> indexes;        // Event::index is a position here
  std::vector<std::vector<Event>> threads;  // in the order in which each thread made its calls
  std::vector<std::string> varchar_keys;    // sorted by unsigned bytes, no duplicates
  std::vector<UnknownKey> unknown_keys;     // filled by rank_varchar_keys()
  // Threads whose log was full: what they did later is not in it. The judgement ends where the
  // first of them does.
  std::vector<uint32_t> cut_threads;
  // How many ticks too early the end of a call inside a transaction may be stamped: a processor may
  // read its counter ahead of a load that stands before. Begins and ends of transactions are exact.
  uint64_t stamp_slack = 0;
  uint64_t ticks_per_s = 1'000'000'000;  // of the stamps; above 0
};

// The key of an event whose varchar key is in unknown_keys.
inline constexpr uint64_t kUnknownKeyRank = 0x7fffffffffffffff;

// Sorts varchar_keys and replaces the fingerprint (hash_bytes) in every event on a VARCHAR index by
// the key's rank. Fails when two keys share a fingerprint or a call passed a key that is not in
// varchar_keys; a key that getNext returned and that is not there goes to unknown_keys. Call it
// once. Cost: one hash lookup for each event on a VARCHAR index.
Result<void> rank_varchar_keys(History& history);

// The name of a key for people: its number, or the string in quotes, bytes that are not printable
// as
// \xNN and long strings without their middle.
std::string key_text(const History& history, uint16_t index, uint64_t key);

}  // namespace keydrome
