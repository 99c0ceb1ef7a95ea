// Generates the operations of the benchmark "duplicates": reads and writes of keys with many
// payloads (README.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace duplicates {
namespace {

// The distribution of payloads over the keys.
enum class Distribution : uint8_t { kConstant, kZipf, kOneHeavy };

Distribution distribution_of(std::string_view instance) {
  if (instance == "zipf") return Distribution::kZipf;
  return instance == "one_heavy" ? Distribution::kOneHeavy : Distribution::kConstant;
}

// The operations, one per transaction.
enum Operation : uint32_t { kGet, kReadAll, kReplace, kInsertExisting, kDeleteAll };
// The percentages of the operations. kInsertPercent is that of kReplace and kInsertExisting
// together. The parameter existing_percent says how many of these are kInsertExisting.
constexpr uint64_t kGetPercent = 40, kReadAllPercent = 25, kInsertPercent = 33;
constexpr std::array kClasses = {"get", "read_all", "replace", "insert_existing", "delete_all"};

// The most payloads of one key that a transaction reads, or deletes and inserts again. Keys with
// the average number of payloads may always be deleted, so that each thread has a key to delete.
constexpr uint32_t kPayloadsMax = 1'000;
// Calls of an average transaction on keys with few payloads: get and insert_existing make one call,
// replace makes two, and read_all and delete_all make more.
constexpr uint64_t kCallsOnAverage = 3;

// Returns the number of payloads of each key. Every transaction leaves these numbers unchanged.
std::vector<uint32_t> payload_counts(Distribution distribution, uint32_t keys, uint32_t mean) {
  std::vector<uint32_t> counts(keys, mean);
  if (distribution == Distribution::kOneHeavy) counts[0] = mean * (keys - 1);
  if (distribution != Distribution::kZipf) return counts;
  double sum = 0;
  for (uint32_t rank = 1; rank <= keys; ++rank) sum += 1.0 / rank;
  for (uint32_t rank = 1; rank <= keys; ++rank) {
    const double share = 1.0 / rank / sum;
    const double count = std::round(share * keys * mean);
    counts[rank - 1] = static_cast<uint32_t>(std::max(1.0, count));
  }
  return counts;
}

Operation random_operation(workload::Rng& rng, uint64_t existing_percent) {
  const uint64_t percentile = rng.below(100);
  if (percentile < kGetPercent) return kGet;
  if (percentile < kGetPercent + kReadAllPercent) return kReadAll;
  if (percentile >= kGetPercent + kReadAllPercent + kInsertPercent) return kDeleteAll;
  return rng.below(100) < existing_percent ? kInsertExisting : kReplace;
}

// Writes the script: the operations of all threads. Every key belongs to one thread. Only this
// thread writes the key; all threads read it.
class Generator : public workload::ClientScript {
 public:
  Generator(const std::vector<uint32_t>& counts, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : ClientScript(seed, policy),
        operations_(parameters.u64("operations_per_thread")),
        existing_percent_(parameters.u64("existing_percent")),
        deleted_max_(std::max(kPayloadsMax, parameters.u32("payloads_per_key"))) {
    uint64_t records = 0;
    keys_.reserve(counts.size());
    for (const uint32_t count : counts) {
      keys_.push_back({.first_payload = records, .count = count});
      records += count;
    }
    payloads_.resize(records);
    key_of_record_.reserve(records);
    index_ = builder().add_index("index", INT);
    // The keys are hashes, so that the hot keys of the Zipf distribution are not adjacent in key
    // order.
    for (uint32_t i = 0; i < keys_.size(); ++i) {
      builder().add_int64_key(static_cast<int64_t>(workload::fnv_63(i)));
    }
    for (const char* name : kClasses) builder().add_class(name);
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) {
      return static_cast<uint32_t>(rng.below(keys_.size()));
    });
    for (uint32_t number = 0; number < clients().size(); ++number) add_records(number);
  }

 private:
  // The positions in key_of_record_ of the records whose keys a client owns. The keys that
  // delete_all may use come first.
  struct Own {
    uint64_t first = 0, deletable_end = 0, end = 0;
  };

  struct KeyOfIndex {
    uint64_t first_payload;  // where its payloads begin in payloads_
    uint32_t count;          // number of its payloads before and after each transaction
    uint32_t present = 0;    // number of its payloads now
  };

  void add_records(uint32_t number) {
    Own own{.first = key_of_record_.size()};
    for (const bool deletable : {true, false}) {
      for (uint32_t key = number; key < keys_.size(); key += clients().size()) {
        if ((keys_[key].count <= deleted_max_) != deletable) continue;
        key_of_record_.insert(key_of_record_.end(), keys_[key].count, key);
      }
      (deletable ? own.deletable_end : own.end) = key_of_record_.size();
    }
    own_.push_back(own);
  }

  void load() override {
    load_shuffled(static_cast<uint32_t>(key_of_record_.size()), [this](uint32_t record) {
      const uint32_t key = key_of_record_[record];
      return Row{.index = index_, .key = key, .payload = new_payload(key)};
    });
  }

  void run() override {
    run_phase("run", operations_, kCallsOnAverage, [this](Client& client) { transaction(client); });
  }

  void transaction(Client& client) {
    const Operation operation = random_operation(client.rng(), existing_percent_);
    const bool writes = operation != kGet && operation != kReadAll;
    const uint32_t key = writes ? own_key(client, operation) : any_key(client.rng());
    client.begin(index_, operation);
    operate(client, operation, key);
    client.commit();
  }

  void operate(Client& client, Operation operation, uint32_t key) {
    script::ThreadBuilder& out = client.out();
    const uint32_t count = keys_[key].count;
    const auto payloads = std::span(payloads_).subspan(keys_[key].first_payload, count);
    switch (operation) {
      case kGet:
        return out.get(kSlot, key);
      case kReadAll:
        out.get(kSlot, key);
        if (count > 1) out.next(kSlot, std::min(count, kPayloadsMax) - 1);
        return;
      case kReplace: {
        std::swap(payloads.back(), payloads[client.rng().below(count)]);
        out.delete_pair(kSlot, key, payloads.back());
        --keys_[key].present;
        return out.insert(kSlot, key, new_payload(key));
      }
      case kInsertExisting:
        return out.insert(kSlot, key, payloads[client.rng().below(count)], format::kMayExist);
      default:
        out.delete_key(kSlot, key);
        keys_[key].present = 0;
        for (uint32_t i = 0; i < count; ++i) out.insert(kSlot, key, new_payload(key));
    }
  }

  script::Payload new_payload(uint32_t key) {
    KeyOfIndex& of = keys_[key];
    return payloads_[of.first_payload + of.present++] = builder().new_payload();
  }

  // Returns the key of a random record. A key's probability is proportional to its number of
  // payloads.
  uint32_t any_key(Rng& rng) const { return key_of_record_[rng.below(key_of_record_.size())]; }

  // Returns the key of a random record among the keys that this thread writes. For delete_all, it
  // is a key with at most deleted_max_ payloads. Every thread has one: the last keys have at most
  // the average number of payloads.
  uint32_t own_key(Client& client, Operation operation) {
    const Own& own = own_[client.number()];
    const uint64_t end = operation == kDeleteAll ? own.deletable_end : own.end;
    return key_of_record_[own.first + client.rng().below(end - own.first)];
  }

  uint64_t operations_, existing_percent_;
  uint32_t deleted_max_;
  std::vector<KeyOfIndex> keys_;
  std::vector<script::Payload> payloads_;  // the present payloads of all keys, key by key
  std::vector<uint32_t> key_of_record_;    // by record, in the order of Own
  std::vector<Own> own_;                   // by client
  uint32_t index_ = 0;
};

constexpr double kRecordBytes = 16;  // key and payload
// Numbers of 32 bits that the generator stores for each record: its key, its place in the order of
// the load, and its payload (a tag and a text).
constexpr double kCopiesOfRecord = 4;
constexpr double kForKey = 16;  // bytes for a key's counts and the place of its payloads

class Duplicates : public workload::Workload {
 public:
  explicit Duplicates(Distribution distribution) : distribution_(distribution) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), keys = parameters.number("keys"),
                 mean = parameters.number("payloads_per_key");
    const double heavy = distribution_ == Distribution::kOneHeavy ? 2 : 1;
    // Every key has at least one payload.
    const double records = keys * mean * heavy + (distribution_ == Distribution::kZipf ? keys : 0);
    const double operations = threads * parameters.number("operations_per_thread");
    const double read = payloads_read(keys, mean), deleted = std::max(mean, read);
    workload::Demand demand(threads);
    demand.add_load(records, kRecordBytes);
    demand.set_different_keys(keys);
    demand.add_bytes(records * sizeof(uint32_t) * kCopiesOfRecord + keys * kForKey);
    const double existing = parameters.number("existing_percent") / 100;
    constexpr double kInserts = kInsertPercent / 100.0;
    const double ops = 0.92 + kInserts * (2 - existing) + 0.02 * deleted;
    demand.add_transactions(operations, ops, ops + 0.25 * read);
    demand.add_changes(operations * (kInserts + 0.02 * deleted),
                       operations * (kInserts * (1 - existing) + 0.02));
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    const uint32_t keys = parameters.u32("keys"), threads = parameters.u32("threads");
    // Each thread must own a key that delete_all may use. The owner of the heavy key therefore
    // needs a second key. For simplicity, two keys are required of every thread.
    if (keys < 2 * threads) {
      return Error{"keys is " + std::to_string(keys) + ", but each of the " +
                   std::to_string(threads) + " threads needs two keys of its own: raise keys to " +
                   "at least " + std::to_string(2 * threads) + ", or lower threads"};
    }
    const uint32_t mean = parameters.u32("payloads_per_key");
    return Generator(payload_counts(distribution_, keys, mean), parameters, seed, policy).write();
  }

 private:
  // Returns how many payloads the operation read_all reads on average.
  double payloads_read(double keys, double mean) const {
    constexpr double kMost = kPayloadsMax;
    const double few = std::min(mean, kMost);
    if (distribution_ == Distribution::kConstant) return few;
    if (distribution_ == Distribution::kOneHeavy) {
      return (few + std::min(mean * (keys - 1), kMost)) / 2;
    }
    // The key of rank r is read with probability 1 / (r * sum) and has first / r payloads.
    const double sum = std::log(keys) + 0.6, first = keys * mean / sum;
    const double heavy_keys = first / kMost;
    if (heavy_keys < 1) return std::min(kMost, 1.7 * first / sum);
    return std::min(kMost, kMost * (std::log(heavy_keys) + 1.6) / sum);
  }

  Distribution distribution_;
};

}  // namespace
}  // namespace duplicates

std::unique_ptr<workload::Workload> make_duplicates(std::string_view instance) {
  return std::make_unique<duplicates::Duplicates>(duplicates::distribution_of(instance));
}

}  // namespace keydrome
