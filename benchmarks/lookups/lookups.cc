// Lookups of keys that are there and of keys that are not (README.md).
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/kit/ycsb_random.h"

namespace keydrome {
namespace lookups {
namespace {

// Where the keys lie that are not there.
enum class Misses : uint8_t {
  kBetween,  // beside a key that is there
  kBeyond,   // above all keys
  kSuffix,   // strings that differ from one that is there in their last character only
};

Misses misses_of(std::string_view instance) {
  if (instance == "misses_beyond") return Misses::kBeyond;
  return instance == "misses_suffix" ? Misses::kSuffix : Misses::kBetween;
}

// Writes the whole script; one use. Key 2 * i of the pool is there, key 2 * i + 1 is not.
class Generator {
 public:
  Generator(Misses misses, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : misses_(misses),
        seed_(seed),
        records_(static_cast<uint32_t>(parameters["records"])),
        lookups_(static_cast<uint64_t>(parameters["lookups_per_thread"])),
        hit_percent_(static_cast<uint64_t>(parameters["hit_percent"])) {
    index_ = script_.add_index("index", misses_ == Misses::kSuffix ? VARCHAR : INT);
    for (uint32_t i = 0; i < records_; ++i) add_keys(i);
    hit_ = script_.add_class("hit");
    miss_ = script_.add_class("miss");
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return any_record(rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(records_, rng);
    clients_->load(records_, [&](uint64_t i) {
      return Row{.index = index_, .key = 2 * order[i], .payload = script_.new_payload(0)};
    });
    clients_->start("run", lookups_ * 3);
    for (uint64_t i = 0; i < lookups_; ++i) {
      for (Client& client : *clients_) transaction(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  void add_keys(uint32_t i) {
    if (misses_ == Misses::kSuffix) {
      const std::string stem = "user" + std::to_string(fnv_63(i));
      script_.add_varchar_key(stem + "a");
      script_.add_varchar_key(stem + "b");
      return;
    }
    const int64_t there = misses_ == Misses::kBetween ? int64_t{i} * 2 : int64_t{i};
    script_.add_int64_key(there);
    script_.add_int64_key(misses_ == Misses::kBetween ? there + 1 : there + records_);
  }

  void transaction(Client& client) {
    const bool hit = client.rng().below(100) < hit_percent_;
    client.begin(index_, hit ? hit_ : miss_);
    client.out().get(Client::kSlot, any_record(client.rng()) + (hit ? 0 : 1), client.sample());
    client.commit();
  }

  uint32_t any_record(Rng& rng) const { return 2 * static_cast<uint32_t>(rng.below(records_)); }

  Misses misses_;
  uint64_t seed_;
  uint32_t records_;
  uint64_t lookups_, hit_percent_;
  ScriptBuilder script_;
  uint32_t index_ = 0, hit_ = 0, miss_ = 0;
  std::optional<Clients> clients_;
};

class Lookups : public Workload {
 public:
  explicit Lookups(Misses misses) : misses_(misses) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    return Generator(misses_, parameters, seed, policy).run();
  }

 private:
  Misses misses_;
};

}  // namespace
}  // namespace lookups

std::unique_ptr<Workload> make_lookups(std::string_view instance) {
  return std::make_unique<lookups::Lookups>(lookups::misses_of(instance));
}

}  // namespace keydrome
