// ScanPosition: stores the progress of one scan op.
//
// Not thread-safe; each thread has its own object.
#pragma once

#include <cstdint>

#include "keydrome/index.h"

namespace keydrome::player {

class ScanPosition {
 public:
  // Begins a scan of at most `calls` getNext calls on an index with keys of this type.
  void start(KeyType type, uint32_t calls) {
    type_ = type;
    calls_ = calls;
    number_ = 0;
  }

  KeyType type() const { return type_; }
  // Returns the number of the current call, counted from 0.
  uint32_t number() const { return number_; }
  bool is_last() const { return number_ + 1 == calls_; }
  // Moves on to the next call. Returns false if the scan has made all its calls.
  bool next() { return ++number_ < calls_; }

 private:
  KeyType type_ = SHORT;
  uint32_t calls_ = 0, number_ = 0;
};

}  // namespace keydrome::player
