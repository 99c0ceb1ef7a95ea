// Generates the operations of the benchmark "affinity": all threads look up the same keys, or each
// thread looks up its own part of them (README.md).
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace affinity {
namespace {

// Writes the script: the operations of all threads. The script's list of keys (pool) begins with
// the keys 0 .. records-1, so each of these keys equals its number in the pool.
class Generator : public workload::ClientScript {
 public:
  Generator(bool affine, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        affine_(affine),
        records_(parameters.u32("records")),
        lookups_(parameters.u64("lookups_per_thread")) {
    index_ = builder().add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) builder().add_int64_key(key);
    lookup_ = builder().add_class("lookup");
    add_clients(parameters.u32("threads"),
                [this](Rng& rng, uint32_t) { return key_between(rng, 0, records_); });
  }

 private:
  void load() override {
    load_shuffled(records_, [this](uint32_t key) {
      return Row{.index = index_, .key = key, .payload = builder().new_payload()};
    });
  }

  void run() override {
    if (affine_) clients().pin_threads();
    run_phase("run", lookups_, 1, [this](Client& client) {
      client.begin(index_, lookup_);
      client.out().get(kSlot, key_of(client));
      client.commit();
    });
  }

  uint32_t key_of(Client& client) const {
    if (!affine_) return key_between(client.rng(), 0, records_);
    const uint64_t part = client.number(), parts = clients().size();
    return key_between(client.rng(), records_ * part / parts, records_ * (part + 1) / parts);
  }

  static uint32_t key_between(Rng& rng, uint64_t first, uint64_t end) {
    return static_cast<uint32_t>(first + rng.below(end - first));
  }

  bool affine_;
  uint32_t records_;
  uint64_t lookups_;
  uint32_t index_ = 0, lookup_ = 0;
};

constexpr double kRecordBytes = 16;  // key and payload

class Affinity : public workload::Workload {
 public:
  explicit Affinity(bool affine) : affine_(affine) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    workload::Demand demand(threads);
    demand.add_load(parameters.number("records"), kRecordBytes);
    demand.add_transactions(threads * parameters.number("lookups_per_thread"), 1);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    const uint32_t records = parameters.u32("records"), threads = parameters.u32("threads");
    if (records < threads) {
      return Error{"records is " + std::to_string(records) + ", but the " +
                   std::to_string(threads) + " threads need at least one record each: raise " +
                   "records to at least " + std::to_string(threads) + ", or lower threads"};
    }
    return Generator(affine_, parameters, seed, policy).write();
  }

 private:
  bool affine_;
};

}  // namespace
}  // namespace affinity

std::unique_ptr<workload::Workload> make_affinity(std::string_view instance) {
  return std::make_unique<affinity::Affinity>(instance == "affine");
}

}  // namespace keydrome
