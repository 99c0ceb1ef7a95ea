// The operation program: what the referee generates, the player executes and the judge reasons
// about.
//
// A benchmark is data. The referee (outside the jail) turns a workload and a seed into programs,
// one per phase and thread; the player (inside, beside the library) is an interpreter that knows no
// workload. So no seed, no generator and no expected answer ever enters the jail, and adding a
// benchmark never touches the player.
//
// Layout. These structs cross a process boundary in sealed memfds: fixed sizes, no pointers,
// little-endian. Offsets are in bytes from the start of the memfd they stand in. The player trusts
// the referee; the referee does not trust the player (see outcome.h).
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "benchmarks/kit/procedure.h"
#include "checker/event.h"
#include "keydrome/index.h"

namespace keydrome {

inline constexpr uint32_t kProgramVersion = 2;
inline constexpr uint32_t kSlots = 16;  // open handles per thread
inline constexpr uint32_t kTransactionClasses =
    8;                                   // e.g. scan, get, update: each has its own histogram
inline constexpr uint32_t kEvents = 16;  // counters for kSignal and kWait
inline constexpr uint32_t kThreadsMax = 256;
inline constexpr uint32_t kTagBytes = 8;  // every payload begins with its tag
inline constexpr uint32_t kNoTag = 0;     // but one with this, which is its text alone

enum class OpCode : uint8_t {
  kCreate,  // create(index `argument`)
  kOpen,    // slot <- openIndex(index `argument`)
  kClose,   // closeIndex(slot)
  kBegin,   // beginTransaction; `argument` ops follow up to and including its kCommit or kAbort
  kCommit,  //
  kAbort,   //
  kGet,     // get(key)
  kNext,    // `argument` times getNext; goes on calling after DB_END, as the contest's driver did
  kNextToEnd,   // getNext until DB_END, at most `argument` times (one more is a code violation)
  kInsert,      // insertRecord(key, tag `argument` + text `payload`)
  kDeleteKey,   // deleteRecord(key, empty payload)
  kDeletePair,  // deleteRecord(key, tag `argument` + text `payload`)
  kMark,        // writes the digest gathered since the last mark to the trace, and starts a new one
  kRepeat,      // runs the `payload` ops before this one `argument` more times; not nested
  kSignal,      // event `argument` += 1
  kWait,        // waits until event `argument` >= `payload`
  kYield,  // lets others run until event `argument` >= `payload`, for at most `key` microseconds;
           // 0: once
  kDeleteRead,  // deleteRecord of the pair that the transaction's last successful kKeep read of
                // this slot returned; no call when there was none, and no evidence
  kStep,  // waits for the baton to reach step `argument` (baton.h); passes a step over that holds
          // it for more than `payload` microseconds
  kStepDone,  // passes the baton on if it still stands at step `argument`
  kBareCall,  // one call with just the arguments that it says (BareCall), be they fair or not;
              // neither judged nor retried, and always evidence
  kRun,       // in a transaction: procedure `payload` with the parameters from number `key` on and
              // the tags from `argument` on (procedure.h); kEvidence: its result
  kArrive,    // the transaction behind it is asked for `payload` * 2^32 + `argument` ns after GO:
              // waits for that moment, and the transaction's latency counts from it
};

// Flags of an Op.
inline constexpr uint8_t kAutoCommit = 1u << 0;  // pass txn == NULL
inline constexpr uint8_t kEvidence =
    1u << 1;  // write the result to the trace (kNext: of its last call only)
inline constexpr uint8_t kEvidenceAll = 1u
                                        << 2;  // kNext, kNextToEnd: write every result to the trace
inline constexpr uint8_t kDigest = 1u
                                   << 3;  // fold code, key and payload into the digest (digest.h)
inline constexpr uint8_t kUnitStart =
    1u << 4;  // a round may begin here: no handle or transaction is open
inline constexpr uint8_t kAnyCode =
    1u << 5;  // every documented code is legal here (scripts judge the evidence); kBegin: in the
              // whole transaction, which goes on even after DEADLOCK up to its end as programmed
inline constexpr uint8_t kOneAttempt =
    1u << 6;  // kBegin: a transaction that is answered DEADLOCK is aborted and not run again
inline constexpr uint8_t kMayExist =
    1u << 6;  // kInsert: the program inserts that pair more than once, so ENTRY_EXISTS is legal
inline constexpr uint8_t kKeep =
    1u << 7;  // kGet, kNext, kNextToEnd: a kDeleteRead may ask for what this returns

// Flags of a call that leaves more behind than its code.
inline constexpr uint8_t kObserved = kEvidence | kEvidenceAll | kDigest | kKeep;

constexpr bool is_data_call(OpCode code) {
  return code == OpCode::kGet || code == OpCode::kInsert || code == OpCode::kDeleteKey ||
         code == OpCode::kDeletePair;
}

// What a transaction is for; in Op::kind of its kBegin. Auto-commit calls and calls outside
// transactions carry it too.
enum class Kind : uint8_t { kStream, kStripe, kCanary, kScript };

// One call, or a run of getNext calls. 16 bytes: a generated operation costs no more memory than
// that.
struct Op {
  OpCode code = OpCode::kYield;
  uint8_t flags = 0;
  uint8_t slot = 0;      // which open handle
  uint8_t kind : 4 = 0;  // Kind
  uint8_t class_ : 4 =
      0;             // transaction class, < kTransactionClasses; in kBegin (and in auto-commit ops)
  uint32_t key = 0;  // number in the key pool of the index's type
  uint32_t payload =
      0;  // number in the payload pool; 0 means no text: the payload is the tag alone
  uint32_t argument = 0;
};
static_assert(sizeof(Op) == 16);

// What a kBareCall does; in Op::argument. Op::slot says which handle, which may never have been
// opened or be closed already. Op::key is a number in the pool of `key_type`, or that of an index;
// the payload is text Op::payload alone, without a tag.
struct BareCall {
  EventCall call = EventCall::kBegin;
  bool in_transaction = false;  // the thread's last bare kBegin's, ended or not; otherwise NULL
  KeyType key_type = SHORT;
  bool garbage = false;  // fill what the call need not read with kGarbage, instead of zeros

  static constexpr char kGarbage = '\xa5';

  constexpr uint32_t packed() const {
    return static_cast<uint32_t>(call) | uint32_t{in_transaction} << 8 |
           static_cast<uint32_t>(key_type) << 16 | uint32_t{garbage} << 24;
  }
  static constexpr BareCall unpacked(uint32_t bits) {
    return {.call = static_cast<EventCall>(bits & 0xff),
            .in_transaction = (bits >> 8 & 0xff) != 0,
            .key_type = static_cast<KeyType>(bits >> 16 & 0xff),
            .garbage = bits >> 24 != 0};
  }
};

// The pools image is one memfd that is sent with the first phase and stays mapped (pools_image.h
// writes and reads it): this header, the index table, four pools, and procedures with the
// parameters of their runs. The int32 and int64 pools are plain arrays. Strings (varchar keys,
// payload texts) are `offsets[count + 1]` (uint32, relative to the end of that array) followed by
// the bytes; entry i spans [offsets[i], offsets[i + 1]) and has no NUL.
struct PoolsHeader {
  uint32_t version;  // kProgramVersion
  uint32_t reserved;
  uint64_t index_offset, index_count;  // IndexEntry[]
  uint64_t int32_offset, int32_count;
  uint64_t int64_offset, int64_count;
  uint64_t varchar_offset, varchar_count;  // offset of offsets[]
  uint64_t payload_offset, payload_count;
  uint64_t procedure_offset, procedure_count;      // ProcedureEntry[]
  uint64_t instruction_offset, instruction_count;  // Instruction[]
  uint64_t parameter_offset, parameter_count;      // int64_t[]
};

inline constexpr uint32_t kIndexNameBytes = 1024;
struct IndexEntry {
  uint32_t type;               // KeyType
  char name[kIndexNameBytes];  // NUL-terminated
};

// A round: one memfd with the next ops of every thread of a phase. Long phases have several rounds;
// round r + 1 is sent when the first thread enters round r, so look-ahead is bounded to one round.
struct RoundHeader {
  uint32_t version;
  uint32_t threads;
  uint32_t round;
  uint32_t last;  // 1: no further round follows
  struct Span {
    uint64_t offset;  // of Op[count]; 16-byte aligned
    uint64_t count;
  } spans[kThreadsMax];
};

}  // namespace keydrome
