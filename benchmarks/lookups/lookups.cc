// Generates the operations of the benchmark "lookups": each transaction looks up one key that
// exists or is missing (README.md).
#include <bit>
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace lookups {
namespace {

// Which keys are missing.
enum class Misses : uint8_t {
  kBetween,  // each missing key is adjacent to an existing key
  kBeyond,   // all missing keys are larger than all existing keys
  kSuffix,   // missing strings differ from existing ones only in their last character
};

Misses misses_of(std::string_view instance) {
  if (instance == "misses_beyond") return Misses::kBeyond;
  return instance == "misses_suffix" ? Misses::kSuffix : Misses::kBetween;
}

// Writes the script. The pool is the script's list of keys. For each record i, the index contains
// key 2 * i of the pool, and key 2 * i + 1 is missing.
class Generator : public workload::ClientScript {
 public:
  // If `serial` is true, the keys of hits are hidden: a library can compute each of them only from
  // its right answer to the thread's previous get of a hit.
  Generator(Misses misses, bool serial, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : ClientScript(seed, policy),
        misses_(misses),
        serial_(serial),
        records_(parameters.u32("records")),
        lookups_(parameters.u64("lookups_per_thread")),
        hit_percent_(parameters.u64("hit_percent")) {
    index_ = builder().add_index("index", misses_ == Misses::kSuffix ? VARCHAR : INT);
    for (uint32_t i = 0; i < records_; ++i) add_keys(i);
    // The key of record i is 2 * i. Hides the low n bits of i, where 2^n <= records < 2^(n+1).
    // These bits are uniformly distributed if records is 2^n. Otherwise some combinations are twice
    // as likely as others.
    if (serial_) builder().hide_bits((std::bit_floor(records_) - 1) << 1);
    hit_ = builder().add_class("hit");
    miss_ = builder().add_class("miss");
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) { return any_record(rng); });
  }

 private:
  // Adds the key of record i, then the missing key that is paired with the record.
  void add_keys(uint32_t i) {
    if (misses_ == Misses::kSuffix) {
      const std::string stem = "user" + std::to_string(workload::fnv_63(i));
      builder().add_varchar_key(stem + "a");
      builder().add_varchar_key(stem + "b");
      return;
    }
    const int64_t existing = misses_ == Misses::kBetween ? int64_t{i} * 2 : int64_t{i};
    builder().add_int64_key(existing);
    builder().add_int64_key(misses_ == Misses::kBetween ? existing + 1 : existing + records_);
  }

  void load() override {
    load_shuffled(records_, [this](uint32_t i) {
      return Row{.index = index_, .key = 2 * i, .payload = builder().new_payload()};
    });
  }

  void run() override {
    run_phase("run", lookups_, 1, [this](Client& client) {
      const bool hit = client.rng().below(100) < hit_percent_;
      client.begin(index_, hit ? hit_ : miss_);
      const uint32_t key = any_record(client.rng()) + (hit ? 0 : 1);
      hit&& serial_ ? client.out().get_hidden(kSlot, key) : client.out().get(kSlot, key);
      client.commit();
    });
  }

  uint32_t any_record(Rng& rng) const { return 2 * static_cast<uint32_t>(rng.below(records_)); }

  Misses misses_;
  bool serial_;
  uint32_t records_;
  uint64_t lookups_, hit_percent_;
  uint32_t index_ = 0, hit_ = 0, miss_ = 0;
};

constexpr double kKeyBytes = 8, kStringBytes = 24, kTagBytes = 8;

class Lookups : public workload::Workload {
 public:
  Lookups(Misses misses, bool serial) : misses_(misses), serial_(serial) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), records = parameters.number("records");
    const double key_bytes = misses_ == Misses::kSuffix ? kStringBytes : kKeyBytes;
    workload::Demand demand(threads);
    demand.add_load(records, key_bytes + kTagBytes);
    demand.add_keys(records, key_bytes);
    if (misses_ == Misses::kSuffix) demand.add_strings(2 * records * key_bytes);
    demand.add_transactions(threads * parameters.number("lookups_per_thread"), 1);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(misses_, serial_, parameters, seed, policy).write();
  }

 private:
  Misses misses_;
  bool serial_;
};

}  // namespace
}  // namespace lookups

std::unique_ptr<workload::Workload> make_lookups(std::string_view instance) {
  return std::make_unique<lookups::Lookups>(lookups::misses_of(instance), instance == "serial");
}

}  // namespace keydrome
