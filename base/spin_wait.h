// SpinWait: waits for another thread in a loop, for short critical sections.
#pragma once

#include <sched.h>

#include <cstdint>

#include "base/cache_line.h"

namespace keydrome {

// Call once() in each turn of the waiting loop. The first turns spin. Each later turn yields the
// processor, so that the awaited thread can run.
class SpinWait {
 public:
  void once() {
    if (++turns_ < kTurns) {
      cpu_relax();
    } else {
      sched_yield();
    }
  }

 private:
  static constexpr uint32_t kTurns = 64;
  uint32_t turns_ = 0;
};

}  // namespace keydrome
