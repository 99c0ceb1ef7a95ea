// Upserts, then lookups, of uniform random keys of a dense domain (README.md).
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace lookup_upsert {
namespace {

// Classes, by number; the phases have the same names.
constexpr uint32_t kUpsert = 0;
constexpr uint32_t kLookup = 1;

// Writes the whole script; one use. The pool holds the domain 0 .. records - 1, so that a key is
// its number.
class Generator {
 public:
  Generator(bool loads, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : loads_(loads),
        seed_(seed),
        records_(static_cast<uint32_t>(parameters["records"])),
        upserts_(static_cast<uint64_t>(parameters["upserts_per_thread"])),
        lookups_(static_cast<uint64_t>(parameters["lookups_per_thread"])) {
    index_ = script_.add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) script_.add_int64_key(key);
    script_.add_class("upsert");
    script_.add_class("lookup");
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return any_key(rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    if (loads_) load();
    upsert_phase();
    lookup_phase();
    clients_->verify();
    return script_.build();
  }

 private:
  void load() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(records_, rng);
    clients_->load(records_, [&](uint64_t i) {
      return Row{.index = index_, .key = order[i], .payload = script_.new_payload(0)};
    });
  }

  // There is no such call: what the key had is deleted, and one record is inserted.
  void upsert_phase() {
    clients_->start("upsert", upserts_ * 4);
    for (uint64_t i = 0; i < upserts_; ++i) {
      for (Client& client : *clients_) {
        const uint32_t key = any_key(client.rng());
        client.begin(index_, kUpsert);
        client.out().delete_key(Client::kSlot, key, client.sample());
        client.out().insert(Client::kSlot, key, script_.new_payload(0));
        client.commit();
      }
    }
    clients_->finish();
  }

  void lookup_phase() {
    clients_->start("lookup", lookups_ * 3);
    for (uint64_t i = 0; i < lookups_; ++i) {
      for (Client& client : *clients_) {
        client.begin(index_, kLookup);
        client.out().get(Client::kSlot, any_key(client.rng()), client.sample());
        client.commit();
      }
    }
    clients_->finish();
  }

  uint32_t any_key(Rng& rng) const { return static_cast<uint32_t>(rng.below(records_)); }

  bool loads_;
  uint64_t seed_;
  uint32_t records_;
  uint64_t upserts_, lookups_;
  ScriptBuilder script_;
  uint32_t index_ = 0;
  std::optional<Clients> clients_;
};

class LookupUpsert : public Workload {
 public:
  explicit LookupUpsert(bool loads) : loads_(loads) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    return Generator(loads_, parameters, seed, policy).run();
  }

  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    for (std::size_t p = 0; p < phases.size(); ++p) {
      const bool upserts = script.phases[p].name == "upsert";
      if (!upserts && script.phases[p].name != "lookup") continue;
      metrics[upserts ? "upserts_per_s" : "lookups_per_s"] =
          committed_per_second(outcome.phases[p], phases[p], upserts ? kUpsert : kLookup);
    }
  }

 private:
  bool loads_;
};

}  // namespace
}  // namespace lookup_upsert

std::unique_ptr<Workload> make_lookup_upsert(std::string_view instance) {
  return std::make_unique<lookup_upsert::LookupUpsert>(instance != "growing");
}

}  // namespace keydrome
