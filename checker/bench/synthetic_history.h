// Synthetic histories: what a correct, strictly serialisable library would have answered to many
// threads, made without one, millions of calls a second.
//
// Each transaction takes effect at one moment between its begin and its end, and the intervals of
// different threads overlap as those of a busy machine do. At the end everything is read once more.
#pragma once

#include <cstdint>

#include "checker/history.h"

namespace keydrome {

struct SyntheticOptions {
  uint64_t seed = 1;
  uint32_t threads = 4;
  uint32_t transactions = 1000;  // committed ones; 2 % more abort, and one reads what is left
  uint32_t indexes = 2;
  uint32_t keys = 1000;        // of each index
  uint32_t operations = 10;    // of a transaction
  KeyType type = INT;          // with VARCHAR the keys are still fingerprints (rank_varchar_keys)
  bool blind_deletes = false;  // delete keys without having read them
};

History synthetic_history(const SyntheticOptions& options);

// What a library would have answered that gives its readers old states: every transaction that only
// reads is recorded `delay_ticks` later than it was right, on a thread of its own.
History with_stale_readers(const History& history, uint64_t delay_ticks);

}  // namespace keydrome
