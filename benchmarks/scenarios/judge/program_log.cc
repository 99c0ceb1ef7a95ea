// Implements program_log(), which returns the part of a run that a C program repeats. The scenario,
// the script of the run, lists steps. program_log() keeps the calls of these steps, and replaces
// the calls before and after them with those that the program makes.
#include "benchmarks/scenarios/judge/program_log.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/scenarios/judge/narration.h"
#include "checker/history/calls.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;
using history::kEventAutoCommit;

namespace {

class ProgramLog {
 public:
  ProgramLog(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
             const RunLog& log)
      : scenario_(scenario), variant_(variant), vocabulary_(vocabulary), log_(log) {}

  RunLog write() {
    const std::vector<Event>& recorded = log_.history.threads[0];
    RunLog out = log_;
    std::vector<Event>& events = out.history.threads[0];
    events.clear();
    set_up(events);
    out.steps_begin = static_cast<uint32_t>(events.size());
    events.insert(events.end(), recorded.begin() + log_.steps_begin,
                  recorded.begin() + log_.steps_end);
    out.steps_end = static_cast<uint32_t>(events.size());
    for (const std::vector<Event>& thread : out.history.threads) {
      if (!thread.empty()) now_ = std::max(now_, thread.back().end);
    }
    read_everything(events);
    out.last_attempts = 1;
    out.left_over = false;
    return out;
  }

 private:
  std::optional<int64_t> label_of(const Event& event) const {
    return vocabulary_.label_of(index_type(variant_, event.index), event.key);
  }

  std::string payload_of(const Event& event) const {
    return vocabulary_.payload_text(event.payload);
  }

  // Adds the inserts of the records that the program inserts before the steps.
  void set_up(std::vector<Event>& events) {
    // The labels of the fillers (surrounding records) that the program inserts.
    std::set<int64_t> few;
    for (uint32_t i = 0; i < std::min(vocabulary_.fillers(), kProgramFillersMax); ++i) {
      few.insert(vocabulary_.filler_label(i));
    }
    std::set<std::tuple<uint16_t, uint64_t, uint64_t>> seen;  // index, key and payload
    const std::vector<Event>& recorded = log_.history.threads[0];
    for (uint32_t i = 0; i < log_.steps_begin; ++i) {
      Event event = recorded[i];
      if (call_of(event) != EventCall::kInsert) continue;
      const bool filler = payload_of(event) == kFillerPayload;
      if (filler && few.count(label_of(event).value_or(0)) == 0) continue;
      if (!seen.emplace(event.index, event.key, event.payload).second) continue;
      event.call = static_cast<uint8_t>(EventCall::kInsert) | kEventAutoCommit;
      event.code = SUCCESS;
      event.duration = 0;
      event.end = ++now_;
      events.push_back(event);
      if (filler) fillers_.push_back(event);
    }
  }

  void read_everything(std::vector<Event>& events) {
    add(events, EventCall::kBegin, SUCCESS, {});
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      for (const Event& record : records_at_end(index)) {
        add(events, EventCall::kNext, SUCCESS, record);
      }
      Event end{};
      end.index = static_cast<uint16_t>(index);
      add(events, EventCall::kNext, DB_END, end);
    }
    add(events, EventCall::kCommit, SUCCESS, {});
  }

  // Returns the recorded records of an index in their order, with each filler before the first
  // larger key.
  std::vector<Event> records_at_end(uint32_t index) const {
    std::vector<Event> records;
    for (const Event& event : final_records(log_, index)) {
      const std::string payload = payload_of(event);
      if (payload != kFillerPayload && payload != kLastPayload) records.push_back(event);
    }
    for (const Event& filler : fillers_) {
      if (filler.index != index) continue;
      const int64_t label = *label_of(filler);
      const auto larger = std::ranges::find_if(
          records, [&](const Event& event) { return label_of(event).value_or(label) > label; });
      records.insert(larger, filler);
    }
    return records;
  }

  void add(std::vector<Event>& events, EventCall call, uint8_t code, Event event) {
    event.call = static_cast<uint8_t>(call);
    event.code = code;
    event.duration = 0;
    event.end = ++now_;
    events.push_back(event);
  }

  const Scenario& scenario_;
  const Variant& variant_;
  const Vocabulary& vocabulary_;
  const RunLog& log_;
  std::vector<Event> fillers_;
  uint64_t now_ = 0;
};

}  // namespace

RunLog program_log(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
                   const RunLog& log) {
  return ProgramLog(scenario, variant, vocabulary, log).write();
}

}  // namespace keydrome::scenarios
