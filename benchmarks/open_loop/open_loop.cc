// Transactions that are asked for at given moments, at rising rates (README.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/histogram.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/open_loop/knee.h"

namespace keydrome {
namespace open_loop {
namespace {

constexpr uint32_t kSteps = 7;  // each with a class of its own, beside that of the checks
static_assert(kSteps + 1 == kTransactionClasses);
constexpr uint64_t kNsPerSecond = 1'000'000'000, kNsPerUs = 1'000, kPercent = 100;
// From GO to the beginning of arrivals: all threads run and have their first page of operations.
constexpr uint64_t kHeadStartNs = 5 * kNsPerMs;
constexpr uint64_t kTransactionsMax = 200'000'000;  // 13 GB of operations
constexpr double kQuantile = 0.99;

using Rates = std::array<uint64_t, kSteps>;

// Of what a closed loop delivers, where that is known: the last step asks for all of it.
constexpr Rates kSharesPercent{20, 50, 70, 80, 90, 95, 100};

Rates rates_of(const Parameters& parameters) {
  Rates rates{};
  const auto capacity = static_cast<uint64_t>(parameters["capacity_per_s"]);
  if (capacity > 0) {
    std::ranges::transform(kSharesPercent, rates.begin(),
                           [&](uint64_t percent) { return capacity * percent / kPercent; });
    return rates;
  }
  rates[0] = static_cast<uint64_t>(parameters["rate_first_per_s"]);
  for (uint32_t step = 1; step < kSteps; ++step) {
    rates[step] =
        rates[step - 1] * static_cast<uint64_t>(parameters["rate_growth_percent"]) / kPercent;
  }
  return rates;
}

std::string name_of(uint64_t rate) { return std::to_string(rate) + "_per_s"; }

// A Poisson process: the gaps between arrivals are exponential and know nothing of each other.
class Arrivals {
 public:
  Arrivals(uint64_t seed, uint32_t thread) : rng_(seed, thread, Purpose::kArrivals) {}

  double gap_ns(double per_s) {
    constexpr int kMantissa = 53;
    const double uniform = std::ldexp(static_cast<double>(rng_.next() >> (64 - kMantissa)),
                                      -kMantissa);  // in [0, 1)
    return -std::log1p(-uniform) / per_s * static_cast<double>(kNsPerSecond);
  }

 private:
  Rng rng_;
};

// Writes the whole script; one use. The pool holds 0 .. 2 * records - 1, so that a key is its
// number. Even keys are loaded, odd ones inserted with one payload for ever, whoever comes first.
class Generator {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : seed_(seed),
        records_(static_cast<uint64_t>(parameters["records"])),
        insert_percent_(static_cast<uint64_t>(parameters["insert_percent"])),
        step_ns_(static_cast<uint64_t>(parameters["step_ms"]) * kNsPerMs),
        rates_(rates_of(parameters)),
        tags_(records_) {
    index_ = script_.add_index("index", INT);
    for (uint64_t key = 0; key < 2 * records_; ++key) {
      script_.add_int64_key(static_cast<int64_t>(key));
    }
    for (const uint64_t rate : rates_) script_.add_class(name_of(rate));
    const auto threads = static_cast<uint32_t>(parameters["threads"]);
    for (uint32_t thread = 0; thread < threads; ++thread) arrivals_.emplace_back(seed, thread);
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = threads,
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return even_key(rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(static_cast<uint32_t>(records_), rng);
    clients_->load(records_, [&](uint64_t i) {
      return Row{.index = index_, .key = 2 * order[i], .payload = script_.new_payload(0)};
    });
    for (uint32_t step = 0; step < kSteps; ++step) {
      const uint64_t expected = rates_[step] / clients_->size() * step_ns_ / kNsPerSecond;
      clients_->start(name_of(rates_[step]), expected * 4 * 11 / 10);
      for (Client& client : *clients_) ask(client, step);
      clients_->finish();
    }
    clients_->verify();
    return script_.build();
  }

 private:
  // The transactions of a thread in a step.
  void ask(Client& client, uint32_t step) {
    const double per_s = static_cast<double>(rates_[step]) / clients_->size();
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
      client.out().get(Client::kSlot, even_key(client.rng()), client.sample());
      return;
    }
    const uint64_t place = client.rng().below(records_);
    if (tags_[place] == kNoTag) tags_[place] = script_.new_payload(0).tag;
    const uint8_t flags = kMayExist | client.sample();
    client.out().insert(Client::kSlot, static_cast<uint32_t>(2 * place + 1),
                        {.tag = tags_[place], .text = 0}, flags);
  }

  uint32_t even_key(Rng& rng) const { return static_cast<uint32_t>(2 * rng.below(records_)); }

  uint64_t seed_, records_, insert_percent_, step_ns_;
  Rates rates_;
  ScriptBuilder script_;
  uint32_t index_ = 0;
  std::vector<uint32_t> tags_;  // of odd key 2 * i + 1; kNoTag: nobody has inserted it yet
  std::vector<Arrivals> arrivals_;
  std::optional<Clients> clients_;
};

class OpenLoop : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    rates_ = rates_of(parameters);
    bound_ns_ = static_cast<uint64_t>(parameters["p99_bound_us"]) * kNsPerUs;
    if (std::ranges::adjacent_find(rates_, std::greater_equal<>()) != rates_.end()) {
      return Error{"capacity_per_s is too small for seven different rates: give at least " +
                   std::to_string(kPercent)};
    }
    double transactions = 0;
    for (const uint64_t rate : rates_) {
      transactions += static_cast<double>(rate) * static_cast<double>(parameters["step_ms"]) / 1e3;
    }
    if (transactions > static_cast<double>(kTransactionsMax)) {
      return Error{"the sweep asks for more than " + std::to_string(kTransactionsMax) +
                   " transactions: lower rate_first_per_s (or capacity_per_s), "
                   "rate_growth_percent or step_ms"};
    }
    return Generator(parameters, seed, policy).run();
  }

  // What a step delivered: all that was asked for, over the time until the last of it was done.
  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    std::vector<Step> steps;
    double delivered = 0;
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (!script.phases[p].timed) continue;
      const auto step = static_cast<uint32_t>(steps.size());
      steps.push_back({.rate_per_s = rates_[step], .p99_ns = p99_ns(outcome.phases[p], step)});
      const uint64_t waited = std::min(phases[p].wall_ns, kHeadStartNs);
      const PhaseMeasures busy{.wall_ns = phases[p].wall_ns - waited + 1, .memory_bytes = {}};
      delivered = std::max(delivered, committed_per_second(outcome.phases[p], busy, step));
    }
    metrics["sustained_per_s"] = sustained_per_s(steps, bound_ns_);
    metrics["delivered_max_per_s"] = delivered;
  }

 private:
  static uint64_t p99_ns(const PhaseOutcome& outcome, uint32_t step) {
    std::vector<uint64_t> sum(kHistogramBuckets);
    for (const ThreadResult& thread : outcome.threads) {
      for (std::size_t bucket = 0; bucket < sum.size(); ++bucket) {
        sum[bucket] += thread.counters->histogram[step][bucket];
      }
    }
    return histogram_quantile_ns(sum, kQuantile);
  }

  Rates rates_{};
  uint64_t bound_ns_ = 0;
};

}  // namespace
}  // namespace open_loop

std::unique_ptr<Workload> make_open_loop(std::string_view /*instance*/) {
  return std::make_unique<open_loop::OpenLoop>();
}

}  // namespace keydrome
