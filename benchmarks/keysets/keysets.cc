// Generates the operations of the benchmark "keysets": the same inserts, lookups, misses and short
// scans on many kinds of keys (README.md).
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/keysets/key_sets.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/strings.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/key_file/segments.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace keysets {
namespace {

// The phases. Each phase has a transaction class, by which the report groups latencies, with the
// same number and name.
enum Phase : uint32_t { kInsert, kLookup, kMiss, kScan };
constexpr std::array kPhases = {"insert", "lookup", "miss", "scan"};
constexpr std::array kMetrics = {"inserts_per_s", "lookups_per_s", "misses_per_s",
                                 "scanned_records_per_s"};

// Writes the script: four phases on the keys of one set.
class Generator : public workload::ClientScript {
 public:
  Generator(const std::string& set, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : ClientScript(seed, policy),
        records_(parameters.u32("records")),
        lookups_(parameters.u64("lookups_per_thread")),
        scans_(parameters.u64("scans_per_thread")),
        per_scan_(parameters.u32("records_per_scan")) {
    for (std::vector<uint32_t>* keys : {&present_, &absent_}) keys->reserve(records_);
    index_ = builder().add_index("index", is_string_set(set) ? VARCHAR : INT);
    Rng pool(seed, 0, Purpose::kPools);
    if (is_string_set(set)) {
      add_strings(set, pool);
    } else {
      add_integers(set, pool);
    }
    for (const char* name : kPhases) builder().add_class(name);
    add_clients(parameters.u32("threads"),
                [this](Rng& rng, uint32_t) { return any(present_, rng); });
  }

 private:
  // Chooses the absent keys at random from all keys, so that present and absent keys have the same
  // distribution.
  void add_strings(const std::string& set, Rng& rng) {
    const uint32_t count = 2 * records_;
    builder().set_varchar_keys(string_keys(set, count, rng));
    for (uint32_t key = 0; key < count; ++key) {
      const bool inserted = rng.below(count - key) < records_ - present_.size();
      (inserted ? present_ : absent_).push_back(key);
    }
    // A scan can start at every present key except the per_scan_ - 1 largest keys.
    const script::Strings& keys = builder().pools().varchar_keys;
    std::vector<uint32_t> largest(per_scan_ - 1);
    std::ranges::partial_sort_copy(present_, largest,
                                   [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
    std::ranges::sort(largest);
    scan_starts_.reserve(records_);
    std::ranges::set_difference(present_, largest, std::back_inserter(scan_starts_));
  }

  void add_integers(const std::string& set, Rng& rng) {
    const std::vector<int64_t> keys = integer_keys(set, records_, rng);
    for (const int64_t key : keys) present_.push_back(builder().add_int64_key(key));
    for (uint32_t i = 0; i < records_; ++i) {
      absent_.push_back(builder().add_int64_key(absent_key(keys, rng)));
    }
    scan_starts_.assign(present_.begin(), present_.end() - (per_scan_ - 1));
  }

  // Loads nothing, because the benchmark times its inserts.
  void load() override {}

  void run() override {
    insert_all();
    phase(kLookup, lookups_, [this](Client& client) { get(client, any(present_, client.rng())); });
    phase(kMiss, lookups_, [this](Client& client) { get(client, any(absent_, client.rng())); });
    phase(kScan, scans_, [this](Client& client) { scan(client); });
  }

  void insert_all() {
    Rng rng(seed(), 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = workload::shuffled(records_, rng);
    start_phase(kPhases[kInsert], records_ / clients().size(), 1);
    for (uint32_t i = 0; i < records_; ++i) {
      Client& client = clients()[i % clients().size()];
      client.begin(index_, kInsert);
      client.out().insert(kSlot, present_[order[i]], builder().new_payload());
      client.commit();
    }
    clients().finish();
  }

  // Adds a phase in which each client makes `count` transactions. `calls` writes the calls of one
  // transaction.
  template <typename Calls>
  void phase(Phase phase, uint64_t count, const Calls& calls) {
    run_phase(kPhases[phase], count, 2, [&](Client& client) {
      client.begin(index_, phase);
      calls(client);
      client.commit();
    });
  }

  static void get(Client& client, uint32_t key) { client.out().get(kSlot, key); }

  void scan(Client& client) {
    client.out().get(kSlot, any(scan_starts_, client.rng()));
    if (per_scan_ > 1) client.out().next(kSlot, per_scan_ - 1);
  }

  static uint32_t any(const std::vector<uint32_t>& keys, Rng& rng) {
    return keys[rng.below(keys.size())];
  }

  uint32_t records_;
  uint64_t lookups_, scans_;
  uint32_t per_scan_;  // records that a scan reads
  // Keys, as their numbers in the script's list of keys (pool). present_ are the keys that are
  // inserted. absent_ are equally many keys that are never inserted. scan_starts_ are the present
  // keys that have at least per_scan_ - 1 larger present keys.
  std::vector<uint32_t> present_, absent_, scan_starts_;
  uint32_t index_ = 0;
};

// Returns the records per scan, taken from the first scan of the phase. All scans are equally long.
double records_per_scan(const script::PhaseScript& phase) {
  for (const format::Op& op : phase.threads[0]) {
    if (op.code == format::OpCode::kNext &&
        static_cast<format::Kind>(op.kind) == format::Kind::kStream)
      return op.argument + 1.0;
  }
  return 1;
}

// Returns the keys that the workload itself inserts. Skips the inserts of checks.
std::vector<int64_t> inserted_integers(const script::Script& script,
                                       const script::PhaseScript& phase) {
  std::vector<int64_t> keys;
  for (const std::vector<format::Op>& ops : phase.threads) {
    format::walk_program(ops, [&](const format::Step& step) {
      const format::Op& op = ops[step.op];
      if (op.code == format::OpCode::kInsert && step.kind == format::Kind::kStream)
        keys.push_back(script.pools.int64_keys[op.key]);
    });
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

constexpr double kKeyBytes = 8, kStringBytes = 64, kTagBytes = 8;

class KeySets : public workload::Workload {
 public:
  explicit KeySets(std::string_view set) : set_(set) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), records = parameters.number("records");
    const double key_bytes = is_string_set(set_) ? kStringBytes : kKeyBytes;
    workload::Demand demand(threads);
    demand.add_keys(records, key_bytes);
    if (is_string_set(set_)) demand.add_strings(2 * records * key_bytes);
    if (is_string_set(set_)) demand.set_longest(MAX_VARCHAR_LEN);
    demand.add_transactions(records, 1);
    demand.add_inserts(records, key_bytes + kTagBytes);
    demand.add_transactions(2 * threads * parameters.number("lookups_per_thread"), 1);
    demand.add_transactions(threads * parameters.number("scans_per_thread"), 2,
                            parameters.number("records_per_scan"));
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    if (parameters["records_per_scan"] > parameters["records"]) {
      return Error{"records_per_scan is " + std::to_string(parameters["records_per_scan"]) +
                   ", but the index has only " + std::to_string(parameters["records"]) +
                   " records: raise records or lower records_per_scan"};
    }
    return Generator(set_, parameters, seed, policy).write();
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      const script::PhaseScript& phase = script.phases[p];
      const auto found = std::find(kPhases.begin(), kPhases.end(), phase.name);
      if (found == kPhases.end()) continue;
      const auto number = static_cast<uint32_t>(found - kPhases.begin());
      const double each = number == kScan ? records_per_scan(phase) : 1;
      metrics[kMetrics[number]] =
          each * workload::committed_per_second(outcome.phases[p], phases[p], number);
      if (number == kInsert && !is_string_set(set_)) {
        const std::vector<int64_t> keys = inserted_integers(script, phase);
        metrics["pla_segments_32"] =
            static_cast<double>(workload::segments(keys, workload::kLocalEpsilon));
        metrics["pla_segments_4096"] =
            static_cast<double>(workload::segments(keys, workload::kGlobalEpsilon));
      }
    }
  }

 private:
  std::string set_;
};

}  // namespace
}  // namespace keysets

std::unique_ptr<workload::Workload> make_keysets(std::string_view instance) {
  return std::make_unique<keysets::KeySets>(instance);
}

}  // namespace keydrome
