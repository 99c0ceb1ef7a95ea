// Lookups whose keys of interest change while they run (README.md).
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/program_walk.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/totals.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/kit/ycsb_random.h"
#include "benchmarks/skew/recovery.h"

namespace keydrome {
namespace skew {
namespace {

constexpr uint32_t kParts = 6;
constexpr uint32_t kShiftShare = 64;  // a shift moves the range by this part of all keys
constexpr const char* kPhase = "run";
constexpr double kNsPerMs = 1e6;

// Which keys a part of the schedule asks for.
class KeyLaw {
 public:
  virtual ~KeyLaw() = default;
  virtual uint32_t key(Rng& rng, uint32_t part) const = 0;
};

// All keys; then their middle half; then that range four times a little further to the left.
class ShiftingRange : public KeyLaw {
 public:
  explicit ShiftingRange(uint32_t records) : records_(records) {}
  uint32_t key(Rng& rng, uint32_t part) const override {
    if (part == 0) return static_cast<uint32_t>(rng.below(records_));
    const uint32_t first = records_ / 4 - (part - 1) * (records_ / kShiftShare);
    return first + static_cast<uint32_t>(rng.below(records_ / 2));
  }

 private:
  uint32_t records_;
};

// Zipfian ranks; each part spreads the hot ones over other keys.
class ShiftingZipf : public KeyLaw {
 public:
  explicit ShiftingZipf(uint32_t records) : records_(records), ranks_(records, GrayZipf::kTheta) {}
  uint32_t key(Rng& rng, uint32_t part) const override {
    return static_cast<uint32_t>(fnv_63(ranks_.next(rng) + uint64_t{part} * records_) % records_);
  }

 private:
  uint32_t records_;
  GrayZipf ranks_;
};

std::unique_ptr<KeyLaw> law_of(bool zipf, uint32_t records) {
  if (zipf) return std::make_unique<ShiftingZipf>(records);
  return std::make_unique<ShiftingRange>(records);
}

// Writes the whole script; one use. The pool holds 0 .. records - 1, so that a key is its number.
class Generator {
 public:
  Generator(bool zipf, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : seed_(seed),
        records_(static_cast<uint32_t>(parameters["records"])),
        lookups_(static_cast<uint64_t>(parameters["lookups_per_part"])),
        law_(law_of(zipf, records_)) {
    index_ = script_.add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) script_.add_int64_key(key);
    lookup_ = script_.add_class("lookup");
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return any_key(rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(records_, rng);
    clients_->load(records_, [&](uint64_t i) {
      return Row{.index = index_, .key = order[i], .payload = script_.new_payload(0)};
    });
    clients_->start(kPhase, lookups_ * kParts * 3);
    for (uint32_t part = 0; part < kParts; ++part) {
      if (part > 0) clients_->meet();
      for (uint64_t i = 0; i < lookups_; ++i) {
        for (Client& client : *clients_) transaction(client, part);
      }
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  void transaction(Client& client, uint32_t part) {
    client.begin(index_, lookup_);
    client.out().get(Client::kSlot, law_->key(client.rng(), part), client.sample());
    client.commit();
  }

  uint32_t any_key(Rng& rng) const { return static_cast<uint32_t>(rng.below(records_)); }

  uint64_t seed_;
  uint32_t records_;
  uint64_t lookups_;
  std::unique_ptr<KeyLaw> law_;
  ScriptBuilder script_;
  uint32_t index_ = 0, lookup_ = 0;
  std::optional<Clients> clients_;
};

// How many transactions the thread had committed when each part but the first began.
std::vector<uint64_t> committed_before_parts(std::span<const Op> ops, const ThreadResult& result) {
  std::vector<uint64_t> before;
  uint64_t committed = 0;
  walk_program(ops, [&](const Step& step) {
    const Op& op = ops[step.op];
    if (op.code == OpCode::kWait) before.push_back(committed);
    if (op.code == OpCode::kBegin && result.ends[step.transaction] == TransactionEnd::kCommitted) {
      ++committed;
    }
  });
  return before;
}

// The windows in which the parts but the first began: threads meet before each, so the first commit
// of any of them tells.
std::vector<std::size_t> changes_of(const PhaseScript& script, const PhaseOutcome& outcome,
                                    uint32_t shift) {
  std::vector<std::size_t> changes(kParts - 1, kWindows);
  for (std::size_t t = 0; t < script.threads.size(); ++t) {
    const std::vector<uint64_t> windows = thread_windows(*outcome.threads[t].counters, shift);
    const std::vector<uint64_t> before =
        committed_before_parts(script.threads[t], outcome.threads[t]);
    for (std::size_t part = 0; part < before.size(); ++part) {
      changes[part] = std::min(changes[part], window_of(windows, before[part] + 1));
    }
  }
  return changes;
}

class Skew : public Workload {
 public:
  explicit Skew(bool zipf) : zipf_(zipf) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    return Generator(zipf_, parameters, seed, policy).run();
  }

  void measure(const Script& script, const Outcome& outcome,
               std::span<const PhaseMeasures> /*phases*/, Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      const Throughput curve = phase_throughput(outcome.phases[p]);
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

std::unique_ptr<Workload> make_skew(std::string_view instance) {
  return std::make_unique<skew::Skew>(instance == "shifting_zipf");
}

}  // namespace keydrome
