// Calls: what one session asks of a library, as data that can be cut smaller: the generator writes
// them, the shrinker leaves some out and makes others simpler, and both become a script.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/program.h"
#include "keydrome/index.h"

namespace keydrome::differential {

enum class CallKind : uint8_t {
  kCreate,
  kOpen,  // of an index that was not created: it must be refused
  kClose,
  kBegin,
  kCommit,
  kAbort,
  kGet,
  kNext,
  kInsert,
  kDeletePair,
  kDeleteKey,
};
inline constexpr uint32_t kCallKinds = 11;

constexpr bool uses_index(CallKind kind) {
  return kind != CallKind::kBegin && kind != CallKind::kCommit && kind != CallKind::kAbort;
}
constexpr bool is_data_call(CallKind kind) { return kind >= CallKind::kGet; }
constexpr bool has_key(CallKind kind) { return is_data_call(kind) && kind != CallKind::kNext; }
constexpr bool has_payload(CallKind kind) {
  return kind == CallKind::kInsert || kind == CallKind::kDeletePair;
}

// Data calls outside a transaction are auto-commit calls.
struct Call {
  CallKind kind = CallKind::kBegin;
  uint8_t slot = 0;    // of the handle; unused by kCreate, kBegin, kCommit and kAbort
  uint16_t index = 0;  // number in Case::indexes; unused by kBegin, kCommit and kAbort
  uint32_t key = 0;    // number in Case::keys
  uint32_t tag = 0;    // payload: its tag in letters,
  uint32_t text = 0;   // and behind it text number `text` of Case::texts

  bool operator==(const Call&) const = default;
};

struct KeyValue {
  int64_t number = 0;
  std::string text;  // of varchar keys
};

// A session: the calls, and what their numbers stand for.
struct Case {
  std::vector<KeyType> indexes;
  std::vector<KeyValue> keys;      // each of them used with one index only
  std::vector<std::string> texts;  // 0 is the empty one
  std::vector<Call> calls;
};

// The calls that a client can make: what stands on nothing after others were left out is left out
// as well (a commit without a begin, a call on a handle that is not open), and a transaction that
// is open at the end is committed.
std::vector<Call> playable(const std::vector<Call>& calls);

// The same session with the indexes, keys and texts that its calls use, numbered as they come.
Case compact(const Case& session);

// "A", "B" and so on; "I26" behind "Z".
std::string index_name(uint32_t number);

// The bytes of a call's payload.
std::string payload_bytes(const Case& session, const Call& call);

}  // namespace keydrome::differential
