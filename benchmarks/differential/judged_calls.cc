#include "benchmarks/differential/judged_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "checker/calls.h"

namespace keydrome::differential {
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

// A library may give one handle for several indexes, and then an event has the number of one of
// them. As long as the events are the calls, these know better.
void correct_indexes(std::span<const Call> calls, std::vector<Event>& events) {
  for (std::size_t i = 0; i < std::min(calls.size(), events.size()); ++i) {
    if (call_of(events[i]) != event_call(calls[i].kind)) return;
    if (uses_index(calls[i].kind)) events[i].index = calls[i].index;
    if (events[i].code == DEADLOCK) return;
  }
}

}  // namespace

JudgedCalls judge_calls(const Case& session, std::span<const Call> calls,
                        const PhaseOutcome& outcome) {
  JudgedCalls judged;
  judged.history = empty_history(session, calls);
  const ThreadResult& result = outcome.threads[0];
  judged.history.threads.push_back(result.events);
  correct_indexes(calls, judged.history.threads[0]);
  if (const Result<void> ranked = rank_varchar_keys(judged.history); !ranked) {
    judged.mismatch = ranked.error().message;
    return judged;
  }
  if (!judged.history.unknown_arguments.empty()) {
    judged.mismatch = "calls were recorded with keys that nobody asked for";
    return judged;
  }
  SessionCheck check = check_session(judged.history);
  judged.fault = std::move(check.fault);
  judged.mismatch = std::move(check.problem);
  if (judged.fault || !judged.mismatch.empty()) return judged;
  const ThreadOutcome& counters = *result.counters;
  if (counters.events_full != 0) {
    judged.not_judged = "more calls were made than there was room to record";
  } else if (counters.deadlocks == 0 && counters.code_violations == 0 &&
             !corresponds(judged.history, calls)) {
    judged.mismatch = "other calls were recorded than were asked for";
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
