// Lookups by threads that share all keys, or have a part of them each (README.md).
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace affinity {
namespace {

// Writes the whole script; one use. The pool holds 0 .. records - 1, so that a key is its number.
class Generator {
 public:
  Generator(bool affine, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : affine_(affine),
        seed_(seed),
        records_(static_cast<uint64_t>(parameters["records"])),
        lookups_(static_cast<uint64_t>(parameters["lookups_per_thread"])) {
    index_ = script_.add_index("index", INT);
    for (uint64_t key = 0; key < records_; ++key) script_.add_int64_key(static_cast<int64_t>(key));
    lookup_ = script_.add_class("lookup");
    clients_.emplace(script_,
                     Clients::Options{.seed = seed,
                                      .threads = static_cast<uint32_t>(parameters["threads"]),
                                      .policy = policy,
                                      .probe = [this](Rng& rng, uint32_t) {
                                        return key_between(rng, 0, records_);
                                      }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(static_cast<uint32_t>(records_), rng);
    clients_->load(records_, [&](uint64_t i) {
      return Row{.index = index_, .key = order[i], .payload = script_.new_payload(0)};
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
  void transaction(Client& client) {
    client.begin(index_, lookup_);
    client.out().get(Client::kSlot, key_of(client), client.sample());
    client.commit();
  }

  uint32_t key_of(Client& client) const {
    if (!affine_) return key_between(client.rng(), 0, records_);
    const uint64_t part = client.number(), parts = clients_->size();
    return key_between(client.rng(), records_ * part / parts, records_ * (part + 1) / parts);
  }

  static uint32_t key_between(Rng& rng, uint64_t first, uint64_t end) {
    return static_cast<uint32_t>(first + rng.below(end - first));
  }

  bool affine_;
  uint64_t seed_, records_, lookups_;
  ScriptBuilder script_;
  uint32_t index_ = 0, lookup_ = 0;
  std::optional<Clients> clients_;
};

class Affinity : public Workload {
 public:
  explicit Affinity(bool affine) : affine_(affine) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    if (parameters["records"] < parameters["threads"]) {
      return Error{"every thread has a part of the records: raise records to at least threads"};
    }
    return Generator(affine_, parameters, seed, policy).run();
  }

 private:
  bool affine_;
};

}  // namespace
}  // namespace affinity

std::unique_ptr<Workload> make_affinity(std::string_view instance) {
  return std::make_unique<affinity::Affinity>(instance == "affine");
}

}  // namespace keydrome
