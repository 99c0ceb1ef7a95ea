// TPC-C-derived: the transactions of TPC-C on indices (README.md says what is left out).
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "benchmarks/kit/canaries.h"
#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/stripes.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/tpcc/conditions.h"
#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/population.h"
#include "benchmarks/tpcc/procedures.h"
#include "benchmarks/tpcc/shape.h"
#include "benchmarks/tpcc/state.h"
#include "benchmarks/tpcc/terminals.h"

namespace keydrome {
namespace tpcc {
namespace {

constexpr uint32_t kVerifyThreads = 4;
constexpr double kNsPerSecond = 1e9;
constexpr std::array kClasses = {"new_order", "payment", "order_status", "delivery", "stock_level"};
static_assert(kClasses.size() == kTransactions);
enum Phase : uint32_t { kCreatePhase, kLoadPhase, kLoadedPhase, kRunPhase, kVerifyPhase };

Script write_script(const Shape& shape, uint64_t seed, const CheckPolicy& policy) {
  ScriptBuilder script;
  for (const char* name : kClasses) script.add_class(name);
  const uint32_t check = script.add_class("check"), load = script.add_class("load");
  for (const TableSpec& table : kTables) script.add_index(std::string(table.name), table.type);
  add_procedures(script);
  std::optional<Stripes> stripes;
  std::optional<Canaries> canaries;
  if (policy.stripes) stripes.emplace(script, seed, shape.threads, check);
  if (policy.canaries) canaries.emplace(script, check);
  Stripes* const woven = stripes ? &*stripes : nullptr;
  const uint32_t create = script.add_phase("create", 1, {});
  for (uint32_t index = 0; index < kTables.size(); ++index) script.thread(create, 0).create(index);
  Rng rng(seed, 0, Purpose::kShape);
  const NurandConstants constants = draw_constants(rng);
  Population population(script, shape, constants, seed, woven, load);
  population.load(script.add_phase("load", shape.threads, {}));
  add_verify_phase(script, kVerifyThreads, check, "loaded");
  Terminals terminals(
      script, shape, constants, population, seed,
      {.stripes = woven, .canaries = canaries ? &*canaries : nullptr, .evidence = policy.evidence});
  terminals.run(script.add_phase("run", shape.threads, {.timed = true}));
  add_verify_phase(script, kVerifyThreads, check);
  return script.build();
}

// What the committed transactions of the run have done, by their parameters and, of deliveries, by
// what they reported.
class Counter {
 public:
  Counter(const Script& script, Done& done) : script_(script), done_(done) {}

  void count(std::span<const Op> ops, const ThreadResult& result) {
    walk_program(ops, [&](const Step& step) {
      const Op& op = ops[step.op];
      if (op.code != OpCode::kRun) return;
      if (result.ends[step.transaction] != TransactionEnd::kCommitted) return;
      const std::span<const int64_t> parameters =
          std::span(script_.pools.parameters).subspan(op.key);
      if (op.payload == static_cast<uint32_t>(Transaction::kNewOrder)) new_order(parameters);
      if (op.payload == static_cast<uint32_t>(Transaction::kPayment)) ++done_.payments;
    });
    for_each_evidence(ops, result, [&](const Step& step, std::span<const Evidence> records) {
      const Op& op = ops[step.op];
      if (op.code == OpCode::kRun) delivery(script_.pools.parameters[op.key], records[0].payload);
    });
  }

 private:
  void new_order(std::span<const int64_t> parameters) {
    ++done_.orders[parameters[kNewDistrict]];
    const int64_t lines = parameters[kNewLines];
    done_.lines += lines;
    for (int64_t line = 0; line < lines; ++line) {
      const auto at = static_cast<std::size_t>(kNewParameters + line * kLineParameters);
      done_.quantity += parameters[at + kLineOrdered];
      done_.remote_lines += parameters[at + kLineRemote];
    }
  }

  void delivery(int64_t warehouse, std::string_view result) {
    int64_t districts = 0;
    std::memcpy(&districts, result.data(), std::min(sizeof districts, result.size()));
    for (int64_t d = 1; d <= kDistricts; ++d) {
      if ((districts >> (d - 1) & 1) != 0) ++(*done_.deliveries)[warehouse + d];
    }
  }

  const Script& script_;
  Done& done_;
};

class Tpcc : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    const Shape& shape = shape_.emplace(parameters);
    evidence_ = policy.evidence;
    return write_script(shape, seed, policy);
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_script(script, outcome, findings);
    Done done;
    done.deliveries.emplace();
    check(script, outcome, kLoadedPhase, done, "after the load", findings);
    if (outcome.phases.size() <= kVerifyPhase) return;
    const std::vector<ThreadResult>& threads = outcome.phases[kRunPhase].threads;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      Counter(script, done).count(script.phases[kRunPhase].threads[t], threads[t]);
    }
    if (!evidence_) done.deliveries.reset();
    check(script, outcome, kVerifyPhase, done, "after the run", findings);
  }

  // The figure of TPC-C, and how far the drawn transactions came.
  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    if (phases.size() <= kRunPhase || phases[kRunPhase].wall_ns == 0) return;
    Done done;
    done.deliveries.emplace();
    uint64_t committed = 0;
    const std::vector<ThreadResult>& threads = outcome.phases[kRunPhase].threads;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      Counter(script, done).count(script.phases[kRunPhase].threads[t], threads[t]);
      committed += threads[t].counters->committed[static_cast<uint32_t>(Transaction::kNewOrder)];
    }
    metrics["new_order_per_s"] = static_cast<double>(committed) * kNsPerSecond /
                                 static_cast<double>(phases[kRunPhase].wall_ns);
    if (done.lines > 0) {
      metrics["remote_lines_percent"] =
          100 * static_cast<double>(done.remote_lines) / static_cast<double>(done.lines);
    }
    if (!evidence_) return;
    int64_t deliveries = 0;
    for (const auto& [district, count] : *done.deliveries) deliveries += count;
    metrics["orders_delivered"] = static_cast<double>(deliveries);
  }

 private:
  void check(const Script& script, const Outcome& outcome, uint32_t phase, const Done& done,
             const std::string& when, Findings& findings) const {
    if (outcome.phases.size() <= phase || !shape_) return;
    check_conditions(read_state(script, outcome.phases[phase], phase), *shape_, done, when,
                     findings);
  }

  std::optional<Shape> shape_;  // of the script that was generated last
  bool evidence_ = true;
};

}  // namespace
}  // namespace tpcc

std::unique_ptr<Workload> make_tpcc(std::string_view) { return std::make_unique<tpcc::Tpcc>(); }

}  // namespace keydrome
