// Generates the operations of the benchmark "inserts": inserts of new keys in orders that occur in
// practice (README.md).
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/inserts/key_orders.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace inserts {
namespace {

constexpr uint32_t kInsert = 0, kLookup = 1;  // kinds of transactions, timed separately
constexpr const char* kPhase = "run";
constexpr uint32_t kInsertsPerCheck = 100;

// Writes the script. The pool, the script's list of keys, begins with the keys of the stripes
// (check transactions on keys that only one thread uses). Keys of loaded records follow. Each
// inserted key is added when its insert is written.
class Generator : public workload::ClientScript {
 public:
  Generator(std::string_view instance, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : ClientScript(seed, policy),
        scale_{.threads = parameters.u32("threads"),
               .records = parameters.u32("records"),
               .inserts = parameters.u32("inserts_per_thread"),
               .hot_permille = parameters.u32("hot_permille")},
        per_transaction_(parameters.u32("inserts_per_transaction")),
        lookup_percent_(parameters.u64("lookup_percent")),
        order_(key_order(instance, scale_, seed)) {
    index_ = builder().add_index("index", INT);
    builder().add_class("insert");
    builder().add_class("lookup");
    const uint32_t transactions = kInsertsPerCheck / std::max(1u, per_transaction_);
    add_clients(
        scale_.threads, [this](Rng& rng, uint32_t) { return any_key(rng); },
        std::max(1u, transactions));
    first_key_ = static_cast<uint32_t>(builder().pools().int64_keys.size());
  }

 private:
  void load() override {
    if (scale_.records == 0) return;
    for (uint32_t i = 0; i < scale_.records; ++i) builder().add_int64_key(int64_t{i} * kGap);
    load_shuffled(scale_.records, [this](uint32_t i) {
      return Row{.index = index_, .key = first_key_ + i, .payload = builder().new_payload()};
    });
  }

  void run() override {
    start_phase(kPhase, scale_.inserts, 1);
    std::vector<uint32_t> done(scale_.threads);
    for (bool more = true; more;) {
      more = false;
      for (Client& client : clients()) {
        uint32_t& inserted = done[client.number()];
        if (inserted == scale_.inserts) continue;
        transaction(client, inserted);
        more = true;
      }
    }
    clients().finish();
  }

  // Writes a lookup, or the client's next inserts. `inserted` is the number of inserts written for
  // the client so far.
  void transaction(Client& client, uint32_t& inserted) {
    if (scale_.records > 0 && client.rng().below(100) < lookup_percent_) return lookup(client);
    if (per_transaction_ == 0) {
      client.use(index_);
      client.out().auto_commit_as(format::Kind::kStream, kInsert);
      insert(client, inserted++);
      client.done();
      return;
    }
    client.begin(index_, kInsert);
    for (uint32_t n = 0; n < per_transaction_ && inserted < scale_.inserts; ++n) {
      insert(client, inserted++);
    }
    client.commit();
  }

  void insert(Client& client, uint32_t number) {
    const uint32_t key = builder().add_int64_key(order_->key(client.number(), number));
    client.out().insert(kSlot, key, builder().new_payload());
  }

  void lookup(Client& client) {
    const auto record = static_cast<uint32_t>(client.rng().below(scale_.records));
    client.begin(index_, kLookup);
    client.out().get(kSlot, first_key_ + record);
    client.commit();
  }

  // Returns a key that was loaded, or that a thread inserts earlier in the script.
  uint32_t any_key(Rng& rng) const {
    return first_key_ +
           static_cast<uint32_t>(rng.below(builder().pools().int64_keys.size() - first_key_));
  }

  Scale scale_;
  uint32_t per_transaction_;  // 0 means auto-commit calls
  uint64_t lookup_percent_;
  std::unique_ptr<KeyOrder> order_;
  uint32_t index_ = 0, first_key_ = 0;
};

constexpr double kRecordBytes = 16;  // key and payload

class Inserts : public workload::Workload {
 public:
  explicit Inserts(std::string_view instance) : instance_(instance) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    const double each = std::max(1.0, parameters.number("inserts_per_transaction"));
    const double inserting = threads * (parameters.number("inserts_per_thread") / each + 1);
    const double lookups = parameters.number("lookup_percent") /
                           (100 - parameters.number("lookup_percent"));  // per insert
    workload::Demand demand(threads);
    demand.add_load(parameters.number("records"), kRecordBytes);
    demand.add_transactions(inserting, each);
    demand.add_inserts(inserting * each, kRecordBytes);
    demand.add_transactions(inserting * lookups, 1);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    const bool hotspot = instance_.starts_with("hotspot");
    if (hotspot && parameters["records"] == 0) {
      return Error{
          "records is 0, but the hotspot instances insert between loaded records: set "
          "records to at least 1"};
    }
    if (!hotspot && parameters["records"] != 0) {
      return Error{"records is " + std::to_string(parameters["records"]) +
                   ", but only the hotspot instances load records: set records to 0"};
    }
    return Generator(instance_, parameters, seed, policy).write();
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      uint64_t records = 0;
      for (const std::vector<format::Op>& ops : script.phases[p].threads)
        records += inserts_of(ops);
      metrics["inserts_per_s"] =
          static_cast<double>(records) * 1e9 / static_cast<double>(phases[p].wall_ns);
    }
  }

 private:
  // Returns the number of inserts of the workload itself, without those of check transactions.
  static uint64_t inserts_of(std::span<const format::Op> ops) {
    uint64_t inserts = 0;
    format::walk_program(ops, [&](const format::Step& step) {
      const bool stream = step.kind == format::Kind::kStream;
      inserts += stream && ops[step.op].code == format::OpCode::kInsert ? 1 : 0;
    });
    return inserts;
  }

  std::string instance_;
};

}  // namespace
}  // namespace inserts

std::unique_ptr<workload::Workload> make_inserts(std::string_view instance) {
  return std::make_unique<inserts::Inserts>(instance);
}

}  // namespace keydrome
