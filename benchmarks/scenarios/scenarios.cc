// Generates and judges the operations of the benchmark "scenarios": short scripts, each of which
// reveals one kind of error (README.md).
#include <memory>
#include <span>
#include <string_view>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/scenarios/suite.h"

namespace keydrome {
namespace scenarios {
namespace {

class Scenarios : public workload::Workload {
 public:
  explicit Scenarios(std::string_view instance) : suite_(instance) {}

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy&) override {
    return suite_.generate(parameters, seed);
  }

  void judge(const script::Script&, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    suite_.judge(outcome, findings);
  }

  void judge_memory(const script::Script&, const script::Outcome& outcome,
                    std::span<const workload::PhaseMeasures> phases,
                    judge::Findings& findings) const override {
    suite_.judge_memory(outcome, phases, findings);
  }

  void measure(const script::Script&, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    suite_.measure_memory(outcome, phases, metrics);
  }

  bool has_misused(uint32_t phase, uint64_t op) const override {
    return suite_.has_misused(phase, op);
  }

 private:
  Suite suite_;
};

}  // namespace
}  // namespace scenarios

std::unique_ptr<workload::Workload> make_scenarios(std::string_view instance) {
  return std::make_unique<scenarios::Scenarios>(instance);
}

}  // namespace keydrome
