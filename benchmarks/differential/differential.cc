// Generates and judges the operations of the benchmark "differential": random calls of one thread,
// compared with a sequential model of the API. The calls of the thread are its session. If a
// session fails, it is reduced to a small session that still fails (README.md).
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "benchmarks/differential/generator.h"
#include "benchmarks/differential/investigation.h"
#include "benchmarks/differential/script_calls.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/replay.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace differential {
namespace {

// The minimum number of calls in a phase, except the last. A phase consists of rounds, the parts of
// a session that begin and end with empty indexes. Each phase is judged separately and has its own
// time limit, so a hang is reported sooner if phases are short.
constexpr uint32_t kPhaseCalls = 20'000;
constexpr double kLargeCalls = 50'000;  // more calls than the large last round of a session has

class Differential : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    workload::Demand demand(1);
    const double calls = parameters.number("calls");
    demand.add_recorded_calls(calls + kLargeCalls,
                              std::min<double>(calls, 2 * kPhaseCalls) + kLargeCalls);
    demand.add_bytes(200 * (calls + kLargeCalls));
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy&) override {
    shrink_ms_ = parameters.u64("shrink_ms");
    session_ = differential::generate(parameters.u64("calls"), seed);
    phases_.clear();
    script::ScriptBuilder script;
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

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    examine(script, {.outcome = outcome, .ending = {}, .replay = {}}, findings);
  }

  void examine(const script::Script& script, const judge::Played& played,
               judge::Findings& findings) const override {
    const bool found = investigate(session_, phases_, played, shrink_ms_, findings);
    if (!found && played.ending.complete) judge::judge_counters(script, played.outcome, findings);
  }

 private:
  Generated session_;
  std::vector<Round> phases_;
  uint64_t shrink_ms_ = 0;
};

}  // namespace
}  // namespace differential

std::unique_ptr<workload::Workload> make_differential(std::string_view) {
  return std::make_unique<differential::Differential>();
}

}  // namespace keydrome
