// Run: the next pairs (key and payload) of a scan. The structure copies several pairs in one call,
// and the scan then takes them from the run one by one. The first run of a scan has one pair,
// because many scans are short. Each further run of the same scan is four times as long as the run
// before, up to kPairsMax pairs.
//
// The pairs are valid only as long as the index does not change. The owner of the run calls drop()
// when the index has changed.
//
// Thread safety: none. A run belongs to one cursor or transaction.
#pragma once

#include <cstdint>
#include <memory>

#include "keydrome/structure.h"
#include "runtime/content/pair.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

class Run {
 public:
  static constexpr uint32_t kPairsMax = 256;
  static constexpr uint32_t kGrowth = 4;
  // Room for kPairsMax small pairs. A run of larger pairs is shorter.
  static constexpr uint32_t kBytes = 8192;
  static_assert(kBytes >= KEYDROME_RUN_BYTES_MIN);

  // Forgets all pairs. The next run has one pair. Keeps the memory.
  void drop() {
    left_ = 0;
    dropped_ = true;
  }

  // Finds the pair that follows, and does not move past it. `from` says where the scan begins; it
  // has no effect after a pass(). Returns 1 if there is a pair, 0 at the end, or a negative number
  // for a failure. Key and payload point into the run and are valid until the next peek() after a
  // pass(). Throws std::bad_alloc.
  int peek(const Store& store, const Bound& from, KeydromeBytes& key, KeydromeBytes& payload) {
    if (left_ == 0) [[unlikely]] {
      if (ended_ && !dropped_) return 0;
      const int found = fetch(store, from);
      if (found != 1) return found;
    }
    next_ = keydrome_run_read(&run_, at_, &key, &payload);
    const bool sound = key.size <= KEYDROME_KEY_BYTES_MAX &&
                       payload.size <= KEYDROME_PAYLOAD_BYTES_MAX && next_ <= run_.size;
    return sound ? 1 : -1;  // the structure has returned wrong bytes
  }

  // Moves past the pair that the last peek() found.
  void pass() {
    last_ = at_;
    has_last_ = true;
    at_ = next_;
    --left_;
  }

 private:
  int fetch(const Store& store, const Bound& from);

  std::unique_ptr<uint8_t[]> data_;  // allocated by the first fetch()
  KeydromeRun run_{};
  uint32_t at_ = 0;    // where the next pair begins in data_
  uint32_t next_ = 0;  // where the pair after it begins
  uint32_t last_ = 0;  // where the last passed pair begins; valid if has_last_
  uint32_t left_ = 0;  // number of pairs from at_ on
  uint32_t limit_ = 1;
  bool dropped_ = true;  // nothing has been fetched since drop(); the members below are not valid
  bool has_last_ = false;
  bool ended_ = false;  // true: no pair follows those in data_
};

}  // namespace keydrome::runtime
