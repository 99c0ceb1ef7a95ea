// Implements ClientScript: writes the phases create, load, the timed phases and verify in this
// order.
#include "benchmarks/kit/workload/client_script.h"

#include <vector>

#include "benchmarks/kit/workload/read_backs.h"

namespace keydrome::workload {
namespace {

constexpr uint64_t kBeginAndCommit = 2;  // operations of every transaction

}  // namespace

script::Script ClientScript::write() {
  const uint32_t create = builder_.add_phase("create", 1, {});
  const uint32_t indexes = builder_.index_count();
  for (uint32_t index = 0; index < indexes; ++index) builder_.thread(create, 0).create(index);
  load();
  run();
  if (policy_.canaries) add_read_backs(builder_, seed_, clients().check_class());
  clients().verify();
  return builder_.build();
}

void ClientScript::add_clients(uint32_t threads, std::function<uint32_t(Rng&, uint32_t)> probe,
                               uint64_t check_every) {
  clients_.emplace(builder_, Clients::Options{.seed = seed_,
                                              .threads = threads,
                                              .policy = policy_,
                                              .probe = std::move(probe),
                                              .check_every = check_every});
}

void ClientScript::load_shuffled(uint32_t count, Rng& rng,
                                 const std::function<Row(uint32_t)>& row) {
  const std::vector<uint32_t> order = shuffled(count, rng);
  clients().load(count, [&](uint64_t i) { return row(order[i]); });
}

void ClientScript::load_shuffled(uint32_t count, const std::function<Row(uint32_t)>& row) {
  Rng rng(seed_, 0, Purpose::kPopulate);
  load_shuffled(count, rng, row);
}

void ClientScript::start_phase(const std::string& name, uint64_t transactions, uint64_t ops) {
  clients().start(name, transactions * (ops + kBeginAndCommit));
}

}  // namespace keydrome::workload
