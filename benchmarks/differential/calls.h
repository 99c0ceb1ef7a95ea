// Represents the API calls of one thread as data. The generator writes random calls. If a run
// fails, the shrinker removes and simplifies calls as long as the failure remains. CallWriter
// turns the calls into a script. The player, the process that calls the library, makes the calls of
// the script.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/format/program.h"
#include "keydrome/index.h"

namespace keydrome::differential {

enum class CallKind : uint8_t {
  kCreate,
  kOpen,  // the call must fail if the index was not created
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

// A call of the API. Data calls (get, getNext, insertRecord, deleteRecord) outside a transaction
// are auto-commit calls. The player keeps each open handle in a numbered variable (slot).
struct Call {
  CallKind kind = CallKind::kBegin;
  uint8_t slot = 0;    // unused by kCreate, kBegin, kCommit and kAbort
  uint16_t index = 0;  // number in Case::indexes; unused by kBegin, kCommit and kAbort
  uint32_t key = 0;    // number in Case::keys
  uint32_t tag = 0;    // number at the beginning of the payload, written as eight letters
  uint32_t text = 0;   // number in Case::texts; this text follows the tag in the payload

  bool operator==(const Call&) const = default;
};

struct KeyValue {
  int64_t number = 0;
  std::string text;  // only for varchar keys
};

// A session: the calls of a thread, and the indexes, keys and texts that they refer to.
struct Case {
  std::vector<KeyType> indexes;
  // By index: its name, and whether an earlier entry of `indexes` has the same name. Entries with
  // the same name are one index of the library, which the client empties before it uses the name
  // again. If both lists are empty, index number i has the name index_name(i).
  std::vector<std::string> names = {};
  std::vector<bool> reuses = {};
  std::vector<KeyValue> keys;      // each key is used with only one index
  std::vector<std::string> texts;  // text 0 is empty
  std::vector<Call> calls;
};

// Returns the calls without those that a client cannot make. After the shrinker has removed some
// calls, others may be impossible, for example a commit without a begin, or a call on a handle that
// is not open. If a transaction is open at the end, appends a commit.
std::vector<Call> playable(const std::vector<Call>& calls);

// Returns the same session with only the indexes, keys and texts that its calls use, renumbered in
// the order of their first use.
Case compact(const Case& session);

// Returns the name of an index: "A" to "Z", then "I26" and so on.
std::string index_name(uint32_t number);

// Returns the bytes of a call's payload.
std::string payload_bytes(const Case& session, const Call& call);

}  // namespace keydrome::differential
