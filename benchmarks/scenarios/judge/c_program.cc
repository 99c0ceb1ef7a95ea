// Implements c_program(), the C program that repeats a failed run of a scenario, a short script of
// API calls. Describes the run as a Reproducer, from which checker/witness writes the C text.
#include "benchmarks/scenarios/judge/c_program.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "benchmarks/scenarios/judge/narration.h"
#include "benchmarks/scenarios/judge/program_log.h"
#include "checker/history/calls.h"
#include "checker/witness/c_program.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;
using witness::Reproducer;
using witness::ReproducerCall;
using witness::ReproducerRecord;

namespace {

constexpr std::size_t kSetupMax = 200;
constexpr std::size_t kCallsMax = 200;  // retries after DEADLOCK can add many calls

class PlayWriter {
 public:
  PlayWriter(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
             const RunLog& log)
      : scenario_(scenario), variant_(variant), vocabulary_(vocabulary), log_(log) {}

  Reproducer write(const RunViolation& violation) const {
    Reproducer play;
    play.name = scenario_.id;
    play.about = about(violation);
    play.violation =
        "What is wrong: " + violation.rule + "." + values_text(scenario_, variant_, vocabulary_);
    play.sessions = scenario_.sessions;
    play.initial = before();
    play.final_records.emplace();
    play.ignored = kFillerPayload;
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      play.indexes.push_back({.type = index_type(variant_, index), .name = index_name(index)});
      for (const Event& event : final_records(log_, index)) {
        const std::string label = vocabulary_.payload_text(event.payload);
        if (label == kFillerPayload || label == kLastPayload) continue;
        play.final_records->push_back(recorded(event, payload_of(event)));
      }
    }
    for (const ShownCall& shown : shown_calls(log_)) play.calls.push_back(call(shown));
    return play;
  }

 private:
  std::string about(const RunViolation& violation) const {
    const std::string& id = scenario_.id;
    return id + ", " + scenario_.title + " (" + violation.name + ").\n\n" + scenario_.about +
           "\n\nBuild and run, with this file as " + id +
           ".c and your library as LIBRARY.so:\n  cc -std=c99 -pthread -I api/include " + id +
           ".c ./LIBRARY.so -o " + id + " && ./" + id +
           "\nExit status 1: every call returned the same as in the failed run below.\n"
           "Exit status 0: at least one call returned something else.\n\nThe failed run. " +
           legend(scenario_, variant_, vocabulary_) + "\n" +
           narrate(scenario_, variant_, vocabulary_, log_);
  }

  // Returns the bytes of a payload. The bytes are those of the failed run, because a library may
  // order the payloads of a key by their bytes. In a program, all fillers (surrounding records)
  // have the same payload.
  std::string payload_of(const std::string& label) const {
    return label == kFillerPayload ? label : vocabulary_.payload_bytes(label);
  }
  std::string payload_of(const Event& event) const {
    const std::string label = vocabulary_.payload_text(event.payload);
    return vocabulary_.knows_payload(event.payload) ? payload_of(label) : label;
  }

  // Returns a record with the key of a label.
  ReproducerRecord labelled(uint32_t index, int64_t label, const std::string& payload) const {
    ReproducerRecord record;
    record.index = index;
    record.payload = payload;
    if (index_type(variant_, index) == VARCHAR) {
      record.text = vocabulary_.string(label);
    } else {
      record.number = vocabulary_.integer(label);
    }
    return record;
  }

  // Returns the record of an event.
  ReproducerRecord recorded(const Event& event, const std::string& payload) const {
    const std::optional<int64_t> label =
        vocabulary_.label_of(index_type(variant_, event.index), event.key);
    ReproducerRecord record;
    record.index = event.index;
    record.payload = payload;
    if (label) record = labelled(event.index, *label, payload);
    record.is_unknown_key = !label;
    record.is_unknown_payload = !vocabulary_.knows_payload(event.payload);
    return record;
  }

  std::vector<ReproducerRecord> before() const {
    std::vector<ReproducerRecord> records;
    for (const SetupRecord& setup : scenario_.setup) {
      records.push_back(labelled(setup.index, setup.key, payload_of(setup.payload)));
    }
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      for (uint32_t i = 0; i < std::min(vocabulary_.fillers(), kProgramFillersMax); ++i) {
        records.push_back(labelled(index, vocabulary_.filler_label(i), kFillerPayload));
      }
    }
    return records;
  }

  ReproducerCall call(const ShownCall& shown) const {
    const Event& event = shown.event;
    const EventCall kind = call_of(event);
    const bool passes = kind == EventCall::kInsert || kind == EventCall::kDeletePair;
    ReproducerCall call;
    call.session = shown.session;
    call.call = kind;
    call.auto_commit = is_auto_commit(event);
    call.code = event.code;
    call.index = event.index;
    call.begin_ticks = begin_of(event, 0);
    call.end_ticks = event.end;
    if (is_data_call(kind)) {
      call.passed = recorded(event, passes ? payload_of(event) : "");
      const bool reads = kind == EventCall::kGet || kind == EventCall::kNext;
      if (reads && succeeded(event)) call.returned = recorded(event, payload_of(event));
    }
    call.text = call_text(scenario_, variant_, vocabulary_, shown.session, event);
    call.text.resize(call.text.rfind(" -> "));
    return call;
  }

  const Scenario& scenario_;
  const Variant& variant_;
  const Vocabulary& vocabulary_;
  const RunLog& log_;
};

}  // namespace

std::string c_program(const Scenario& scenario, const Variant& variant, const ScriptedRun& run,
                      const RunLog& log, const RunViolation& violation) {
  const bool second_handles = std::ranges::any_of(
      scenario.handles, [](const Handle& handle) { return handle.name.size() > 1; });
  if (!violation.shows_calls || second_handles || scenario.setup.size() > kSetupMax) return "";
  if (shown_calls(log).size() > kCallsMax) return "";
  const RunLog shown = program_log(scenario, variant, run.vocabulary, log);
  // The program makes fewer calls than the run. Without the other calls, the same violation may
  // have another name, so any required violation counts.
  const bool shows =
      std::ranges::any_of(judge_run(scenario, variant, run, shown), [&](const RunViolation& one) {
        return one.severity == Severity::kRequired || one.name == violation.name;
      });
  if (!shows) return "";
  return witness::c_program(PlayWriter(scenario, variant, run.vocabulary, log).write(violation));
}

}  // namespace keydrome::scenarios
