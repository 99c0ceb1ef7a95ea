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

// `KEYDROME_SOAK`, 1 if it is not set: the factor on rounds of the random tests.
uint64_t soak_factor();

}  // namespace keydrome
