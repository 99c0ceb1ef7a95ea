// What comes back from the jail: one writable memfd per phase, created, sized and sealed against
// resizing by the referee before GO and mapped by both sides.
//
// Everything in it was written by a process that also runs the contestant's code: the referee
// copies a struct out once, checks every count and offset against the size it chose itself, and
// treats what does not fit as a failed run.
#pragma once

#include <cstdint>

#include "benchmarks/kit/program.h"

namespace keydrome {

inline constexpr uint32_t kOutcomeVersion = 6;

// Log-linear histogram: 32 linear steps per power of two, so a value is known to 1/32 (3.1 %);
// values in ns.
inline constexpr uint32_t kHistogramStepBits = 5;
inline constexpr uint32_t kHistogramBuckets = 36
                                              << kHistogramStepBits;  // up to 2^40 ns, 18 minutes

// Committed transactions over time: the window width starts at 2^14 ns and doubles (pairs are
// merged) whenever the phase outgrows the array, so any phase of at least 2 ms shows between 128
// and 256 windows.
inline constexpr uint32_t kWindows = 256;
inline constexpr uint32_t kWindowShiftMin = 14;

// How one transaction (in program order) ended; one byte each in the outcome array.
enum class TransactionEnd : uint8_t {
  kNotRun = 0,
  kCommitted,
  kAborted,
  kFailed,
  kDeadlocked,  // kOneAttempt and answered DEADLOCK: aborted
};

// Violations that are not an answer of the library; beyond every ErrCode.
inline constexpr uint32_t kCodeNoProgress = 1000;  // DEADLOCK on every attempt (patience.h)
inline constexpr uint32_t kCodeEndless =
    1001;  // a scan to the end gave more records than can exist
inline constexpr uint32_t kCodeNoHandle =
    1002;  // the index could not be opened, so the call was not made
inline constexpr uint32_t kCodeUnfit =
    1003;  // a commit succeeded, though a record that must be there was missing or was no such

// Why a transaction failed: the first call that answered what the contract does not allow.
struct IllegalAnswer {
  uint64_t op;    // ordinal of the op in the thread's program, over all rounds
  uint32_t code;  // the ErrCode it returned (or an undocumented number), or a code from above
  uint32_t reserved;
};

// Of ThreadOutcome::progress_op: the library was asked to abort the attempt that the op is in.
inline constexpr uint64_t kTakingBack = uint64_t{1} << 63;

// Transactions are counted in program order: one for each kBegin and one for each call with
// kAutoCommit, repeated bodies as often as they run.
struct alignas(64) ThreadOutcome {
  uint64_t committed[kTransactionClasses];
  uint64_t aborted;  // voluntary aborts that succeeded
  uint64_t failed;
  uint64_t deadlocked;        // transactions that ended as kDeadlocked
  uint64_t deadlocks;         // DEADLOCK answers
  uint64_t calls;             // API calls made, retries included
  uint64_t gets, get_hits;    // of stream transactions, for the hit ratio
  uint64_t order_violations;  // getNext went backwards
  uint64_t code_violations;   // undocumented or illegal codes; the first of them:
  IllegalAnswer first_violation;
  uint64_t transactions;  // entries of the outcome array that are filled
  uint64_t
      digest;  // chained digest of the kDigest ops of all transactions that ended as programmed
  uint64_t trace_bytes;
  uint64_t trace_dropped;         // evidence that did not fit
  uint64_t events;                // of the log of a recorded phase
  uint64_t events_full;           // 1: the log was full, later calls are not in it
  uint64_t progress_op;           // ordinal of the op that the thread is in, with kTakingBack
                                  // while its attempt is taken back; readable while it runs
  uint64_t started_ns, ended_ns;  // since GO, the player's clock: diagnostics only
  uint64_t context_switches;      // of the thread, while it played: diagnostics only
  uint32_t window_shift;
  uint32_t stamp_slack;  // of a recorded phase: History::stamp_slack
  uint32_t thread_id;    // gettid() of the thread, in the jail
  uint32_t windows[kWindows];
  uint32_t histogram[kTransactionClasses][kHistogramBuckets];
};

// Header of the memfd; the arrays follow at offsets that the referee wrote and keeps its own copy
// of.
struct OutcomeHeader {
  uint32_t version;
  uint32_t threads;
  uint64_t thread_offset;  // ThreadOutcome[threads]
  struct Span {
    uint64_t ends_offset, ends_capacity;    // TransactionEnd[]
    uint64_t trace_offset, trace_capacity;  // bytes of TraceRecord
    uint64_t log_offset, log_capacity;      // Event[] (checker/event.h); 0: not recorded
  } spans[kThreadsMax];
};

// One piece of evidence in a thread's trace, followed by key and payload bytes and padded to 8
// bytes.
struct TraceRecord {
  uint64_t op;          // ordinal of the op in the thread's program
  uint64_t repetition;  // round of the kRepeat body << 32 | number of the getNext call, both from
                        // 0; kMark: the digest
  uint32_t code;        // ErrCode as returned
  uint16_t
      key_bytes;  // 0 unless code is SUCCESS and the op reads; int keys: 4 or 8 bytes, native order
  uint16_t payload_bytes;
};
static_assert(sizeof(TraceRecord) == 24);

}  // namespace keydrome
