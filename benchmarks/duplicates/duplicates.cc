// Keys that have many payloads (README.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/kit/ycsb_random.h"

namespace keydrome {
namespace duplicates {
namespace {

enum class Law : uint8_t { kConstant, kZipf, kOneHeavy };

Law law_of(std::string_view instance) {
  if (instance == "zipf") return Law::kZipf;
  return instance == "one_heavy" ? Law::kOneHeavy : Law::kConstant;
}

// What a transaction does, and how many of a hundred do it.
enum Operation : uint32_t { kGet, kReadAll, kReplace, kInsertExisting, kDeleteAll, kOperations };
constexpr std::array<uint64_t, kOperations> kPercent = {40, 25, 25, 8, 2};
constexpr std::array kClasses = {"get", "read_all", "replace", "insert_existing", "delete_all"};
constexpr uint32_t kPayloadsReadMax = 1'000;  // by one transaction

// How many payloads each key has at first.
std::vector<uint32_t> payload_counts(Law law, uint32_t keys, uint32_t mean) {
  std::vector<uint32_t> counts(keys, mean);
  if (law == Law::kOneHeavy) counts[0] = mean * (keys - 1);
  if (law != Law::kZipf) return counts;
  double sum = 0;
  for (uint32_t rank = 1; rank <= keys; ++rank) sum += 1.0 / rank;
  for (uint32_t rank = 1; rank <= keys; ++rank) {
    const double share = 1.0 / rank / sum;
    const double count = std::round(share * keys * mean);
    counts[rank - 1] = static_cast<uint32_t>(std::max(1.0, count));
  }
  return counts;
}

Operation draw_operation(Rng& rng) {
  uint64_t draw = rng.below(100);
  for (uint32_t operation = 0; operation < kOperations; ++operation) {
    if (draw < kPercent[operation]) return static_cast<Operation>(operation);
    draw -= kPercent[operation];
  }
  return kDeleteAll;
}

// Writes the whole script; one use. Every key belongs to one thread, which alone writes it; all
// threads read all keys.
class Generator {
 public:
  Generator(Law law, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : seed_(seed),
        keys_(static_cast<uint32_t>(parameters["keys"])),
        operations_(static_cast<uint64_t>(parameters["operations_per_thread"])),
        counts_(payload_counts(law, keys_, static_cast<uint32_t>(parameters["payloads_per_key"]))),
        payloads_(keys_) {
    index_ = script_.add_index("index", INT);
    // Hashed, so that the heavy ones of a Zipf law are no neighbours.
    for (uint32_t i = 0; i < keys_; ++i) script_.add_int64_key(static_cast<int64_t>(fnv_63(i)));
    for (const char* name : kClasses) script_.add_class(name);
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return any_key(rng); }});
    for (uint32_t key = 0; key < keys_; ++key) {
      key_of_record_.insert(key_of_record_.end(), counts_[key], key);
    }
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    load();
    clients_->start("run", operations_ * 5);
    for (uint64_t i = 0; i < operations_; ++i) {
      for (Client& client : *clients_) transaction(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  void load() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    const auto records = static_cast<uint32_t>(key_of_record_.size());
    const std::vector<uint32_t> order = shuffled(records, rng);
    clients_->load(records, [&](uint64_t i) {
      const uint32_t key = key_of_record_[order[i]];
      return Row{.index = index_, .key = key, .payload = new_payload(key)};
    });
  }

  void transaction(Client& client) {
    const Operation operation = draw_operation(client.rng());
    const bool writes = operation != kGet && operation != kReadAll;
    const uint32_t key = writes ? own_key(client, operation) : record_key(client.rng());
    client.begin(index_, operation);
    operate(client, operation, key);
    client.commit();
  }

  void operate(Client& client, Operation operation, uint32_t key) {
    ThreadBuilder& out = client.out();
    std::vector<Payload>& payloads = payloads_[key];
    const auto count = static_cast<uint32_t>(payloads.size());
    switch (operation) {
      case kGet:
        return out.get(Client::kSlot, key, client.sample());
      case kReadAll: {
        const uint8_t all = client.sample(kEvidenceAll);
        out.get(Client::kSlot, key, all != 0 ? kEvidence : uint8_t{0});
        if (count > 1) out.next(Client::kSlot, std::min(count, kPayloadsReadMax) - 1, all);
        return;
      }
      case kReplace: {
        std::swap(payloads.back(), payloads[client.rng().below(count)]);
        out.delete_pair(Client::kSlot, key, payloads.back(), client.sample());
        payloads.pop_back();
        return out.insert(Client::kSlot, key, new_payload(key));
      }
      case kInsertExisting: {
        const uint8_t flags = kMayExist | client.sample();
        return out.insert(Client::kSlot, key, payloads[client.rng().below(count)], flags);
      }
      default:
        out.delete_key(Client::kSlot, key, client.sample());
        payloads.clear();
        for (uint32_t i = 0; i < count; ++i) out.insert(Client::kSlot, key, new_payload(key));
    }
  }

  Payload new_payload(uint32_t key) {
    payloads_[key].push_back(script_.new_payload(0));
    return payloads_[key].back();
  }

  // The key of any of the records, so that keys come as often as they have payloads.
  uint32_t record_key(Rng& rng) const { return key_of_record_[rng.below(key_of_record_.size())]; }

  // One that this thread writes; and not one with a multitude of payloads to delete them all.
  uint32_t own_key(Client& client, Operation operation) {
    while (true) {
      const uint32_t key = record_key(client.rng());
      const bool fits = operation != kDeleteAll || counts_[key] <= kPayloadsReadMax;
      if (key % clients_->size() == client.number() && fits) return key;
    }
  }

  uint32_t any_key(Rng& rng) const { return static_cast<uint32_t>(rng.below(keys_)); }

  uint64_t seed_;
  uint32_t keys_;
  uint64_t operations_;
  std::vector<uint32_t> counts_;                // at first and, between transactions, always
  std::vector<std::vector<Payload>> payloads_;  // by key: what it has now
  std::vector<uint32_t> key_of_record_;
  ScriptBuilder script_;
  uint32_t index_ = 0;
  std::optional<Clients> clients_;
};

class Duplicates : public Workload {
 public:
  explicit Duplicates(Law law) : law_(law) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    // Each thread needs a key of its own that is not the heavy one.
    if (parameters["keys"] < 2 * parameters["threads"]) {
      return Error{"every thread writes keys of its own: raise keys to twice the threads"};
    }
    return Generator(law_, parameters, seed, policy).run();
  }

 private:
  Law law_;
};

}  // namespace
}  // namespace duplicates

std::unique_ptr<Workload> make_duplicates(std::string_view instance) {
  return std::make_unique<duplicates::Duplicates>(duplicates::law_of(instance));
}

}  // namespace keydrome
