// witness_json(): describes a violation for people, as JSON called a *witness*. A witness contains
// the transactions of the violation and their relevant calls in time order. If the transactions
// form a cycle, the witness also says why each must precede the next.
// harness/schema/report.v1.schema.json defines the fields of a witness. Other parts of Keydrome
// make pictures, tables and pages from a witness.
//
// If minimise() (minimise.h) can reduce the history, the witness shows the reduced history. Then
// the origin of every record that a call returns is part of the witness: either the transaction
// that wrote the record, or an entry in the list of records that existed before. Thread safety:
// pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "checker/certify/violation.h"
#include "checker/history/history.h"

namespace keydrome::witness {

// Returns one sentence, without full stop, that says what a violation of this name means. The
// sentence is for readers who know nothing about isolation. Returns "" if there is no such name.
std::string_view violation_meaning(std::string_view name);

// Returns the witness of a violation, which must be a result of certify(history). With
// `with_program`, adds a C program that makes the same calls, if reproducer.h can write one.
Json witness_json(const history::History& history, const certify::Violation& violation,
                  bool with_program = true);

}  // namespace keydrome::witness
