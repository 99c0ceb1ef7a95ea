// Implements the judgement of recorded calls: builds a history, then compares it with a model of
// the contract, the specification of the API.
#include "benchmarks/differential/judged_calls.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/count_text.h"
#include "base/hash.h"
#include "benchmarks/kit/judge/finding.h"
#include "checker/history/calls.h"

namespace keydrome::differential {

using history::Event;
using history::EventCall;
using history::History;
using history::kEventAutoCommit;
using model::SessionCheck;

namespace {

History empty_history(const Case& session, std::span<const Call> calls) {
  History history;
  for (uint32_t i = 0; i < session.indexes.size(); ++i) {
    history.indexes.push_back({.type = session.indexes[i], .name = index_name(i)});
  }
  for (const Call& call : calls) {
    if (!has_key(call.kind) || session.indexes[call.index] != VARCHAR) continue;
    history.varchar_keys.push_back(session.keys[call.key].text);
  }
  return history;
}

EventCall event_call(CallKind kind) {
  constexpr EventCall kCalls[kCallKinds] = {
      EventCall::kCreate, EventCall::kOpen,       EventCall::kClose,    EventCall::kBegin,
      EventCall::kCommit, EventCall::kAbort,      EventCall::kGet,      EventCall::kNext,
      EventCall::kInsert, EventCall::kDeletePair, EventCall::kDeleteKey};
  return kCalls[static_cast<std::size_t>(kind)];
}

// A library may return the same handle for several indexes. The recorded event then names any one
// of these indexes. As long as the events match the calls, the index of the call replaces the
// recorded index.
void correct_indexes(std::span<const Call> calls, std::vector<Event>& events) {
  for (std::size_t i = 0; i < std::min(calls.size(), events.size()); ++i) {
    if (call_of(events[i]) != event_call(calls[i].kind)) return;
    if (uses_index(calls[i].kind)) events[i].index = calls[i].index;
    if (events[i].code == DEADLOCK) return;
  }
}

// Corrects the results of the first create of each index that reuses a name. The right result is
// DB_EXISTS. But the model takes each index for a new one and expects SUCCESS, so the two codes
// are exchanged.
void correct_creates(const Case& session, std::vector<Event>& events) {
  std::set<uint16_t> seen;
  for (Event& event : events) {
    if (call_of(event) != EventCall::kCreate || event.index >= session.reuses.size()) continue;
    if (!session.reuses[event.index] || !seen.insert(event.index).second) continue;
    if (event.code == DB_EXISTS || event.code == SUCCESS) {
      event.code = event.code == SUCCESS ? DB_EXISTS : SUCCESS;
    }
  }
}

}  // namespace

JudgedCalls judge_calls(const Case& session, std::span<const Call> calls,
                        const script::PhaseOutcome& outcome) {
  JudgedCalls judged;
  judged.history = empty_history(session, calls);
  const script::ThreadResult& result = outcome.threads[0];
  judged.history.threads.push_back(result.events);
  correct_indexes(calls, judged.history.threads[0]);
  correct_creates(session, judged.history.threads[0]);
  if (const Result<void> ranked = rank_varchar_keys(judged.history); !ranked) {
    judged.mismatch = ranked.error().message;
    return judged;
  }
  if (!judged.history.unknown_arguments.empty()) {
    judged.mismatch =
        "Keydrome's recording contains calls with keys that the benchmark does not use: the "
        "library has overwritten the recording, or returned one handle for several indexes. First "
        "check that openIndex returns a different handle for each index. If it does, look for "
        "writes outside the library's own memory";
    return judged;
  }
  SessionCheck check = model::check_session(judged.history);
  judged.fault = std::move(check.violation);
  judged.advice = std::move(check.advice);
  if (!check.problem.empty()) judged.mismatch = judge::inconsistent_log_text(check.problem);
  if (judged.fault || !judged.mismatch.empty()) return judged;
  const format::ThreadOutcome& reported = *result.reported;
  if (reported.events_full != 0) {
    const std::string count = count_text(result.events.size(), "call");
    judged.not_judged = judge::full_recording_text("the recording of the calls (" + count + ")");
  } else if (reported.deadlocks == 0 && reported.code_violations == 0 &&
             !corresponds(judged.history, calls)) {
    judged.mismatch =
        "the calls in Keydrome's recording differ from those that the benchmark made. Keydrome "
        "keeps this recording in the library's process, so the library must have overwritten it: "
        "look for writes outside the library's own memory";
  }
  return judged;
}

bool corresponds(const History& history, std::span<const Call> calls) {
  const std::vector<Event>& events = history.threads[0];
  if (events.size() != calls.size()) return false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (call_of(events[i]) != event_call(calls[i].kind)) return false;
  }
  return true;
}

History unanswered(const Case& session) {
  History history = empty_history(session, session.calls);
  std::vector<Event>& events = history.threads.emplace_back();
  bool in_transaction = false;
  for (const Call& call : session.calls) {
    if (call.kind == CallKind::kBegin) in_transaction = true;
    if (call.kind == CallKind::kCommit || call.kind == CallKind::kAbort) in_transaction = false;
    const bool alone = is_data_call(call.kind) && !in_transaction;
    const auto code = static_cast<uint8_t>(event_call(call.kind));
    Event event{.call = static_cast<uint8_t>(code | (alone ? kEventAutoCommit : 0)),
                .code = kNoAnswer,
                .index = call.index,
                .duration = 0,
                .key = 0,
                .payload = has_payload(call.kind) ? hash_bytes(payload_bytes(session, call)) : 0,
                .end = events.size()};
    if (has_key(call.kind)) {
      const KeyValue& key = session.keys[call.key];
      event.key = session.indexes[call.index] == VARCHAR ? hash_bytes(key.text)
                                                         : static_cast<uint64_t>(key.number);
    }
    events.push_back(event);
  }
  KEYDROME_CHECK(static_cast<bool>(rank_varchar_keys(history)));
  return history;
}

}  // namespace keydrome::differential
