// Certification: the result of certify(), which is a verdict and the violations that were found.
// Most violations are cycles of transactions: each transaction must precede the next, and the last
// must precede the first. For each such pair, an edge says why the first transaction of the pair
// must precede the second, and cites the calls that prove it.
//
// A Certification refers to calls and transactions by their thread and position in the History that
// was judged (history/history.h). So a Certification is small, but useless without its History. The
// two together are enough to write a report, or a witness: the few calls that prove a violation, as
// data for people (witness/witness.h). Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checker/history/transaction_span.h"
#include "checker/severity.h"

namespace keydrome::certify {

enum class Verdict : uint8_t {
  kCertified,  // proven: a serial order that respects real time gives every recorded result
  kViolation,  // at least one violation of severity kRequired
  // The history is damaged, or leaves open what happened. For example, a transaction that never
  // ended wrote records, or two inserts stored the same record. Certification::reason says why.
  kCouldNotJudge,
  kUndecided,  // the search found neither a violation nor a serial order before its limit
};

// The reason why transaction `from` precedes transaction `to` in every serial order (Adya 1999,
// chapter 4). The predicate kinds are about records that a lookup or a scan did not return.
enum class EdgeKind : uint8_t {
  kWriteWrite,      // `to` deleted a record that `from` inserted
  kWriteRead,       // `to` saw a record that `from` inserted
  kPredicateRead,   // `to` did not see a record that `from` had deleted
  kReadWrite,       // `from` saw a record that `to` deleted
  kPredicateWrite,  // `from` did not see a record that `to` inserted
  kRealTime,        // `from` had returned before `to` began
};

// The kind of result that implies that a record did not exist.
enum class Coverage : uint8_t {
  kNone,         // no such result: the edge is not about an absent record
  kMissingKey,   // get or deleteRecord reported that the key or the pair does not exist
  kGap,          // a getNext step passed over the key
  kBeforeFirst,  // the first getNext of the transaction returned a larger key
  kTail,         // getNext returned DB_END
  kRestOfKey,    // a scan moved to the next key without having returned this payload
};

struct ViolationEdge {
  uint32_t from = 0;  // positions in Violation::transactions
  uint32_t to = 0;
  EdgeKind kind = EdgeKind::kRealTime;
  Coverage coverage = Coverage::kNone;
  std::string because;  // one sentence that starts with a capital letter, without full stop
  // The two calls that prove the edge. For kRealTime: the end of `from`, then the begin of `to`.
  // For other kinds: the call that saw, missed or deleted a record, then the insert or delete of
  // this record by the other transaction.
  std::vector<history::EventRef> causes;
};

struct Violation {
  std::string name;  // snake_case, one of kViolationNames
  Severity severity = Severity::kRequired;
  std::string detail;  // what is wrong, one sentence without full stop
  // For a cycle, the transactions in the order of the cycle: edge i leads from transaction i to
  // transaction i + 1, and the last edge leads back to transaction 0. For other violations, the
  // transactions that are involved; `edges` is then empty.
  std::vector<history::TransactionSpan> transactions;
  std::vector<ViolationEdge> edges;
  std::vector<history::EventRef> events;  // the calls that show the violation
  // For a cycle, the end of `detail`: what each edge says, or the first of them. Otherwise empty.
  std::string steps;
};

// G0, G1a and so on are A. Adya's names of isolation failures (thesis, MIT 1999).
inline constexpr std::string_view kViolationNames[] = {
    "aborted_read",               // G1a: saw a write of a transaction that never committed
    "answer_after_deadlock",      // the library carried out a call of a transaction after DEADLOCK
    "circular_information_flow",  // G1c: in a cycle, each saw a write of the previous transaction
    "commit_after_deadlock",      // commitTransaction returned SUCCESS after DEADLOCK
    "corrupt_key",                // returned a key that no call ever passed
    "corrupt_payload",            // returned a payload that no call inserted under that key
    "deleted_record",             // a committed delete deleted nothing: the record is still found
    "delete_code",                // a warning: KEY_NOTFOUND for a missing pair of a stored key
    "dirty_read",                 // saw a write before its transaction called commitTransaction
    "dirty_write",                // G0: a cycle of writes, or a write over an uncommitted one
    "duplicate_record",           // one scan returned a record twice
    "illegal_answer",             // an open transaction or handle was reported as missing
    "intermediate_read",          // G1b: saw a record that its writer deleted before committing
    "internal",                   // a transaction contradicts its own writes, or no order fits
    "lost_update",                // two transactions deleted or replaced the same record
    "missing_record",             // a committed record is not found, although nothing deleted it
    "non_repeatable_read",        // a record disappeared within one transaction
    "phantom",                    // a lookup or scan missed a record that was inserted meanwhile
    "read_only_anomaly",          // G2 with a transaction that only reads (Fekete et al. 2004)
    "read_skew",                  // G-single: saw one write of a transaction but missed another
    "read_your_writes",           // a transaction missed an earlier commit of its own thread
    "stale_read",                 // serialisable, but only in an order that contradicts real time
    "torn_commit",                // saw one write of a transaction and later missed another
    "undocumented_code",          // a call returned a code that is not documented for it
    "unexpected_failure",         // a legal call returned FAILURE
    "write_skew",                 // G2-item: each deleted a record that another one had read
    "wrong_insert",               // an insert stored a record that already existed
    "wrong_order",                // a scan went backwards
};

// Counts of what certify() judged, for reports.
struct CertificationCounts {
  uint64_t committed = 0;
  uint64_t failed = 0;
  uint64_t unfinished = 0;
  uint64_t events = 0;
  uint64_t edges = 0;
  // Number of Choices (dependencies.h). A Choice is the question why a call did not return a
  // record: the call came before the insert of the record, or after its delete.
  uint64_t leftovers = 0;
};

struct Certification {
  Verdict verdict = Verdict::kCouldNotJudge;
  // The verdict if the serial order may contradict real time. If this verdict is kCertified, all
  // required violations are stale reads.
  Verdict without_real_time = Verdict::kCouldNotJudge;
  std::string reason;  // one sentence: why a verdict is unknown; empty if both verdicts are known
  std::vector<Violation> violations;
  // The serial order that was found: the first event of each committed transaction. Empty if the
  // verdict is not kCertified or CertifyOptions::keep_order is false.
  std::vector<history::EventRef> order;
  CertificationCounts counts;
};

}  // namespace keydrome::certify
