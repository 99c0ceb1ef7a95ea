// Reports: events, and what certify() found, as text for people and as JSON.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "base/json.h"
#include "checker/history.h"
#include "checker/violation.h"

namespace keydrome {

const char* name_of(Verdict verdict);
const char* name_of(Severity severity);
const char* name_of(EdgeKind kind);
const char* name_of(Coverage coverage);
const char* name_of(TransactionState state);

// "get(A, 5) = KEY_NOTFOUND", "getNext(A) = (7, #1f3a)". A payload is shown by four hexadecimal
// digits of its fingerprint.
std::string event_text(const History& history, const Event& event);

std::string text_report(const History& history, const Certification& found);
Json json_report(const History& history, const Certification& found);

}  // namespace keydrome
