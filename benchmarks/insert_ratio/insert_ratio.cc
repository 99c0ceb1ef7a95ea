// Searches and inserts on a loaded index, by their ratio (README.md).
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace insert_ratio {
namespace {

// Writes the whole script; one use. The pool holds the domain 0 .. 2 * records - 1, so that a key
// is its number.
class Generator {
 public:
  Generator(bool sorted, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : sorted_(sorted),
        seed_(seed),
        records_(static_cast<uint64_t>(parameters["records"])),
        operations_(static_cast<uint64_t>(parameters["operations_per_thread"])),
        insert_percent_(static_cast<uint64_t>(parameters["insert_percent"])),
        tags_(records_) {
    index_ = script_.add_index("index", INT);
    for (uint64_t key = 0; key < 2 * records_; ++key) {
      script_.add_int64_key(static_cast<int64_t>(key));
    }
    search_ = script_.add_class("search");
    insert_ = script_.add_class("insert");
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return even_key(rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    load();
    clients_->start("run", operations_ * 3);
    for (uint64_t i = 0; i < operations_; ++i) {
      for (Client& client : *clients_) transaction(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  // The even keys, in random order: the paper says only which keys are there.
  void load() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(static_cast<uint32_t>(records_), rng);
    clients_->load(records_, [&](uint64_t i) {
      return Row{.index = index_, .key = 2 * order[i], .payload = script_.new_payload(0)};
    });
  }

  void transaction(Client& client) {
    if (client.rng().below(100) >= insert_percent_) {
      client.begin(index_, search_);
      client.out().get(Client::kSlot, even_key(client.rng()), client.sample());
    } else {
      const uint64_t place = sorted_ ? next_++ : client.rng().below(records_);
      const uint8_t flags = kMayExist | client.sample();
      client.begin(index_, insert_);
      client.out().insert(Client::kSlot, static_cast<uint32_t>(2 * place + 1), payload_of(place),
                          flags);
    }
    client.commit();
  }

  uint32_t even_key(Rng& rng) const { return static_cast<uint32_t>(2 * rng.below(records_)); }

  // An odd key has one payload for ever, so inserting it again changes nothing.
  Payload payload_of(uint64_t place) {
    if (tags_[place] == kNoTag) tags_[place] = script_.new_payload(0).tag;
    return {.tag = tags_[place], .text = 0};
  }

  bool sorted_;
  uint64_t seed_, records_, operations_, insert_percent_;
  ScriptBuilder script_;
  uint32_t index_ = 0, search_ = 0, insert_ = 0;
  std::vector<uint32_t> tags_;  // of odd key 2 * i + 1; kNoTag: nobody has inserted it yet
  uint64_t next_ = 0;           // place of the next odd key in order
  std::optional<Clients> clients_;
};

class InsertRatio : public Workload {
 public:
  explicit InsertRatio(bool sorted) : sorted_(sorted) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    const int64_t operations = parameters["threads"] * parameters["operations_per_thread"];
    if (sorted_ && operations > parameters["records"]) {
      return Error{
          "there is one odd key for each record, and every sorted insert takes the next: "
          "raise records to at least threads * operations_per_thread"};
    }
    return Generator(sorted_, parameters, seed, policy).run();
  }

 private:
  bool sorted_;
};

}  // namespace
}  // namespace insert_ratio

std::unique_ptr<Workload> make_insert_ratio(std::string_view instance) {
  return std::make_unique<insert_ratio::InsertRatio>(instance == "sorted");
}

}  // namespace keydrome
