// Writes the results of certify() as text for a terminal and as JSON. Thread safety: pure
// functions.
#pragma once

#include <string>

#include "base/json.h"
#include "checker/certify/violation.h"
#include "checker/history/history.h"

namespace keydrome::witness {

// Each name_of() returns the name of a value in reports, such as "could_not_judge".
const char* name_of(certify::Verdict verdict);
const char* name_of(Severity severity);
const char* name_of(certify::EdgeKind kind);
const char* name_of(certify::Coverage coverage);
const char* name_of(history::TransactionState state);

// Returns a call as text, such as "get(A, 5) = KEY_NOTFOUND" or "getNext(A) = (7, #1f3a)". A
// payload appears as the first four hexadecimal digits of its hash, because a history has only
// hashes of payloads.
std::string event_text(const history::History& history, const history::Event& event);

std::string text_report(const history::History& history, const certify::Certification& found);
Json json_report(const history::History& history, const certify::Certification& found);

}  // namespace keydrome::witness
