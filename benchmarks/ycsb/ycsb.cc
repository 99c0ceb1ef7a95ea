// YCSB's core workloads over the ten calls (README.md says what each operation becomes).
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/canaries.h"
#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/stripes.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/kit/ycsb_random.h"
#include "benchmarks/ycsb/item_chooser.h"
#include "benchmarks/ycsb/mixes.h"

namespace keydrome {
namespace ycsb {
namespace {

constexpr uint8_t kSlot = 0;
constexpr uint32_t kVerifyThreads = 4;
constexpr uint64_t kEvidenceEvery = 64;
// One stripe and one canary behind this many transactions of a thread: 2 % in all.
constexpr uint32_t kCheckEvery = 100;
constexpr uint32_t kTexts = 1024;
constexpr uint64_t kTextBytes = 92;  // with the tag 100, the longest payload

const Mix& mix_of(std::string_view instance) {
  const auto* found = std::find_if(kMixes.begin(), kMixes.end(),
                                   [&](const Mix& mix) { return mix.instance == instance; });
  KEYDROME_CHECK(found != kMixes.end());
  return *found;
}

enum class Operation : uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite };

// How many auto-commit calls an operation is, by Operation; a scan is a transaction.
constexpr std::array kAutoCommitCalls = {1, 2, 1, 1, 3};

bool is_auto_commit(const PhaseScript& run) {
  const std::vector<Op>& ops = run.threads.front();
  return std::any_of(ops.begin(), ops.end(), [](const Op& op) {
    return (op.flags & kAutoCommit) != 0 && static_cast<Kind>(op.kind) == Kind::kStream;
  });
}

// YCSB's way: one draw walks through the operations in this order.
Operation draw_operation(Rng& rng, const Mix& mix) {
  const uint64_t draw = rng.below(100);
  if (draw < mix.read) return Operation::kRead;
  if (draw < mix.read + mix.update) return Operation::kUpdate;
  if (draw < mix.read + mix.update + mix.insert) return Operation::kInsert;
  if (draw < mix.read + mix.update + mix.insert + mix.scan) return Operation::kScan;
  return Operation::kReadModifyWrite;
}

// Writes the whole script; one use.
class Generator {
 public:
  Generator(const Mix& mix, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : mix_(mix),
        seed_(seed),
        policy_(policy),
        threads_(static_cast<uint32_t>(parameters["threads"])),
        indices_(static_cast<uint32_t>(parameters["indices"])),
        per_open_(static_cast<uint32_t>(parameters["transactions_per_open"])),
        auto_commit_(parameters["auto_commit"] != 0),
        records_(static_cast<uint64_t>(parameters["records"])),
        operations_(static_cast<uint64_t>(parameters["operations_per_thread"])),
        counter_(records_),
        chooser_(mix, records_, expected_inserts(), indices_, parameters["zipf_per_index"] != 0) {
    for (std::size_t i = 0; i < classes_.size(); ++i) classes_[i] = script_.add_class(kClasses[i]);
    check_ = script_.add_class("check");
    load_ = script_.add_class("load");
    for (uint32_t i = 0; i < indices_; ++i) {
      script_.add_index("usertable" + std::to_string(i),
                        mix.mapping == Mapping::kInt64 ? INT : VARCHAR);
    }
    add_texts();
  }

  Script run() {
    for (uint64_t item = 0; item < records_; ++item) add_key(item);
    if (policy_.stripes) stripes_.emplace(script_, seed_, threads_, check_, auto_commit_);
    if (policy_.canaries) canaries_.emplace(script_, check_, auto_commit_);
    const uint32_t create = script_.add_phase("create", 1, {});
    for (uint32_t index = 0; index < indices_; ++index) script_.thread(create, 0).create(index);
    const uint32_t load = script_.add_phase("load", threads_, {});
    for (uint32_t t = 0; t < threads_; ++t) load_thread(script_.thread(load, t), t);
    run_phase();
    add_verify_phase(script_, std::min(kVerifyThreads, threads_), check_);
    return script_.build();
  }

 private:
  static constexpr std::array kClasses = {"read", "update", "insert", "scan", "read_modify_write"};

  // A thread of the run phase and what it has open.
  struct Client {
    ThreadBuilder out;
    Rng rng, evidence, checks;
    uint64_t done = 0;     // transactions
    uint32_t in_open = 0;  // of them since the index was opened
    uint32_t opened = 0;   // index + 1; 0: none is open
    uint32_t turns = 0;    // of the canaries
  };

  // As YCSB counts them for the range of its keys: twice what is expected.
  uint64_t expected_inserts() const { return 2 * threads_ * operations_ * mix_.insert / 100; }

  void add_texts() {
    if (mix_.mapping == Mapping::kInt64) {
      texts_.push_back(0);
      return;
    }
    Rng rng(seed_, 0, Purpose::kPools);
    for (uint32_t i = 0; i < kTexts; ++i) {
      std::string text;
      for (uint64_t at = 0; at < kTextBytes; ++at) {
        text += static_cast<char>('!' + rng.below('~' - '!' + 1));
      }
      texts_.push_back(script_.add_text(text));
    }
  }

  void add_key(uint64_t item) {
    const uint64_t hash = fnv_63(item);
    keys_.push_back(mix_.mapping == Mapping::kInt64
                        ? script_.add_int64_key(static_cast<int64_t>(hash))
                        : script_.add_varchar_key("user" + std::to_string(hash)));
  }

  uint32_t index_of(uint64_t item) const { return static_cast<uint32_t>(item % indices_); }

  Payload random_payload(Rng& rng) { return script_.new_payload(texts_[rng.below(texts_.size())]); }

  // Every thread loads a contiguous part of the items; not timed.
  void load_thread(ThreadBuilder out, uint32_t thread) {
    Rng rng(seed_, thread, Purpose::kPopulate);
    const uint64_t first = records_ * thread / threads_, last = records_ * (thread + 1) / threads_;
    for (uint64_t item = first; item < last; ++item) {
      const bool opens = indices_ > 1 || (item - first) % per_open_ == 0;
      if (opens) {
        out.unit_start();
        out.open(kSlot, index_of(item));
      }
      out.auto_commit_as(Kind::kStream, load_);
      out.insert(kSlot, keys_[item], random_payload(rng));
      if (indices_ > 1 || (item - first + 1) % per_open_ == 0 || item + 1 == last) {
        out.close(kSlot);
        if (stripes_ && (item - first) % kCheckEvery == kCheckEvery - 1) {
          stripes_->append_insert(out, thread);
        }
      }
    }
  }

  // Operation by operation in turn for all threads, so that what is inserted by one can be asked
  // for by the others soon after, whatever the threads do when it is played.
  void run_phase() {
    const uint32_t phase = script_.add_phase("run", threads_, {.timed = true});
    script_.reserve(phase, operations_ * 4);
    std::vector<Client> clients;
    for (uint32_t t = 0; t < threads_; ++t) {
      clients.push_back({.out = script_.thread(phase, t),
                         .rng = Rng(seed_, t, Purpose::kStream),
                         .evidence = Rng(seed_, t, Purpose::kSamples),
                         .checks = Rng(seed_, t, Purpose::kCanaries),
                         .turns = t});
    }
    for (uint64_t i = 0; i < operations_; ++i) {
      inserted_.clear();
      for (uint32_t t = 0; t < threads_; ++t) transaction(clients[t], t);
      for (const uint64_t item : inserted_) counter_.acknowledge(item);
    }
    for (Client& client : clients) close(client);
  }

  void transaction(Client& client, uint32_t thread) {
    const Operation operation = draw_operation(client.rng, mix_);
    const uint64_t item =
        operation == Operation::kInsert ? new_item() : chooser_.next(client.rng, counter_.limit());
    open(client, index_of(item));
    // A scan is a transaction in any case: auto-commit calls have no cursor.
    const uint32_t class_number = classes_[static_cast<std::size_t>(operation)];
    const bool alone = auto_commit_ && operation != Operation::kScan;
    alone ? client.out.auto_commit_as(Kind::kStream, class_number)
          : client.out.begin(Kind::kStream, class_number);
    operate(client, operation, keys_[item]);
    if (!alone) client.out.commit();
    ++client.done;
    if (++client.in_open >= per_open_) close(client);
    if (client.done % kCheckEvery == 0) checks(client, thread);
  }

  uint64_t new_item() {
    const uint64_t item = counter_.next();
    add_key(item);
    inserted_.push_back(item);
    return item;
  }

  void open(Client& client, uint32_t index) {
    if (client.opened == index + 1) return;
    close(client);
    client.out.unit_start();
    client.out.open(kSlot, index);
    client.opened = index + 1;
    client.in_open = 0;
  }

  static void close(Client& client) {
    if (client.opened == 0) return;
    client.out.close(kSlot);
    client.opened = 0;
  }

  void operate(Client& client, Operation operation, uint32_t key) {
    ThreadBuilder& out = client.out;
    const uint8_t evidence = sampled(client.evidence) ? kEvidence : uint8_t{0};
    switch (operation) {
      case Operation::kRead:
        out.get(kSlot, key, evidence);
        return;
      case Operation::kScan:
        scan(client, key, evidence != 0);
        return;
      case Operation::kInsert:
        out.insert(kSlot, key, random_payload(client.rng));
        return;
      case Operation::kReadModifyWrite:
        out.get(kSlot, key, evidence);
        [[fallthrough]];
      case Operation::kUpdate:
        out.delete_key(kSlot, key, evidence);
        out.insert(kSlot, key, random_payload(client.rng));
    }
  }

  void scan(Client& client, uint32_t key, bool sample) {
    const auto length = static_cast<uint32_t>(client.rng.between(1, kScanMax));
    client.out.get(kSlot, key, sample ? kEvidence : uint8_t{0});
    if (length > 1) client.out.next(kSlot, length - 1, sample ? kEvidenceAll : uint8_t{0});
  }

  void checks(Client& client, uint32_t thread) {
    close(client);
    if (stripes_) stripes_->append_transaction(client.out, thread);
    if (!canaries_) return;
    const auto index = static_cast<uint32_t>(client.checks.below(indices_));
    canaries_->append(client.out, client.checks, index, client.turns++,
                      [&] { return key_in(client.checks, index); });
  }

  // One of the index's loaded keys.
  uint32_t key_in(Rng& rng, uint32_t index) const {
    const uint64_t rounds = (records_ - index + indices_ - 1) / indices_;
    return keys_[rng.below(rounds) * indices_ + index];
  }

  bool sampled(Rng& evidence) const {
    return policy_.evidence && evidence.below(kEvidenceEvery) == 0;
  }

  const Mix& mix_;
  uint64_t seed_;
  CheckPolicy policy_;
  uint32_t threads_, indices_, per_open_;
  bool auto_commit_;
  uint64_t records_, operations_;
  AcknowledgedCounter counter_;
  ItemChooser chooser_;
  ScriptBuilder script_;
  std::vector<uint32_t> keys_;  // by item: number in the pool
  std::vector<uint32_t> texts_;
  std::vector<uint64_t> inserted_;  // in this turn
  std::optional<Stripes> stripes_;
  std::optional<Canaries> canaries_;
  std::array<uint32_t, kClasses.size()> classes_{};
  uint32_t check_ = 0, load_ = 0;
};

class Ycsb : public Workload {
 public:
  explicit Ycsb(const Mix& mix) : mix_(mix) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    if (parameters["records"] < 2 * parameters["indices"]) {
      return Error{"every index needs two records: raise records or lower indices"};
    }
    return Generator(mix_, parameters, seed, policy).run();
  }

  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (!script.phases[p].timed) continue;
      const bool auto_commit = is_auto_commit(script.phases[p]);
      double operations = 0;
      for (uint32_t class_ = 0; class_ < kAutoCommitCalls.size(); ++class_) {
        const double committed = committed_per_second(outcome.phases[p], phases[p], class_);
        operations += auto_commit ? committed / kAutoCommitCalls[class_] : committed;
      }
      metrics["operations_per_s"] = operations;
    }
  }

 private:
  const Mix& mix_;
};

}  // namespace
}  // namespace ycsb

std::unique_ptr<Workload> make_ycsb(std::string_view instance) {
  return std::make_unique<ycsb::Ycsb>(ycsb::mix_of(instance));
}

}  // namespace keydrome
