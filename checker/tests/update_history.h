// update_history(): makes a history of a correct library in which transactions read and replace
// records. They replace a record by a deleteRecord of all payloads and an insert, as the updates of
// the benchmark ycsb do. In most runs each call leaves only 8 bytes, a word, and the history is
// made from the words (benchmarks/kit/script/word_events.h). Words contain no times within a
// transaction, so the histories made here have none either.
//
// Each transaction takes effect at one moment between its begin and its end, as in a library with
// one lock. A few threads stall before or after this moment, as on a busy machine. Many updates of
// other threads then overlap the stalled one, so the deleters of many records are not known.
#pragma once

#include <cstdint>

#include "checker/history/history.h"

namespace keydrome {

struct UpdateOptions {
  uint64_t seed = 1;
  uint32_t threads = 4;
  uint32_t transactions = 2000;
  uint32_t keys = 100;             // every fourth transaction uses the first key
  uint32_t stalls_one_in = 200;    // about one transaction in this many stalls
  uint32_t stall_ticks = 100'000;  // longest stall; otherwise a transaction takes up to 200 ticks
};

// Returns a history. The same options give the same history on every machine.
history::History update_history(const UpdateOptions& options);

}  // namespace keydrome
