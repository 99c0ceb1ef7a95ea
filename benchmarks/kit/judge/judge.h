// Declares the default judge, which compares the outcome of a session (the results that the library
// returned) with its script (the operations), and reports every violation as a finding.
//
// The judge adds the following findings. All of them are required, so each one fails the run.
//   - illegal_answer: a call returned a result that the contract, the specification of the index
//     API, does not allow, or openIndex failed.
//   - no_progress: a transaction or call returned DEADLOCK until its retry budget, a number of
//     attempts and a time, was spent.
//   - endless_scan: a scan returned more records than were ever inserted.
//   - transactions_failed: transactions did not end as programmed.
//   - scan_order: getNext returned a key that is smaller than the previous key.
//   - impossible_record: a read returned a record that cannot exist at that point. The record was
//     never written, its payload was changed, its transaction aborted, or the record was deleted.
//     A key or payload that is longer than any that was stored is also reported under this name.
//   - missing_record: a read or scan did not return a record that must exist (read_groups.cc), or a
//     transaction committed although a record that it requires was missing (judge.cc).
//   - wrong_delete: a delete found a record that cannot exist, or did not find a record that must
//     exist.
//   - wrong_insert: an insert returned ENTRY_EXISTS for a pair that cannot exist, or SUCCESS for a
//     pair that must exist already.
//   - duplicate_record: a scan returned the same record twice.
//   - unrepeatable_read: two reads of one transaction contradict each other. A phantom (a record
//     that appears between two reads) is also reported under this name.
//   - outcome_mismatch: the report of the player, the process that calls the library, does not fit
//     the script, so the library must have changed the report.
//
// The judge uses these terms:
//   - op: one operation of a thread's program (format/program.h). It makes one call or several.
//   - slot: the number of the variable in which a thread keeps an open handle of an index. The op
//     that opens an index names the slot, and later ops call through it.
//   - rank: the position of a key in the key order of the script, a number instead of the key
//     (keys/key_ranks.h). It has nothing to do with the ranks of libraries on a board.
//   - tag: the unique number in the first 8 letters of a payload, which shows which op wrote it.
//   - moment: the position of a read or write in the script: phase, thread, op and transaction.
//   - word: the 8 bytes in which the player reports the result of a call (format/evidence_word.h).
//
// judge.cc judges counters and the ends of transactions. judge_words.cc judges every read, insert
// and delete of all phases except the final scan. So it also judges every timed read. Its
// WordJudge::add() decides whether a read can have returned its record. judge_reads.cc judges the
// final scan.
//
// Thread safety: pure functions.
#pragma once

#include "benchmarks/kit/judge/expected_state.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"
#include "checker/names.h"

namespace keydrome::judge {

// Applies all rules to a session. Phases that did not run are skipped.
void judge_script(const script::Script& script, const script::Outcome& outcome, Findings& findings);

// Applies the rules about counters: illegal codes, spent retry budgets, endless scans, records that
// are too long, failed transactions, and ends of transactions that do not fit the program.
void judge_counters(const script::Script& script, const script::Outcome& outcome,
                    Findings& findings);

// Applies the rules about reads and writes to all phases except the final scan, which reads all
// records. Judges every call of the workload and of the extra checks whose transaction ended as
// programmed. Implemented in judge_words.cc. The calls of procedures, which compute their keys and
// payloads from earlier reads, are judged by their workload. The checker also judges them if it
// certifies the run, i.e. proves that some serial order of the transactions gives all results.
// Results that are certainly right (known_records.h) are judged without the rules, unless
// `shortcut` is false. The findings are the same in both cases.
void judge_words(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
                 const script::Outcome& outcome, Findings& findings, bool shortcut = true);

// Applies the rules about reads to the final scan. Implemented in judge_reads.cc.
void judge_reads(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
                 const script::Outcome& outcome, Findings& findings);

// Returns the text of a finding about a transaction or call that returned DEADLOCK in every
// attempt, until its retry budget was spent. `last_call` is the call that returned DEADLOCK in the
// last attempt; empty if unknown.
std::string no_progress_text(uint32_t attempts, const std::string& last_call);

// Returns the name of the call that an op (operation) makes, such as "insertRecord", for the text
// of a finding.
std::string op_text(const format::Op& op);

}  // namespace keydrome::judge
