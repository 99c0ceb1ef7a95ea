// Generates the operations of the benchmark "sigmod2009", the primary benchmark of the SIGMOD 2009
// contest. README.md lists which details follow E. Reid's thesis on the contest (MIT 2009) and
// which follow the organisers' code.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/canaries.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/read_backs.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/kit/workload/stripes.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/sigmod2009/thesis_pools.h"

namespace keydrome {
namespace sigmod2009 {
namespace {

constexpr int64_t kIndicesMax = 50;
constexpr uint32_t kVerifyThreads = 4;
constexpr uint8_t kSlot = 0;
// The transactions of a thread form groups of this size. In each complete group, one random
// transaction is followed by a stripe, a check on keys that only this thread uses. Another random
// one, or the same, is followed by a canary, a check whose reads must agree with each other.
constexpr uint32_t kCheckEvery = 100;
constexpr uint64_t kOpenInsertClose = 3;  // operations of an insert of the populate phase

constexpr uint8_t kSecondSlot = 1;
constexpr int64_t kLookupsMin = 100, kLookupsMax = 199;

// Returns the procedure for a transaction of the instance double_lookup. A procedure is a list of
// instructions for the process that calls the library; the second key of a pair depends on the
// first result. The parameters of the procedure are the number of pairs of lookups, then the first
// key of each pair. If the first lookup of a pair finds no record, the procedure skips the second.
script::ProcedureBuilder double_lookups() {
  constexpr uint8_t kCount = 0, kKey = 1, kOne = 2, kZero = 3, kRow = 0, kFound = 1;
  script::ProcedureBuilder p;
  const script::ProcedureBuilder::Label next = p.label(), done = p.label();
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

// Chooses the transactions of a thread that are followed by checks.
class CheckSchedule {
 public:
  CheckSchedule(uint32_t transactions, workload::Rng& rng)
      : transactions_(transactions), rng_(rng) {}

  // Must be called once for each transaction, in order. An incomplete last group has no checks.
  void advance(uint32_t transaction) {
    if (transaction % kCheckEvery != 0) return;
    const bool complete = transactions_ - transaction >= kCheckEvery;
    stripe_at_ = complete ? transaction + rng_.below(kCheckEvery) : UINT64_MAX;
    canary_at_ = complete ? transaction + rng_.below(kCheckEvery) : UINT64_MAX;
  }
  bool stripe_after(uint32_t transaction) const { return transaction == stripe_at_; }
  bool canary_after(uint32_t transaction) const { return transaction == canary_at_; }

 private:
  uint32_t transactions_;
  workload::Rng& rng_;
  uint64_t stripe_at_ = 0, canary_at_ = 0;
};

// The size of a run: threads, and the inserts and test transactions of each thread.
struct Scale {
  uint32_t threads = 0;
  uint32_t inserts = 0;
  uint32_t tests = 0;
};

// Writes the script. An object is used once. The class does not use workload::Clients, because here
// every transaction opens and closes its index, and the populate phase is timed.
class Generator {
 public:
  Generator(KeyRule rule, const workload::Parameters& parameters, uint64_t seed,
            const workload::CheckPolicy& policy)
      : rule_(rule),
        seed_(seed),
        policy_(policy),
        scale_{.threads = parameters.u32("threads"),
               .inserts = parameters.u32("inserts_per_thread"),
               .tests = parameters.u32("tests_per_thread")} {
    scan_ = script_.add_class("scan");
    get_ = script_.add_class("get");
    update_ = script_.add_class("update");
    insert_ = script_.add_class("insert");
    check_ = script_.add_class("check");
    add_indices(parameters["indices"]);
    // The organisers' code sizes the key list of double_lookup by the indices, not by the threads.
    const uint64_t inserters =
        rule == KeyRule::kDoubleLookup ? script_.index_count() : scale_.threads;
    pools_ = random_thesis_pools(script_, seed, inserters * scale_.inserts, rule);
    if (rule == KeyRule::kDoubleLookup) {
      double_lookup_ = script_.add_class("double_lookup");
      lookups_ = script_.add_procedure(double_lookups(),
                                       {.parameters = kLookupsMax + 1, .calls = 2 * kLookupsMax});
    }
  }

  script::Script run() {
    // Libraries written for the contest may rely on the alphabet and the sign of its keys, so the
    // keys of stripes have the same form.
    if (policy_.stripes) {
      stripes_.emplace(script_, seed_, scale_.threads, check_, false,
                       workload::StripeKeys::kPublished);
    }
    if (policy_.canaries) canaries_.emplace(script_, check_);
    create();
    const uint32_t populate = script_.add_phase("populate", scale_.threads, {.timed = true});
    script_.reserve(populate, (scale_.inserts + scale_.inserts / kCheckEvery) * kOpenInsertClose);
    for (uint32_t t = 0; t < scale_.threads; ++t) populate_thread(script_.thread(populate, t), t);
    const uint32_t test = script_.add_phase("test", scale_.threads, {.timed = true});
    for (uint32_t t = 0; t < scale_.threads; ++t) test_thread(script_.thread(test, t), t);
    if (policy_.canaries) workload::add_read_backs(script_, seed_, check_);
    script::add_verify_phase(script_, kVerifyThreads, check_);
    return script_.build();
  }

 private:
  void add_indices(int64_t wanted) {
    workload::Rng rng(seed_, 0, workload::Purpose::kShape);
    const int64_t random_count = rng.between(1, kIndicesMax);
    const int64_t count = wanted == 0 ? random_count : wanted;
    for (int64_t i = 0; i < count; ++i) {
      const auto random_type = static_cast<KeyType>(rng.below(3));
      const KeyType type = rule_ == KeyRule::kRandom         ? random_type
                           : rule_ == KeyRule::kDoubleLookup ? VARCHAR
                                                             : INT;
      script_.add_index("index" + std::to_string(i), type);
    }
  }

  void create() {
    const uint32_t phase = script_.add_phase("create", script_.index_count(), {.timed = true});
    for (uint32_t index = 0; index < script_.index_count(); ++index) {
      script_.thread(phase, index).create(index);
    }
  }

  void populate_thread(script::ThreadBuilder out, uint32_t thread) {
    workload::Rng rng(seed_, thread, workload::Purpose::kPopulate);
    for (uint32_t i = 0; i < scale_.inserts; ++i) {
      const uint32_t index = random_index(rng);
      out.unit_start();
      out.open(kSlot, index);
      out.auto_commit_as(format::Kind::kStream, insert_);
      const uint32_t key = random_key(rng, index);
      out.insert(kSlot, key, random_payload(rng));
      out.close(kSlot);
      if (stripes_ && i % kCheckEvery == kCheckEvery / 2) stripes_->append_insert(out, thread);
    }
  }

  void test_thread(script::ThreadBuilder out, uint32_t thread) {
    workload::Rng rng(seed_, thread, workload::Purpose::kStream);
    workload::Rng checks(seed_, thread, workload::Purpose::kCanaries);
    CheckSchedule schedule(scale_.tests, checks);
    for (uint32_t i = 0; i < scale_.tests; ++i) {
      schedule.advance(i);
      if (rule_ == KeyRule::kDoubleLookup) {
        look_up_twice(out, rng);
      } else {
        test_transaction(out, rng);
      }
      if (stripes_ && schedule.stripe_after(i)) stripes_->append_transaction(out, thread);
      if (canaries_ && schedule.canary_after(i)) {
        const uint32_t index = random_index(checks);
        canaries_->append(out, checks, index, thread + i / kCheckEvery,
                          [&] { return random_key(checks, index); });
      }
    }
  }

  void test_transaction(script::ThreadBuilder& out, workload::Rng& rng) {
    const uint64_t choice = rng.below(100);
    const uint32_t index = random_index(rng);
    out.unit_start();
    out.open(kSlot, index);
    if (choice < 10) {
      scan(out, rng, index);
    } else if (choice < 40) {
      gets(out, rng, index);
    } else {
      updates(out, rng, index);
    }
    out.commit();
    out.close(kSlot);
  }

  // Writes a transaction that looks up random keys in one index, which lacks most of them. Each
  // payload that it finds is the key of a lookup in another index.
  void look_up_twice(script::ThreadBuilder& out, workload::Rng& rng) {
    const uint32_t first = random_index(rng);
    uint32_t second = random_index(rng);
    if (second == first) second = (first + 1) % script_.index_count();
    const int64_t count = rng.between(kLookupsMin, kLookupsMax);
    std::vector<int64_t> parameters = {count};
    for (int64_t i = 0; i < count; ++i) parameters.push_back(random_key(rng, first));
    out.unit_start();
    out.open(kSlot, first);
    out.open(kSecondSlot, second);
    out.begin(format::Kind::kStream, double_lookup_);
    out.run(lookups_, parameters);
    out.commit();
    out.close(kSecondSlot);
    out.close(kSlot);
  }

  void scan(script::ThreadBuilder& out, workload::Rng& rng, uint32_t index) {
    out.begin(format::Kind::kStream, scan_);
    out.get(kSlot, random_key(rng, index));
    out.next(kSlot, static_cast<uint32_t>(rng.between(100, 199)));
  }

  void gets(script::ThreadBuilder& out, workload::Rng& rng, uint32_t index) {
    out.begin(format::Kind::kStream, get_);
    const int64_t count = rng.between(20, 29);
    for (int64_t i = 0; i < count; ++i) out.get(kSlot, random_key(rng, index));
  }

  void updates(script::ThreadBuilder& out, workload::Rng& rng, uint32_t index) {
    out.begin(format::Kind::kStream, update_);
    const int64_t count = rng.between(5, 9);
    for (int64_t i = 0; i < count; ++i) {
      const script::Payload payload = random_payload(rng);
      out.insert(kSlot, random_key(rng, index), payload);
      out.delete_key(kSlot, random_key(rng, index));
    }
  }

  uint32_t random_index(workload::Rng& rng) const {
    return static_cast<uint32_t>(rng.below(script_.index_count()));
  }

  uint32_t random_key(workload::Rng& rng, uint32_t index) const {
    return static_cast<uint32_t>(rng.below(pools_.keys[script_.type(index)]));
  }

  script::Payload random_payload(workload::Rng& rng) {
    return script_.new_payload(pools_.texts[rng.below(pools_.texts.size())]);
  }

  KeyRule rule_;
  uint64_t seed_;
  workload::CheckPolicy policy_;
  Scale scale_;
  script::ScriptBuilder script_;
  ThesisPools pools_;
  std::optional<workload::Stripes> stripes_;
  std::optional<workload::Canaries> canaries_;
  uint32_t scan_ = 0, get_ = 0, update_ = 0, insert_ = 0, check_ = 0;
  uint32_t double_lookup_ = 0, lookups_ = 0;
};

constexpr double kMeanKeyBytes = 26, kMeanRecordBytes = 80;
constexpr double kLongestKeyBytes = 48;  // the longest keys, averaged over the key types
// In double_lookup: the mean length of a string of the pool, which is a key or a payload's text.
constexpr double kMeanSharedBytes = 45;

class Sigmod2009 : public workload::Workload {
 public:
  explicit Sigmod2009(KeyRule rule) : rule_(rule) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"),
                 inserts = threads * parameters.number("inserts_per_thread");
    const double tests = threads * parameters.number("tests_per_thread");
    workload::Demand demand(threads);
    demand.add_transactions(inserts, 1);  // open, insert, close
    demand.set_longest(kLongestKeyBytes + MAX_PAYLOAD_LEN);
    if (rule_ == KeyRule::kDoubleLookup) {
      add_double_lookup(parameters, inserts, tests, demand);
      return demand;
    }
    demand.add_inserts(inserts, kMeanRecordBytes);
    demand.add_keys(3 * inserts, kMeanKeyBytes);  // a pool of each key type
    demand.add_strings(inserts * MAX_VARCHAR_LEN);
    demand.add_transactions(tests, 18, 32);
    demand.add_inserts(tests * 4.2, kMeanRecordBytes);
    demand.add_changes(0, tests * 4.2);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(rule_, parameters, seed, policy).run();
  }

 private:
  static void add_double_lookup(const workload::Parameters& parameters, double inserts,
                                double tests, workload::Demand& demand) {
    constexpr double kShortStrings = 0.03;  // share of lookups of strings that many entries share
    constexpr double kLookups = (kLookupsMin + kLookupsMax) / 2.0;
    const double wanted = parameters.number("indices");
    const double indices = wanted == 0 ? kIndicesMax : wanted;
    const double pool = indices * parameters.number("inserts_per_thread");
    // If the seed determines the number of indices, there may be only one index. Most lookups then
    // find a record.
    const double hits = wanted == 0 ? 1 : std::min(1.0, inserts / indices / pool + kShortStrings);
    demand.add_inserts(inserts, 2 * kMeanSharedBytes + format::kTagBytes);
    demand.add_keys(pool, kMeanSharedBytes);
    demand.add_strings(pool * 2 * kMeanSharedBytes);  // once as keys, once as texts
    demand.add_procedures(tests, 2 * kLookupsMax, kLookups * (1 + hits), kLookups + 1);
  }

  KeyRule rule_;
};

}  // namespace
}  // namespace sigmod2009

std::unique_ptr<workload::Workload> make_sigmod2009(std::string_view instance) {
  return std::make_unique<sigmod2009::Sigmod2009>(sigmod2009::key_rule(instance));
}

}  // namespace keydrome
