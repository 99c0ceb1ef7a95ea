// Generates and judges the operations of the benchmark "unit", the unit tests of the SIGMOD contest
// of 2009 (README.md). unit_script.cc writes the script.
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/unit/unit_script.h"

namespace keydrome {
namespace unit {
namespace {

class Unit : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    workload::Demand demand(3);
    const double calls = parameters.number("rounds") * 1'000;
    demand.add_recorded_calls(calls, calls);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t,
                                  const workload::CheckPolicy&) override {
    UnitScript script(parameters.u32("rounds"));
    script::Script built = script.build();
    expectations_ = script.take_expectations();
    return built;
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    expectations_.judge(script, outcome, findings);
    if (outcome.phases.size() > UnitScript::kTestPhase) judge_observer(script, outcome, findings);
  }

 private:
  // Checks the observer, the thread that reads while the first thread writes. If a transaction of
  // the observer reads two indices, both gets must return the same code: the first thread writes
  // both records together. Two gets of one key in one transaction must also return the same code.
  static void judge_observer(const script::Script& script, const script::Outcome& outcome,
                             judge::Findings& findings) {
    const std::vector<format::Op>& ops =
        script.phases[UnitScript::kTestPhase].threads[UnitScript::kObserver];
    const script::ThreadResult& result =
        outcome.phases[UnitScript::kTestPhase].threads[UnitScript::kObserver];
    uint32_t left = SUCCESS;
    judge::for_each_evidence(
        ops, result, [&](const format::Step& step, std::span<const script::Evidence> evidence) {
          const bool begins = ops[step.op - 1].code == format::OpCode::kBegin;
          if (begins) left = evidence[0].code;
          if (!begins && ops[step.op].slot != ops[step.op - 1].slot && evidence[0].code != left) {
            findings.required(
                "torn_transaction",
                "a transaction wrote one record into each of two indexes, and another transaction "
                "saw only one of the two records: it must see both or none");
          }
          if (!begins && ops[step.op].slot == ops[step.op - 1].slot && evidence[0].code != left) {
            findings.required("unrepeatable_read",
                              "two gets of one key in one transaction returned " + code_text(left) +
                                  " and " + code_text(evidence[0].code) +
                                  ", but must return the same");
          }
        });
  }

  judge::Expectations expectations_;
};

}  // namespace
}  // namespace unit

std::unique_ptr<workload::Workload> make_unit(std::string_view) {
  return std::make_unique<unit::Unit>();
}

}  // namespace keydrome
