// Implements Expectations: finds the evidence (the reported results) of each op, an operation of
// the script, for which a workload expects results. Compares the evidence with the correct results.
#include "benchmarks/kit/judge/expectations.h"

#include <algorithm>
#include <array>

#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/keys/key_ranks.h"

namespace keydrome::judge {
namespace {

// Returns a payload as the library must return it: the tag (a unique number) in letters, followed
// by the text.
std::string payload_text(const script::Script& script, const script::Payload& payload) {
  std::string text(format::kTagBytes, 0);
  format::write_tag(payload.tag, text.data());
  return text.append(script.pools.payloads[payload.text]);
}

bool is_right(const script::Script& script, const KeyRanks& ranks, KeyType type,
              const script::Evidence& evidence, const Answer& answer) {
  if (evidence.code != answer.code) return false;
  if (!answer.key) return true;
  if (ranks.find(type, evidence.key) != ranks.rank(type, *answer.key)) return false;
  return std::any_of(answer.payloads.begin(), answer.payloads.end(),
                     [&](const script::Payload& payload) {
                       return evidence.payload == payload_text(script, payload);
                     });
}

// Returns the correct results of a call for the text of a finding, such as "KEY_NOTFOUND or
// ENTRY_DNE".
std::string wanted_text(const script::Script& script, const KeyRanks& ranks, KeyType type,
                        const std::vector<Answer>& answers) {
  std::string text;
  const auto add = [&text](const std::string& answer) {
    text += (text.empty() ? "" : " or ") + answer;
  };
  for (const Answer& answer : answers) {
    const std::string code = code_text(answer.code);
    if (!answer.key) add(code);
    for (const script::Payload& payload : answer.payloads) {
      add(code + " with key " + ranks.text(type, ranks.rank(type, *answer.key)) +
          " and payload \"" + payload_text(script, payload) + "\"");
    }
  }
  return text;
}

// Returns the result of a call for the text of a finding: its code and the returned record.
std::string shown(const KeyRanks& ranks, KeyType type, const script::Evidence& evidence) {
  std::string text = code_text(evidence.code);
  if (evidence.code != SUCCESS || (evidence.key.empty() && evidence.payload.empty())) return text;
  text += " with key " + KeyRanks::text_of(type, evidence.key);
  if (!ranks.find(type, evidence.key)) text += " (never passed to the library)";
  return text + " and payload \"" + std::string(evidence.payload) + "\"";
}

}  // namespace

void Expectations::expect_last(uint32_t phase, uint32_t thread,
                               const script::ThreadBuilder& builder, std::string name,
                               Severity severity, std::string rule, Answers answers) {
  expected_[{phase, thread}][builder.size() - 1] = {.name = std::move(name),
                                                    .severity = severity,
                                                    .rule = std::move(rule),
                                                    .answers = std::move(answers)};
}

void Expectations::judge(const script::Script& script, const script::Outcome& outcome,
                         Findings& findings) const {
  for (const auto& [place, expected] : expected_) {
    const auto [phase, thread] = place;
    if (phase >= outcome.phases.size()) continue;
    judge_thread(script, script.phases[phase].threads[thread],
                 outcome.phases[phase].threads[thread], expected, findings);
  }
}

void Expectations::judge_thread(const script::Script& script, std::span<const format::Op> ops,
                                const script::ThreadResult& result, const ByOp& expected,
                                Findings& findings) {
  const KeyRanks ranks(script.pools);
  std::array<uint32_t, format::kSlots> slots{};
  uint64_t slots_at = 0;
  for_each_evidence(
      ops, result, [&](const format::Step& step, std::span<const script::Evidence> records) {
        for (; slots_at <= step.op; ++slots_at) {
          if (ops[slots_at].code == format::OpCode::kOpen)
            slots[ops[slots_at].slot] = ops[slots_at].argument;
        }
        const auto found = expected.find(step.op);
        if (found == expected.end()) return;
        const Expectation& expectation = found->second;
        const KeyType type = script.indexes[slots[ops[step.op].slot]].type;
        const auto is_wrong = [&](const script::Evidence& record) {
          const auto number = static_cast<std::size_t>(&record - records.data());
          if (number >= expectation.answers.size()) return true;
          const std::vector<Answer>& answers = expectation.answers[number];
          return std::none_of(answers.begin(), answers.end(), [&](const Answer& answer) {
            return is_right(script, ranks, type, record, answer);
          });
        };
        const auto wrong = std::find_if(records.begin(), records.end(), is_wrong);
        if (wrong == records.end()) return;
        const auto number = static_cast<std::size_t>(wrong - records.begin());
        const std::string wanted =
            number < expectation.answers.size()
                ? wanted_text(script, ranks, type, expectation.answers[number])
                : "DB_END";
        findings.add({.suite = "",
                      .name = expectation.name,
                      .severity = expectation.severity,
                      .detail = expectation.rule + ", but " + op_text(ops[step.op]) + " returned " +
                                shown(ranks, type, *wrong) + " instead of " + wanted});
      });
}

}  // namespace keydrome::judge
