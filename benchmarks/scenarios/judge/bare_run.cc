// Implements bare runs, which test misuse of the API. Writes each step as a bare call, i.e. a call
// that the player (the process that calls the library) makes exactly as written. Compares the
// result of each call with the correct results that the scenario, the list of the run's steps,
// gives for this call.
#include "benchmarks/scenarios/judge/bare_run.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/scenarios/judge/narration.h"
#include "checker/history/calls.h"

namespace keydrome::scenarios {

using history::EventCall;

namespace {

constexpr std::array<EventCall, 11> kCalls{
    EventCall::kBegin,     EventCall::kCommit, EventCall::kAbort,  EventCall::kGet,
    EventCall::kNext,      EventCall::kNext,   EventCall::kInsert, EventCall::kDeletePair,
    EventCall::kDeleteKey, EventCall::kOpen,   EventCall::kClose};
static_assert(static_cast<std::size_t>(Action::kClose) + 1 == kCalls.size());
constexpr std::array<std::string_view, 3> kKeyTypeNames{"int32", "int64", "varchar"};
static_assert(SHORT == 0 && INT == 1 && VARCHAR == 2);

void write_run(const Scenario& scenario, const Variant& variant, uint32_t index,
               const Vocabulary& vocabulary, PoolNumbers& pools, script::ThreadBuilder session) {
  const auto key = [&](KeyType type, int64_t label) {
    return vocabulary.pool_key(type, label, pools);
  };
  const auto text = [&](const std::string& label) {
    return label.empty() || label == "*" ? 0 : pools.text(vocabulary.payload_bytes(label));
  };
  session.create(index);
  if (!scenario.setup.empty()) {
    session.bare_call(0, {.call = EventCall::kOpen}, index);
    for (const SetupRecord& record : scenario.setup) {
      session.bare_call(0, {.call = EventCall::kInsert, .key_type = variant.type},
                        key(variant.type, record.key), text(record.payload));
    }
    session.bare_call(0, {.call = EventCall::kClose});
  }
  for (const Step& step : scenario.steps) {
    const format::BareCall call{.call = kCalls.at(static_cast<std::size_t>(step.action)),
                                .in_transaction = !step.auto_commit,
                                .key_type = step.key_type.value_or(variant.type),
                                .garbage = scenario.garbage};
    const bool opens = step.action == Action::kOpen;
    session.bare_call(static_cast<uint8_t>(1 + step.handle), call,
                      opens ? index : key(call.key_type, step.key), text(step.payload));
  }
}

// Returns how many steps at the beginning are certainly legal. These are an open and a begin that
// follows it directly.
std::size_t legal_steps(const Scenario& scenario) {
  const std::vector<Step>& steps = scenario.steps;
  if (steps.empty() || steps[0].action != Action::kOpen) return 0;
  return steps.size() > 1 && steps[1].action == Action::kBegin ? 2 : 1;
}

// A step and the result that the library returned.
struct StepResult {
  const Step* step;
  script::Evidence evidence;
};

class BareJudge {
 public:
  BareJudge(const Variant& variant, const Vocabulary& vocabulary)
      : variant_(variant), vocabulary_(vocabulary) {}

  // Returns a description of the first error, or an empty text. Stops at DEADLOCK, which every call
  // may return.
  std::string judge(std::span<const StepResult> calls) const {
    for (const StepResult& result : calls) {
      if (result.evidence.code > FAILURE)
        return "the library returned an undocumented result code: " + text(result);
      const std::vector<Answer>& answers = result.step->answers;
      const bool right = std::ranges::any_of(
          answers, [&](const Answer& answer) { return fits(result.evidence, answer); });
      if (result.evidence.code == DEADLOCK && !right) return "";
      if (!answers.empty() && !right) {
        return text(result) + ", but this call must return " + answers_text(answers);
      }
      if (const std::string left = wrong_record(result); !left.empty()) return left;
    }
    return "";
  }

  std::string narrate(std::span<const StepResult> calls) const {
    std::string lines;
    for (const StepResult& call : calls) lines += "\n" + text(call);
    return lines;
  }

 private:
  bool fits(const script::Evidence& evidence, const Answer& answer) const {
    if (evidence.code != answer.code) return false;
    if (answer.key && key_text(evidence) != vocabulary_.label_text(*answer.key)) return false;
    return !answer.payload || payload_text(evidence) == *answer.payload;
  }

  // Checks the record that the player passed to get or getNext, and had filled with garbage before
  // the call. Returns a description of bytes that the library wrote wrongly, or an empty text.
  std::string wrong_record(const StepResult& result) const {
    const bool found = result.evidence.code == SUCCESS;
    if (result.step->action == Action::kNext && found &&
        result.evidence.repetition != static_cast<uint64_t>(variant_.type)) {
      return "getNext must write the key's type into the record, but did not: " + text(result);
    }
    if (result.step->action != Action::kGet || found) return "";
    const std::string_view payload = result.evidence.payload;
    const bool untouched =
        payload.find_first_not_of(format::BareCall::kGarbage) == std::string_view::npos;
    return untouched ? ""
                     : "a get that finds nothing must not write a payload into the record, but "
                       "this get did: " +
                           text(result);
  }

  std::string key_text(const script::Evidence& evidence) const {
    uint64_t number = hash_bytes(evidence.key);
    if (variant_.type != VARCHAR) {
      int64_t wide = 0;
      int32_t narrow = 0;
      if (evidence.key.size() == sizeof wide) std::memcpy(&wide, evidence.key.data(), sizeof wide);
      if (evidence.key.size() == sizeof narrow) {
        std::memcpy(&narrow, evidence.key.data(), sizeof narrow);
      }
      number = static_cast<uint64_t>(variant_.type == INT ? wide : narrow);
    }
    return vocabulary_.key_text(variant_.type, number);
  }

  std::string payload_text(const script::Evidence& evidence) const {
    return vocabulary_.payload_text(hash_bytes(evidence.payload));
  }

  std::string text(const StepResult& result) const {
    std::string answer = code_text(result.evidence.code);
    const bool found = result.evidence.code == SUCCESS;
    if (found && result.step->action == Action::kGet) answer = payload_text(result.evidence);
    if (found && result.step->action == Action::kNext) {
      answer = key_text(result.evidence) + " = " + payload_text(result.evidence);
    }
    return "thread 0 " + call_text(*result.step) + " -> " + answer;
  }

  // Returns a step as a call, such as "insertRecord(1, x)".
  std::string call_text(const Step& step) const {
    const EventCall call = kCalls.at(static_cast<std::size_t>(step.action));
    const bool ends = call == EventCall::kCommit || call == EventCall::kAbort;
    std::string arguments = ends && step.auto_commit ? "NULL" : "";
    if (is_data_call(call) && call != EventCall::kNext) {
      arguments = vocabulary_.label_text(step.key);
      if (step.key_type)
        arguments +=
            " as " + std::string(kKeyTypeNames.at(static_cast<std::size_t>(*step.key_type)));
      if (call == EventCall::kInsert || call == EventCall::kDeletePair)
        arguments += ", " + step.payload;
      if (call == EventCall::kDeleteKey) arguments += ", all payloads";
    }
    return std::string(call_name(call)) + "(" + arguments + ")" +
           (step.auto_commit && !ends ? " with auto-commit" : "");
  }

  const Variant& variant_;
  const Vocabulary& vocabulary_;
};

// The calls of each run. If the trace, the list of results, contradicts the program, there are
// fewer runs and `fit` is false.
struct Runs {
  std::vector<std::vector<StepResult>> calls;
  bool fit = true;
};

Runs read_runs(const Scenario& scenario, std::size_t count, const script::ThreadResult& result) {
  script::TraceReader trace(result.trace.bytes);
  Runs runs;
  const std::size_t set_up = scenario.setup.empty() ? 0 : scenario.setup.size() + 2;
  script::Evidence evidence{};
  while (runs.fit && runs.calls.size() < count) {
    for (std::size_t i = 0; runs.fit && i < set_up; ++i) runs.fit = trace.next(evidence);
    std::vector<StepResult> calls;
    for (const Step& step : scenario.steps) {
      runs.fit = runs.fit && trace.next(evidence);
      calls.push_back({.step = &step, .evidence = evidence});
    }
    if (runs.fit) runs.calls.push_back(std::move(calls));
  }
  runs.fit = runs.fit && !trace.next(evidence) && !trace.damaged();
  return runs;
}

}  // namespace

ScriptedBare script_bare(const Scenario& scenario, PoolNumbers& pools,
                         script::ScriptBuilder& script) {
  ScriptedBare scripted;
  scripted.phase = script.add_phase(scenario.id + ": " + scenario.title, 1, {});
  for (const KeyType type : scenario.types) {
    scripted.variants.push_back({.order = {}, .type = type});
  }
  for (const Variant& variant : scripted.variants) {
    const uint32_t index = script.add_index(
        scenario.id + "-" + std::to_string(scripted.vocabularies.size()), variant.type);
    scripted.vocabularies.emplace_back(scenario, variant, pools, script);
    script::ThreadBuilder session = script.thread(scripted.phase, 0);
    write_run(scenario, variant, index, scripted.vocabularies.back(), pools, session);
    if (scripted.first_misuse > 0) continue;
    scripted.first_misuse = session.size() - scenario.steps.size() + legal_steps(scenario);
  }
  return scripted;
}

void judge_bare(const Scenario& scenario, const ScriptedBare& scripted,
                const script::PhaseOutcome& outcome, FindingBook& book) {
  const std::string title = scenario.id + ", " + scenario.title + ": ";
  const Runs runs = read_runs(scenario, scripted.variants.size(), outcome.threads[0]);
  const auto add = [&](const std::string& name, Severity severity, const std::string& detail) {
    book.add(scenario.id,
             {.suite = "", .name = name, .severity = severity, .detail = title + detail});
  };
  for (std::size_t i = 0; i < runs.calls.size(); ++i) {
    const BareJudge judge(scripted.variants[i], scripted.vocabularies[i]);
    const std::string wrong = judge.judge(runs.calls[i]);
    if (wrong.empty()) continue;
    add(scenario.finding, scenario.severity,
        wrong + "\n" + scenario.about + judge.narrate(runs.calls[i]));
    break;
  }
  if (!runs.fit) {
    add("outcome_mismatch", Severity::kRequired,
        "the results in Keydrome's recording do not fit the calls of the scenario. Keydrome keeps "
        "this recording in the library's process, so the library must have overwritten it: look "
        "for writes outside the library's own memory");
  }
}

}  // namespace keydrome::scenarios
