// Defines programs: the operations that the referee, the process that runs a session, generates.
// The player, the process that calls the library, executes them, and the judge checks the results.
//
// Outside the jail (a sandbox), the referee turns a workload and a seed into programs, one for each
// phase and thread. Inside the jail, the player interprets these programs and knows no workload. So
// seeds, generators and expected results never enter the jail, and a new benchmark never changes
// the player.
//
// Referee and player pass these structs to each other in sealed memfds. Therefore the structs have
// fixed sizes, contain no pointers and are little-endian. Offsets are bytes from the beginning of
// the memfd. The player trusts the referee, but the referee does not trust the player (outcome.h).
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/procedure.h"
#include "checker/history/event.h"
#include "keydrome/index.h"

namespace keydrome::format {

inline constexpr uint32_t kProgramVersion = 7;
inline constexpr uint32_t kSlots = 16;              // handles that a thread can have open
inline constexpr uint32_t kTransactionClasses = 8;  // e.g. get, scan; latencies are kept by class
inline constexpr uint32_t kEvents = 16;             // counters for kSignal and kWait
inline constexpr uint32_t kThreadsMax = 1024;
inline constexpr uint32_t kTagBytes = 8;  // every payload begins with its tag (payload_tag.h)
inline constexpr uint32_t kNoTag = 0;     // in place of a tag: the payload is its text alone

// The operations. In the comments, `argument`, `payload` and `key` are the fields of the Op. The
// slot is the variable for a handle that Op::slot selects.
enum class OpCode : uint8_t {
  // Creates index number `argument`.
  kCreate,
  // Opens index number `argument` and stores the handle in the slot.
  kOpen,
  // Closes the handle of the slot.
  kClose,
  // Begins a transaction. `argument` is the number of ops that follow in the transaction, up to and
  // including its kCommit or kAbort.
  kBegin,
  kCommit,
  kAbort,
  // Calls get for the key. With kHidden, the key in a piece is XORed with bits of the thread's
  // previous hidden answer (hidden_key.h), and `argument` selects the bits of the key that are
  // hidden.
  kGet,
  // Calls getNext `argument` times. Continues after DB_END, as the driver of the SIGMOD 2009
  // contest did.
  kNext,
  // Calls getNext until DB_END. A scan that returns more than `argument` records is a violation.
  kNextToEnd,
  // Calls insertRecord for the key. The payload is tag number `argument` followed by text
  // `payload`.
  kInsert,
  // Calls deleteRecord for the key with an empty payload, which deletes all payloads of the key.
  kDeleteKey,
  // Calls deleteRecord for the key and one payload: tag number `argument` followed by text
  // `payload`.
  kDeletePair,
  // Repeats the last `payload` ops `argument` more times. Repetitions are not nested.
  kRepeat,
  // Adds 1 to the event counter `argument`.
  kSignal,
  // Waits until the event counter `argument` is at least `payload`.
  kWait,
  // Yields the processor until the event counter `argument` is at least `payload`, for at most
  // `key` microseconds. With `key` == 0, yields once.
  kYield,
  // Calls deleteRecord for the pair that the last successful kKeep read of this slot returned in
  // this transaction. Makes no call if this transaction made no such read. Leaves no evidence, i.e.
  // no whole result for the judge.
  kDeleteRead,
  // Waits for the turn of step `argument`. The steps of all threads take turns in the order of
  // their numbers (player/turns.h). If the turn of an earlier step takes more than `payload`
  // microseconds, skips this earlier step.
  kStep,
  // Ends the turn of step `argument`. Has no effect if the step has been skipped.
  kStepDone,
  // Makes one call with exactly the given arguments (BareCall), legal or not. Such a call is never
  // judged as part of a transaction and never retried. Its result is always evidence.
  kBareCall,
  // Runs procedure `payload` (procedure.h) in the open transaction. Its parameters begin at number
  // `key` of the parameter pool, and its tags at number `argument`. With kEvidence, its result is
  // evidence.
  kRun,
  // Sets the arrival time of the next transaction: ns_after_go(op) after GO, the start of the
  // phase. Waits until then. The latency of the transaction counts from this time.
  kArrive,
  // Ends the thread's program if ns_after_go(op) have passed since GO. No handle and no transaction
  // is open here. A program with such ops begins with one.
  kUntil,
};

// The flags of an Op. The player gets only kPlayerFlags, because the others say what is judged.
//
// Make the call without a transaction (pass NULL), so that it commits by itself.
inline constexpr uint8_t kAutoCommit = 1u << 0;
// The judge wants to see the whole result (script/outcome_reader.h). For kNext, this is only the
// result of the last call.
inline constexpr uint8_t kEvidence = 1u << 1;
// For kNext and kNextToEnd: the judge wants to see the result of every call.
inline constexpr uint8_t kEvidenceAll = 1u << 2;
// A piece (the next ops of one thread, see piece.h) may begin at this op. No handle and no
// transaction is open here.
inline constexpr uint8_t kUnitStart = 1u << 3;
// Every documented code is legal, because the workload judges the evidence itself. On a kBegin, the
// flag applies to the whole transaction, which runs to its programmed end even after DEADLOCK.
inline constexpr uint8_t kAnyCode = 1u << 4;
// For kBegin: a transaction that receives DEADLOCK is aborted and not retried.
inline constexpr uint8_t kOneAttempt = 1u << 5;
// For kInsert: the program inserts this pair more than once, so ENTRY_EXISTS is legal. On a kBegin,
// the same bit means kOneAttempt.
inline constexpr uint8_t kMayExist = 1u << 5;
// For kGet, kNext and kNextToEnd: keep the returned record, because a later kDeleteRead may delete
// it.
inline constexpr uint8_t kKeep = 1u << 6;
// For kGet: the key is hidden (hidden_key.h). In a script, `key` is the key itself, and `argument`
// holds the bits with which the key is XORed in the piece.
inline constexpr uint8_t kHidden = 1u << 7;

// A call whose result the judge or the program itself uses.
inline constexpr uint8_t kObserved = kEvidence | kEvidenceAll | kKeep;

// The flags that the player needs to execute an op. A kInsert reaches the player without
// kMayExist, because the player continues after ENTRY_EXISTS in any case. The referee finds out
// whether the code was allowed.
inline constexpr uint8_t kPlayerFlags = kAutoCommit | kAnyCode | kOneAttempt | kKeep | kHidden;

// Returns true for the ops that make one get, insertRecord or deleteRecord call with the op's key.
constexpr bool is_data_call(OpCode code) {
  return code == OpCode::kGet || code == OpCode::kInsert || code == OpCode::kDeleteKey ||
         code == OpCode::kDeletePair;
}

// Returns true for the ops that make getNext calls.
constexpr bool is_scan(OpCode code) { return code == OpCode::kNext || code == OpCode::kNextToEnd; }

// Returns true if the op reads or writes records with arguments that the program gives. Each of its
// calls leaves a word (evidence_word.h).
constexpr bool is_on_records(OpCode code) { return is_data_call(code) || is_scan(code); }

// The purpose of a transaction, stored in Op::kind of its kBegin and of each call outside a
// transaction. The player does not learn this purpose:
//   - kStream: the workload itself.
//   - kStripe: an extra check on keys that only one thread uses.
//   - kCanary: an extra check on keys of the workload. Its results must agree with each other.
//   - kScript: fixed parts of the script, such as the scan of all records at the end.
enum class Kind : uint8_t { kStream, kStripe, kCanary, kScript };

// One operation: usually one call to the library. An op has only 16 bytes, because long phases have
// millions of ops.
struct Op {
  OpCode code = OpCode::kYield;
  uint8_t flags = 0;
  uint8_t slot = 0;      // selects one of the thread's open handles
  uint8_t kind : 4 = 0;  // Kind
  uint8_t class_ : 4 =
      0;             // transaction class, < kTransactionClasses; on kBegin and kAutoCommit ops
  uint32_t key = 0;  // number of the key in the pool for the index's key type
  // Number of the text in the payload pool; 0: empty text. For kGet, kNext and kNextToEnd, the
  // window: the position of the payload bytes that their words contain (evidence_word.h).
  uint32_t payload = 0;
  uint32_t argument = 0;  // its meaning depends on `code` (see OpCode)
};
static_assert(sizeof(Op) == 16);

// Returns the time of a kArrive or kUntil.
constexpr uint64_t ns_after_go(const Op& op) { return uint64_t{op.payload} << 32 | op.argument; }

// Describes the call that a kBareCall makes. The struct is packed into Op::argument. Op::slot
// selects the handle, which may be closed or may never have been opened. For create and openIndex,
// Op::key is the number of an index, and otherwise a number in the pool of `key_type`. The payload
// is text Op::payload without a tag.
struct BareCall {
  history::EventCall call = history::EventCall::kBegin;
  // true: pass the transaction of the thread's last bare kBegin, even if it has ended.
  // false: pass NULL.
  bool in_transaction = false;
  KeyType key_type = SHORT;
  bool garbage = false;  // fill unused bytes of the arguments with kGarbage instead of zeros

  static constexpr char kGarbage = '\xa5';

  // Return true if Op::key is a number in a key pool, and if Op::payload is a number in the payload
  // pool.
  constexpr bool has_key() const {
    return call == history::EventCall::kGet || call == history::EventCall::kInsert ||
           call == history::EventCall::kDeletePair || call == history::EventCall::kDeleteKey;
  }
  constexpr bool has_payload() const {
    return call != history::EventCall::kGet && call != history::EventCall::kNext;
  }

  constexpr uint32_t packed() const {
    return static_cast<uint32_t>(call) | uint32_t{in_transaction} << 8 |
           static_cast<uint32_t>(key_type) << 16 | uint32_t{garbage} << 24;
  }
  static constexpr BareCall unpacked(uint32_t bits) {
    return {.call = static_cast<history::EventCall>(bits & 0xff),
            .in_transaction = (bits >> 8 & 0xff) != 0,
            .key_type = static_cast<KeyType>(bits >> 16 & 0xff),
            .garbage = bits >> 24 != 0};
  }
};

// The session's image: one memfd with the data that all phases share. The referee sends it with the
// first phase, and the player maps it for the whole session (script/images.h writes it,
// player/pools_view.h reads it).
//
// The image contains this header, the table of indexes and the procedures. It also contains the
// payload texts, unless there are so many of them that they come with the pieces (piece.h).
//
// The only keys in the image are strings whose numbers procedures compute from records, because the
// referee cannot predict when they are used. These strings have the same numbers as in the script,
// and all other strings of this pool are empty. Few benchmarks have such keys
// (Pools::computed_keys).
//
// A pool of strings (varchar keys or payload texts) is an array `uint32_t offsets[count + 1]`,
// followed by the bytes of all strings. String i is the bytes [offsets[i], offsets[i + 1]), counted
// from the end of the array. A string contains no NUL.
struct PoolsHeader {
  uint32_t version;  // kProgramVersion
  uint32_t reserved;
  uint64_t index_offset, index_count;              // IndexEntry[]
  uint64_t payload_offset, payload_count;          // payload texts; none: they come with the pieces
  uint64_t computed_offset, computed_count;        // string keys that procedures compute
  uint64_t procedure_offset, procedure_count;      // ProcedureEntry[]
  uint64_t instruction_offset, instruction_count;  // Instruction[]
};

// The player copies strings 16 bytes at a time, so it also reads bytes after the end of a
// string. It reads at most this many bytes from the beginning of a string. Therefore an image ends
// with this many zeros.
inline constexpr uint32_t kReadAhead = 128;

inline constexpr uint32_t kIndexNameBytes = 1024;
// One index that the programs use.
struct IndexEntry {
  uint32_t type;               // KeyType
  char name[kIndexNameBytes];  // NUL-terminated
};

}  // namespace keydrome::format
