// Implements split_logs(), which splits the logs of a phase into the runs of a scenario (a short
// script of API calls). Assigns recorded calls to runs by their index numbers, then finds the
// scenario's steps in each run.
#include "benchmarks/scenarios/judge/run_log.h"

#include <algorithm>
#include <span>

#include "benchmarks/kit/judge/finding.h"
#include "checker/history/calls.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;
using history::History;

namespace {

bool has_index(EventCall call) {
  return call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort;
}

bool enters(EventCall call) { return call == EventCall::kCreate || call == EventCall::kOpen; }

// Assigns the events of a thread to the runs. Returns a description of the first error, or an empty
// text.
std::string assign_events(std::span<const Event> events, std::size_t thread, uint32_t first_index,
                          uint32_t indexes, std::vector<RunLog>& runs) {
  std::size_t run = 0;
  for (Event event : events) {
    if (has_index(call_of(event))) {
      const uint32_t number = event.index - first_index;
      if (event.index < first_index || number / indexes >= runs.size()) {
        return "Keydrome's recording contains a call on an index of another scenario: the library "
               "has overwritten the recording, or returned one handle for several indexes. First "
               "check that openIndex returns a different handle for each index. If it does, look "
               "for writes outside the library's own memory";
      }
      if (enters(call_of(event))) run = number / indexes;
      if (number / indexes != run)
        return "the recorded calls are not in the order in which the benchmark made them: the "
               "library has overwritten the recording, or returned one handle for several "
               "indexes. First check that openIndex returns a different handle for each index. If "
               "it does, look for writes outside the library's own memory";
      event.index = static_cast<uint16_t>(number % indexes);
    }
    runs[run].history.threads[thread].push_back(event);
  }
  return "";
}

// Returns the number of the last run in which a thread took part.
std::size_t last_run(std::span<const Event> events, uint32_t first_index, uint32_t indexes) {
  for (std::size_t i = events.size(); i > 0; --i) {
    const Event& event = events[i - 1];
    if (enters(call_of(event)) && event.index >= first_index) {
      return (event.index - first_index) / indexes;
    }
  }
  return 0;
}

// Before a run, the first thread empties the indexes. Removes these calls from its log, and notes
// whether an index was not empty afterwards. Returns false if the log ends before the set-up does.
bool remove_emptying(RunLog& log, const ScriptedRun& run, uint32_t indexes) {
  std::vector<Event>& events = log.history.threads[0];
  std::size_t at = 0;
  const auto pass_close = [&] {
    while (at < events.size()) {
      const Event& event = events[at++];
      if (call_of(event) == EventCall::kNext && succeeded(event)) log.left_over = true;
      if (call_of(event) == EventCall::kClose && event.code != DEADLOCK) return true;
    }
    return false;
  };
  for (uint32_t index = 0; index < indexes; ++index) {
    const std::size_t begin = at;
    if (run.emptied.at(index)) {
      if (!pass_close()) return false;
      events.erase(events.begin() + static_cast<std::ptrdiff_t>(begin),
                   events.begin() + static_cast<std::ptrdiff_t>(at));
      at = begin;
    }
    if (!pass_close()) return false;
  }
  return true;
}

// Finds the first and last step of the first thread. Returns false if the run ended earlier.
bool find_steps(RunLog& log, const ScriptedRun& run, uint32_t indexes) {
  if (!remove_emptying(log, run, indexes)) return false;
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
  // A log ends with one open per index, the transaction that reads everything, and the closes. So
  // the end of the steps is found by searching backwards.
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
                   const script::PhaseOutcome& outcome) {
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
  std::size_t complete = logs.runs.size();
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const script::ThreadResult& result = outcome.threads[thread];
    const std::string problem =
        assign_events(result.events, thread, scripted.runs[0].first_index, indexes, logs.runs);
    if (logs.problem.empty()) logs.problem = problem;
    if (result.reported->events_full == 0) continue;
    // The log became full in this run. Calls of this thread are missing in this run and in later
    // runs.
    logs.overflow = true;
    complete = std::min(complete, last_run(result.events, scripted.runs[0].first_index, indexes));
  }
  logs.runs.resize(std::min(complete, logs.runs.size()));
  if (logs.overflow) {
    logs.problem = judge::full_recording_text("the recording of a thread");
  }
  std::size_t whole = 0;
  while (whole < logs.runs.size() && find_steps(logs.runs[whole], scripted.runs[whole], indexes)) {
    ++whole;
  }
  if (whole < logs.runs.size()) {
    if (logs.problem.empty())
      logs.problem =
          "calls of a run are missing in Keydrome's recording. Keydrome keeps this recording in "
          "the library's process, so the library must have overwritten it: look for writes outside "
          "the library's own memory";
    logs.runs.resize(whole);
  }
  return logs;
}

}  // namespace keydrome::scenarios
