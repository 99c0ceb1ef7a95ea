// Implements the description of a run in words. Replaces recorded keys and payloads with the labels
// that the scenario, the script of the run, uses for them.
#include "benchmarks/scenarios/judge/narration.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/count_text.h"
#include "benchmarks/kit/judge/judge.h"
#include "checker/history/calls.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;

namespace {

// The maximum number of calls that are shown, and of records in one line.
constexpr std::size_t kLinesMax = 60;
constexpr std::size_t kRecordsMax = 12;
constexpr std::size_t kLabelsMax = 6;    // labels whose real values are shown
constexpr std::size_t kPayloadMax = 20;  // bytes of a payload that is shown whole

// Returns the labels of the keys in an index.
std::set<int64_t> key_labels(const Scenario& scenario, uint32_t index) {
  std::set<int64_t> labels;
  for (const SetupRecord& record : scenario.setup) {
    if (record.index == index) labels.insert(record.key);
  }
  for (const Step& step : scenario.steps) {
    const uint32_t used = scenario.handles.empty() ? 0 : scenario.handles[step.handle].index;
    const bool has_key = step.action == Action::kGet || step.action == Action::kInsert ||
                         step.action == Action::kDeletePair || step.action == Action::kDeleteKey;
    if (has_key && used == index) labels.insert(step.key);
  }
  return labels;
}

// Returns the real keys of an index for a text, such as "1 is 500000001, 2 is 500000002". Returns
// an empty text if the scenario gives the keys, because the labels then contain them.
std::string keys_text(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, uint32_t index) {
  std::string text;
  if (!scenario.literal_keys.empty()) return text;
  std::size_t shown = 0;
  for (const int64_t label : key_labels(scenario, index)) {
    if (++shown > kLabelsMax) return text + " and so on";
    const bool is_string = index_type(variant, index) == VARCHAR;
    text += (text.empty() ? "" : ", ") + std::to_string(label) + " is " +
            (is_string ? '"' + vocabulary.string(label) + '"'
                       : std::to_string(vocabulary.integer(label)));
  }
  return text;
}

// Returns the real payloads for a text, such as "x is \"AAAAAAFH\"". Omits payloads that the
// scenario gives.
std::string payloads_text(const Scenario& scenario, const Vocabulary& vocabulary) {
  std::set<std::string> labels;
  for (const SetupRecord& record : scenario.setup) labels.insert(record.payload);
  for (const Step& step : scenario.steps) labels.insert(step.payload);
  std::string text;
  std::size_t shown = 0;
  for (const std::string& label : labels) {
    if (label.empty() || label == "*" || scenario.literal_payloads.contains(label)) continue;
    if (++shown > kLabelsMax) return text + " and so on";
    std::string bytes = vocabulary.payload_bytes(label);
    if (bytes.size() > kPayloadMax) bytes = bytes.substr(0, format::kTagBytes) + "...";
    text.append(text.empty() ? "" : ", ").append(label).append(" is \"").append(bytes).append("\"");
  }
  return text;
}

std::string arguments_text(const Scenario& scenario, const Variant& variant,
                           const Vocabulary& vocabulary, const Event& event) {
  const EventCall call = call_of(event);
  std::string text;
  if (call == EventCall::kBegin || call == EventCall::kCommit || call == EventCall::kAbort) {
    return text;
  }
  if (scenario.indexes > 1) text += index_name(event.index);
  const auto add = [&text](const std::string& argument) {
    text += (text.empty() ? "" : ", ") + argument;
  };
  const bool has_key = is_data_call(call) && call != EventCall::kNext;
  if (has_key) add(vocabulary.key_text(index_type(variant, event.index), event.key));
  if (call == EventCall::kInsert || call == EventCall::kDeletePair) {
    add(vocabulary.payload_text(event.payload));
  }
  if (call == EventCall::kDeleteKey) add("all payloads");
  return text;
}

std::string result_text(const Variant& variant, const Vocabulary& vocabulary, const Event& event) {
  const EventCall call = call_of(event);
  if (!succeeded(event)) return code_text(event);
  if (call == EventCall::kGet) return vocabulary.payload_text(event.payload);
  if (call != EventCall::kNext) return code_text(event);
  return vocabulary.key_text(index_type(variant, event.index), event.key) + " = " +
         vocabulary.payload_text(event.payload);
}

std::string more_text(std::size_t records) {
  return " and more (" + std::to_string(records) + " in all)";
}

std::string setup_text(const Scenario& scenario, const Variant& variant) {
  std::string text;
  std::size_t shown = 0;
  for (const SetupRecord& record : scenario.setup) {
    if (++shown > kRecordsMax) break;
    if (!text.empty()) text += ", ";
    if (scenario.indexes > 1) text += index_name(record.index) + " ";
    text += std::to_string(record.key) + " = " + record.payload;
  }
  if (shown > kRecordsMax) text += more_text(scenario.setup.size());
  if (variant.filler == 0) return text.empty() ? "none" : text;
  return (text.empty() ? "only " : text + ", and ") + count_text(variant.filler, "record") +
         " under other keys, shown as filler";
}

// Returns the records at the end as text. Omits the records that the benchmark adds: the fillers
// (surrounding records), and one record that the final reading transaction inserts. If the library
// lost some of these, gives their number.
std::string contents_text(const Scenario& scenario, const Variant& variant,
                          const Vocabulary& vocabulary, const RunLog& log) {
  std::vector<std::string> records;
  std::string missing;
  for (uint32_t index = 0; index < scenario.indexes; ++index) {
    uint32_t left = variant.filler + (index == 0 ? 1 : 0);
    for (const Event& event : final_records(log, index)) {
      const std::string payload = vocabulary.payload_text(event.payload);
      if (payload == kFillerPayload || payload == kLastPayload) {
        left -= std::min(left, 1u);
        continue;
      }
      records.push_back((scenario.indexes > 1 ? index_name(index) + " " : "") +
                        result_text(variant, vocabulary, event));
    }
    if (left > 0)
      missing = "; " + count_text(left, "other record") + " missing, although never deleted";
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(records.size(), kRecordsMax); ++i) {
    text += (i > 0 ? ", " : "") + records[i];
  }
  if (records.size() > kRecordsMax) text += more_text(records.size());
  if (variant.filler == 0 || !missing.empty()) return (text.empty() ? "none" : text) + missing;
  return text.empty() ? "only the filler" : text + ", and the filler";
}

}  // namespace

std::vector<Event> final_records(const RunLog& log, uint32_t index) {
  const std::vector<Event>& events = log.history.threads[0];
  std::vector<Event> records;
  for (std::size_t i = log.steps_end; i < events.size(); ++i) {
    const EventCall call = call_of(events[i]);
    if (call == EventCall::kBegin) records.clear();  // the previous attempt ended with DEADLOCK
    const bool is_record = call == EventCall::kNext && succeeded(events[i]);
    if (is_record && events[i].index == index) records.push_back(events[i]);
  }
  return records;
}

std::vector<ShownCall> shown_calls(const RunLog& log) {
  std::vector<ShownCall> calls;
  for (uint32_t session = 0; session < log.history.threads.size(); ++session) {
    const std::vector<Event>& events = log.history.threads[session];
    const std::size_t begin = session == 0 ? log.steps_begin : 0;
    const std::size_t end = session == 0 ? log.steps_end : events.size();
    for (std::size_t i = begin; i < end; ++i) {
      calls.push_back({.session = session, .event = events[i], .waited = false});
    }
  }
  std::ranges::sort(calls, {},
                    [](const ShownCall& call) { return std::pair(call.event.end, call.session); });
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const uint64_t begin = begin_of(calls[i].event, 0);
    calls[i].waited = calls[i - 1].session != calls[i].session && calls[i - 1].event.end > begin;
  }
  return calls;
}

std::string call_text(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, uint32_t session, const Event& event) {
  return "thread " + std::to_string(session) + " " + std::string(call_name(call_of(event))) + "(" +
         arguments_text(scenario, variant, vocabulary, event) + ")" +
         (is_auto_commit(event) ? " with auto-commit" : "") + " -> " +
         result_text(variant, vocabulary, event);
}

std::string legend(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary) {
  constexpr std::array<const char*, 3> kTypes{"int32", "int64", "varchar"};
  std::string text = "In the lines below, keys and payloads are labels.";
  for (uint32_t index = 0; index < scenario.indexes; ++index) {
    const auto type = static_cast<std::size_t>(index_type(variant, index));
    const std::string keys = keys_text(scenario, variant, vocabulary, index);
    text += scenario.indexes > 1 ? " In index " + index_name(index) + ", the keys" : " The keys";
    text.append(" have the type ").append(kTypes.at(type));
    text.append(keys.empty() ? "" : ": ").append(keys).append(".");
  }
  if (variant.persistent) text += " Transactions are retried after DEADLOCK.";
  return text;
}

std::string values_text(const Scenario& scenario, const Variant& variant,
                        const Vocabulary& vocabulary) {
  std::string text;
  const auto add = [&text](const std::string& values) {
    if (!values.empty()) text += (text.empty() ? "" : "; ") + values;
  };
  for (uint32_t index = 0; index < scenario.indexes; ++index) {
    const std::string keys = keys_text(scenario, variant, vocabulary, index);
    if (!keys.empty())
      add((scenario.indexes > 1 ? "in index " + index_name(index) + ", " : "") + keys);
  }
  add(payloads_text(scenario, vocabulary));
  return text.empty() ? "" : " Here, keys and payloads are labels: " + text + ".";
}

std::string answers_text(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers) {
    if (!text.empty()) text += " or ";
    if (answer.code != SUCCESS || (!answer.key && !answer.payload)) text += code_text(answer.code);
    if (answer.key) text += "key " + std::to_string(*answer.key);
    if (answer.key && answer.payload) text += " with ";
    if (answer.payload) text += "payload " + *answer.payload;
  }
  return text;
}

std::string narrate(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
                    const RunLog& log) {
  std::string text = "records before (key = payload): " + setup_text(scenario, variant) + "\n";
  std::size_t lines = 0;
  for (const ShownCall& call : shown_calls(log)) {
    const EventCall kind = call_of(call.event);
    const bool shown = is_data_call(kind) || kind == EventCall::kBegin ||
                       kind == EventCall::kCommit || kind == EventCall::kAbort;
    const bool in_script = std::ranges::any_of(scenario.steps, [](const Step& step) {
      return step.action == Action::kOpen || step.action == Action::kClose;
    });
    if (!shown && !in_script) continue;
    if (++lines > kLinesMax) continue;
    text += call_text(scenario, variant, vocabulary, call.session, call.event);
    text += call.waited ? ", after waiting\n" : "\n";
  }
  if (lines > kLinesMax)
    text += "(not shown: " + count_text(lines - kLinesMax, "later call") + ")\n";
  return text + "records at the end: " + contents_text(scenario, variant, vocabulary, log);
}

}  // namespace keydrome::scenarios
