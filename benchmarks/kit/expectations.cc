#include "benchmarks/kit/expectations.h"

#include <algorithm>
#include <array>

#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/key_ranks.h"
#include "benchmarks/kit/payload_tag.h"

namespace keydrome {
namespace {

std::string payload_text(const Script& script, const Payload& payload) {
  std::string text(kTagBytes, 0);
  write_tag(payload.tag, text.data());
  return text + script.pools.payloads[payload.text];
}

bool is_right(const Script& script, const KeyRanks& ranks, KeyType type, const Evidence& evidence,
              const Answer& answer) {
  if (evidence.code != answer.code) return false;
  if (!answer.key) return true;
  if (ranks.find(type, evidence.key) != ranks.rank(type, *answer.key)) return false;
  return std::any_of(answer.payloads.begin(), answer.payloads.end(), [&](const Payload& payload) {
    return evidence.payload == payload_text(script, payload);
  });
}

std::string shown(const KeyRanks& ranks, KeyType type, const Evidence& evidence) {
  std::string text = code_text(evidence.code);
  if (evidence.code != SUCCESS || (evidence.key.empty() && evidence.payload.empty())) return text;
  const std::optional<uint32_t> rank = ranks.find(type, evidence.key);
  return text + " with key " + (rank ? ranks.text(type, *rank) : "(unknown)") + " and payload \"" +
         std::string(evidence.payload) + "\"";
}

}  // namespace

void Expectations::expect_last(uint32_t phase, uint32_t thread, const ThreadBuilder& builder,
                               std::string name, Severity severity, std::string rule,
                               Answers answers) {
  expected_[{phase, thread}][builder.size() - 1] = {.name = std::move(name),
                                                    .severity = severity,
                                                    .rule = std::move(rule),
                                                    .answers = std::move(answers)};
}

void Expectations::judge(const Script& script, const Outcome& outcome, Findings& findings) const {
  const KeyRanks ranks(script.pools);
  for (const auto& [place, expectations] : expected_) {
    const auto& [phase, thread] = place;
    if (phase >= outcome.phases.size()) continue;
    const std::vector<Op>& ops = script.phases[phase].threads[thread];
    std::array<uint32_t, kSlots> slots{};
    uint64_t slots_at = 0;
    for_each_evidence(ops, outcome.phases[phase].threads[thread],
                      [&](const Step& step, std::span<const Evidence> records) {
                        for (; slots_at <= step.op; ++slots_at) {
                          if (ops[slots_at].code == OpCode::kOpen)
                            slots[ops[slots_at].slot] = ops[slots_at].argument;
                        }
                        const auto found = expectations.find(step.op);
                        if (found == expectations.end()) return;
                        const Expectation& expected = found->second;
                        const KeyType type = script.indexes[slots[ops[step.op].slot]].type;
                        for (std::size_t i = 0; i < records.size(); ++i) {
                          const bool right =
                              i < expected.answers.size() &&
                              std::any_of(
                                  expected.answers[i].begin(), expected.answers[i].end(),
                                  [&](const Answer& answer) {
                                    return is_right(script, ranks, type, records[i], answer);
                                  });
                          if (right) continue;
                          findings.add({.suite = "",
                                        .name = expected.name,
                                        .severity = expected.severity,
                                        .detail = expected.rule + "; but " + op_text(ops[step.op]) +
                                                  " answered " + shown(ranks, type, records[i])});
                          return;
                        }
                      });
  }
}

}  // namespace keydrome
