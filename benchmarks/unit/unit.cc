// The contest's unit tests (README.md). The script is in unit_script.cc.
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/unit/unit_script.h"

namespace keydrome {
namespace unit {
namespace {

class Unit : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t, const CheckPolicy&) override {
    UnitScript script(static_cast<uint32_t>(parameters["rounds"]));
    Script built = script.build();
    expectations_ = script.take_expectations();
    return built;
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_script(script, outcome, findings);
    expectations_.judge(script, outcome, findings);
    if (outcome.phases.size() > UnitScript::kTestPhase) judge_looker_on(script, outcome, findings);
  }

 private:
  // The two gets of a transaction over two indices must both find a record or both miss.
  static void judge_looker_on(const Script& script, const Outcome& outcome, Findings& findings) {
    const std::vector<Op>& ops =
        script.phases[UnitScript::kTestPhase].threads[UnitScript::kLookerOn];
    const ThreadResult& result =
        outcome.phases[UnitScript::kTestPhase].threads[UnitScript::kLookerOn];
    uint32_t left = SUCCESS;
    for_each_evidence(ops, result, [&](const Step& step, std::span<const Evidence> evidence) {
      const bool begins = ops[step.op - 1].code == OpCode::kBegin;
      if (begins) left = evidence[0].code;
      if (!begins && ops[step.op].slot != ops[step.op - 1].slot && evidence[0].code != left) {
        findings.required(
            "torn_transaction",
            "a transaction wrote two indices, and another one saw one of the two records");
      }
      if (!begins && ops[step.op].slot == ops[step.op - 1].slot && evidence[0].code != left) {
        findings.required("unrepeatable_read", "two gets of one key in one transaction gave " +
                                                   code_text(left) + " and " +
                                                   code_text(evidence[0].code));
      }
    });
  }

  Expectations expectations_;
};

}  // namespace
}  // namespace unit

std::unique_ptr<Workload> make_unit(std::string_view) { return std::make_unique<unit::Unit>(); }

}  // namespace keydrome
