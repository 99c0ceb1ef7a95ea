// The default judge of a script that was written with the ScriptBuilder.
//
// What it adds, all required:
//   illegal_answer, no_progress, endless_scan
//                         the first call of a thread whose answer the contract does not allow
//   transactions_failed   transactions that ended otherwise than programmed
//   scan_order            getNext went backwards
//   wrong_digest          stripes and canaries (digest_judge.h)
//   impossible_record     a read gave what cannot have been there: never written, changed, aborted,
//                         deleted
//   missing_record        a read or scan left out what must have been there
//   wrong_delete          a delete says that it found a record that cannot have been there, or none
//                         where one must have been
//   wrong_insert          an insert says that its pair was there already when it cannot have been,
//   or
//                         not when it must have been
//   duplicate_record      a scan gave the same record twice
//   unrepeatable_read     two reads of one transaction contradict each other (phantoms included)
//   outcome_mismatch      the player's report does not fit the script; it was tampered with
#pragma once

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/ledger.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// All of the above. Phases that did not run are left out.
void judge_script(const Script& script, const Outcome& outcome, Findings& findings);

// Only what the threads counted: illegal answers, failed transactions, scan order, ends that do not
// fit the program.
void judge_counters(const Script& script, const Outcome& outcome, Findings& findings);

// Only what was read: evidence in all phases and the final scan.
void judge_reads(const Script& script, const KeyRanks& ranks, const Outcome& outcome,
                 Findings& findings);

// "insertRecord", "DEADLOCK": names for findings.
std::string op_text(const Op& op);
std::string code_text(uint32_t code);

}  // namespace keydrome
