// ClientScript: writes the usual script of a benchmark, i.e. its indexes, its keys and the
// operations of every thread. The script has the phases create, load, the timed phases of the
// benchmark, and verify, which scans all records.
//
// A benchmark derives its generator from this class. The constructor adds indexes, keys and
// transaction classes (kinds of transactions whose latencies are reported separately), and then the
// clients (client threads). load() and run() write the phases:
//
//   class Generator : public workload::ClientScript {
//    public:
//     Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
//         : ClientScript(seed, policy), records_(parameters.u32("records")) {
//       index_ = builder().add_index("index", INT);
//       ...
//       add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) { return key(rng); });
//     }
//
//    private:
//     void load() override {
//       load_shuffled(records_, [this](uint32_t i) { return Row{index_, i, payload()}; });
//     }
//     void run() override {
//       run_phase("run", lookups_, 1, [this](Client& client) { look_up(client); });
//     }
//   };
//
//   return Generator(parameters, seed, policy).write();
//
// An object writes one script only. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/clients.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::workload {

class ClientScript {
 public:
  ClientScript(const ClientScript&) = delete;
  ClientScript& operator=(const ClientScript&) = delete;
  virtual ~ClientScript() = default;

  // Writes and returns the whole script. The caller calls write() once.
  script::Script write();

 protected:
  // Short names for the generators of benchmarks.
  using Client = workload::Client;
  using Parameters = workload::Parameters;
  using CheckPolicy = workload::CheckPolicy;
  using Purpose = workload::Purpose;
  using Rng = workload::Rng;
  using Row = workload::Row;
  static constexpr uint8_t kSlot = Client::kSlot;

  ClientScript(uint64_t seed, const CheckPolicy& policy) : seed_(seed), policy_(policy) {}

  // Adds the clients. REQUIRES: all indexes and classes have been added. Clients::Options explains
  // the arguments.
  void add_clients(uint32_t threads, std::function<uint32_t(Rng& rng, uint32_t index)> probe,
                   uint64_t check_every = Clients::Options{}.check_every);

  // load() writes the phase "load", and run() writes the timed phases.
  virtual void load() = 0;
  virtual void run() = 0;

  uint64_t seed() const { return seed_; }
  const CheckPolicy& policy() const { return policy_; }
  script::ScriptBuilder& builder() { return builder_; }
  const script::ScriptBuilder& builder() const { return builder_; }
  Clients& clients() { return *clients_; }
  const Clients& clients() const { return *clients_; }

  // Loads the records 0 .. count-1 in random order. `row` is called once for each record. `rng`
  // chooses the whole order before the first call of `row`.
  void load_shuffled(uint32_t count, Rng& rng, const std::function<Row(uint32_t record)>& row);
  void load_shuffled(uint32_t count, const std::function<Row(uint32_t record)>& row);

  // Begins a timed phase. Reserves memory for `transactions` transactions of each client, with
  // `ops` operations on average between begin and commit.
  void start_phase(const std::string& name, uint64_t transactions, uint64_t ops);
  // Writes `count` transactions for each client, in turns: one transaction of each client, then the
  // next one of each client.
  template <typename Transaction>
  void take_turns(uint64_t count, const Transaction& transaction) {
    for (uint64_t i = 0; i < count; ++i) {
      for (Client& client : clients()) transaction(client);
    }
  }
  // Writes a whole timed phase, in which each client makes `transactions` transactions.
  template <typename Transaction>
  void run_phase(const std::string& name, uint64_t transactions, uint64_t ops,
                 const Transaction& transaction) {
    start_phase(name, transactions, ops);
    take_turns(transactions, transaction);
    clients().finish();
  }

 private:
  uint64_t seed_;
  CheckPolicy policy_;
  script::ScriptBuilder builder_;
  std::optional<Clients> clients_;
};

}  // namespace keydrome::workload
