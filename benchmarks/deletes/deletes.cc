// Deletes: churn, ranges, everything (README.md).
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/kit/ycsb_random.h"

namespace keydrome {
namespace deletes {
namespace {

enum class Shape : uint8_t { kChurnOldest, kChurnRandom, kRanges, kRefill };

Shape shape_of(std::string_view instance) {
  if (instance == "churn_oldest") return Shape::kChurnOldest;
  if (instance == "churn_random") return Shape::kChurnRandom;
  return instance == "refill" ? Shape::kRefill : Shape::kRanges;
}

// Phases that leave the index with as many records as before have this prefix: between the first
// and the last of them memory should not grow.
constexpr std::string_view kSteady = "steady";

// Writes the whole script; one use. Every record belongs to one thread, which alone deletes it and
// writes it, so what a delete finds is certain.
class Generator {
 public:
  Generator(Shape shape, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : shape_(shape),
        records_(static_cast<uint32_t>(parameters["records"])),
        rounds_(static_cast<uint32_t>(parameters["rounds"])),
        transactions_(static_cast<uint64_t>(parameters["transactions_per_round"])),
        together_(static_cast<uint32_t>(parameters["records_per_transaction"])) {
    index_ = script_.add_index("index", INT);
    for (uint32_t i = 0; i < records_; ++i) add_key();
    churn_ = script_.add_class("churn");
    delete_ = script_.add_class("delete");
    insert_ = script_.add_class("insert");
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return any_key(rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    load();
    for (uint32_t round = 1; round <= rounds_; ++round) {
      const std::string number = std::to_string(round);
      if (shape_ == Shape::kRefill) {
        write_all("empty" + number, true);
        write_all(std::string(kSteady) + number, false);
      } else {
        steady_phase(std::string(kSteady) + number);
      }
    }
    clients_->verify();
    return script_.build();
  }

 private:
  // Dense keys where ranges are deleted, so that the order of the keys is that of their numbers;
  // otherwise scattered over all positive numbers, none of them twice in all likelihood.
  uint32_t add_key() {
    const uint64_t number = next_key_++;
    const uint64_t key = shape_ == Shape::kRanges ? number : fnv_63(number);
    return script_.add_int64_key(static_cast<int64_t>(key));
  }

  // Thread t owns a contiguous part of the keys.
  std::pair<uint32_t, uint32_t> part(uint32_t thread) const {
    const uint64_t threads = clients_->size();
    return {static_cast<uint32_t>(uint64_t{records_} * thread / threads),
            static_cast<uint32_t>(uint64_t{records_} * (thread + 1) / threads)};
  }

  void load() {
    clients_->load(records_, [&](uint64_t i) {
      return Row{
          .index = index_, .key = static_cast<uint32_t>(i), .payload = script_.new_payload(0)};
    });
    for (uint32_t t = 0; t < clients_->size(); ++t) {
      const auto [first, last] = part(t);
      live_.emplace_back();
      for (uint32_t key = first; key < last; ++key) live_.back().push_back(key);
    }
  }

  void steady_phase(const std::string& name) {
    clients_->start(name, transactions_ * 4);
    for (uint64_t i = 0; i < transactions_; ++i) {
      for (Client& client : *clients_) {
        shape_ == Shape::kRanges ? replace_range(client) : churn(client);
      }
    }
    clients_->finish();
  }

  // One new record, and the oldest or any other one goes.
  void churn(Client& client) {
    std::deque<uint32_t>& live = live_[client.number()];
    if (shape_ == Shape::kChurnRandom) {
      std::swap(live.front(), live[client.rng().below(live.size())]);
    }
    const uint32_t victim = live.front(), fresh = add_key();
    live.pop_front();
    live.push_back(fresh);
    client.begin(index_, churn_);
    client.out().insert(Client::kSlot, fresh, script_.new_payload(0));
    client.out().delete_key(Client::kSlot, victim, client.sample());
    client.commit();
  }

  // Scans and deletes neighbours in one transaction, and writes them again in the next.
  void replace_range(Client& client) {
    const auto [first, last] = part(client.number());
    const auto start =
        first + static_cast<uint32_t>(client.rng().below(last - first - together_ + 1));
    const uint8_t all = client.sample(kEvidenceAll);
    const uint8_t one = all != 0 ? kEvidence : uint8_t{0};
    client.begin(index_, delete_);
    client.out().get(Client::kSlot, start, one);
    if (together_ > 1) client.out().next(Client::kSlot, together_ - 1, all);
    for (uint32_t i = 0; i < together_; ++i) {
      client.out().delete_key(Client::kSlot, start + i, client.sample());
    }
    client.commit();
    client.begin(index_, insert_);
    for (uint32_t i = 0; i < together_; ++i) {
      client.out().insert(Client::kSlot, start + i, script_.new_payload(0));
    }
    client.commit();
  }

  // Deletes or inserts everything, in random order.
  void write_all(const std::string& name, bool deletes) {
    clients_->start(name, records_ / clients_->size() * 12 / 10);
    for (Client& client : *clients_) {
      const auto [first, last] = part(client.number());
      const std::vector<uint32_t> order = shuffled(last - first, client.rng());
      for (uint32_t i = 0; i < order.size();) {
        client.begin(index_, deletes ? delete_ : insert_);
        for (uint32_t n = 0; n < together_ && i < order.size(); ++n, ++i) {
          write_one(client, first + order[i], deletes);
        }
        client.commit();
      }
    }
    clients_->finish();
  }

  void write_one(Client& client, uint32_t key, bool deletes) {
    if (deletes) {
      client.out().delete_key(Client::kSlot, key, client.sample());
    } else {
      client.out().insert(Client::kSlot, key, script_.new_payload(0));
    }
  }

  // One of the keys that were loaded: it may be there or not.
  uint32_t any_key(Rng& rng) const { return static_cast<uint32_t>(rng.below(records_)); }

  Shape shape_;
  uint32_t records_, rounds_;
  uint64_t transactions_;
  uint32_t together_;
  uint64_t next_key_ = 0;
  ScriptBuilder script_;
  uint32_t index_ = 0, churn_ = 0, delete_ = 0, insert_ = 0;
  std::vector<std::deque<uint32_t>> live_;  // by thread, the oldest first
  std::optional<Clients> clients_;
};

class Deletes : public Workload {
 public:
  explicit Deletes(Shape shape) : shape_(shape) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    const int64_t part = parameters["records"] / parameters["threads"];
    const int64_t wanted = shape_ == Shape::kRanges ? parameters["records_per_transaction"] : 1;
    if (part < wanted) {
      return Error{
          "every thread needs records enough for one transaction: raise records, or lower "
          "threads or records_per_transaction"};
    }
    return Generator(shape_, parameters, seed, policy).run();
  }

  void measure(const Script& script, const Outcome& /*outcome*/,
               std::span<const PhaseMeasures> phases, Metrics& metrics) const override {
    std::optional<double> first, last;
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (!script.phases[p].name.starts_with(kSteady) || !phases[p].memory_bytes) continue;
      last = static_cast<double>(*phases[p].memory_bytes);
      if (!first) first = last;
    }
    if (first && *first > 0) metrics["memory_growth"] = *last / *first - 1;
  }

 private:
  Shape shape_;
};

}  // namespace
}  // namespace deletes

std::unique_ptr<Workload> make_deletes(std::string_view instance) {
  return std::make_unique<deletes::Deletes>(deletes::shape_of(instance));
}

}  // namespace keydrome
