// Event: one recorded API call of one thread. The code that writes events during a run is called
// the recorder. An event has only 32 bytes, so that a log of ten million calls fits into memory,
// and recording a call writes only half a cache line.
//
// Timestamps are ticks of the processor's time stamp counter (TSC). The recorder requires a TSC
// that runs at a constant rate, never stops and agrees on all CPUs, so timestamps of different
// threads are comparable. The begin of a call is `end` - `duration`, and the interval from begin to
// `end` covers the whole call. If `end` of one call is less than the begin of a second call, the
// first call had returned before the second call was made. Exception: inside a transaction, `end`
// may be too early by up to History::timestamp_slack ticks (history.h).
//
// Keys: for int32 and int64 keys, Event::key is the value of the key. For a varchar key (a string),
// the recorder stores hash_bytes() of its bytes, a 64-bit hash (base/hash.h). rank_varchar_keys()
// later replaces this hash by the key's rank among all keys of the history (history.h).
//
// Payloads: Event::payload is hash_bytes() of the payload's bytes. In a recorded run every insert
// passes a different payload, so a payload identifies the insert that stored it.
//
// The recorder runs in the process of the library, so a hostile library can forge the log. A reader
// must treat a log as untrusted bytes (docs/explanation/security.md).
#pragma once

#include <cstdint>

namespace keydrome::history {

enum class EventCall : uint8_t {
  kCreate,
  kOpen,
  kClose,
  kBegin,
  kCommit,
  kAbort,
  kGet,         // key passed, payload returned
  kNext,        // key and payload returned; both 0 if the call did not return SUCCESS
  kInsert,      // key and payload passed
  kDeletePair,  // key and payload passed
  kDeleteKey,   // key passed; the payload is 0
};

// Bit of Event::call that is set if the call passed txn == NULL, so that the call was a transaction
// of its own.
inline constexpr uint8_t kEventAutoCommit = 0x80;
// Bits of Event::call with the number of the handle that the call passed. A thread can have several
// open handles of an index, and each has a number: the smallest number that no other open handle
// of the index had when openIndex returned it. So the number is 0 in nearly all events.
// kEventManyHandles stands for this number and all larger ones.
inline constexpr uint8_t kEventHandleShift = 4;
inline constexpr uint8_t kEventManyHandles = 7;
// Value of Event::code if the library returned a number that does not fit into a byte.
inline constexpr uint8_t kEventUnknownCode = 0xff;
// Value of Event::duration if the call took this many ticks or more. The begin of such a call is
// unknown, except that it is not before the end of the thread's previous event.
inline constexpr uint32_t kEventLongDuration = 0xffffffff;

struct Event {
  uint8_t call;       // EventCall, the handle's number, possibly kEventAutoCommit
  uint8_t code;       // ErrCode as returned, or kEventUnknownCode
  uint16_t index;     // number of the index; 0 for kBegin, kCommit, kAbort
  uint32_t duration;  // ticks from just before the call to `end`, at most kEventLongDuration
  uint64_t key;       // int32 and int64 keys as two's complement
  uint64_t payload;
  uint64_t end;  // ticks just after the call
};
static_assert(sizeof(Event) == 32);

}  // namespace keydrome::history
