// Generates the operations of the benchmark "open_loop": YCSB's workload A, with transactions that
// arrive on a schedule. A run has seven steps, each with one arrival rate. The results of the
// earlier steps determine the rate of the next step (README.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/script/histogram.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/open_loop/knee.h"

namespace keydrome {
namespace open_loop {
namespace {

// Each step has a transaction class, by which the report groups latencies. The checks have another.
constexpr uint32_t kSteps = 7;
static_assert(kSteps + 1 == format::kTransactionClasses);
constexpr uint32_t kTries = 2;  // a step plays its rate in two tries; each try is a phase
constexpr uint64_t kNsPerSecond = 1'000'000'000, kNsPerUs = 1'000, kPercent = 100;
// Time from the start of a phase to its first possible arrival. In this time all threads start and
// load the first part of their program, its first piece (kit/format/piece.h).
constexpr uint64_t kHeadStartNs = 5 * kNsPerMs;
// YCSB's workload A: half of the operations update a record, and the others read one.
constexpr uint64_t kUpdatePercent = 50;
constexpr uint32_t kTexts = 1024;
// With its tag, a unique number of 8 bytes, a payload has 100 bytes, the most that the API allows.
constexpr uint32_t kTextBytes = 92;

// The rates of the steps if capacity_per_s is set, in percent of it.
constexpr std::array<uint64_t, kSteps> kSharesPercent{20, 50, 70, 80, 90, 95, 100};
constexpr uint64_t kCapacityMin = 100;  // far below it, two steps would have the same rate

// Returns the number of arrivals of each thread in a try.
uint64_t arrivals_per_thread(const workload::Parameters& parameters) {
  const uint64_t threads = parameters.u64("threads");
  return (parameters.u64("arrivals_per_step") + threads - 1) / threads;
}

// Returns the rate of the step that follows the steps `done`.
uint64_t next_rate(const workload::Parameters& parameters, std::span<const Step> done) {
  const uint64_t capacity = parameters.u64("capacity_per_s");
  if (capacity > 0) return capacity * kSharesPercent[done.size()] / kPercent;
  return next_rate_per_s({.lowest_per_s = parameters.u64("rate_lowest_per_s"),
                          .highest_per_s = parameters.u64("rate_highest_per_s")},
                         done);
}

// Returns the time from the first possible to the last possible arrival.
uint64_t schedule_ns(uint64_t arrivals, uint64_t rate_per_s) {
  return static_cast<uint64_t>(
      std::llround(static_cast<double>(arrivals) * kNsPerSecond / static_cast<double>(rate_per_s)));
}

// Returns `count` arrivals of a Poisson process as ascending fractions of the schedule in [0, 1].
// The gaps are exponential, with one more gap up to the end, and are scaled to fill the schedule.
// That is the distribution of a Poisson process whose number of arrivals is known.
std::vector<double> poisson_arrivals(workload::Rng& rng, uint64_t count) {
  std::vector<double> arrivals;
  arrivals.reserve(count);
  double at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    at -= std::log1p(-workload::unit_interval(rng));
    arrivals.push_back(at);
  }
  at -= std::log1p(-workload::unit_interval(rng));
  for (double& arrival : arrivals) arrival /= std::max(at, 1e-300);
  return arrivals;
}

// Stretches or shortens the schedule of a phase to the given length.
void set_schedule(script::PhaseScript& phase, uint64_t length_ns) {
  const double factor =
      static_cast<double>(length_ns) / static_cast<double>(phase.schedule.end_ns - kHeadStartNs);
  for (std::vector<format::Op>& ops : phase.threads) {
    for (format::Op& op : ops) {
      if (op.code != format::OpCode::kArrive) continue;
      const uint64_t old_ns = format::ns_after_go(op) - kHeadStartNs;
      const uint64_t at_ns =
          kHeadStartNs + static_cast<uint64_t>(static_cast<double>(old_ns) * factor);
      op.payload = static_cast<uint32_t>(at_ns >> 32);
      op.argument = static_cast<uint32_t>(at_ns);
    }
  }
  phase.schedule.end_ns = kHeadStartNs + length_ns;
}

// Writes the script: the operations of all threads. Item i of YCSB is key number i. All schedules
// last `length_ns`, until the referee, which runs the session, changes them
// (OpenLoop::adapt_phase).
class Generator : public workload::ClientScript {
 public:
  Generator(bool strings, const Parameters& parameters, uint64_t length_ns, uint64_t seed,
            const CheckPolicy& policy)
      : ClientScript(seed, policy),
        records_(parameters.u32("records")),
        arrivals_(arrivals_per_thread(parameters)),
        length_ns_(static_cast<double>(length_ns)),
        // YCSB's range includes both ends, so it has one item more than there are records.
        items_(records_ + uint64_t{1}) {
    index_ = builder().add_index("usertable", strings ? VARCHAR : INT);
    for (uint64_t item = 0; item < records_; ++item) add_key(strings, workload::fnv_63(item));
    texts_ = workload::random_texts(builder(), seed, kTexts, strings ? kTextBytes : 0);
    for (uint32_t step = 0; step < kSteps; ++step) {
      builder().add_class("step_" + std::to_string(step + 1));
    }
    const uint32_t threads = parameters.u32("threads");
    for (uint32_t thread = 0; thread < threads; ++thread) {
      arrival_rngs_.emplace_back(seed, thread, Purpose::kArrivals);
    }
    add_clients(threads, [this](Rng& rng, uint32_t) { return item(rng); });
  }

 private:
  void add_key(bool strings, uint64_t hash) {
    if (strings) {
      builder().add_varchar_key("user" + std::to_string(hash));
    } else {
      builder().add_int64_key(static_cast<int64_t>(hash));
    }
  }

  void load() override {
    clients().load(records_, [this](uint64_t item) {
      return Row{.index = index_,
                 .key = static_cast<uint32_t>(item),
                 .payload = builder().new_payload(texts_[item % texts_.size()])};
    });
  }

  void run() override {
    constexpr uint64_t kArriveAndUpdate = 3;
    for (uint32_t step = 0; step < kSteps; ++step) {
      for (uint32_t number = 0; number < kTries; ++number) {
        const std::string name = "step_" + std::to_string(step + 1) + (number > 0 ? "_again" : "");
        start_phase(name, arrivals_, kArriveAndUpdate);
        for (Client& client : clients()) append_arrivals(client, step);
        clients().finish();
      }
    }
  }

  // Appends the transactions of a thread in a try, each with its arrival.
  void append_arrivals(Client& client, uint32_t step) {
    for (const double at : poisson_arrivals(arrival_rngs_[client.number()], arrivals_)) {
      client.use(index_);
      client.out().arrive(kHeadStartNs + static_cast<uint64_t>(at * length_ns_));
      client.begin(index_, step);
      operate(client);
      client.commit();
    }
  }

  // The API has no update call: an update deletes the record of the key and inserts a new one.
  void operate(Client& client) {
    const bool updates = client.rng().below(kPercent) < kUpdatePercent;
    const uint32_t key = item(client.rng());
    if (!updates) return client.out().get(kSlot, key);
    client.out().delete_key(kSlot, key);
    const uint32_t text = texts_[client.rng().below(texts_.size())];
    client.out().insert(kSlot, key, builder().new_payload(text));
  }

  // Returns a random item. Chooses again if the item does not exist, as YCSB does, because the
  // range of the distribution is larger than the number of records.
  uint32_t item(Rng& rng) const {
    uint64_t item = items_.next(rng);
    while (item >= records_) item = items_.next(rng);
    return static_cast<uint32_t>(item);
  }

  uint32_t records_;
  uint64_t arrivals_;  // of a thread in a try
  double length_ns_;
  workload::ScrambledZipf items_;
  uint32_t index_ = 0;
  std::vector<uint32_t> texts_;
  std::vector<Rng> arrival_rngs_;  // by thread
};

// The sum of what all threads report about one try.
struct Sums {
  uint64_t committed = 0, late = 0;
  std::vector<uint64_t> latency = std::vector<uint64_t>(script::kHistogramBuckets);
};

Sums sums_of(const script::PhaseOutcome& outcome, uint32_t step) {
  Sums sums;
  for (const script::ThreadResult& thread : outcome.threads) {
    sums.committed += thread.totals.committed[step];
    sums.late += thread.totals.late[step];
    const std::vector<uint32_t>& latency = thread.totals.latency[step];
    for (std::size_t bucket = 0; bucket < latency.size(); ++bucket) {
      sums.latency[bucket] += latency[bucket];
    }
  }
  return sums;
}

// Returns the latency that only 1 of `one_of` transactions exceeds. Returns nothing if too few
// transactions do.
std::optional<uint64_t> percentile_ns(const Sums& sums, uint64_t one_of) {
  if (sums.committed / one_of < kSamplesBeyondMin) return std::nullopt;
  return script::histogram_quantile_ns(sums.latency, 1 - 1 / static_cast<double>(one_of));
}

constexpr uint64_t kOneOfP99 = 100, kOneOfP999 = 1'000;

constexpr double kKeyBytes = 8, kPayloadBytes = 8;
constexpr double kStringKeyBytes = 24;  // "user" and a hash in decimal

class OpenLoop : public workload::Workload {
 public:
  explicit OpenLoop(bool strings) : strings_(strings) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), records = parameters.number("records");
    workload::Demand demand(threads);
    demand.add_load(records, strings_ ? kStringKeyBytes + kTextBytes + kPayloadBytes
                                      : kKeyBytes + kPayloadBytes);
    const double transactions =
        static_cast<double>(arrivals_per_thread(parameters)) * threads * uint64_t{kSteps * kTries};
    constexpr double kUpdates = kUpdatePercent / 100.0;
    demand.add_transactions(transactions, 2 + kUpdates, 1 + kUpdates);
    demand.add_changes(transactions * kUpdates, transactions * kUpdates);
    if (strings_) demand.add_strings(records * kStringKeyBytes);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    parameters_ = parameters;
    arrivals_ = arrivals_per_thread(parameters) * parameters.u64("threads");
    bounds_ = {.p99_ns = parameters.u64("p99_bound_us") * kNsPerUs,
               .p999_ns = parameters.u64("p999_bound_us") * kNsPerUs};
    const uint64_t lowest = parameters.u64("rate_lowest_per_s"),
                   highest = parameters.u64("rate_highest_per_s");
    if (highest < 2 * lowest) {
      return Error{"rate_highest_per_s is " + std::to_string(highest) +
                   " and rate_lowest_per_s is " + std::to_string(lowest) +
                   ", but the highest rate must be at least twice the lowest one: raise "
                   "rate_highest_per_s or lower rate_lowest_per_s"};
    }
    const uint64_t capacity = parameters.u64("capacity_per_s");
    if (capacity > 0 && capacity < kCapacityMin) {
      return Error{"capacity_per_s is " + std::to_string(capacity) +
                   ", but seven different rates from 20 to 100 % of it need at least " +
                   std::to_string(kCapacityMin) +
                   ": raise capacity_per_s, or set it to 0, so that a bisection chooses the rates"};
    }
    const uint64_t length_ns = schedule_ns(arrivals_, next_rate(parameters, {}));
    script::Script script = Generator(strings_, parameters, length_ns, seed, policy).write();
    for (script::PhaseScript& phase : script.phases) {
      if (phase.timed) phase.schedule.end_ns = kHeadStartNs + length_ns;
    }
    return script;
  }

  // Sets the rate of the phase, and names the phase and its transaction class after this rate.
  void adapt_phase(script::Script& script, uint32_t phase,
                   const script::Outcome& so_far) const override {
    script::PhaseScript& next = script.phases[phase];
    if (!next.timed) return;
    const Tried tried = tried_in(script, so_far);
    const uint64_t rate = next_rate(parameters_, tried.steps);
    set_schedule(next, schedule_ns(arrivals_, rate));
    std::string& class_name = script.class_names[tried.steps.size()];
    class_name = std::to_string(rate) + "_per_s";
    next.name = class_name + (tried.unfinished ? "_again" : "");
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    const Tried tried = tried_in(script, outcome);
    if (tried.steps.empty()) return;
    const double delivered = delivered_max(script, outcome, phases);
    metrics["sustained_per_s"] = std::min(knee_per_s(tried.steps), delivered);
    metrics["delivered_max_per_s"] = delivered;
    const uint64_t beyond_p99 = arrivals_ / kOneOfP99, beyond_p999 = arrivals_ / kOneOfP999;
    metrics["samples_beyond_p99"] = static_cast<double>(beyond_p99);
    metrics["samples_beyond_p999"] = static_cast<double>(beyond_p999);
    const Step* const found = knee(tried.steps);
    if (found == nullptr) return;
    add_percentile("knee_p99_ms", found->best.p99_ns, metrics);
    add_percentile("knee_p999_ms", found->best.p999_ns, metrics);
  }

 private:
  struct Tried {
    std::vector<Step> steps;  // those whose tries have all been played
    bool unfinished = false;  // a try of the next step has been played
  };

  Tried tried_in(const script::Script& script, const script::Outcome& outcome) const {
    Tried tried;
    Step step;
    uint32_t tries = 0;
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (!script.phases[p].timed) continue;
      const auto number = static_cast<uint32_t>(tried.steps.size());
      const Try measured = try_of(sums_of(outcome.phases[p], number));
      const double its_margin = margin(measured, bounds_);
      if (tries == 0 || its_margin > step.margin) {
        step = {.rate_per_s = next_rate(parameters_, tried.steps),
                .margin = its_margin,
                .best = measured};
      }
      if (++tries < kTries) continue;
      tried.steps.push_back(step);
      tries = 0;
    }
    tried.unfinished = tries > 0;
    return tried;
  }

  Try try_of(const Sums& sums) const {
    return {.arrivals = arrivals_,
            .committed_in_time = sums.committed - sums.late,
            .p99_ns = percentile_ns(sums, kOneOfP99),
            .p999_ns = percentile_ns(sums, kOneOfP999)};
  }

  // Returns the highest throughput of a try. The time of a try lasts from the end of the head start
  // to the end of the last transaction, by the referee's clock.
  static double delivered_max(const script::Script& script, const script::Outcome& outcome,
                              std::span<const workload::PhaseMeasures> phases) {
    double highest = 0;
    uint32_t timed = 0;
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (!script.phases[p].timed) continue;
      const uint64_t waited = std::min(phases[p].wall_ns, kHeadStartNs);
      const workload::PhaseMeasures busy{.wall_ns = phases[p].wall_ns - waited + 1,
                                         .memory_bytes = {}};
      const uint32_t step = timed++ / kTries;
      highest = std::max(highest, workload::committed_per_second(outcome.phases[p], busy, step));
    }
    return highest;
  }

  static void add_percentile(const char* name, const std::optional<uint64_t>& percentile_ns,
                             workload::Metrics& metrics) {
    if (percentile_ns) {
      metrics[name] = static_cast<double>(*percentile_ns) / static_cast<double>(kNsPerMs);
    }
  }

  bool strings_;
  workload::Parameters parameters_;
  uint64_t arrivals_ = 0;  // of all threads in a try
  Bounds bounds_;
};

}  // namespace
}  // namespace open_loop

std::unique_ptr<workload::Workload> make_open_loop(std::string_view instance) {
  return std::make_unique<open_loop::OpenLoop>(instance == "a");
}

}  // namespace keydrome
