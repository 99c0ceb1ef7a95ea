// Inserts, lookups, misses and short scans on sets of keys of many kinds (README.md).
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/keysets/key_sets.h"
#include "benchmarks/keysets/segments.h"
#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/strings.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace keysets {
namespace {

// Phases, and the classes of their transactions by number.
enum Part : uint32_t { kInsert, kLookup, kMiss, kScan };
constexpr std::array kParts = {"insert", "lookup", "miss", "scan"};
constexpr std::array kMetrics = {"inserts_per_s", "lookups_per_s", "misses_per_s",
                                 "scanned_records_per_s"};

// An image's texts are counted in 32 bits, and there are as many absent keys.
constexpr int64_t kStringRecordsMax = UINT32_MAX / MAX_VARCHAR_LEN / 2 - 100'000;

// Writes the whole script; one use.
class Generator {
 public:
  Generator(const std::string& set, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : seed_(seed),
        records_(static_cast<uint32_t>(parameters["records"])),
        lookups_(static_cast<uint64_t>(parameters["lookups_per_thread"])),
        scans_(static_cast<uint64_t>(parameters["scans_per_thread"])),
        per_scan_(static_cast<uint32_t>(parameters["records_per_scan"])) {
    for (std::vector<uint32_t>* keys : {&present_, &absent_}) keys->reserve(records_);
    index_ = script_.add_index("index", is_string_set(set) ? VARCHAR : INT);
    Rng pool(seed, 0, Purpose::kPools);
    if (is_string_set(set)) {
      add_strings(set, pool);
    } else {
      add_integers(set, pool);
    }
    for (const char* name : kParts) script_.add_class(name);
    clients_.emplace(
        script_,
        Clients::Options{.seed = seed,
                         .threads = static_cast<uint32_t>(parameters["threads"]),
                         .policy = policy,
                         .probe = [this](Rng& rng, uint32_t) { return any(present_, rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    insert_all();
    phase(kLookup, lookups_, [this](Client& client) { get(client, any(present_, client.rng())); });
    phase(kMiss, lookups_, [this](Client& client) { get(client, any(absent_, client.rng())); });
    phase(kScan, scans_, [this](Client& client) { scan(client); });
    clients_->verify();
    return script_.build();
  }

 private:
  // Which keys are absent is drawn, so that they are like the others.
  void add_strings(const std::string& set, Rng& rng) {
    const uint32_t count = 2 * records_;
    script_.set_varchar_keys(string_keys(set, count, rng));
    for (uint32_t key = 0; key < count; ++key) {
      const bool inserted = rng.below(count - key) < records_ - present_.size();
      (inserted ? present_ : absent_).push_back(key);
    }
    const Strings& keys = script_.pools().varchar_keys;
    std::vector<uint32_t> last(per_scan_ - 1);
    std::ranges::partial_sort_copy(present_, last,
                                   [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
    std::ranges::sort(last);
    scan_starts_.reserve(records_);
    std::ranges::set_difference(present_, last, std::back_inserter(scan_starts_));
  }

  void add_integers(const std::string& set, Rng& rng) {
    const std::vector<int64_t> keys = integer_keys(set, records_, rng);
    for (const int64_t key : keys) present_.push_back(script_.add_int64_key(key));
    for (uint32_t i = 0; i < records_; ++i) {
      absent_.push_back(script_.add_int64_key(absent_key(keys, rng)));
    }
    scan_starts_.assign(present_.begin(), present_.end() - (per_scan_ - 1));
  }

  void insert_all() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(records_, rng);
    clients_->start(kParts[kInsert], records_ / clients_->size() * uint64_t{3});
    for (uint32_t i = 0; i < records_; ++i) {
      Client& client = (*clients_)[i % clients_->size()];
      client.begin(index_, kInsert);
      client.out().insert(Client::kSlot, present_[order[i]], script_.new_payload(0));
      client.commit();
    }
    clients_->finish();
  }

  // `count` transactions of each client.
  template <typename Calls>
  void phase(Part part, uint64_t count, const Calls& calls) {
    clients_->start(kParts[part], count * 4);
    for (uint64_t i = 0; i < count; ++i) {
      for (Client& client : *clients_) {
        client.begin(index_, part);
        calls(client);
        client.commit();
      }
    }
    clients_->finish();
  }

  static void get(Client& client, uint32_t key) {
    client.out().get(Client::kSlot, key, client.sample());
  }

  void scan(Client& client) {
    const uint8_t all = client.sample(kEvidenceAll);
    client.out().get(Client::kSlot, any(scan_starts_, client.rng()),
                     all != 0 ? kEvidence : uint8_t{0});
    if (per_scan_ > 1) client.out().next(Client::kSlot, per_scan_ - 1, all);
  }

  static uint32_t any(const std::vector<uint32_t>& keys, Rng& rng) {
    return keys[rng.below(keys.size())];
  }

  uint64_t seed_;
  uint32_t records_;
  uint64_t lookups_, scans_;
  uint32_t per_scan_;
  // Keys by their numbers in the pool: as many that are inserted as that are not; and those that
  // are inserted and have so many behind them that a scan is full.
  std::vector<uint32_t> present_, absent_, scan_starts_;
  ScriptBuilder script_;
  uint32_t index_ = 0;
  std::optional<Clients> clients_;
};

// The length of the first scan of a phase; all are alike.
double records_per_scan(const PhaseScript& phase) {
  for (const Op& op : phase.threads[0]) {
    if (op.code == OpCode::kNext && static_cast<Kind>(op.kind) == Kind::kStream)
      return op.argument + 1.0;
  }
  return 1;
}

// What the stream inserts: the inserts of checks leave digests.
std::vector<int64_t> inserted_integers(const Script& script, const PhaseScript& phase) {
  std::vector<int64_t> keys;
  for (const std::vector<Op>& ops : phase.threads) {
    for (const Op& op : ops) {
      if (op.code == OpCode::kInsert && (op.flags & kDigest) == 0)
        keys.push_back(script.pools.int64_keys[op.key]);
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

class KeySets : public Workload {
 public:
  explicit KeySets(std::string_view set) : set_(set) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    if (parameters["records_per_scan"] > parameters["records"]) {
      return Error{
          "a scan cannot be longer than the index: raise records or lower records_per_scan"};
    }
    if (is_string_set(set_) && parameters["records"] > kStringRecordsMax) {
      return Error{"strings are for at most " + std::to_string(kStringRecordsMax) +
                   " records: lower records"};
    }
    return Generator(set_, parameters, seed, policy).run();
  }

  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      const PhaseScript& phase = script.phases[p];
      const auto found = std::find(kParts.begin(), kParts.end(), phase.name);
      if (found == kParts.end()) continue;
      const auto part = static_cast<uint32_t>(found - kParts.begin());
      const double each = part == kScan ? records_per_scan(phase) : 1;
      metrics[kMetrics[part]] = each * committed_per_second(outcome.phases[p], phases[p], part);
      if (part == kInsert && !is_string_set(set_)) {
        const std::vector<int64_t> keys = inserted_integers(script, phase);
        metrics["pla_segments_32"] = static_cast<double>(segments(keys, kLocalEpsilon));
        metrics["pla_segments_4096"] = static_cast<double>(segments(keys, kGlobalEpsilon));
      }
    }
  }

 private:
  std::string set_;
};

}  // namespace
}  // namespace keysets

std::unique_ptr<Workload> make_keysets(std::string_view instance) {
  return std::make_unique<keysets::KeySets>(instance);
}

}  // namespace keydrome
