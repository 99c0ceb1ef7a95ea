// Small random histories of a careless store, right and wrong ones in good mixture, for comparing
// the checker with the plain definition (search_orders.h).
#pragma once

#include <cstdint>

#include "checker/history.h"

namespace keydrome {

struct RandomHistoryOptions {
  uint32_t transactions = 6;  // at most
  uint32_t threads = 3;
  uint32_t keys = 4;
  uint32_t indexes = 2;
  bool blind_deletes = true;
};

// The same history for the same seed on every machine.
History random_history(uint64_t seed, const RandomHistoryOptions& options = {});

// How often a random test repeats what it usually does so often: `KEYDROME_SOAK` times as often if
// that is set, and less often under sanitizers, for memory errors show in few histories as well as
// in many.
uint64_t rounds(uint64_t usual);

}  // namespace keydrome
