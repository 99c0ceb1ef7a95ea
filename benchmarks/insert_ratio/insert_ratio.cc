// Generates the operations of the benchmark "insert_ratio": lookups and inserts on a loaded index,
// at a given ratio. It follows T. Karnagel et al., HPCA 2014 (README.md).
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace insert_ratio {
namespace {

// Writes the script: the operations of all threads. The script's list of keys (pool) begins with
// the keys 0 .. 2 * records - 1, so each of these keys equals its number in the pool.
class Generator : public workload::ClientScript {
 public:
  Generator(bool sorted, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        sorted_(sorted),
        records_(parameters.u32("records")),
        operations_(parameters.u64("operations_per_thread")),
        insert_percent_(parameters.u64("insert_percent")),
        tags_(records_) {
    index_ = builder().add_index("index", INT);
    for (uint64_t key = 0; key < uint64_t{2} * records_; ++key) {
      builder().add_int64_key(static_cast<int64_t>(key));
    }
    search_ = builder().add_class("search");
    insert_ = builder().add_class("insert");
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) { return even_key(rng); });
  }

 private:
  // Loads the even keys in random order. The paper does not say in which order it loads them.
  void load() override {
    load_shuffled(records_, [this](uint32_t i) {
      return Row{.index = index_, .key = 2 * i, .payload = builder().new_payload()};
    });
  }

  void run() override {
    run_phase("run", operations_, 1, [this](Client& client) { transaction(client); });
  }

  void transaction(Client& client) {
    if (client.rng().below(100) >= insert_percent_) {
      client.begin(index_, search_);
      client.out().get(kSlot, even_key(client.rng()));
    } else {
      const uint64_t number = sorted_ ? next_++ : client.rng().below(records_);
      const uint8_t flags = format::kMayExist;
      client.begin(index_, insert_);
      client.out().insert(kSlot, static_cast<uint32_t>(2 * number + 1), payload_of(number), flags);
    }
    client.commit();
  }

  uint32_t even_key(Rng& rng) const { return static_cast<uint32_t>(2 * rng.below(records_)); }

  // Returns the payload of odd key 2 * number + 1. It consists only of a tag (a unique number) and
  // never changes. So a second insert of the key changes nothing.
  script::Payload payload_of(uint64_t number) {
    if (tags_[number] == format::kNoTag) tags_[number] = builder().new_payload().tag;
    return {.tag = tags_[number], .text = script::kNoText};
  }

  bool sorted_;
  uint32_t records_;
  uint64_t operations_, insert_percent_;
  uint32_t index_ = 0, search_ = 0, insert_ = 0;
  // By i: the tag of the payload of odd key 2 * i + 1, or kNoTag before its first insert.
  std::vector<uint32_t> tags_;
  uint64_t next_ = 0;  // for sorted inserts: the next odd key is 2 * next_ + 1
};

constexpr double kKeyBytes = 8, kRecordBytes = 16;

class InsertRatio : public workload::Workload {
 public:
  explicit InsertRatio(bool sorted) : sorted_(sorted) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), records = parameters.number("records");
    const double operations = threads * parameters.number("operations_per_thread");
    workload::Demand demand(threads);
    demand.add_load(records, kRecordBytes);
    demand.add_transactions(operations, 1);
    // Each odd key takes memory for the key and for its tag, even if no transaction inserts the
    // key.
    const double inserts = operations * parameters.number("insert_percent") / 100;
    const double inserted = std::min(records, inserts);
    demand.add_inserts(inserted, kRecordBytes);
    demand.add_changes(inserts - inserted, 0);
    demand.add_keys(records - inserted, kKeyBytes);
    demand.add_bytes(records * sizeof(uint32_t));
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    const uint64_t inserts = parameters.u64("threads") * parameters.u64("operations_per_thread");
    if (sorted_ && inserts > parameters.u64("records")) {
      return Error{
          "records is " + std::to_string(parameters.u64("records")) +
          ", but threads * operations_per_thread is " + std::to_string(inserts) +
          ". Every sorted insert needs a new odd key, and the number of odd keys equals records: " +
          "raise records or lower operations_per_thread"};
    }
    return Generator(sorted_, parameters, seed, policy).write();
  }

 private:
  bool sorted_;
};

}  // namespace
}  // namespace insert_ratio

std::unique_ptr<workload::Workload> make_insert_ratio(std::string_view instance) {
  return std::make_unique<insert_ratio::InsertRatio>(instance == "sorted");
}

}  // namespace keydrome
