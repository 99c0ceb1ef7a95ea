// History: all recorded calls of one run, which the checker judges.
//
// The checker compares keys as int64_t, for all three key types. An int32 or int64 key is stored as
// its value. A varchar key is stored as its rank in `varchar_keys`. The code that records a run
// writes the hash of the key, and rank_varchar_keys() replaces the hash by the rank.
//
// A History is not trusted: certify() checks every index number, every timestamp and the sequence
// of calls. Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "checker/history/event.h"
#include "keydrome/index.h"

namespace keydrome::history {

struct HistoryIndex {
  KeyType type = SHORT;
  std::string name;
};

// An event whose varchar key is not in History::varchar_keys.
struct UnknownKey {
  uint32_t thread = 0;
  uint32_t position = 0;
  uint64_t hash = 0;
};

struct History {
  std::vector<HistoryIndex> indexes;        // Event::index is a position here
  std::vector<std::vector<Event>> threads;  // by thread: its events in the order of its calls
  std::vector<std::string> varchar_keys;    // sorted by unsigned bytes, no duplicates
  // Filled by rank_varchar_keys(): `unknown_keys` lists unknown keys that getNext returned, and
  // `unknown_arguments` lists unknown keys that the client passed to a call.
  std::vector<UnknownKey> unknown_keys, unknown_arguments;
  // Threads whose log filled up, so that their later calls are missing. The history is judged only
  // up to the time at which the first of these logs filled up.
  std::vector<uint32_t> truncated_threads;
  // The end timestamp of a call inside a transaction may be too early by at most this many ticks.
  // The reason is that the CPU may read its counter before an earlier load has completed. The
  // timestamps of the calls that begin and end a transaction are exact.
  uint64_t timestamp_slack = 0;
  uint64_t ticks_per_s = 1'000'000'000;  // the rate of the timestamps, above 0
};

// The value of Event::key that replaces every unknown varchar key.
inline constexpr uint64_t kUnknownKeyRank = 0x7fffffffffffffff;

// Returns true if the varchar key of the event is unknown. Requires a valid Event::index.
bool has_unknown_key(const History& history, const Event& event);

// Sorts varchar_keys. In every event on a VARCHAR index, replaces the hash of the key (hash_bytes)
// by the key's rank. A hash that belongs to no key in varchar_keys becomes kUnknownKeyRank, and its
// event is noted in `unknown_keys` or `unknown_arguments`. There are two cases:
// - getNext returned the unknown key. Then the library made the key up.
// - The client passed the unknown key to a call. It is a key that the library had made up before.
//   No call inserts it, so a correct library finds nothing under it.
//
// Fails if two keys have the same hash. Must be called once for each history, after it is recorded
// or read from a file. Cost: one hash lookup for each event on a VARCHAR index.
Result<void> rank_varchar_keys(History& history);

// Returns a key as text for people: an integer as its number, a string in quotes. Bytes that are
// not printable appear as \xNN. The middle of a long string is replaced by "...".
std::string key_text(const History& history, uint16_t index, uint64_t key);

// Returns a key for the middle of a sentence, such as "key 5". Returns "an unknown key" for a
// varchar key that is not in History::varchar_keys.
std::string named_key(const History& history, uint16_t index, uint64_t key);

}  // namespace keydrome::history
