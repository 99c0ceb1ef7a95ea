// The primary benchmark of the SIGMOD 2009 contest (README.md says what follows the thesis and what
// the code).
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/canaries.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/stripes.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/sigmod2009/thesis_pools.h"

namespace keydrome {
namespace sigmod2009 {
namespace {

constexpr int64_t kIndicesMax = 50;
constexpr uint32_t kVerifyThreads = 4;
constexpr uint8_t kSlot = 0;
constexpr uint64_t kEvidenceEvery = 64;
// One stripe and one canary in this many transactions of a thread: 2 % in all.
constexpr uint32_t kCheckEvery = 100;

constexpr uint8_t kSecondSlot = 1;
constexpr int64_t kLookupsMin = 100, kLookupsMax = 199;

// Parameters: how many lookups, then the key of each. A record that is not found ends its lookup.
ProcedureBuilder double_lookups() {
  constexpr uint8_t kCount = 0, kKey = 1, kOne = 2, kZero = 3, kRow = 0, kFound = 1;
  ProcedureBuilder p;
  const ProcedureBuilder::Label next = p.label(), done = p.label();
  p.parameter(kCount);
  p.set(kOne, 1);
  p.set(kZero, 0);
  p.place(next);
  p.parameter(kKey);
  p.get(kSlot, kKey, kRow, done);
  p.get_by_text(kSecondSlot, kRow, kFound, done);
  p.place(done);
  p.subtract(kCount, kCount, kOne);
  p.jump_if_less(kZero, kCount, next);
  p.end();
  return p;
}

struct Shape {
  uint32_t threads = 0;
  uint32_t inserts = 0;
  uint32_t tests = 0;
};

// Writes the whole script; one use.
class Generator {
 public:
  Generator(KeyRule rule, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : rule_(rule),
        seed_(seed),
        policy_(policy),
        shape_{.threads = static_cast<uint32_t>(parameters["threads"]),
               .inserts = static_cast<uint32_t>(parameters["inserts_per_thread"]),
               .tests = static_cast<uint32_t>(parameters["tests_per_thread"])} {
    scan_ = script_.add_class("scan");
    get_ = script_.add_class("get");
    update_ = script_.add_class("update");
    insert_ = script_.add_class("insert");
    check_ = script_.add_class("check");
    add_indices(parameters["indices"]);
    pools_ = draw_thesis_pools(script_, seed, uint64_t{shape_.threads} * shape_.inserts, rule);
    if (rule == KeyRule::kDoubleLookup) {
      double_lookup_ = script_.add_class("double_lookup");
      lookups_ = script_.add_procedure(double_lookups(),
                                       {.parameters = kLookupsMax + 1, .calls = 2 * kLookupsMax});
      stored_.resize(script_.index_count());
    }
  }

  Script run() {
    // Literal vary_high has negative keys, so its scans would come by the stripes.
    const bool room = rule_ != KeyRule::kVaryHigh;
    if (policy_.stripes && room) stripes_.emplace(script_, seed_, shape_.threads, check_);
    if (policy_.canaries) canaries_.emplace(script_, check_);
    create();
    const uint32_t populate = script_.add_phase("populate", shape_.threads, {.timed = true});
    script_.reserve(populate, uint64_t{shape_.inserts} * 3 + shape_.inserts / kCheckEvery * 3);
    for (uint32_t t = 0; t < shape_.threads; ++t) populate_thread(script_.thread(populate, t), t);
    const uint32_t test = script_.add_phase("test", shape_.threads, {.timed = true});
    for (uint32_t t = 0; t < shape_.threads; ++t) test_thread(script_.thread(test, t), t);
    add_verify_phase(script_, kVerifyThreads, check_);
    return script_.build();
  }

 private:
  void add_indices(int64_t wanted) {
    Rng rng(seed_, 0, Purpose::kShape);
    const int64_t drawn = rng.between(1, kIndicesMax);
    const int64_t count = wanted == 0 ? drawn : wanted;
    for (int64_t i = 0; i < count; ++i) {
      const auto drawn_type = static_cast<KeyType>(rng.below(3));
      script_.add_index("index" + std::to_string(i), rule_ == KeyRule::kRandom         ? drawn_type
                                                     : rule_ == KeyRule::kDoubleLookup ? VARCHAR
                                                                                       : INT);
    }
  }

  void create() {
    const uint32_t phase = script_.add_phase("create", script_.index_count(), {.timed = true});
    for (uint32_t index = 0; index < script_.index_count(); ++index) {
      script_.thread(phase, index).create(index);
    }
  }

  void populate_thread(ThreadBuilder out, uint32_t thread) {
    Rng rng(seed_, thread, Purpose::kPopulate);
    for (uint32_t i = 0; i < shape_.inserts; ++i) {
      const uint32_t index = random_index(rng);
      out.unit_start();
      out.open(kSlot, index);
      out.auto_commit_as(Kind::kStream, insert_);
      const uint32_t key = random_key(rng, index);
      out.insert(kSlot, key, random_payload(rng));
      out.close(kSlot);
      if (!stored_.empty()) stored_[index].push_back(key);
      if (stripes_ && i % kCheckEvery == kCheckEvery / 2) stripes_->append_insert(out, thread);
    }
  }

  void test_thread(ThreadBuilder out, uint32_t thread) {
    Rng rng(seed_, thread, Purpose::kStream);
    Rng evidence(seed_, thread, Purpose::kSamples);
    Rng checks(seed_, thread, Purpose::kCanaries);
    uint64_t stripe_at = 0, canary_at = 0;
    for (uint32_t i = 0; i < shape_.tests; ++i) {
      if (i % kCheckEvery == 0) {  // the last transactions have none, unless they are that many
        const bool whole = shape_.tests - i >= kCheckEvery;
        stripe_at = whole ? i + checks.below(kCheckEvery) : UINT64_MAX;
        canary_at = whole ? i + checks.below(kCheckEvery) : UINT64_MAX;
      }
      if (rule_ == KeyRule::kDoubleLookup) {
        look_up_twice(out, rng);
      } else {
        test_transaction(out, rng, evidence);
      }
      if (stripes_ && i == stripe_at) stripes_->append_transaction(out, thread);
      if (canaries_ && i == canary_at) {
        const uint32_t index = random_index(checks);
        canaries_->append(out, checks, index, thread + i / kCheckEvery,
                          [&] { return scan_start(checks, index); });
      }
    }
  }

  void test_transaction(ThreadBuilder& out, Rng& rng, Rng& evidence) {
    const uint64_t choice = rng.below(100);
    const uint32_t index = random_index(rng);
    out.unit_start();
    out.open(kSlot, index);
    if (choice < 10) {
      scan(out, rng, index, sampled(evidence));
    } else if (choice < 40) {
      gets(out, rng, index, evidence);
    } else {
      updates(out, rng, index, evidence);
    }
    out.commit();
    out.close(kSlot);
  }

  // Keys of the first index lead to payloads that are asked for in the second.
  void look_up_twice(ThreadBuilder& out, Rng& rng) {
    const uint32_t first = random_index(rng);
    uint32_t second = random_index(rng);
    if (second == first) second = (first + 1) % script_.index_count();
    const int64_t count = rng.between(kLookupsMin, kLookupsMax);
    std::vector<int64_t> parameters = {count};
    for (int64_t i = 0; i < count; ++i) {
      const std::vector<uint32_t>& keys = stored_[first];
      parameters.push_back(keys.empty() ? random_key(rng, first) : keys[rng.below(keys.size())]);
    }
    out.unit_start();
    out.open(kSlot, first);
    out.open(kSecondSlot, second);
    out.begin(Kind::kStream, double_lookup_);
    out.run(lookups_, parameters);
    out.commit();
    out.close(kSecondSlot);
    out.close(kSlot);
  }

  void scan(ThreadBuilder& out, Rng& rng, uint32_t index, bool sample) {
    out.begin(Kind::kStream, scan_);
    out.get(kSlot, scan_start(rng, index), sample ? kEvidence : uint8_t{0});
    out.next(kSlot, static_cast<uint32_t>(rng.between(100, 199)),
             sample ? kEvidenceAll : uint8_t{0});
  }

  void gets(ThreadBuilder& out, Rng& rng, uint32_t index, Rng& evidence) {
    out.begin(Kind::kStream, get_);
    const int64_t count = rng.between(20, 29);
    for (int64_t i = 0; i < count; ++i) {
      out.get(kSlot, random_key(rng, index), sampled(evidence) ? kEvidence : uint8_t{0});
    }
  }

  void updates(ThreadBuilder& out, Rng& rng, uint32_t index, Rng& evidence) {
    out.begin(Kind::kStream, update_);
    const int64_t count = rng.between(5, 9);
    for (int64_t i = 0; i < count; ++i) {
      const Payload payload = random_payload(rng);
      out.insert(kSlot, random_key(rng, index), payload);
      out.delete_key(kSlot, random_key(rng, index), sampled(evidence) ? kEvidence : uint8_t{0});
    }
  }

  bool sampled(Rng& evidence) const {
    return policy_.evidence && evidence.below(kEvidenceEvery) == 0;
  }

  uint32_t random_index(Rng& rng) const {
    return static_cast<uint32_t>(rng.below(script_.index_count()));
  }

  uint32_t random_key(Rng& rng, uint32_t index) const {
    return static_cast<uint32_t>(rng.below(pools_.keys[script_.type(index)]));
  }

  // A scan from the empty string would come through the stripes, whose results are known only
  // because nobody else meets them: it starts at the first key behind them instead.
  uint32_t scan_start(Rng& rng, uint32_t index) const {
    const uint32_t key = random_key(rng, index);
    const bool empty = script_.type(index) == VARCHAR && script_.pools().varchar_keys[key].empty();
    return empty ? pools_.first_string : key;
  }

  Payload random_payload(Rng& rng) {
    return script_.new_payload(pools_.texts[rng.below(pools_.texts.size())]);
  }

  KeyRule rule_;
  uint64_t seed_;
  CheckPolicy policy_;
  Shape shape_;
  ScriptBuilder script_;
  ThesisPools pools_;
  std::optional<Stripes> stripes_;
  std::optional<Canaries> canaries_;
  uint32_t scan_ = 0, get_ = 0, update_ = 0, insert_ = 0, check_ = 0;
  uint32_t double_lookup_ = 0, lookups_ = 0;
  std::vector<std::vector<uint32_t>> stored_;  // by index: keys that populate inserts
};

class Sigmod2009 : public Workload {
 public:
  explicit Sigmod2009(KeyRule rule) : rule_(rule) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    return Generator(rule_, parameters, seed, policy).run();
  }

 private:
  KeyRule rule_;
};

}  // namespace
}  // namespace sigmod2009

std::unique_ptr<Workload> make_sigmod2009(std::string_view instance) {
  return std::make_unique<sigmod2009::Sigmod2009>(sigmod2009::key_rule(instance));
}

}  // namespace keydrome
