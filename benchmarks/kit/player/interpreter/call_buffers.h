// CallBuffers: the Records, Keys and payloads that one thread passes to a library.
//
// All calls of a thread use the same few objects, both for the workload and for checks. So a
// library cannot recognise a check by the address of an argument.
//
// The functions return references to these objects. A reference stays valid, but a later call of
// any of these functions may overwrite the contents.
//
// Not thread-safe; each thread has its own object.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "benchmarks/kit/player/arguments.h"
#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/player/record_buffers.h"
#include "keydrome/index.h"

namespace keydrome::player {

class CallBuffers {
 public:
  // Returns a Record with key `number` of the pool, the list of keys of this type that came with
  // the present part of the program (format/piece.h). All other bytes are zero.
  Record& record(const PoolsView& pools, KeyType type, uint32_t number) {
    if (type == VARCHAR) return string_record_.set_string(pools.varchar_keys[number]);
    return integer_record_.set_integer(type, pool_bits(pools, type, number));
  }

  // Returns a Record with this int64 key. All other bytes are zero.
  Record& int64_record(uint64_t key) { return integer_record_.set_integer(INT, key); }

  // Returns a Key with key `number` of the same pool. All other bytes are zero.
  Key& key(const PoolsView& pools, KeyType type, uint32_t number) {
    if (type == VARCHAR) return string_key_.set_string(pools.varchar_keys[number]);
    return integer_key_.set_integer(type, pool_bits(pools, type, number));
  }

  // Returns a Record of an integer index with a key that a procedure has computed.
  Record& computed_record(KeyType type, int64_t number) {
    return integer_record_.set_integer(type, computed_bits(type, number));
  }

  // Returns a Key with the key that computed_record() would use.
  Key& computed_key(KeyType type, int64_t number) {
    return integer_key_.set_integer(type, computed_bits(type, number));
  }

  // Return a Record and a Key for a string index, with this text as the key. REQUIRES: kReadAhead
  // bytes from the beginning of the text may be read.
  Record& record_of_text(std::string_view text) { return string_record_.set_string(text); }
  Key& key_of_text(std::string_view text) { return string_key_.set_string(text); }

  // Returns a Record for getNext. Only the type of its key is set.
  Record& empty_record(KeyType type) {
    if (type != VARCHAR) return integer_record_.set_integer(type, 0);
    Record& record = string_record_.clear();
    record.key.type = type;
    return record;
  }

  // Returns the Record of the last call on an index of this type, as the library left it.
  Record& last_record(KeyType type) {
    return (type == VARCHAR ? string_record_ : integer_record_).value();
  }

  // Returns the payload of an insert: the tag (a unique number) in letters, followed by the text.
  const char* payload(uint32_t tag, std::string_view text) {
    put_payload(payload_.data(), tag, text);
    return payload_.data();
  }

 private:
  static uint64_t pool_bits(const PoolsView& pools, KeyType type, uint32_t number) {
    return type == SHORT ? integer_bits<SHORT>(pools, number) : integer_bits<INT>(pools, number);
  }
  static uint64_t computed_bits(KeyType type, int64_t number) {
    return type == SHORT ? static_cast<uint32_t>(number) : static_cast<uint64_t>(number);
  }

  Zeroed<Record> string_record_, integer_record_;
  Zeroed<Key> string_key_, integer_key_;
  alignas(64) std::array<char, 128> payload_{};
};

}  // namespace keydrome::player
