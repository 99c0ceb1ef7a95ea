// One session against the model: random calls, and the smallest session that still fails
// (README.md).
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "benchmarks/differential/generator.h"
#include "benchmarks/differential/investigation.h"
#include "benchmarks/differential/script_calls.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/replay.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace differential {
namespace {

// A phase has so many calls: a library that hangs is told after one of them, and each is judged by
// itself.
constexpr uint32_t kPhaseCalls = 20'000;

class Differential : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy&) override {
    shrink_ms_ = static_cast<uint64_t>(parameters["shrink_ms"]);
    session_ = differential::generate(static_cast<uint64_t>(parameters["calls"]), seed);
    phases_.clear();
    ScriptBuilder script;
    CallWriter writer(session_.session, script);
    Round phase;
    for (const Round& round : session_.rounds) {
      phase.end = round.end;
      const bool last = round.end == session_.session.calls.size();
      if (phase.end - phase.first < kPhaseCalls && !last) continue;
      writer.phase("calls from " + std::to_string(phase.first + 1),
                   calls_of(session_.session, phase));
      phases_.push_back(phase);
      phase.first = phase.end;
    }
    return script.build();
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    examine(script, {.outcome = outcome, .ending = {}, .replay = {}}, findings);
  }

  void examine(const Script& script, const Played& played, Findings& findings) const override {
    const bool found = investigate(session_, phases_, played, shrink_ms_, findings);
    if (!found && played.ending.complete) judge_counters(script, played.outcome, findings);
  }

 private:
  Generated session_;
  std::vector<Round> phases_;
  uint64_t shrink_ms_ = 0;
};

}  // namespace
}  // namespace differential

std::unique_ptr<Workload> make_differential(std::string_view) {
  return std::make_unique<differential::Differential>();
}

}  // namespace keydrome
