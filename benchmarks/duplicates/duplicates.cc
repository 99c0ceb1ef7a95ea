// Generates the operations of the benchmark "duplicates": reads and writes of keys with many
// payloads (README.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
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

// The operations, one per transaction, and the percentage of each.
enum Operation : uint32_t { kGet, kReadAll, kReplace, kInsertExisting, kDeleteAll, kOperations };
constexpr std::array<uint64_t, kOperations> kPercent = {40, 25, 25, 8, 2};
constexpr std::array kClasses = {"get", "read_all", "replace", "insert_existing", "delete_all"};

// The most payloads of one key that a transaction reads, or deletes and inserts again.
constexpr uint32_t kPayloadsMax = 1'000;
// own_key() chooses keys at random until one fits. The generator refuses parameters with which this
// would take more attempts on average.
constexpr uint64_t kAttemptsMax = 10'000;
constexpr uint64_t kRecordsMax = 1'000'000'000;
// Calls of an average transaction on keys with few payloads: one call for most operations, more for
// read_all and delete_all.
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

bool fits_delete_all(uint32_t payloads) { return payloads <= kPayloadsMax; }

Operation random_operation(workload::Rng& rng) {
  uint64_t percentile = rng.below(100);
  for (uint32_t operation = 0; operation < kOperations; ++operation) {
    if (percentile < kPercent[operation]) return static_cast<Operation>(operation);
    percentile -= kPercent[operation];
  }
  return kDeleteAll;
}

// Writes the script: the operations of all threads. Every key belongs to one thread. Only this
// thread writes the key; all threads read it.
class Generator : public workload::ClientScript {
 public:
  Generator(std::vector<uint32_t> counts, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : ClientScript(seed, policy),
        operations_(parameters.u64("operations_per_thread")),
        counts_(std::move(counts)),
        payloads_(counts_.size()) {
    index_ = builder().add_index("index", INT);
    // The keys are hashes, so that the hot keys of the Zipf distribution are not adjacent in key
    // order.
    for (uint32_t i = 0; i < counts_.size(); ++i) {
      builder().add_int64_key(static_cast<int64_t>(workload::fnv_63(i)));
    }
    for (const char* name : kClasses) builder().add_class(name);
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) {
      return static_cast<uint32_t>(rng.below(counts_.size()));
    });
    for (uint32_t key = 0; key < counts_.size(); ++key) {
      key_of_record_.insert(key_of_record_.end(), counts_[key], key);
    }
  }

 private:
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
    const Operation operation = random_operation(client.rng());
    const bool writes = operation != kGet && operation != kReadAll;
    const uint32_t key = writes ? own_key(client, operation) : any_key(client.rng());
    client.begin(index_, operation);
    operate(client, operation, key);
    client.commit();
  }

  void operate(Client& client, Operation operation, uint32_t key) {
    script::ThreadBuilder& out = client.out();
    std::vector<script::Payload>& payloads = payloads_[key];
    const auto count = static_cast<uint32_t>(payloads.size());
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
        payloads.pop_back();
        return out.insert(kSlot, key, new_payload(key));
      }
      case kInsertExisting:
        return out.insert(kSlot, key, payloads[client.rng().below(count)], format::kMayExist);
      default:
        out.delete_key(kSlot, key);
        payloads.clear();
        for (uint32_t i = 0; i < count; ++i) out.insert(kSlot, key, new_payload(key));
    }
  }

  script::Payload new_payload(uint32_t key) {
    payloads_[key].push_back(builder().new_payload());
    return payloads_[key].back();
  }

  // Returns the key of a random record. A key's probability is proportional to its number of
  // payloads.
  uint32_t any_key(Rng& rng) const { return key_of_record_[rng.below(key_of_record_.size())]; }

  // Returns the key of a random record among the keys that this thread writes. For delete_all,
  // skips keys with more than kPayloadsMax payloads. refusal() guarantees that the loop ends.
  uint32_t own_key(Client& client, Operation operation) {
    while (true) {
      const uint32_t key = any_key(client.rng());
      const bool fits = operation != kDeleteAll || fits_delete_all(counts_[key]);
      if (key % clients().size() == client.number() && fits) return key;
    }
  }

  uint64_t operations_;
  std::vector<uint32_t> counts_;  // by key: number of payloads whenever no transaction is running
  std::vector<std::vector<script::Payload>> payloads_;  // by key: its present payloads
  std::vector<uint32_t> key_of_record_;
  uint32_t index_ = 0;
};

// Returns an error if a thread would need more than kAttemptsMax attempts, on average, to choose a
// key for delete_all.
std::optional<Error> refusal(const std::vector<uint32_t>& counts, uint32_t threads) {
  uint64_t records = 0;
  // By thread: the number of records whose keys the thread owns and can use in delete_all.
  std::vector<uint64_t> fitting(threads);
  for (std::size_t key = 0; key < counts.size(); ++key) {
    records += counts[key];
    if (fits_delete_all(counts[key])) fitting[key % threads] += counts[key];
  }
  const uint64_t fewest = *std::min_element(fitting.begin(), fitting.end());
  if (fewest * kAttemptsMax >= records) return std::nullopt;
  return Error{"delete_all needs keys with at most " + std::to_string(kPayloadsMax) +
               " payloads, but one thread owns only " + std::to_string(fewest) + " of the " +
               std::to_string(records) +
               " records with such keys: lower payloads_per_key or threads"};
}

constexpr double kRecordBytes = 16;  // key and payload

class Duplicates : public workload::Workload {
 public:
  explicit Duplicates(Distribution distribution) : distribution_(distribution) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"),
                 mean = parameters.number("payloads_per_key");
    const bool constant = distribution_ == Distribution::kConstant;
    // Every key has at least one payload, and the heavy key has as many as all others together.
    const double records = parameters.number("keys") * (constant ? mean : 2 * mean);
    const double payloads_read = constant ? std::min<double>(mean, kPayloadsMax) : kPayloadsMax;
    workload::Demand demand(threads);
    demand.add_load(records, kRecordBytes);
    const double replaced = 0.02 * payloads_read;  // by the operation delete_all, on average
    demand.add_transactions(threads * parameters.number("operations_per_thread"), 2 + replaced,
                            2 + replaced + 0.25 * payloads_read);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    const uint32_t keys = parameters.u32("keys"), threads = parameters.u32("threads");
    // Each thread needs a key of its own in addition to the heavy one.
    if (keys < 2 * threads) {
      return Error{"keys is " + std::to_string(keys) + ", but each of the " +
                   std::to_string(threads) + " threads needs two keys of its own: raise keys to " +
                   "at least " + std::to_string(2 * threads) + ", or lower threads"};
    }
    const uint32_t mean = parameters.u32("payloads_per_key");
    const uint64_t records =
        uint64_t{keys} * mean * (distribution_ == Distribution::kOneHeavy ? 2 : 1);
    if (records > kRecordsMax) {
      return Error{"keys and payloads_per_key require " + std::to_string(records) +
                   " records, but at most " + std::to_string(kRecordsMax) +
                   " are possible: lower keys or payloads_per_key"};
    }
    std::vector<uint32_t> counts = payload_counts(distribution_, keys, mean);
    if (const std::optional<Error> error = refusal(counts, threads)) return *error;
    return Generator(std::move(counts), parameters, seed, policy).write();
  }

 private:
  Distribution distribution_;
};

}  // namespace
}  // namespace duplicates

std::unique_ptr<workload::Workload> make_duplicates(std::string_view instance) {
  return std::make_unique<duplicates::Duplicates>(duplicates::distribution_of(instance));
}

}  // namespace keydrome
