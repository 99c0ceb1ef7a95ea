// Generates and judges the operations of the benchmark "tpcc": the transactions of TPC-C on indices
// (README.md, docs/explanation/tpcc.md).
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/canaries.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/read_backs.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/kit/workload/stripes.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/tpcc/conditions.h"
#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/population.h"
#include "benchmarks/tpcc/procedures.h"
#include "benchmarks/tpcc/scale.h"
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

script::Script write_script(const Scale& scale, uint64_t seed,
                            const workload::CheckPolicy& policy) {
  script::ScriptBuilder script;
  for (const char* name : kClasses) script.add_class(name);
  const uint32_t check = script.add_class("check"), load = script.add_class("load");
  for (const TableSpec& table : kTables) script.add_index(std::string(table.name), table.type);
  add_procedures(script);
  std::optional<workload::Stripes> stripes;
  std::optional<workload::Canaries> canaries;
  if (policy.stripes) stripes.emplace(script, seed, scale.threads, check);
  if (policy.canaries) canaries.emplace(script, check);
  workload::Stripes* const load_stripes = stripes ? &*stripes : nullptr;
  const uint32_t create = script.add_phase("create", 1, {});
  for (uint32_t index = 0; index < kTables.size(); ++index) script.thread(create, 0).create(index);
  workload::Rng rng(seed, 0, workload::Purpose::kShape);
  const NurandConstants constants = random_constants(rng);
  Population population(script, scale, constants, seed, load_stripes, load);
  population.load(script.add_phase("load", scale.threads, {}));
  script::add_verify_phase(script, kVerifyThreads, check, "loaded");
  Terminals terminals(script, scale, constants, population, seed,
                      {.stripes = load_stripes,
                       .canaries = canaries ? &*canaries : nullptr,
                       .evidence = policy.evidence});
  terminals.run(script.add_phase("run", scale.threads, {.timed = true}));
  if (policy.canaries) workload::add_read_backs(script, seed, check);
  script::add_verify_phase(script, kVerifyThreads, check);
  return script.build();
}

// Adds up the effects of the committed transactions of a run. The effects follow from the
// parameters and, for deliveries, from the reported results.
class Counter {
 public:
  Counter(const script::Script& script, Done& done) : script_(script), done_(done) {}

  void count(std::span<const format::Op> ops, const script::ThreadResult& result) {
    format::walk_program(ops, [&](const format::Step& step) {
      const format::Op& op = ops[step.op];
      if (op.code != format::OpCode::kRun) return;
      if (result.ends[step.transaction] != script::TransactionEnd::kCommitted) return;
      const std::span<const int64_t> parameters =
          std::span(script_.pools.parameters).subspan(op.key);
      if (op.payload == static_cast<uint32_t>(Transaction::kNewOrder)) new_order(parameters);
      if (op.payload == static_cast<uint32_t>(Transaction::kPayment)) ++done_.payments;
    });
    judge::for_each_evidence(
        ops, result, [&](const format::Step& step, std::span<const script::Evidence> records) {
          const format::Op& op = ops[step.op];
          if (op.code == format::OpCode::kRun)
            delivery(script_.pools.parameters[op.key], records[0].payload);
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

  const script::Script& script_;
  Done& done_;
};

// Mean values of a customer and of a transaction, rounded up, and the largest number of calls of a
// transaction (kCallsMost). They serve only to estimate how much memory the benchmark needs.
constexpr double kRowsPerCustomer = 24, kMeanRowBytes = 60;
constexpr double kCallsMost = 170, kCallsOnAverage = 40, kInsertsOnAverage = 7,
                 kParametersOnAverage = 40;

class Tpcc : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    const Scale scale(parameters);
    const auto warehouses = static_cast<double>(scale.warehouses);
    const double customers = warehouses * kDistricts * static_cast<double>(scale.customers);
    const double transactions =
        parameters.number("threads") * parameters.number("transactions_per_thread");
    workload::Demand demand(parameters.number("threads"));
    demand.add_load(
        kRowsPerCustomer * customers + (4 * warehouses + 1) * parameters.number("items"),
        kMeanRowBytes);
    demand.set_longest(sizeof(int64_t) + MAX_PAYLOAD_LEN);
    demand.add_scan();
    demand.add_procedures(transactions, kCallsMost, kCallsOnAverage, kParametersOnAverage);
    demand.add_inserts(transactions * kInsertsOnAverage, kMeanRowBytes);
    demand.add_strings(demand.record_bytes);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    const Scale& scale = scale_.emplace(parameters);
    evidence_ = policy.evidence;
    return write_script(scale, seed, policy);
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    Done done;
    done.deliveries.emplace();
    check(script, outcome, kLoadedPhase, done, "after the load", findings);
    if (outcome.phases.size() <= kVerifyPhase) return;
    const std::vector<script::ThreadResult>& threads = outcome.phases[kRunPhase].threads;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      Counter(script, done).count(script.phases[kRunPhase].threads[t], threads[t]);
    }
    if (!evidence_) done.deliveries.reset();
    check(script, outcome, kVerifyPhase, done, "after the run", findings);
  }

  // Reports TPC-C's metric, committed NewOrders per second, and two further numbers of the run.
  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    if (phases.size() <= kRunPhase || phases[kRunPhase].wall_ns == 0) return;
    Done done;
    done.deliveries.emplace();
    uint64_t committed = 0;
    const std::vector<script::ThreadResult>& threads = outcome.phases[kRunPhase].threads;
    for (std::size_t t = 0; t < threads.size(); ++t) {
      Counter(script, done).count(script.phases[kRunPhase].threads[t], threads[t]);
      committed += threads[t].totals.committed[static_cast<uint32_t>(Transaction::kNewOrder)];
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
  void check(const script::Script& script, const script::Outcome& outcome, uint32_t phase,
             const Done& done, const std::string& when, judge::Findings& findings) const {
    if (outcome.phases.size() <= phase || !scale_) return;
    check_conditions(read_state(script, outcome.phases[phase], phase), *scale_, done, when,
                     findings);
  }

  std::optional<Scale> scale_;  // of the last generated script
  bool evidence_ = true;
};

}  // namespace
}  // namespace tpcc

std::unique_ptr<workload::Workload> make_tpcc(std::string_view) {
  return std::make_unique<tpcc::Tpcc>();
}

}  // namespace keydrome
