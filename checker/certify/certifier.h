// judge(): the core of certify() (certify.h), which decides whether a recorded history of
// concurrent transactions is right. judge() needs a history that three other files have prepared:
// transactions.h splits the history into transactions, numbering.h numbers keys and records, and
// versions.h finds the inserter and the deleter of each record.
//
// If a deleteRecord of all payloads overlapped an insert of the same key, the deleter of the
// inserted record is not known (an "open" deleter, versions.h). judge() then tries the possible
// deleters one after the other (open_options.h) until it finds a serial order. Thread safety: the
// functions change only their arguments `versions` and `out`, and use no global state.
#pragma once

#include "checker/certify/certify.h"
#include "checker/certify/dependencies.h"

namespace keydrome::certify {

// What to do about a history that is too long to be judged: the end of a Certification::reason.
inline constexpr const char* kShorterRun =
    "repeat the run with fewer transactions, for example with --scale smoke";

// Sets the verdict in `out`, adds violations to `out`, or does both. `context` must refer to
// `versions`, in which judge() changes the open deleters.
void judge(const Context& context, Versions& versions, Certification& out);

// Adds the violations that remain even if the serial order may contradict real time. Requires a
// context with kRuleRealTime (rules.h) switched off. Leaves out violations that depend on a guess,
// because they prove nothing. A guess is the deleter of a record whose deleter is open, or the edge
// of a Choice (dependencies.h) that is assumed to hold.
void report_without_real_time(const Context& context, Versions& versions, Certification& out);

// Adds a violation to `out`, except if `out` already contains a violation of this name, or
// options.violations_max violations.
void add_violation(Violation violation, const CertifyOptions& options, Certification& out);

bool has_required(const Certification& certification);

}  // namespace keydrome::certify
