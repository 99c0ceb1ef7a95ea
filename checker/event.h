// Event: one API call of one thread as the recorder saw it. 32 bytes, so that a log of ten million
// calls fits in memory and writing one costs a cache line's half.
//
// Both stamps are TSC ticks of one machine whose counter is constant, does not stop and agrees on
// all CPUs (the recorder checks it). [begin, end] covers the whole call, so `end` of one call below
// `begin` of another means: the first had returned before the second was made.
//
// Keys. int32 and int64 keys are their value. A varchar key is hash_bytes() of its bytes while it
// is recorded, and its rank in the sorted key universe of the history after loading (history.h).
// Payloads are hash_bytes() of their bytes: in a recorded run every insert passes a payload that no
// other insert passes, so a payload names the insert it comes from.
//
// The recorder runs in the library's process: everything in a log is untrusted bytes to the reader,
// and a hostile library can forge them (docs/explanation/security.md).
#pragma once

#include <cstdint>

namespace keydrome {

enum class EventCall : uint8_t {
  kCreate,
  kOpen,
  kClose,
  kBegin,
  kCommit,
  kAbort,
  kGet,         // key: the one asked for; payload: the one returned
  kNext,        // key and payload: those returned; 0 unless SUCCESS
  kInsert,      // key and payload: those passed
  kDeletePair,  // key and payload: those passed
  kDeleteKey,   // key: the one passed; payload: 0
};

// Set in Event::call when the call passed txn == NULL: a transaction of its own.
inline constexpr uint8_t kEventAutoCommit = 0x80;
// Event::code when the library answered a number that does not fit into a byte.
inline constexpr uint8_t kEventOddCode = 0xff;
// Event::duration of a call that took this many ticks or more; it then began at an unknown time
// after the thread's event before it.
inline constexpr uint32_t kEventLongDuration = 0xffffffff;

struct Event {
  uint8_t call;       // EventCall, and kEventAutoCommit
  uint8_t code;       // ErrCode as returned, or kEventOddCode
  uint16_t index;     // number of the index; 0 for kBegin, kCommit, kAbort
  uint32_t duration;  // ticks from just before the call to `end`, saturated
  uint64_t key;       // int32 and int64 as two's complement
  uint64_t payload;
  uint64_t end;  // ticks just after the call
};
static_assert(sizeof(Event) == 32);

}  // namespace keydrome
