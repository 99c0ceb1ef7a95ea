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

// A key that a call returned or passed and nobody knows.
struct UnknownKey {
  uint32_t thread = 0;
  uint32_t position = 0;
  uint64_t fingerprint = 0;
};

struct History {
  std::vector<HistoryIndex> indexes;        // Event::index is a position here
  std::vector<std::vector<Event>> threads;  // in the order in which each thread made its calls
  std::vector<std::string> varchar_keys;    // sorted by unsigned bytes, no duplicates
  // Filled by rank_varchar_keys(): what getNext returned, and what calls passed.
  std::vector<UnknownKey> unknown_keys, unknown_arguments;
  // Threads whose log was full: what they did later is not in it. The judgement ends where the
  // first of them does.
  std::vector<uint32_t> cut_threads;
  // How many ticks too early the end of a call inside a transaction may be stamped: a processor may
  // read its counter ahead of a load that stands before. Begins and ends of transactions are exact.
  uint64_t stamp_slack = 0;
  uint64_t ticks_per_s = 1'000'000'000;  // of the stamps; above 0
};

// The key of an event whose varchar key nobody knows.
inline constexpr uint64_t kUnknownKeyRank = 0x7fffffffffffffff;

// Whether that is the key of this event, whose index exists.
bool has_unknown_key(const History& history, const Event& event);

// Sorts varchar_keys and replaces the fingerprint (hash_bytes) in every event on a VARCHAR index by
// the key's rank. Fails when two keys share a fingerprint. What is not in varchar_keys is noted,
// and gets kUnknownKeyRank. A client may hand back what it got; where nothing is inserted under
// such a key, nothing is there. Call it once. Cost: one hash lookup for each event on a VARCHAR
// index.
Result<void> rank_varchar_keys(History& history);

// The name of a key for people: its number, or the string in quotes, bytes that are not printable
// as
// \xNN and long strings without their middle.
std::string key_text(const History& history, uint16_t index, uint64_t key);

}  // namespace keydrome
