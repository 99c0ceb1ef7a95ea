// Defines the outcome: the results that the player, the process that calls the library, writes for
// one phase of a run. The player runs in the jail (a sandbox). The referee, which judges the run
// outside the jail, reads the outcome through a memfd that both processes map.
//
// Before GO, the start of the phase, the referee creates the memfd, sets its size and seals the
// size. The contents are untrusted, because the player's process also runs the code of the library
// under test. Therefore the referee copies each struct exactly once. It checks every count and
// offset against the sizes that it chose itself. If a count or an offset does not fit, the run
// fails.
//
// Thread safety: plain data. Each thread of the player writes only its own part.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/program.h"

namespace keydrome::format {

inline constexpr uint32_t kOutcomeVersion = 10;

// The next four codes report violations that the player detects itself. They are larger than every
// ErrCode of the library.
//
// Every attempt returned DEADLOCK until the retry budget, a number of attempts and a time, was
// spent (player/retry_budget.h).
inline constexpr uint32_t kCodeNoProgress = 1000;
// A scan returned more records than can exist.
inline constexpr uint32_t kCodeEndless = 1001;
// The index could not be opened, so the call was not made.
inline constexpr uint32_t kCodeNoHandle = 1002;
// A commit succeeded although a required record was missing or malformed (procedure.h).
inline constexpr uint32_t kCodeUnfit = 1003;

// The first violation of a thread: a call that returned a result which the contract, the
// specification of the index API, forbids, or one of the four violations above. An op is one
// operation of the program.
struct IllegalAnswer {
  uint64_t op;    // number of the op in the thread's whole program
  uint32_t code;  // the returned number, documented or not, or one of the codes above
  // For kCodeNoProgress, the number of attempts that returned DEADLOCK. For a code that a call of a
  // procedure (procedure.h) returned, the history::EventCall of the call. Otherwise 0.
  uint32_t detail;
};

// ThreadOutcome::position says where a thread is. The usual value is kInWords: the thread is at the
// first op of its program whose words are incomplete (script/word_follower.h). Three cases use the
// number of the op instead, because words do not show the op: a failed attempt to execute a
// transaction, a procedure (procedure.h), and an op that leaves no words. kAwaitsPiece or
// kRollingBack can be added to this number. A piece is the part of a program that a thread receives
// at once (piece.h).
//
// After the end of the program, the position is the number of ops of the program. If a kUntil op
// has ended the program early, because a given time has passed, the position is ~kPositionBits.
// This is the largest number without the bits below.
inline constexpr uint64_t kInWords = uint64_t{1} << 61;
inline constexpr uint64_t kAwaitsPiece = uint64_t{1} << 62;  // waits for the piece with this op
inline constexpr uint64_t kRollingBack = uint64_t{1} << 63;  // aborts the transaction of this op
inline constexpr uint64_t kPositionBits = kInWords | kAwaitsPiece | kRollingBack;

// The counters and times of one thread. Everything else that the thread did follows from its words,
// which are 8 bytes each and describe its calls (control_word.h).
struct alignas(64) ThreadOutcome {
  uint64_t words;                 // number of words (control_word.h); stored at the end
  uint64_t position;              // where the thread is (kInWords); read while the thread runs
  uint64_t deadlocks;             // calls that returned DEADLOCK
  uint64_t attempts_overwritten;  // failed attempts whose words were overwritten
  uint64_t code_violations;       // results that the contract does not allow
  IllegalAnswer first_violation;  // valid if code_violations > 0
  uint64_t trace_bytes;           // bytes of evidence written to the trace
  uint64_t trace_dropped;         // records of evidence that did not fit into the trace
  uint64_t events;                // calls in the log; 0 if the phase is not recorded (has no log)
  uint64_t events_full;           // 1: the log is full, so later calls are missing from it
  uint64_t go_ticks;              // the player's clock at GO, from which times in words count
  uint64_t ended_ticks;           // the end of the thread, in ticks after GO
  uint64_t context_switches;      // switches of the thread during the phase; diagnostics only
  uint32_t timestamp_slack;       // ticks by which logged times may be early (History in checker/)
  uint32_t thread_id;             // gettid() of the thread, in the jail
};

// The header of the memfd: where its parts begin. The referee writes the header before GO. It keeps
// its own copy and never reads the header back, because the library could have changed it.
struct OutcomeHeader {
  uint32_t version;
  uint32_t threads;
  uint64_t thread_offset;  // ThreadOutcome[threads]
  struct Span {
    uint64_t words_offset, words_capacity;  // uint64_t[] (control_word.h)
    uint64_t words_spare;                   // how many of the words are for failed attempts
    uint64_t trace_offset, trace_capacity;  // bytes of TraceRecord
    uint64_t log_offset, log_capacity;      // Event[] (checker/history/event.h); 0: not recorded
  } spans[kThreadsMax];
};

// One record of evidence: the result of a single call, which the judge compares with what the
// script allows. The trace of a thread is the memory for such records. Only threads of correctness
// benchmarks, and of the scan that reads all records at the end, have one. A thread with a trace
// writes a record for each call of its program except begin, commit and abort. So the player does
// not know which of the results are judged. The bytes of key and payload follow the struct, padded
// to a multiple of 8 bytes.
struct TraceRecord {
  uint64_t op;          // number of the op in the thread's program
  uint64_t repetition;  // (repetition of the kRepeat body) << 32 | (number of the getNext call),
                        // both counted from 0
  uint32_t code;        // ErrCode as returned
  uint16_t key_bytes;   // 0 if no record was read; 4 or 8 for an integer key in native byte order
  uint16_t payload_bytes;
};
static_assert(sizeof(TraceRecord) == 24);

// Returns the size of a trace record with a key and a payload of these sizes.
constexpr uint64_t trace_record_bytes(uint64_t key_bytes, uint64_t payload_bytes) {
  return (sizeof(TraceRecord) + key_bytes + payload_bytes + 7) / 8 * 8;
}

}  // namespace keydrome::format
