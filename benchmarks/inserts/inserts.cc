// Inserts of new keys, in the orders in which they come in practice (README.md).
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/inserts/key_orders.h"
#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace inserts {
namespace {

constexpr uint32_t kInsert = 0;  // classes, by number
constexpr uint32_t kLookup = 1;
constexpr const char* kPhase = "run";

// Writes the whole script; one use. Keys enter the pool as they are inserted, behind those of the
// stripes.
class Generator {
 public:
  Generator(std::string_view instance, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : seed_(seed),
        shape_{.threads = static_cast<uint32_t>(parameters["threads"]),
               .records = static_cast<uint32_t>(parameters["records"]),
               .inserts = static_cast<uint32_t>(parameters["inserts_per_thread"]),
               .hot_permille = static_cast<uint32_t>(parameters["hot_permille"])},
        per_transaction_(static_cast<uint32_t>(parameters["inserts_per_transaction"])),
        lookup_percent_(static_cast<uint64_t>(parameters["lookup_percent"])),
        order_(key_order(instance, shape_, seed)) {
    index_ = script_.add_index("index", INT);
    script_.add_class("insert");
    script_.add_class("lookup");
    // A check behind some hundred inserts, however many are in a transaction.
    const uint64_t check_every = std::max(1u, 100 / std::max(1u, per_transaction_));
    clients_.emplace(script_,
                     Clients::Options{.seed = seed,
                                      .threads = shape_.threads,
                                      .policy = policy,
                                      .probe = [this](Rng& rng, uint32_t) { return any_key(rng); },
                                      .check_every = check_every});
    first_key_ = static_cast<uint32_t>(script_.pools().int64_keys.size());
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    if (shape_.records > 0) load();
    clients_->start(kPhase, uint64_t{shape_.inserts} * 3);
    std::vector<uint32_t> done(shape_.threads);
    for (bool more = true; more;) {
      more = false;
      for (Client& client : *clients_) {
        uint32_t& inserted = done[client.number()];
        if (inserted == shape_.inserts) continue;
        transaction(client, inserted);
        more = true;
      }
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  void load() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(shape_.records, rng);
    for (uint32_t i = 0; i < shape_.records; ++i) script_.add_int64_key(int64_t{i} * kGap);
    clients_->load(shape_.records, [&](uint64_t i) {
      return Row{.index = index_, .key = first_key_ + order[i], .payload = script_.new_payload(0)};
    });
  }

  void transaction(Client& client, uint32_t& inserted) {
    if (shape_.records > 0 && client.rng().below(100) < lookup_percent_) return lookup(client);
    if (per_transaction_ == 0) {
      client.use(index_);
      client.out().auto_commit_as(Kind::kStream, kInsert);
      insert(client, inserted++);
      client.done();
      return;
    }
    client.begin(index_, kInsert);
    for (uint32_t n = 0; n < per_transaction_ && inserted < shape_.inserts; ++n) {
      insert(client, inserted++);
    }
    client.commit();
  }

  void insert(Client& client, uint32_t number) {
    const uint32_t key = script_.add_int64_key(order_->key(client.number(), number));
    client.out().insert(Client::kSlot, key, script_.new_payload(0));
  }

  void lookup(Client& client) {
    const auto record = static_cast<uint32_t>(client.rng().below(shape_.records));
    client.begin(index_, kLookup);
    client.out().get(Client::kSlot, first_key_ + record, client.sample());
    client.commit();
  }

  // A key that was loaded or that somebody has been told to insert.
  uint32_t any_key(Rng& rng) const {
    return first_key_ +
           static_cast<uint32_t>(rng.below(script_.pools().int64_keys.size() - first_key_));
  }

  uint64_t seed_;
  Shape shape_;
  uint32_t per_transaction_;
  uint64_t lookup_percent_;
  std::unique_ptr<KeyOrder> order_;
  ScriptBuilder script_;
  uint32_t index_ = 0, first_key_ = 0;
  std::optional<Clients> clients_;
};

class Inserts : public Workload {
 public:
  explicit Inserts(std::string_view instance) : instance_(instance) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    const bool hot = instance_.starts_with("hotspot");
    if (hot && parameters["records"] == 0) {
      return Error{"a hotspot lies between loaded records: records must not be 0"};
    }
    if (!hot && parameters["records"] != 0) {
      return Error{"only hotspots load records before: set records to 0"};
    }
    return Generator(instance_, parameters, seed, policy).run();
  }

  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      uint64_t records = 0;
      for (const std::vector<Op>& ops : script.phases[p].threads) {
        records += static_cast<uint64_t>(std::count_if(ops.begin(), ops.end(), is_record));
      }
      metrics["inserts_per_s"] =
          static_cast<double>(records) * 1e9 / static_cast<double>(phases[p].wall_ns);
    }
  }

 private:
  // An insert of the stream: those of checks leave digests.
  static bool is_record(const Op& op) {
    return op.code == OpCode::kInsert && (op.flags & kDigest) == 0;
  }

  std::string instance_;
};

}  // namespace
}  // namespace inserts

std::unique_ptr<Workload> make_inserts(std::string_view instance) {
  return std::make_unique<inserts::Inserts>(instance);
}

}  // namespace keydrome
