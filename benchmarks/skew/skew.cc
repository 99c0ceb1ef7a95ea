// Generates the operations of the benchmark "skew", lookups whose hot keys change during the run,
// and measures how fast throughput recovers (README.md).
#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "benchmarks/kit/format/program_walk.h"
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
constexpr const char* kPhase = "run";
constexpr double kNsPerMs = 1e6;

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
        records_(parameters.u32("records")),
        lookups_(parameters.u64("lookups_per_part")),
        chooser_(chooser_of(zipf, records_)) {
    index_ = builder().add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) builder().add_int64_key(key);
    lookup_ = builder().add_class("lookup");
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
    start_phase(kPhase, lookups_ * kParts, 1);
    for (uint32_t part = 0; part < kParts; ++part) {
      if (part > 0) clients().barrier();
      take_turns(lookups_, [&](Client& client) { look_up(client, part); });
    }
    clients().finish();
  }

  void look_up(Client& client, uint32_t part) {
    client.begin(index_, lookup_);
    client.out().get(kSlot, chooser_->key(client.rng(), part));
    client.commit();
  }

  uint32_t records_;
  uint64_t lookups_;  // of each thread in each part
  std::unique_ptr<KeyChooser> chooser_;
  uint32_t index_ = 0, lookup_ = 0;
};

// Returns, for each part except the first, how many transactions the thread had committed when the
// part began.
std::vector<uint64_t> committed_before_parts(std::span<const format::Op> ops,
                                             const script::ThreadResult& result) {
  std::vector<uint64_t> before;
  uint64_t committed = 0;
  format::walk_program(ops, [&](const format::Step& step) {
    const format::Op& op = ops[step.op];
    if (op.code == format::OpCode::kWait) before.push_back(committed);
    if (op.code == format::OpCode::kBegin &&
        result.ends[step.transaction] == script::TransactionEnd::kCommitted) {
      ++committed;
    }
  });
  return before;
}

// Returns, for each part except the first, the time window of the throughput curve in which the
// part began. All threads wait for each other before a part, so the first commit of any thread in a
// part marks the beginning of the part.
std::vector<std::size_t> changes_of(const script::PhaseScript& script,
                                    const script::PhaseOutcome& outcome, uint32_t shift) {
  std::vector<std::size_t> changes(kParts - 1, script::kWindows);
  for (std::size_t t = 0; t < script.threads.size(); ++t) {
    const std::vector<uint64_t> windows = judge::thread_windows(outcome.threads[t].totals, shift);
    const std::vector<uint64_t> before =
        committed_before_parts(script.threads[t], outcome.threads[t]);
    for (std::size_t part = 0; part < before.size(); ++part) {
      changes[part] = std::min(changes[part], window_of(windows, before[part] + 1));
    }
  }
  return changes;
}

constexpr double kRecordBytes = 16;  // key and payload

class Skew : public workload::Workload {
 public:
  explicit Skew(bool zipf) : zipf_(zipf) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    workload::Demand demand(threads);
    demand.add_load(parameters.number("records"), kRecordBytes);
    demand.add_transactions(threads * parameters.number("lookups_per_part") * kParts, 1);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(zipf_, parameters, seed, policy).write();
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> /*phases*/,
               workload::Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      const judge::Throughput curve = judge::phase_throughput(outcome.phases[p]);
      const auto shift = static_cast<uint32_t>(std::countr_zero(curve.window_ns));
      const auto found =
          recoveries(curve.committed, changes_of(script.phases[p], outcome.phases[p], shift));
      if (!found) return;
      const double window_ms = static_cast<double>(curve.window_ns) / kNsPerMs;
      Recovery worst;
      for (const Recovery& recovery : *found) {
        worst.windows = std::max(worst.windows, recovery.windows);
        worst.drop = std::max(worst.drop, recovery.drop);
      }
      metrics["recovery_ms"] = static_cast<double>(worst.windows) * window_ms;
      metrics["recovery_drop"] = worst.drop;
      metrics["window_ms"] = window_ms;
    }
  }

 private:
  bool zipf_;
};

}  // namespace
}  // namespace skew

std::unique_ptr<workload::Workload> make_skew(std::string_view instance) {
  return std::make_unique<skew::Skew>(instance == "shifting_zipf");
}

}  // namespace keydrome
