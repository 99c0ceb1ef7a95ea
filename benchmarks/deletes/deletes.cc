// Generates the operations of the benchmark "deletes": steady replacement of records, range
// deletes, and emptying and refilling the whole index (README.md).
#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace deletes {
namespace {

enum class Pattern : uint8_t { kChurnOldest, kChurnRandom, kRanges, kRefill };

Pattern pattern_of(std::string_view instance) {
  if (instance == "churn_oldest") return Pattern::kChurnOldest;
  if (instance == "churn_random") return Pattern::kChurnRandom;
  return instance == "refill" ? Pattern::kRefill : Pattern::kRanges;
}

// Prefix of the names of phases that end with as many records as were loaded. The metric
// memory_growth compares the memory after the last of these phases with the memory after the first.
constexpr std::string_view kSteady = "steady";

// Writes the script. Every record belongs to one thread, and only that thread deletes and inserts
// the record, so the result of each delete is known beforehand.
class Generator : public workload::ClientScript {
 public:
  Generator(Pattern pattern, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        pattern_(pattern),
        records_(parameters.u32("records")),
        rounds_(parameters.u32("rounds")),
        transactions_(parameters.u64("transactions_per_round")),
        per_transaction_(parameters.u32("records_per_transaction")),
        per_range_(parameters.u32("records_per_range")) {
    index_ = builder().add_index("index", INT);
    for (uint32_t i = 0; i < records_; ++i) add_key();
    churn_ = builder().add_class("churn");
    delete_ = builder().add_class("delete");
    insert_ = builder().add_class("insert");
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t) { return loaded_key(rng); });
  }

 private:
  // Adds the next key to the pool, the script's list of keys, and returns its number there. Range
  // deletes use dense keys, because keys with consecutive numbers must be neighbours in key order.
  // The other patterns scatter the keys over all positive integers; a collision is very unlikely.
  uint32_t add_key() {
    const uint64_t number = next_key_++;
    const uint64_t key = pattern_ == Pattern::kRanges ? number : workload::fnv_63(number);
    return builder().add_int64_key(static_cast<int64_t>(key));
  }

  // Returns the numbers of the loaded keys that belong to a thread, as a range [first, end).
  std::pair<uint32_t, uint32_t> part(uint32_t thread) const {
    const uint64_t threads = clients().size();
    return {static_cast<uint32_t>(uint64_t{records_} * thread / threads),
            static_cast<uint32_t>(uint64_t{records_} * (thread + 1) / threads)};
  }

  void load() override {
    clients().load(records_, [this](uint64_t i) {
      return Row{
          .index = index_, .key = static_cast<uint32_t>(i), .payload = builder().new_payload()};
    });
    for (uint32_t thread = 0; thread < clients().size(); ++thread) {
      const auto [first, end] = part(thread);
      live_.emplace_back();
      for (uint32_t key = first; key < end; ++key) live_.back().push_back(key);
    }
  }

  void run() override {
    for (uint32_t round = 1; round <= rounds_; ++round) {
      const std::string number = std::to_string(round);
      if (pattern_ == Pattern::kRefill) {
        write_all("empty" + number, /*deletes=*/true);
        write_all(std::string(kSteady) + number, /*deletes=*/false);
      } else {
        run_phase(std::string(kSteady) + number, transactions_, 2, [this](Client& client) {
          pattern_ == Pattern::kRanges ? replace_range(client) : churn(client);
        });
      }
    }
  }

  // Inserts a new record and deletes the thread's oldest record or a random one.
  void churn(Client& client) {
    std::deque<uint32_t>& live = live_[client.number()];
    if (pattern_ == Pattern::kChurnRandom) {
      std::swap(live.front(), live[client.rng().below(live.size())]);
    }
    const uint32_t victim = live.front(), fresh = add_key();
    live.pop_front();
    live.push_back(fresh);
    client.begin(index_, churn_);
    client.out().insert(kSlot, fresh, builder().new_payload());
    client.out().delete_key(kSlot, victim);
    client.commit();
  }

  // Scans and deletes adjacent records, and then inserts them again. The deletes are one
  // transaction, and the inserts another. If the range has more records than a transaction may
  // have, each of these two transactions is divided into several.
  void replace_range(Client& client) {
    const auto [first, end] = part(client.number());
    const auto start =
        first + static_cast<uint32_t>(client.rng().below(end - first - per_range_ + 1));
    for (const bool deletes : {true, false}) {
      for (uint32_t done = 0; done < per_range_; done += per_transaction_) {
        write_neighbours(client, start + done, std::min(per_transaction_, per_range_ - done),
                         deletes);
      }
    }
  }

  void write_neighbours(Client& client, uint32_t start, uint32_t count, bool deletes) {
    client.begin(index_, deletes ? delete_ : insert_);
    if (deletes) {
      client.out().get(kSlot, start);
      if (count > 1) client.out().next(kSlot, count - 1);
    }
    for (uint32_t i = 0; i < count; ++i) write_one(client, start + i, deletes);
    client.commit();
  }

  // Deletes or inserts all loaded records in random order.
  void write_all(const std::string& phase, bool deletes) {
    start_phase(phase, records_ / clients().size() / per_transaction_ + 1, per_transaction_);
    for (Client& client : clients()) {
      const auto [first, end] = part(client.number());
      const std::vector<uint32_t> order = workload::shuffled(end - first, client.rng());
      for (uint32_t i = 0; i < order.size();) {
        client.begin(index_, deletes ? delete_ : insert_);
        for (uint32_t n = 0; n < per_transaction_ && i < order.size(); ++n, ++i) {
          write_one(client, first + order[i], deletes);
        }
        client.commit();
      }
    }
    clients().finish();
  }

  void write_one(Client& client, uint32_t key, bool deletes) {
    if (deletes) {
      client.out().delete_key(kSlot, key);
    } else {
      client.out().insert(kSlot, key, builder().new_payload());
    }
  }

  // Returns a key that was loaded. Its record may have been deleted since.
  uint32_t loaded_key(Rng& rng) const { return static_cast<uint32_t>(rng.below(records_)); }

  Pattern pattern_;
  uint32_t records_, rounds_;
  uint64_t transactions_;
  uint32_t per_transaction_;  // records in a transaction, at most
  uint32_t per_range_;
  uint64_t next_key_ = 0;
  uint32_t index_ = 0, churn_ = 0, delete_ = 0, insert_ = 0;
  // By thread: the keys with a record. churn_oldest keeps them in the order of their inserts.
  std::vector<std::deque<uint32_t>> live_;
};

constexpr double kKeyBytes = 8, kRecordBytes = 16;

class Deletes : public workload::Workload {
 public:
  explicit Deletes(Pattern pattern) : pattern_(pattern) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), records = parameters.number("records");
    const double each = parameters.number("records_per_transaction");
    const double rounds = parameters.number("rounds");
    workload::Demand demand(threads);
    demand.add_load(records, kRecordBytes);
    if (pattern_ == Pattern::kRefill) {
      demand.add_transactions(2 * rounds * (records / each + threads), each);
      demand.add_changes(rounds * records, rounds * records);
      return demand;
    }
    const double transactions = threads * rounds * parameters.number("transactions_per_round");
    if (pattern_ == Pattern::kRanges) {
      const double range = parameters.number("records_per_range");
      const double parts = std::ceil(range / each), records_of_part = range / parts;
      demand.add_transactions(2 * transactions * parts, records_of_part + 1,
                              3 * records_of_part / 2);
      demand.add_changes(transactions * range, transactions * range);
    } else {
      demand.add_transactions(transactions, 2);
      demand.add_keys(transactions, kKeyBytes);
      demand.add_changes(transactions, transactions);
    }
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    const uint32_t records = parameters.u32("records"), threads = parameters.u32("threads");
    const uint32_t needed = pattern_ == Pattern::kRanges ? parameters.u32("records_per_range") : 1;
    if (records / threads < needed) {
      return Error{"each thread owns " + count_text(records / threads, "record") +
                   " (records / threads), but needs at least " + std::to_string(needed) +
                   ": raise records, or lower threads" +
                   (pattern_ == Pattern::kRanges ? " or records_per_range" : "")};
    }
    return Generator(pattern_, parameters, seed, policy).write();
  }

  void measure(const script::Script& script, const script::Outcome& /*outcome*/,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    std::optional<double> first, last;
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (!script.phases[p].name.starts_with(kSteady) || !phases[p].memory_bytes) continue;
      last = static_cast<double>(*phases[p].memory_bytes);
      if (!first) first = last;
    }
    if (first && *first > 0) metrics["memory_growth"] = *last / *first - 1;
  }

 private:
  Pattern pattern_;
};

}  // namespace
}  // namespace deletes

std::unique_ptr<workload::Workload> make_deletes(std::string_view instance) {
  return std::make_unique<deletes::Deletes>(deletes::pattern_of(instance));
}

}  // namespace keydrome
