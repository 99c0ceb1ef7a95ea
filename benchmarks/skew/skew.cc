// Generates the operations of the benchmark "skew", lookups whose hot keys change during the run,
// and measures how fast throughput recovers (README.md).
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/skew/recovery.h"

namespace keydrome {
namespace skew {
namespace {

constexpr uint32_t kParts = 6;
constexpr uint32_t kShiftsPerIndex = 64;  // a shift moves the range by 1/64 of all keys
constexpr uint32_t kStillPart = 1;        // the run without changes uses the keys of this part
// A run without changes, then one with changes.
constexpr std::array kRuns = {"still", "shifting"};
// At paper scale a part has 20 s in windows of 100 ms. Part 0 is half as long.
constexpr uint64_t kWindowsPerPart = 200;
constexpr uint64_t kLookupsPerTransaction = 10;
// A thread looks at the clock after this many transactions. No handle is open then (clients.h).
constexpr uint64_t kTransactionsPerLook = 100;
constexpr double kNsPerSecond = 1e9;

uint64_t part_ns(const workload::Parameters& parameters, uint32_t part) {
  return parameters.u64("part_ms") * kNsPerMs / (part == 0 ? 2 : 1);
}

// Returns how many transactions a thread's program has for a part. The threads play as many of them
// as the time allows.
uint64_t transactions_of(const workload::Parameters& parameters, uint32_t part) {
  const double seconds = static_cast<double>(part_ns(parameters, part)) / kNsPerSecond;
  return static_cast<uint64_t>(parameters.number("lookups_per_s_max") * seconds) /
             kLookupsPerTransaction +
         1;
}

// Chooses the keys of the lookups.
class KeyChooser {
 public:
  virtual ~KeyChooser() = default;
  virtual uint32_t key(workload::Rng& rng, uint32_t part) const = 0;
};

// Chooses from all keys in part 0 and from their middle half in part 1. In each later part the
// range of keys moves down.
class ShiftingRange : public KeyChooser {
 public:
  explicit ShiftingRange(uint32_t records) : records_(records) {}
  uint32_t key(workload::Rng& rng, uint32_t part) const override {
    if (part == 0) return static_cast<uint32_t>(rng.below(records_));
    const uint32_t first = records_ / 4 - (part - 1) * (records_ / kShiftsPerIndex);
    return first + static_cast<uint32_t>(rng.below(records_ / 2));
  }

 private:
  uint32_t records_;
};

// Chooses ranks from a Zipf distribution. Each part hashes the hot ranks to different keys.
class ShiftingZipf : public KeyChooser {
 public:
  explicit ShiftingZipf(uint32_t records)
      : records_(records), ranks_(records, workload::GrayZipf::kTheta) {}
  uint32_t key(workload::Rng& rng, uint32_t part) const override {
    return static_cast<uint32_t>(workload::fnv_63(ranks_.next(rng) + uint64_t{part} * records_) %
                                 records_);
  }

 private:
  uint32_t records_;
  workload::GrayZipf ranks_;
};

std::unique_ptr<KeyChooser> chooser_of(bool zipf, uint32_t records) {
  if (zipf) return std::make_unique<ShiftingZipf>(records);
  return std::make_unique<ShiftingRange>(records);
}

// Writes the script: the operations of all threads. The script's list of keys (pool) begins with
// the keys 0 .. records-1, so each of these keys equals its number in the pool.
class Generator : public workload::ClientScript {
 public:
  Generator(bool zipf, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        parameters_(parameters),
        records_(parameters.u32("records")),
        chooser_(chooser_of(zipf, records_)) {
    index_ = builder().add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) builder().add_int64_key(key);
    lookup_ = builder().add_class("lookups");
    add_clients(parameters.u32("threads"),
                [this](Rng& rng, uint32_t) { return static_cast<uint32_t>(rng.below(records_)); });
  }

 private:
  void load() override {
    load_shuffled(records_, [this](uint32_t key) {
      return Row{.index = index_, .key = key, .payload = builder().new_payload()};
    });
  }

  void run() override {
    for (std::size_t run = 0; run < kRuns.size(); ++run) {
      for (uint32_t part = 0; part < kParts; ++part) {
        const uint64_t transactions = transactions_of(parameters_, part);
        start_phase(kRuns[run] + ("_" + std::to_string(part + 1)), transactions,
                    kLookupsPerTransaction);
        for (Client& client : clients()) {
          append_part(client, transactions, part_ns(parameters_, part),
                      run == 0 ? kStillPart : part);
        }
        clients().finish();
      }
    }
  }

  void append_part(Client& client, uint64_t transactions, uint64_t end_ns, uint32_t part) {
    for (uint64_t i = 0; i < transactions; ++i) {
      if (i % kTransactionsPerLook == 0) {
        client.close();
        client.out().until(end_ns);
      }
      client.begin(index_, lookup_);
      for (uint64_t n = 0; n < kLookupsPerTransaction; ++n) {
        client.out().get(kSlot, chooser_->key(client.rng(), part));
      }
      client.commit();
    }
  }

  const Parameters& parameters_;
  uint32_t records_;
  std::unique_ptr<KeyChooser> chooser_;
  uint32_t index_ = 0, lookup_ = 0;
};

// Returns the commits of all threads in each window of a phase.
std::vector<uint64_t> windows_of(const script::PhaseOutcome& outcome) {
  std::vector<uint64_t> sum;
  for (const script::ThreadResult& thread : outcome.threads) {
    const std::vector<uint64_t>& windows = thread.totals.scheduled;
    sum.resize(std::max(sum.size(), windows.size()));
    for (std::size_t i = 0; i < windows.size(); ++i) sum[i] += windows[i];
  }
  return sum;
}

constexpr double kRecordBytes = 16;  // key and payload

class Skew : public workload::Workload {
 public:
  explicit Skew(bool zipf) : zipf_(zipf) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    workload::Demand demand(threads);
    demand.add_load(parameters.number("records"), kRecordBytes);
    for (uint32_t part = 0; part < kParts; ++part) {
      const auto transactions = static_cast<double>(transactions_of(parameters, part));
      demand.add_transactions(threads * transactions * kRuns.size(), kLookupsPerTransaction);
    }
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    parameters_ = parameters;
    script::Script script = Generator(zipf_, parameters, seed, policy).write();
    uint32_t timed = 0;
    for (script::PhaseScript& phase : script.phases) {
      if (!phase.timed) continue;
      phase.schedule = {.end_ns = part_ns(parameters, timed++ % kParts), .window_ns = window_ns()};
    }
    return script;
  }

  // Joins the parts of the run with changes.
  std::optional<judge::Throughput> throughput(const script::Script& script,
                                              const script::Outcome& outcome) const override {
    judge::Throughput curve{.window_ns = window_ns(), .committed = {}};
    const auto parts = parts_of(script, outcome);
    for (const std::vector<uint64_t>& part : parts[1]) {
      curve.committed.insert(curve.committed.end(), part.begin(), part.end());
    }
    return curve;
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    const auto parts = parts_of(script, outcome);
    add_rate(script, outcome, phases, metrics);
    metrics["window_ms"] = in_ms(1);
    if (is_cut_short(script, outcome)) return;
    const Dip usual = noise(parts[0]);
    metrics["noise_ms"] = in_ms(usual.windows);
    metrics["noise_drop"] = usual.drop;
    const Recoveries found = recoveries(parts[1], usual);
    metrics["changes_noticed"] = static_cast<double>(found.count);
    if (found.count == 0) return;
    metrics["recovery_ms"] = in_ms(found.worst.windows);
    metrics["recovery_drop"] = found.worst.drop;
  }

 private:
  uint64_t window_ns() const { return parameters_.u64("part_ms") * kNsPerMs / kWindowsPerPart; }
  double in_ms(uint64_t windows) const {
    return static_cast<double>(windows * window_ns()) / static_cast<double>(kNsPerMs);
  }

  // Returns the windows of each part, by run.
  static std::array<std::vector<std::vector<uint64_t>>, kRuns.size()> parts_of(
      const script::Script& script, const script::Outcome& outcome) {
    std::array<std::vector<std::vector<uint64_t>>, kRuns.size()> parts;
    std::size_t timed = 0;
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].timed) parts[timed++ / kParts].push_back(windows_of(outcome.phases[p]));
    }
    return parts;
  }

  // Returns how many threads played all their transactions of a part, and so ended before the time
  // of the part had passed.
  std::size_t ran_out(const script::PhaseOutcome& outcome, std::size_t part) const {
    const uint64_t most = transactions_of(parameters_, static_cast<uint32_t>(part));
    return static_cast<std::size_t>(std::ranges::count_if(
        outcome.threads,
        [&](const script::ThreadResult& thread) { return thread.totals.committed[0] >= most; }));
  }

  bool is_cut_short(const script::Script& script, const script::Outcome& outcome) const {
    std::size_t timed = 0;
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].timed && ran_out(outcome.phases[p], timed++ % kParts) > 0) return true;
    }
    return false;
  }

  // Adds the lookups per second of the run with changes. A part takes at least its scheduled time,
  // unless all threads ran out of lookups. So a process that ends a part early gains nothing.
  void add_rate(const script::Script& script, const script::Outcome& outcome,
                std::span<const workload::PhaseMeasures> phases, workload::Metrics& metrics) const {
    uint64_t lookups = 0, ns = 1;
    std::size_t timed = 0;
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (!script.phases[p].timed || timed++ < kParts) continue;
      const std::vector<script::ThreadResult>& threads = outcome.phases[p].threads;
      const bool whole = ran_out(outcome.phases[p], (timed - 1) % kParts) == threads.size();
      ns +=
          whole ? phases[p].wall_ns : std::max(phases[p].wall_ns, script.phases[p].schedule.end_ns);
      for (const script::ThreadResult& thread : threads) {
        lookups += thread.totals.committed[0] * kLookupsPerTransaction;
      }
    }
    metrics["lookups_per_s"] =
        static_cast<double>(lookups) * kNsPerSecond / static_cast<double>(ns);
  }

  bool zipf_;
  workload::Parameters parameters_;
};

}  // namespace
}  // namespace skew

std::unique_ptr<workload::Workload> make_skew(std::string_view instance) {
  return std::make_unique<skew::Skew>(instance == "shifting_zipf");
}

}  // namespace keydrome
