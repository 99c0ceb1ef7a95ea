// Generates the operations of the benchmark "lookup_upsert": upserts, then lookups, of uniform
// random keys from a dense domain (README.md).
#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace lookup_upsert {
namespace {

// Transaction classes, by which the report groups transactions. The phases have the same names.
constexpr uint32_t kUpsert = 0, kLookup = 1;

// Writes the script: the operations of all threads. The script's list of keys (pool) begins with
// the keys 0 .. records-1, so each of these keys equals its number in the pool.
class Generator : public workload::ClientScript {
 public:
  Generator(bool loads, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        loads_(loads),
        records_(parameters.u32("records")),
        upserts_(parameters.u64("upserts_per_thread")),
        lookups_(parameters.u64("lookups_per_thread")) {
    index_ = builder().add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) builder().add_int64_key(key);
    builder().add_class("upsert");
    builder().add_class("lookup");
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) { return any_key(rng); });
  }

 private:
  void load() override {
    if (!loads_) return;
    load_shuffled(records_, [this](uint32_t key) {
      return Row{.index = index_, .key = key, .payload = builder().new_payload()};
    });
  }

  void run() override {
    run_phase("upsert", upserts_, 2, [this](Client& client) { upsert(client); });
    run_phase("lookup", lookups_, 1, [this](Client& client) {
      client.begin(index_, kLookup);
      client.out().get(kSlot, any_key(client.rng()));
      client.commit();
    });
  }

  // Deletes the key's record, if it exists, and inserts a new one, because the API has no upsert
  // call.
  void upsert(Client& client) {
    const uint32_t key = any_key(client.rng());
    client.begin(index_, kUpsert);
    client.out().delete_key(kSlot, key);
    client.out().insert(kSlot, key, builder().new_payload());
    client.commit();
  }

  uint32_t any_key(Rng& rng) const { return static_cast<uint32_t>(rng.below(records_)); }

  bool loads_;
  uint32_t records_;
  uint64_t upserts_, lookups_;
  uint32_t index_ = 0;
};

constexpr double kKeyBytes = 8, kRecordBytes = 16;

class LookupUpsert : public workload::Workload {
 public:
  explicit LookupUpsert(bool loads) : loads_(loads) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"),
                 upserts = threads * parameters.number("upserts_per_thread");
    workload::Demand demand(threads);
    const double keys = parameters.number("records");
    const double inserted = std::min(keys, upserts);  // new records, if nothing is loaded
    if (loads_) {
      demand.add_load(keys, kRecordBytes);
    } else {
      demand.add_inserts(inserted, kRecordBytes);
      demand.add_keys(keys - inserted, kKeyBytes);
    }
    demand.add_transactions(upserts, 2);
    demand.add_changes(upserts - (loads_ ? 0 : inserted), upserts);
    demand.add_transactions(threads * parameters.number("lookups_per_thread"), 1);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(loads_, parameters, seed, policy).write();
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    for (std::size_t p = 0; p < phases.size(); ++p) {
      const bool upserts = script.phases[p].name == "upsert";
      if (!upserts && script.phases[p].name != "lookup") continue;
      metrics[upserts ? "upserts_per_s" : "lookups_per_s"] =
          workload::committed_per_second(outcome.phases[p], phases[p], upserts ? kUpsert : kLookup);
    }
  }

 private:
  bool loads_;
};

}  // namespace
}  // namespace lookup_upsert

std::unique_ptr<workload::Workload> make_lookup_upsert(std::string_view instance) {
  return std::make_unique<lookup_upsert::LookupUpsert>(instance != "growing");
}

}  // namespace keydrome
