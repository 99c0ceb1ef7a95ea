// What the checker found: a verdict, and for each violation the transactions in a circle and the
// one observation behind every edge, so that a witness can be drawn or written from it without
// asking the checker again.
//
// Everything points into the History that was judged (history.h) by thread and position; nothing is
// copied, so a Certification is small and outlives nothing but makes no sense without its History.
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checker/severity.h"

namespace keydrome {

enum class Verdict : uint8_t {
  kCertified,      // a serial order that respects real time reproduces every result: proven
  kViolation,      // at least one violation of severity kRequired
  kCouldNotJudge,  // the history is incomplete or makes no sense; `reason` says why
  kUndecided,      // no circle, but no order was found within the effort allowed either
};

// An event: history.threads[thread][position].
struct EventRef {
  uint32_t thread = 0;
  uint32_t position = 0;
  bool operator==(const EventRef&) const = default;
};

enum class TransactionState : uint8_t { kCommitted, kFailed, kUnfinished };

// The events first..last (inclusive) of one thread. Auto-committed calls that lie between them are
// transactions of their own and do not belong to it. For an auto-committed call first == last.
struct TransactionSpan {
  uint32_t thread = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  TransactionState state = TransactionState::kCommitted;
  bool auto_commit = false;
  uint64_t begin_ticks = 0;  // just before its first call was made
  uint64_t end_ticks = 0;    // just after its last call returned
};

// Why one transaction must stand before another in every serial order (Adya 1999, chapter 4). The
// predicate kinds speak about records that a lookup or a scan did not show.
enum class EdgeKind : uint8_t {
  kWriteWrite,      // `to` deleted the record that `from` inserted
  kWriteRead,       // `to` saw the record that `from` inserted
  kPredicateRead,   // `to` no longer saw the record that `from` deleted
  kReadWrite,       // `from` saw the record that `to` deleted
  kPredicateWrite,  // `from` did not see the record that `to` inserted
  kRealTime,        // `from` had returned before `to` was begun
};

// How a call came to say that a record is not there.
enum class Coverage : uint8_t {
  kNone,         // the edge is not about an absence
  kMissingKey,   // get or deleteRecord said that the key or the pair is missing
  kGap,          // a getNext step passed over the key
  kBeforeFirst,  // the first getNext of the transaction started behind the key
  kTail,         // DB_END
  kRestOfKey,    // a scan left a key without having shown this payload
};

struct ViolationEdge {
  uint32_t from = 0;  // positions in Violation::transactions
  uint32_t to = 0;
  EdgeKind kind = EdgeKind::kRealTime;
  Coverage coverage = Coverage::kNone;
  std::string because;  // one sentence that starts with a capital letter, without full stop
  std::vector<EventRef> causes;  // the observation first, then the write it is about
};

struct Violation {
  std::string name;  // snake_case, one of kViolationNames
  Severity severity = Severity::kRequired;
  std::string detail;  // what is wrong, one sentence without full stop
  // Of a circle: in order, edge i leads from transaction i to transaction i + 1, the last one back
  // to the first. Otherwise the transactions involved, and no edges.
  std::vector<TransactionSpan> transactions;
  std::vector<ViolationEdge> edges;
  std::vector<EventRef> events;  // the calls that show it, most telling first
};

inline constexpr std::string_view kViolationNames[] = {
    "aborted_read",               // G1a: saw what a transaction wrote that never committed
    "answer_after_deadlock",      // a call answered, after DEADLOCK, as if nothing had happened
    "circular_information_flow",  // G1c: each saw what the other wrote
    "commit_after_deadlock",      // commitTransaction answered SUCCESS after DEADLOCK
    "corrupt_key",                // a key that nobody ever passed
    "corrupt_payload",            // a payload that nobody inserted under that key
    "dirty_read",                 // saw a write before its transaction asked to commit
    "dirty_write",                // G0: writes of two transactions in a circle
    "duplicate_record",           // one scan showed a record twice
    "intermediate_read",          // G1b: saw what its writer took back before it committed
    "internal",                   // a transaction did not see its own writes right
    "lost_update",                // both deleted or replaced the same record
    "missing_record",             // a committed record that nobody can find any more
    "non_repeatable_read",        // a record vanished within one transaction
    "phantom",                    // G2 with a record that a lookup or scan did not show
    "read_only_anomaly",          // G2 with a transaction that only reads (Fekete et al. 2004)
    "read_skew",                  // G-single: saw one write of a transaction but not the other
    "stale_read",                 // in order only if real time is not respected
    "torn_commit",                // saw some of a transaction's records of one index but not all
    "undocumented_code",          // an answer that the call is not documented to give
    "unexpected_failure",         // FAILURE where nothing can fail
    "write_skew",                 // G2 between two transactions over records that both saw
    "wrong_order",                // a scan went backwards
};

// How much was judged, for reports.
struct CertificationCounts {
  uint64_t committed = 0;
  uint64_t failed = 0;
  uint64_t unfinished = 0;
  uint64_t events = 0;
  uint64_t edges = 0;
  uint64_t leftovers = 0;  // absences that the stamps alone did not explain
};

struct Certification {
  Verdict verdict = Verdict::kCouldNotJudge;
  // What the verdict would be if real time did not count: kCertified beside violations means that
  // all that is wrong are stale reads.
  Verdict without_real_time = Verdict::kCouldNotJudge;
  std::string reason;  // one sentence: why one of them could not be given; empty when both are
  std::vector<Violation> violations;
  CertificationCounts counts;
};

}  // namespace keydrome
