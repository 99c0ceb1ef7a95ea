// synthetic_history(): makes a history, the list of all calls of a run. It is the history that many
// threads with a correct, strictly serialisable library would give. No library runs, so the
// function makes millions of events per second. certify_bench measures certify()
// (certify/certify.h) with such histories, and tests use them as large histories.
//
// Each transaction takes effect at one moment between its begin and its end. Transactions of
// different threads overlap in time, as on a busy machine. The last transaction reads all records.
#pragma once

#include <cstdint>

#include "checker/history/history.h"

namespace keydrome {

struct SyntheticOptions {
  uint64_t seed = 1;
  uint32_t threads = 4;
  // Number of committed transactions. Another 2 % abort, and one more reads all records at the end.
  uint32_t transactions = 1000;
  uint32_t indexes = 2;
  uint32_t keys = 1000;      // number of keys of each index
  uint32_t operations = 10;  // number of operations of each transaction
  KeyType type = INT;        // with VARCHAR, call rank_varchar_keys() (history.h) before certify()
  bool blind_deletes = false;  // true: transactions delete keys without having read them
};

history::History synthetic_history(const SyntheticOptions& options);

// Returns a copy of the history with stale reads, as a library that reads old snapshots would
// produce them. The read-only transactions of each thread move to an additional thread and to a
// time that is `delay_ticks` later. At this time, their results may be out of date.
history::History with_stale_readers(const history::History& history, uint64_t delay_ticks);

}  // namespace keydrome
