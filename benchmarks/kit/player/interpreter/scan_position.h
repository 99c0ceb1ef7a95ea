// ScanPosition: stores the progress of one scan op and checks that no key is smaller than the key
// before it.
//
// Not thread-safe; each thread has its own object.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "benchmarks/kit/player/record_buffers.h"
#include "keydrome/index.h"

namespace keydrome::player {

class ScanPosition {
 public:
  // Begins a scan of at most `calls` getNext calls on an index with keys of this type.
  void start(KeyType type, uint32_t calls) {
    type_ = type;
    calls_ = calls;
    number_ = 0;
    ordered_ = false;
  }

  // Sets the key of the get before the scan, in the form that pool_key_bytes() returns. The first
  // getNext must not return a smaller key.
  void begin_at(std::string_view key) {
    if (type_ == VARCHAR) {
      set_text(key);
    } else if (type_ == SHORT) {
      int32_t number = 0;
      std::memcpy(&number, key.data(), sizeof number);
      integer_ = number;
    } else {
      std::memcpy(&integer_, key.data(), sizeof integer_);
    }
    ordered_ = true;
  }

  // Stores the key that getNext returned. Returns false if it is smaller than the previous key.
  bool advance(const Key& key) {
    const bool forward = type_ == VARCHAR ? advance_text(key) : advance_integer(key);
    const bool in_order = forward || !ordered_;
    ordered_ = true;
    return in_order;
  }

  // Allows any next key. The caller uses this after the end of the index, or if each call is a
  // transaction of its own.
  void forget_order() { ordered_ = false; }

  KeyType type() const { return type_; }
  // Returns the number of the current call, counted from 0.
  uint32_t number() const { return number_; }
  bool is_last() const { return number_ + 1 == calls_; }
  // Moves on to the next call. Returns false if the scan has made all its calls.
  bool next() { return ++number_ < calls_; }

 private:
  bool advance_integer(const Key& key) {
    const int64_t next = type_ == SHORT ? key.keyval.shortkey : key.keyval.intkey;
    const bool forward = integer_ <= next;
    integer_ = next;
    return forward;
  }
  bool advance_text(const Key& key) {
    const std::string_view next = key_bytes(key, VARCHAR);
    const bool forward = std::string_view(text_.data(), size_) <= next;
    set_text(next);
    return forward;
  }
  void set_text(std::string_view text) {
    size_ = text.size();
    std::memcpy(text_.data(), text.data(), size_);
  }

  KeyType type_ = SHORT;
  uint32_t calls_ = 0, number_ = 0;
  bool ordered_ = false;  // true: the next key must not be smaller than the previous one
  int64_t integer_ = 0;
  std::size_t size_ = 0;
  std::array<char, MAX_VARCHAR_LEN + 1> text_;
};

}  // namespace keydrome::player
