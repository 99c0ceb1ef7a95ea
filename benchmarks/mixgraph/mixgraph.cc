// Facebook's key-value workload as RocksDB models it (README.md).
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/digits.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/mixgraph/laws.h"

namespace keydrome {
namespace mixgraph {
namespace {

constexpr uint64_t kGetPercent = 83, kPutPercent = 14;  // the rest are seeks
constexpr std::size_t kKeyBytes = 48;
constexpr uint32_t kTexts = 4096;

// Writes the whole script; one use. A key is its number in the pool: 48 hexadecimal digits.
class Generator {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : seed_(seed),
        records_(static_cast<uint32_t>(parameters["records"])),
        operations_(static_cast<uint64_t>(parameters["operations_per_thread"])),
        shape_(seed, 0, Purpose::kShape),
        keys_(records_, shape_) {
    index_ = script_.add_index("index", VARCHAR);
    for (uint32_t key = 0; key < records_; ++key) add_key(key);
    add_texts();
    get_ = script_.add_class("get");
    put_ = script_.add_class("put");
    seek_ = script_.add_class("seek");
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return hot_key(rng); }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(records_, rng);
    clients_->load(records_, [&](uint64_t i) {
      return Row{.index = index_, .key = order[i], .payload = random_payload(rng)};
    });
    clients_->start("run", operations_ * 4);
    for (uint64_t i = 0; i < operations_; ++i) {
      for (Client& client : *clients_) transaction(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  void add_key(uint32_t number) {
    std::string key(kKeyBytes - 8, '0');
    append_hexadecimal(key, number);
    script_.add_varchar_key(key);
  }

  void add_texts() {
    Rng rng(seed_, 0, Purpose::kPools);
    for (uint32_t i = 0; i < kTexts; ++i) {
      std::string text;
      for (uint32_t left = draw_value_bytes(rng) - kTagBytes; left > 0; --left) {
        text += static_cast<char>('!' + rng.below('~' - '!' + 1));
      }
      texts_.push_back(script_.add_text(text));
    }
  }

  void transaction(Client& client) {
    const uint64_t draw = client.rng().below(100);
    const uint32_t key = hot_key(client.rng());
    ThreadBuilder& out = client.out();
    if (draw < kGetPercent) {
      client.begin(index_, get_);
      out.get(Client::kSlot, key, client.sample());
    } else if (draw < kGetPercent + kPutPercent) {
      client.begin(index_, put_);
      out.delete_key(Client::kSlot, key, client.sample());
      out.insert(Client::kSlot, key, random_payload(client.rng()));
    } else {
      client.begin(index_, seek_);
      const uint8_t all = client.sample(kEvidenceAll);
      const uint32_t length = draw_scan_length(client.rng());
      out.get(Client::kSlot, key, all != 0 ? kEvidence : uint8_t{0});
      if (length > 1) out.next(Client::kSlot, length - 1, all);
    }
    client.commit();
  }

  uint32_t hot_key(Rng& rng) const { return static_cast<uint32_t>(keys_.next(rng)); }
  Payload random_payload(Rng& rng) { return script_.new_payload(texts_[rng.below(texts_.size())]); }

  uint64_t seed_;
  uint32_t records_;
  uint64_t operations_;
  Rng shape_;
  HotKeys keys_;
  ScriptBuilder script_;
  uint32_t index_ = 0, get_ = 0, put_ = 0, seek_ = 0;
  std::vector<uint32_t> texts_;
  std::optional<Clients> clients_;
};

class Mixgraph : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    return Generator(parameters, seed, policy).run();
  }
};

}  // namespace
}  // namespace mixgraph

std::unique_ptr<Workload> make_mixgraph(std::string_view /*instance*/) {
  return std::make_unique<mixgraph::Mixgraph>();
}

}  // namespace keydrome
