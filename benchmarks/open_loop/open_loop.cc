// Generates the operations of the benchmark "open_loop": transactions that arrive on a schedule, at
// increasing rates (README.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/script/histogram.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/open_loop/knee.h"

namespace keydrome {
namespace open_loop {
namespace {

constexpr uint32_t kSteps = 7;  // each step has a transaction class; the checks have another
static_assert(kSteps + 1 == format::kTransactionClasses);
constexpr uint64_t kNsPerSecond = 1'000'000'000, kNsPerUs = 1'000, kPercent = 100;
// Time from the start of a phase to its first possible arrival. In this time all threads start and
// load their first page of operations.
constexpr uint64_t kHeadStartNs = 5 * kNsPerMs;
constexpr uint64_t kTransactionsMax = 200'000'000;  // their operations take 13 GB of memory
constexpr double kQuantile = 0.99;

using Rates = std::array<uint64_t, kSteps>;

// The rates of the steps if capacity_per_s is set, in percent of capacity_per_s.
constexpr Rates kSharesPercent{20, 50, 70, 80, 90, 95, 100};

Rates rates_of(const workload::Parameters& parameters) {
  Rates rates{};
  const auto capacity = parameters.u64("capacity_per_s");
  if (capacity > 0) {
    std::ranges::transform(kSharesPercent, rates.begin(),
                           [&](uint64_t percent) { return capacity * percent / kPercent; });
    return rates;
  }
  rates[0] = parameters.u64("rate_first_per_s");
  for (uint32_t step = 1; step < kSteps; ++step) {
    rates[step] = rates[step - 1] * parameters.u64("rate_growth_percent") / kPercent;
  }
  return rates;
}

std::string name_of(uint64_t rate) { return std::to_string(rate) + "_per_s"; }

// Draws the arrivals of a Poisson process: the gaps between them are exponential and independent.
class Arrivals {
 public:
  Arrivals(uint64_t seed, uint32_t thread) : rng_(seed, thread, workload::Purpose::kArrivals) {}

  double gap_ns(double per_s) {
    constexpr int kMantissa = 53;
    const double uniform = std::ldexp(static_cast<double>(rng_.next() >> (64 - kMantissa)),
                                      -kMantissa);  // in [0, 1)
    return -std::log1p(-uniform) / per_s * static_cast<double>(kNsPerSecond);
  }

 private:
  workload::Rng rng_;
};

// Writes the script: the operations of all threads. The script's list of keys (pool) begins with
// the keys 0 .. 2 * records - 1, so each of these keys equals its number in the pool.
// Even keys are loaded. Odd keys are inserted during the run. Each odd key has one fixed payload,
// so the stored record is the same whichever thread inserts the key.
class Generator : public workload::ClientScript {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        records_(parameters.u32("records")),
        insert_percent_(parameters.u64("insert_percent")),
        step_ns_(parameters.u64("step_ms") * kNsPerMs),
        rates_(rates_of(parameters)),
        tags_(records_) {
    index_ = builder().add_index("index", INT);
    for (uint64_t key = 0; key < uint64_t{2} * records_; ++key) {
      builder().add_int64_key(static_cast<int64_t>(key));
    }
    for (const uint64_t rate : rates_) builder().add_class(name_of(rate));
    const uint32_t threads = parameters.u32("threads");
    for (uint32_t thread = 0; thread < threads; ++thread) arrivals_.emplace_back(seed, thread);
    add_clients(threads, [this](Rng& rng, uint32_t) { return even_key(rng); });
  }

 private:
  static constexpr uint64_t kArriveAndCall =
      2;  // operations of a transaction without begin and commit: the arrival and one call

  void load() override {
    load_shuffled(records_, [this](uint32_t i) {
      return Row{.index = index_, .key = 2 * i, .payload = builder().new_payload()};
    });
  }

  void run() override {
    for (uint32_t step = 0; step < kSteps; ++step) {
      const uint64_t expected = rates_[step] / clients().size() * step_ns_ / kNsPerSecond;
      const uint64_t margin = expected / 10;  // because the number of arrivals is random
      start_phase(name_of(rates_[step]), expected + margin, kArriveAndCall);
      for (Client& client : clients()) append_arrivals(client, step);
      clients().finish();
    }
  }

  // Appends the transactions of a thread in a step, each with its arrival.
  void append_arrivals(Client& client, uint32_t step) {
    const double per_s = static_cast<double>(rates_[step]) / clients().size();
    Arrivals& arrivals = arrivals_[client.number()];
    const auto step_ns = static_cast<double>(step_ns_);
    double at_ns = arrivals.gap_ns(per_s);
    while (at_ns < step_ns) {
      client.use(index_);
      client.out().arrive(kHeadStartNs + static_cast<uint64_t>(at_ns));
      client.begin(index_, step);
      call(client);
      client.commit();
      at_ns += arrivals.gap_ns(per_s);
    }
  }

  void call(Client& client) {
    if (client.rng().below(kPercent) >= insert_percent_) {
      client.out().get(kSlot, even_key(client.rng()));
      return;
    }
    const uint64_t number = client.rng().below(records_);
    if (tags_[number] == format::kNoTag) tags_[number] = builder().new_payload().tag;
    const uint8_t flags = format::kMayExist;
    client.out().insert(kSlot, static_cast<uint32_t>(2 * number + 1),
                        {.tag = tags_[number], .text = script::kNoText}, flags);
  }

  uint32_t even_key(Rng& rng) const { return static_cast<uint32_t>(2 * rng.below(records_)); }

  uint32_t records_;
  uint64_t insert_percent_, step_ns_;
  Rates rates_;
  uint32_t index_ = 0;
  // By i: the tag of the payload of odd key 2 * i + 1, or kNoTag before its first insert.
  std::vector<uint32_t> tags_;
  std::vector<Arrivals> arrivals_;
};

constexpr double kKeyBytes = 8, kRecordBytes = 16;

class OpenLoop : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), records = parameters.number("records");
    double transactions = 0;
    for (const uint64_t rate : rates_of(parameters)) {
      transactions += static_cast<double>(rate) * parameters.number("step_ms") / 1e3;
    }
    workload::Demand demand(threads);
    demand.add_load(records, kRecordBytes);
    demand.add_transactions(transactions, 2, 1);
    // Each odd key has a key and a tag, even if no transaction inserts it.
    const double inserts = transactions * parameters.number("insert_percent") / 100;
    const double inserted = std::min(records, inserts);
    demand.add_inserts(inserted, kRecordBytes);
    demand.add_changes(inserts - inserted, 0);
    demand.add_keys(records - inserted, kKeyBytes);
    demand.add_bytes(records * sizeof(uint32_t));
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    rates_ = rates_of(parameters);
    bound_ns_ = parameters.u64("p99_bound_us") * kNsPerUs;
    const auto* const equal = std::ranges::adjacent_find(rates_, std::greater_equal<>());
    if (equal != rates_.end()) {
      return Error{
          "the rates of the seven steps must increase, but two steps have the same rate, " +
          std::to_string(*equal) + " per second: raise capacity_per_s to at least " +
          std::to_string(kPercent) + ", or raise rate_first_per_s or rate_growth_percent"};
    }
    double transactions = 0;
    for (const uint64_t rate : rates_) {
      transactions += static_cast<double>(rate) * static_cast<double>(parameters["step_ms"]) / 1e3;
    }
    if (transactions > static_cast<double>(kTransactionsMax)) {
      return Error{"the seven steps together have " +
                   std::to_string(static_cast<uint64_t>(transactions)) +
                   " transactions, but at most " + std::to_string(kTransactionsMax) +
                   " are possible: lower rate_first_per_s (or capacity_per_s), "
                   "rate_growth_percent or step_ms"};
    }
    return Generator(parameters, seed, policy).write();
  }

  // Computes the throughput of a step from the number of its transactions and the time between the
  // head start and the end of the last transaction.
  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    std::vector<Step> steps;
    double delivered = 0;
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (!script.phases[p].timed) continue;
      const auto step = static_cast<uint32_t>(steps.size());
      const uint64_t waited = std::min(phases[p].wall_ns, kHeadStartNs);
      const workload::PhaseMeasures busy{.wall_ns = phases[p].wall_ns - waited + 1,
                                         .memory_bytes = {}};
      steps.push_back(
          {.rate_per_s = rates_[step],
           .p99_ns = p99_ns(outcome.phases[p], step),
           .delivered_per_s = workload::committed_per_second(outcome.phases[p], busy, step)});
      delivered = std::max(delivered, steps.back().delivered_per_s);
    }
    metrics["sustained_per_s"] = sustained_per_s(steps, bound_ns_);
    metrics["delivered_max_per_s"] = delivered;
  }

 private:
  static uint64_t p99_ns(const script::PhaseOutcome& outcome, uint32_t step) {
    std::vector<uint64_t> sum(script::kHistogramBuckets);
    for (const script::ThreadResult& thread : outcome.threads) {
      const std::vector<uint32_t>& latency = thread.totals.latency[step];
      for (std::size_t bucket = 0; bucket < latency.size(); ++bucket) {
        sum[bucket] += latency[bucket];
      }
    }
    return script::histogram_quantile_ns(sum, kQuantile);
  }

  Rates rates_{};
  uint64_t bound_ns_ = 0;
};

}  // namespace
}  // namespace open_loop

std::unique_ptr<workload::Workload> make_open_loop(std::string_view /*instance*/) {
  return std::make_unique<open_loop::OpenLoop>();
}

}  // namespace keydrome
