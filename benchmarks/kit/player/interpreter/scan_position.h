// ScanPosition: stores the progress of one scan op, an operation that makes several getNext calls.
//
// Not thread-safe; each thread has its own object.
#pragma once

#include <algorithm>
#include <cstdint>

#include "keydrome/index.h"

namespace keydrome::player {

class ScanPosition {
 public:
  // Begins a scan of at most `calls` getNext calls, and of at least one, on an index with keys of
  // this type.
  void start(KeyType type, uint32_t calls) {
    type_ = type;
    calls_ = std::max(calls, 1u);
    left_ = calls_ - 1;
  }

  KeyType type() const { return type_; }
  // Returns the number of the current call, counted from 0.
  uint32_t number() const { return calls_ - 1 - left_; }
  // The number of calls that may follow the current one.
  uint32_t left() const { return left_; }
  void set_left(uint32_t left) { left_ = left; }
  // Moves on to the next call. Returns false if the scan has made all its calls.
  bool next() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  KeyType type_ = SHORT;
  uint32_t calls_ = 1, left_ = 0;
};

}  // namespace keydrome::player
