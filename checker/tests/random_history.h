// random_history(): makes a small random history (the calls of a run) of a store that often makes
// mistakes. Right and wrong histories are both frequent. On these histories, tests compare the
// verdict of certify() with search_orders(), which tries every serial order.
#pragma once

#include <cstdint>

#include "checker/history/history.h"

namespace keydrome {

struct RandomHistoryOptions {
  uint32_t transactions = 6;  // largest number of transactions
  uint32_t threads = 3;
  uint32_t keys = 4;
  uint32_t indexes = 2;
  // Largest number of open handles of an index. In some histories each handle has its own cursor,
  // and in others the handles of an index share a cursor.
  uint32_t handles = 1;
  bool blind_deletes = true;     // true: some deletes remove all payloads of a key; false: one pair
  bool reuses_payloads = false;  // true: inserts may pass a payload that was inserted before
};

// Returns a history. The same seed gives the same history on every machine.
history::History random_history(uint64_t seed, const RandomHistoryOptions& options = {});

// Returns how many random histories a test uses: `usual`, multiplied by the environment variable
// KEYDROME_SOAK if it is set. Sanitizers are slow, so with them the number is five times smaller.
uint64_t rounds(uint64_t usual);

}  // namespace keydrome
