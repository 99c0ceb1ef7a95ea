// Generates the operations of the benchmark "mixgraph": Facebook's key-value workload as RocksDB
// models it (README.md).
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/format/digits.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/mixgraph/distributions.h"

namespace keydrome {
namespace mixgraph {
namespace {

constexpr uint64_t kGetPercent = 83, kPutPercent = 14;  // all others are seeks
constexpr std::size_t kKeyBytes = 48;
constexpr uint32_t kTexts = 4096;

// Writes the script: the operations of all threads. Key number n is the number n in 48 hexadecimal
// digits.
class Generator : public workload::ClientScript {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        records_(parameters.u32("records")),
        operations_(parameters.u64("operations_per_thread")),
        shape_rng_(seed, 0, Purpose::kShape),
        keys_(records_, shape_rng_) {
    index_ = builder().add_index("index", VARCHAR);
    for (uint32_t key = 0; key < records_; ++key) add_key(key);
    add_texts();
    get_ = builder().add_class("get");
    put_ = builder().add_class("put");
    seek_ = builder().add_class("seek");
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) { return hot_key(rng); });
  }

 private:
  void add_key(uint32_t number) {
    std::string key(kKeyBytes - 8, '0');
    format::append_hexadecimal(key, number);
    builder().add_varchar_key(key);
  }

  void add_texts() {
    Rng rng(seed(), 0, Purpose::kPools);
    for (uint32_t i = 0; i < kTexts; ++i) {
      std::string text;
      for (uint32_t left = random_value_bytes(rng) - format::kTagBytes; left > 0; --left) {
        text += static_cast<char>('!' + rng.below('~' - '!' + 1));
      }
      texts_.push_back(builder().add_text(text));
    }
  }

  void load() override {
    Rng rng(seed(), 0, Purpose::kPopulate);
    load_shuffled(records_, rng, [&](uint32_t key) {
      return Row{.index = index_, .key = key, .payload = random_payload(rng)};
    });
  }

  void run() override {
    run_phase("run", operations_, 2, [this](Client& client) { transaction(client); });
  }

  void transaction(Client& client) {
    const uint64_t percentile = client.rng().below(100);
    const uint32_t key = hot_key(client.rng());
    script::ThreadBuilder& out = client.out();
    if (percentile < kGetPercent) {
      client.begin(index_, get_);
      out.get(kSlot, key);
    } else if (percentile < kGetPercent + kPutPercent) {
      client.begin(index_, put_);
      out.delete_key(kSlot, key);
      out.insert(kSlot, key, random_payload(client.rng()));
    } else {
      client.begin(index_, seek_);
      const uint32_t length = random_scan_length(client.rng());
      out.get(kSlot, key);
      if (length > 1) out.next(kSlot, length - 1);
    }
    client.commit();
  }

  uint32_t hot_key(Rng& rng) const { return static_cast<uint32_t>(keys_.next(rng)); }
  script::Payload random_payload(Rng& rng) {
    return builder().new_payload(texts_[rng.below(texts_.size())]);
  }

  uint32_t records_;
  uint64_t operations_;
  Rng shape_rng_;
  HotKeys keys_;
  uint32_t index_ = 0, get_ = 0, put_ = 0, seek_ = 0;
  std::vector<uint32_t> texts_;
};

constexpr double kMeanValueBytes = 48;
constexpr double kMeanScanLength = 600;  // in records; a few scans read up to 10,000

class Mixgraph : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    workload::Demand demand(threads);
    demand.add_load(parameters.number("records"), kKeyBytes + kMeanValueBytes);
    demand.add_strings(parameters.number("records") * kKeyBytes);
    const double operations = threads * parameters.number("operations_per_thread");
    const double puts = operations * kPutPercent / 100;
    const double seeks = operations * (100 - kGetPercent - kPutPercent) / 100;
    constexpr double kOps = 1.2;  // without begin and commit: puts and seeks have two, gets one
    demand.add_transactions(operations, kOps, kOps + kMeanScanLength * seeks / operations);
    demand.add_changes(puts, puts);
    demand.set_longest(kKeyBytes + MAX_PAYLOAD_LEN);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(parameters, seed, policy).write();
  }
};

}  // namespace
}  // namespace mixgraph

std::unique_ptr<workload::Workload> make_mixgraph(std::string_view /*instance*/) {
  return std::make_unique<mixgraph::Mixgraph>();
}

}  // namespace keydrome
