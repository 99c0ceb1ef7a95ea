#include "benchmarks/scenarios/run_log.h"

#include <algorithm>
#include <span>

#include "checker/calls.h"

namespace keydrome::scenarios {
namespace {

bool has_index(EventCall call) {
  return call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort;
}

bool enters(EventCall call) { return call == EventCall::kCreate || call == EventCall::kOpen; }

// Hands a thread's events out to the runs. Empty, or what is wrong with them.
std::string hand_out(std::span<const Event> events, std::size_t thread, uint32_t first_index,
                     uint32_t indexes, std::vector<RunLog>& runs) {
  std::size_t run = 0;
  for (Event event : events) {
    if (has_index(call_of(event))) {
      const uint32_t number = event.index - first_index;
      if (event.index < first_index || number / indexes >= runs.size()) {
        return "a call on an index of another scenario was recorded";
      }
      if (enters(call_of(event))) run = number / indexes;
      if (number / indexes != run) return "calls were recorded in an order that nobody asked for";
      event.index = static_cast<uint16_t>(number % indexes);
    }
    runs[run].history.threads[thread].push_back(event);
  }
  return "";
}

// The run that a thread entered last.
std::size_t last_run(std::span<const Event> events, uint32_t first_index, uint32_t indexes) {
  for (std::size_t i = events.size(); i > 0; --i) {
    const Event& event = events[i - 1];
    if (enters(call_of(event)) && event.index >= first_index) {
      return (event.index - first_index) / indexes;
    }
  }
  return 0;
}

// Where the steps of the first thread begin and end. False: the run did not get that far.
bool find_steps(RunLog& log, uint32_t indexes) {
  const std::vector<Event>& events = log.history.threads[0];
  const auto is = [&](std::size_t position, EventCall call) {
    return call_of(events[position]) == call;
  };
  std::size_t at = 0;
  for (uint32_t closed = 0; closed < indexes; ++at) {
    if (at == events.size()) return false;
    if (is(at, EventCall::kClose) && events[at].code != DEADLOCK) ++closed;
  }
  log.steps_begin = static_cast<uint32_t>(at);
  // From the end: closes, the transaction that reads, and as many opens as there are indexes.
  std::size_t end = events.size();
  log.last_attempts = 0;
  while (end > at && !is(end - 1, EventCall::kOpen)) {
    --end;
    log.last_attempts += is(end, EventCall::kBegin) ? 1 : 0;
  }
  for (uint32_t opened = 0; opened < indexes; --end) {
    if (end == at) return false;
    if (is(end - 1, EventCall::kOpen) && events[end - 1].code != DEADLOCK) ++opened;
  }
  log.steps_end = static_cast<uint32_t>(end);
  return log.last_attempts > 0;
}

}  // namespace

RunLogs split_logs(const PlannedScenario& planned, const ScriptedScenario& scripted,
                   const PhaseOutcome& outcome) {
  const uint32_t indexes = planned.scenario.indexes;
  const std::size_t threads = outcome.threads.size();
  RunLogs logs;
  logs.runs.resize(scripted.runs.size());
  for (std::size_t number = 0; number < logs.runs.size(); ++number) {
    History& history = logs.runs[number].history;
    history.threads.resize(threads);
    for (uint32_t index = 0; index < indexes; ++index) {
      history.indexes.push_back(
          {.type = index_type(planned.variants[number], index), .name = index_name(index)});
    }
  }
  std::size_t whole = logs.runs.size();
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const ThreadResult& result = outcome.threads[thread];
    const std::string problem =
        hand_out(result.events, thread, scripted.runs[0].first_index, indexes, logs.runs);
    if (logs.problem.empty()) logs.problem = problem;
    if (result.counters->events_full == 0) continue;
    // The run in which the log was full, and those behind it, lack this thread's calls.
    logs.overflow = true;
    whole = std::min(whole, last_run(result.events, scripted.runs[0].first_index, indexes));
  }
  logs.runs.resize(std::min(whole, logs.runs.size()));
  if (logs.overflow) logs.problem = "more calls were made than there was room to record";
  const auto unfinished =
      std::ranges::find_if_not(logs.runs, [&](RunLog& log) { return find_steps(log, indexes); });
  if (unfinished != logs.runs.end()) {
    if (logs.problem.empty()) logs.problem = "the calls of a run are missing";
    logs.runs.erase(unfinished, logs.runs.end());
  }
  return logs;
}

}  // namespace keydrome::scenarios
