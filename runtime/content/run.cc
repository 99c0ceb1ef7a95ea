// Implements Run: fetches the next pairs of a scan from the structure.
#include "runtime/content/run.h"

#include <algorithm>

namespace keydrome::runtime {

// Precondition: no pair is left. Returns 1 if there are further pairs, 0 at the end, or a negative
// number for a failure.
int Run::fetch(const Store& store, const Bound& from) {
  if (data_ == nullptr) {
    // Not make_unique, which would fill the memory with zeros.
    data_.reset(new uint8_t[kBytes]);
    run_.data = data_.get();
    run_.capacity = kBytes;
  }
  if (dropped_) {
    has_last_ = false;
    limit_ = 1;
  }
  Pair last;  // a copy, because the structure overwrites the run
  Bound after = from;
  if (has_last_) {
    KeydromeBytes key, payload;
    keydrome_run_read(&run_, last_, &key, &payload);
    last.set(key, payload);
    after = {last.key(), last.payload(), true};
  }
  run_.limit = limit_;
  const int more = store.scan(after, run_);
  if (more < 0 || run_.pairs > run_.limit || run_.size > run_.capacity) {
    drop();
    return -1;
  }
  dropped_ = false;
  has_last_ = false;
  at_ = 0;
  left_ = run_.pairs;
  if (run_.pairs == 0) {
    ended_ = more == 0;
    return ended_ ? 0 : -1;  // any pair fits into a run, so a run without pairs must be the end
  }
  ended_ = more == 0;
  limit_ = std::min(limit_ * kGrowth, kPairsMax);
  return 1;
}

}  // namespace keydrome::runtime
