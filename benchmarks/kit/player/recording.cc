// Implements Recording: writes one Event into the thread's log for each call of a recorded phase.
// An Event contains the key (or the hash of a string key), a hash of the payload, and timestamps.
#include "benchmarks/kit/player/recording.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "benchmarks/kit/player/record_buffers.h"

namespace keydrome::player {

using history::Event;
using history::EventCall;
using history::kEventAutoCommit;
using history::kEventLongDuration;
using history::kEventUnknownCode;

namespace {

uint64_t key_number(const Key& key, KeyType type) {
  if (type == VARCHAR) return hash_bytes(key_bytes(key, VARCHAR));
  const int64_t number = type == SHORT ? key.keyval.shortkey : key.keyval.intkey;
  return static_cast<uint64_t>(number);
}

}  // namespace

// Stores the arguments of a data call. begin() does so before the call, because the library may
// overwrite the arguments.
inline void Recording::note_arguments(const RecordedArguments& arguments) {
  if (call_ == EventCall::kInsert) {
    payload_text_ = arguments.payload;
    key_ = key_number(*arguments.key, arguments.key->type);
    return;
  }
  record_ = arguments.record;
  type_ = record_->key.type;
  if (call_ == EventCall::kNext) return;
  key_ = key_number(record_->key, type_);
  if (call_ != EventCall::kDeletePair) return;
  if (record_->payload[0] == '\0') {
    call_ = EventCall::kDeleteKey;
  } else {
    payload_ = hash_bytes(payload_bytes(*record_));
  }
}

// Stores the record that a data call returned, and the payload of an insert.
inline void Recording::note_result(uint32_t code) {
  const bool found = code == SUCCESS;
  switch (call_) {
    case EventCall::kNext:
      if (found) key_ = key_number(record_->key, type_);
      [[fallthrough]];
    case EventCall::kGet:
      if (found) payload_ = hash_bytes(payload_bytes(*record_));
      return;
    case EventCall::kInsert:
      // The payload is hashed after the call, because by then the stores that wrote the payload
      // have completed. Hashing it before the call would stall for about 10 ns. The payload is the
      // same after the call, because the library must not write to it.
      payload_ =
          hash_bytes({payload_text_, strnlen(payload_text_, MAX_PAYLOAD_LEN + std::size_t{1})});
      return;
    default:
      return;
  }
}

// A transaction begins with the timestamp before beginTransaction, which must therefore be exact.
// The begin of a data call inside a transaction, or of a commit, may be too early (recording.h).
inline uint64_t Recording::begin_time() const {
  if (!is_inside() && call_ != EventCall::kCommit) return inputs_.clock->before();
  return last_end_ != 0 ? last_end_ : inputs_.clock->inside();
}

// A commit or an auto-commit call may make writes visible, so its end is a timestamp with a fence.
// Aborts and calls on handles also have such a timestamp. A beginTransaction or a data call inside
// a transaction makes no write visible, so a cheap timestamp without a fence suffices.
inline uint64_t Recording::end_time() const {
  return is_inside() || call_ == EventCall::kBegin ? inputs_.clock->inside()
                                                   : inputs_.clock->after();
}

void Recording::begin(EventCall call, bool alone, uint16_t index, uint8_t slot,
                      const RecordedArguments& arguments) {
  call_ = call;
  alone_ = alone;
  index_ = index;
  slot_ = slot;
  key_ = 0;
  payload_ = 0;
  if (is_data_call()) note_arguments(arguments);
  begin_ = begin_time();
}

void Recording::end(uint32_t code) {
  const uint64_t end = end_time();
  if (is_data_call()) note_result(code);
  last_end_ = end;
  if (events_ == inputs_.log.size()) [[unlikely]] {
    full_ = true;
    return;
  }
  const uint8_t alone = is_data_call() && alone_ ? kEventAutoCommit : 0;
  const uint8_t handle = has_handle() ? handles_.after(call_, slot_, index_, code) : 0;
  inputs_.log[events_++] =
      Event{.call = static_cast<uint8_t>(static_cast<uint8_t>(call_) | handle | alone),
            .code = code < kEventUnknownCode ? static_cast<uint8_t>(code) : kEventUnknownCode,
            .index = index_,
            .duration = static_cast<uint32_t>(std::min<uint64_t>(end - begin_, kEventLongDuration)),
            .key = key_,
            .payload = payload_,
            .end = end};
}

}  // namespace keydrome::player
