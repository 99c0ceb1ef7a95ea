#include "benchmarks/scenarios/bare_run.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "base/hash.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/scenarios/narration.h"

namespace keydrome::scenarios {
namespace {

constexpr std::array<EventCall, 11> kCalls{
    EventCall::kBegin,     EventCall::kCommit, EventCall::kAbort,  EventCall::kGet,
    EventCall::kNext,      EventCall::kNext,   EventCall::kInsert, EventCall::kDeletePair,
    EventCall::kDeleteKey, EventCall::kOpen,   EventCall::kClose};
static_assert(static_cast<std::size_t>(Action::kClose) + 1 == kCalls.size());

void write_run(const Scenario& scenario, const Variant& variant, uint32_t index,
               const Vocabulary& vocabulary, PoolNumbers& pools, ThreadBuilder session) {
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
    const BareCall call{.call = kCalls.at(static_cast<std::size_t>(step.action)),
                        .in_transaction = !step.auto_commit,
                        .key_type = step.key_type.value_or(variant.type),
                        .garbage = scenario.garbage};
    const bool opens = step.action == Action::kOpen;
    session.bare_call(static_cast<uint8_t>(1 + step.handle), call,
                      opens ? index : key(call.key_type, step.key), text(step.payload));
  }
}

// What came back from one step.
struct Told {
  const Step* step;
  Evidence evidence;
};

class BareJudge {
 public:
  BareJudge(const Variant& variant, const Vocabulary& vocabulary)
      : variant_(variant), vocabulary_(vocabulary) {}

  // What is wrong, or nothing. Whoever answers DEADLOCK is let off.
  std::string judge(std::span<const Told> calls) const {
    for (const Told& told : calls) {
      if (told.evidence.code > FAILURE) return "that is no documented answer: " + text(told);
      const std::vector<Answer>& answers = told.step->answers;
      const bool right = std::ranges::any_of(
          answers, [&](const Answer& answer) { return fits(told.evidence, answer); });
      if (told.evidence.code == DEADLOCK && !right) return "";
      if (!answers.empty() && !right) {
        return told.step->text + " must answer " + answers_text(answers) + ", but: " + text(told);
      }
      if (const std::string left = left_behind(told); !left.empty()) return left;
    }
    return "";
  }

  std::string narrate(std::span<const Told> calls) const {
    std::string told;
    for (const Told& call : calls) told += "\n" + text(call);
    return told;
  }

 private:
  bool fits(const Evidence& evidence, const Answer& answer) const {
    if (evidence.code != answer.code) return false;
    if (answer.key && key_text(evidence) != vocabulary_.label_text(*answer.key)) return false;
    return !answer.payload || payload_text(evidence) == *answer.payload;
  }

  // Where the record was full of garbage: what the library has left in it.
  std::string left_behind(const Told& told) const {
    const bool found = told.evidence.code == SUCCESS;
    if (told.step->action == Action::kNext && found &&
        told.evidence.repetition != static_cast<uint64_t>(variant_.type)) {
      return "getNext did not write the key's type: " + text(told);
    }
    if (told.step->action != Action::kGet || found) return "";
    const std::string_view payload = told.evidence.payload;
    const bool untouched = payload.find_first_not_of(BareCall::kGarbage) == std::string_view::npos;
    return untouched ? "" : "a get that finds nothing may not write a payload: " + text(told);
  }

  std::string key_text(const Evidence& evidence) const {
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

  std::string payload_text(const Evidence& evidence) const {
    return vocabulary_.payload_text(hash_bytes(evidence.payload));
  }

  std::string text(const Told& told) const {
    std::string answer = code_text(told.evidence.code);
    const bool found = told.evidence.code == SUCCESS;
    if (found && told.step->action == Action::kGet) answer = payload_text(told.evidence);
    if (found && told.step->action == Action::kNext) {
      answer = key_text(told.evidence) + " = " + payload_text(told.evidence);
    }
    return "T1 " + told.step->text + " -> " + answer;
  }

  const Variant& variant_;
  const Vocabulary& vocabulary_;
};

// The calls of each run; fewer runs, and `fits` false, when the trace is not what was programmed.
struct Runs {
  std::vector<std::vector<Told>> calls;
  bool fit = true;
};

Runs read_runs(const Scenario& scenario, std::size_t count, const ThreadResult& result) {
  TraceReader trace(result.trace);
  Runs runs;
  const std::size_t set_up = scenario.setup.empty() ? 0 : scenario.setup.size() + 2;
  Evidence evidence{};
  while (runs.fit && runs.calls.size() < count) {
    for (std::size_t i = 0; runs.fit && i < set_up; ++i) runs.fit = trace.next(evidence);
    std::vector<Told> calls;
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

ScriptedBare script_bare(const Scenario& scenario, PoolNumbers& pools, ScriptBuilder& script) {
  ScriptedBare scripted;
  scripted.phase = script.add_phase(scenario.id + ": " + scenario.title, 1, {});
  for (const KeyType type : scenario.types) {
    scripted.variants.push_back({.order = {}, .type = type});
  }
  for (const Variant& variant : scripted.variants) {
    const uint32_t index = script.add_index(
        scenario.id + "-" + std::to_string(scripted.vocabularies.size()), variant.type);
    scripted.vocabularies.emplace_back(scenario, variant, pools, script);
    write_run(scenario, variant, index, scripted.vocabularies.back(), pools,
              script.thread(scripted.phase, 0));
  }
  return scripted;
}

void judge_bare(const Scenario& scenario, const ScriptedBare& scripted, const PhaseOutcome& outcome,
                FindingBook& book) {
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
    add("outcome_mismatch", Severity::kRequired, "the evidence is not what was programmed");
  }
}

}  // namespace keydrome::scenarios
