// Scripted scenarios (README.md): every way of going wrong that a few steps can show.
#include <memory>
#include <string_view>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/scenarios/suite.h"

namespace keydrome {
namespace scenarios {
namespace {

class Scenarios : public Workload {
 public:
  explicit Scenarios(std::string_view instance) : suite_(instance) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy&) override {
    return suite_.generate(parameters, seed);
  }

  void judge(const Script&, const Outcome& outcome, Findings& findings) const override {
    suite_.judge(outcome, findings);
  }

 private:
  Suite suite_;
};

}  // namespace
}  // namespace scenarios

std::unique_ptr<Workload> make_scenarios(std::string_view instance) {
  return std::make_unique<scenarios::Scenarios>(instance);
}

}  // namespace keydrome
