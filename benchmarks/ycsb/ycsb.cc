// Generates the operations of the benchmark "ycsb", the core workloads of YCSB. README.md lists the
// calls of each operation.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/canaries.h"
#include "benchmarks/kit/workload/clients.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/read_backs.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/kit/workload/stripes.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/ycsb/item_chooser.h"
#include "benchmarks/ycsb/mixes.h"

namespace keydrome {
namespace ycsb {
namespace {

constexpr uint8_t kSlot = 0;
constexpr uint32_t kVerifyThreads = 4;
// Each thread runs two checks after this many transactions. One, a stripe, uses keys that no other
// thread uses, so its results are known. The other, a canary, reads keys of the workload twice, and
// both reads must agree. Checks are 2 % of all transactions.
constexpr uint32_t kCheckEvery = 100;
constexpr uint32_t kTexts = 1024;
// With its tag, a unique number of 8 bytes, a payload has 100 bytes, the most that the API allows.
constexpr uint32_t kTextBytes = 92;
// Ops for which a program reserves space per transaction: the most that a mix has on average. An
// update has four: begin, delete, insert, commit. A read-modify-write has five, but in its mix half
// of the transactions are reads, with three.
constexpr uint64_t kOpsPerTransaction = 4;
constexpr double kOpenAndClose = 2;  // ops that open and close an index

const Mix& mix_of(std::string_view instance) {
  const auto* found = std::find_if(kMixes.begin(), kMixes.end(),
                                   [&](const Mix& mix) { return mix.instance == instance; });
  KEYDROME_CHECK(found != kMixes.end());
  return *found;
}

enum class Operation : uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite };
constexpr std::array kClasses = {"read", "update", "insert", "scan", "read_modify_write"};

// In auto-commit mode: the number of commits of each Operation, one for each auto-commit call. A
// scan has one commit, because it is one transaction.
constexpr std::array kAutoCommitCalls = {1, 2, 1, 1, 3};

bool is_auto_commit(const script::PhaseScript& run) {
  const std::vector<format::Op>& ops = run.threads.front();
  return std::any_of(ops.begin(), ops.end(), [](const format::Op& op) {
    return (op.flags & format::kAutoCommit) != 0 &&
           static_cast<format::Kind>(op.kind) == format::Kind::kStream;
  });
}

// Chooses the operation by one random number, as in YCSB. Compares the number with the sums of the
// percentages, in the order read, update, insert, scan.
Operation random_operation(workload::Rng& rng, const Mix& mix) {
  const uint64_t percentile = rng.below(100);
  if (percentile < mix.read) return Operation::kRead;
  if (percentile < mix.read + mix.update) return Operation::kUpdate;
  if (percentile < mix.read + mix.update + mix.insert) return Operation::kInsert;
  if (percentile < mix.read + mix.update + mix.insert + mix.scan) return Operation::kScan;
  return Operation::kReadModifyWrite;
}

// The keys and texts of YCSB's user table. Item i is stored in index i mod `indices`.
class UserTable {
 public:
  UserTable(script::ScriptBuilder& builder, Mapping mapping, uint32_t indices, uint64_t seed)
      : builder_(builder), mapping_(mapping), indices_(indices) {
    for (uint32_t i = 0; i < indices; ++i) {
      builder.add_index("usertable" + std::to_string(i),
                        mapping == Mapping::kInt64 ? INT : VARCHAR);
    }
    texts_ = mapping == Mapping::kInt64 ? std::vector{script::kNoText}
                                        : workload::random_texts(builder, seed, kTexts, kTextBytes);
  }

  // Adds the key of `item`, which must be the next item.
  void add_key(uint64_t item) {
    const uint64_t hash = workload::fnv_63(item);
    keys_.push_back(mapping_ == Mapping::kInt64
                        ? builder_.add_int64_key(static_cast<int64_t>(hash))
                        : builder_.add_varchar_key("user" + std::to_string(hash)));
  }

  uint32_t key(uint64_t item) const { return keys_[item]; }
  uint32_t index_of(uint64_t item) const { return static_cast<uint32_t>(item % indices_); }

  // Returns the key of a random item that is in `index` and is one of the first `records` items.
  uint32_t random_key(workload::Rng& rng, uint32_t index, uint64_t records) const {
    const uint64_t in_index = (records - index + indices_ - 1) / indices_;
    return keys_[rng.below(in_index) * indices_ + index];
  }

  script::Payload random_payload(workload::Rng& rng) {
    return builder_.new_payload(texts_[rng.below(texts_.size())]);
  }

 private:
  script::ScriptBuilder& builder_;
  Mapping mapping_;
  uint32_t indices_;
  std::vector<uint32_t> keys_;  // by item: number of its key in the script
  std::vector<uint32_t> texts_;
};

// Writes the script, the operations of all threads. An object is used once. The class does not use
// workload::Clients, because YCSB needs another load phase, other check transactions, and an
// auto-commit mode.
class Generator {
 public:
  Generator(const Mix& mix, const workload::Parameters& parameters, uint64_t seed,
            const workload::CheckPolicy& policy)
      : mix_(mix),
        seed_(seed),
        policy_(policy),
        threads_(parameters.u32("threads")),
        indices_(parameters.u32("indices")),
        per_open_(parameters.u32("transactions_per_open")),
        auto_commit_(parameters["auto_commit"] != 0),
        records_(parameters.u64("records")),
        operations_(parameters.u64("operations_per_thread")),
        counter_(records_),
        chooser_(mix, records_, new_items_max(), indices_, parameters["zipf_per_index"] != 0) {
    for (std::size_t i = 0; i < classes_.size(); ++i) classes_[i] = script_.add_class(kClasses[i]);
    check_ = script_.add_class("check");
    load_ = script_.add_class("load");
    table_.emplace(script_, mix.mapping, indices_, seed);
  }

  script::Script run() {
    for (uint64_t item = 0; item < records_; ++item) table_->add_key(item);
    if (policy_.stripes) stripes_.emplace(script_, seed_, threads_, check_, auto_commit_);
    if (policy_.canaries) canaries_.emplace(script_, check_, auto_commit_);
    const uint32_t create = script_.add_phase("create", 1, {});
    for (uint32_t index = 0; index < indices_; ++index) script_.thread(create, 0).create(index);
    const uint32_t load = script_.add_phase("load", threads_, {});
    for (uint32_t t = 0; t < threads_; ++t) load_thread(script_.thread(load, t), t);
    run_phase();
    if (policy_.canaries) workload::add_read_backs(script_, seed_, check_);
    script::add_verify_phase(script_, std::min(kVerifyThreads, threads_), check_);
    return script_.build();
  }

 private:
  // A thread of the run phase, with its random numbers and open index.
  struct Client {
    script::ThreadBuilder out;
    workload::Rng rng, checks;
    uint64_t done = 0;     // transactions so far
    uint32_t in_open = 0;  // transactions since the index was opened
    uint32_t opened = 0;   // index + 1; 0: none is open
    uint32_t turns = 0;    // number of the next canary check
  };

  // Returns how many new items the range of the Zipf distribution includes: twice the expected
  // number of inserts, as in YCSB.
  uint64_t new_items_max() const { return 2 * threads_ * operations_ * mix_.insert / 100; }

  // Each thread loads a contiguous part of the items by auto-commit calls. unit_start() marks where
  // the program may be cut into pieces. The referee, which writes the program, hands one piece
  // after the other to the process that plays the program. No handle may be open there, so this
  // function and open() call it only before an open.
  void load_thread(script::ThreadBuilder out, uint32_t thread) {
    workload::Rng rng(seed_, thread, workload::Purpose::kPopulate);
    const uint64_t first = records_ * thread / threads_, last = records_ * (thread + 1) / threads_;
    for (uint64_t item = first; item < last; ++item) {
      const bool opens = indices_ > 1 || (item - first) % per_open_ == 0;
      if (opens) {
        out.unit_start();
        out.open(kSlot, table_->index_of(item));
      }
      out.auto_commit_as(format::Kind::kStream, load_);
      out.insert(kSlot, table_->key(item), table_->random_payload(rng));
      if (indices_ > 1 || (item - first + 1) % per_open_ == 0 || item + 1 == last) {
        out.close(kSlot);
        if (stripes_ && (item - first) % kCheckEvery == kCheckEvery - 1) {
          stripes_->append_insert(out, thread);
        }
      }
    }
  }

  // The threads take turns, one operation each. An item that one thread inserts can be chosen by
  // all threads from the next turn on. The script therefore does not depend on the speed of the
  // threads.
  void run_phase() {
    const uint32_t phase = script_.add_phase("run", threads_, {.timed = true});
    script_.reserve(phase, operations_ * kOpsPerTransaction);
    std::vector<Client> clients;
    for (uint32_t t = 0; t < threads_; ++t) {
      clients.push_back({.out = script_.thread(phase, t),
                         .rng = workload::Rng(seed_, t, workload::Purpose::kStream),
                         .checks = workload::Rng(seed_, t, workload::Purpose::kCanaries),
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
    const Operation operation = random_operation(client.rng, mix_);
    const uint64_t item =
        operation == Operation::kInsert ? new_item() : chooser_.next(client.rng, counter_.limit());
    open(client, table_->index_of(item));
    // A scan is always a transaction: auto-commit calls have no cursor.
    const uint32_t class_number = classes_[static_cast<std::size_t>(operation)];
    const bool alone = auto_commit_ && operation != Operation::kScan;
    alone ? client.out.auto_commit_as(format::Kind::kStream, class_number)
          : client.out.begin(format::Kind::kStream, class_number);
    operate(client, operation, table_->key(item));
    if (!alone) client.out.commit();
    ++client.done;
    if (++client.in_open >= per_open_) close(client);
    if (client.done % kCheckEvery == 0) append_checks(client, thread);
  }

  uint64_t new_item() {
    const uint64_t item = counter_.next();
    table_->add_key(item);
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
    script::ThreadBuilder& out = client.out;
    switch (operation) {
      case Operation::kRead:
        out.get(kSlot, key);
        return;
      case Operation::kScan:
        scan(client, key);
        return;
      case Operation::kInsert:
        out.insert(kSlot, key, table_->random_payload(client.rng));
        return;
      case Operation::kReadModifyWrite:
        out.get(kSlot, key);
        [[fallthrough]];
      case Operation::kUpdate:
        out.delete_key(kSlot, key);
        out.insert(kSlot, key, table_->random_payload(client.rng));
    }
  }

  static void scan(Client& client, uint32_t key) {
    const auto length = static_cast<uint32_t>(client.rng.between(1, kScanMax));
    client.out.get(kSlot, key);
    if (length > 1) client.out.next(kSlot, length - 1);
  }

  void append_checks(Client& client, uint32_t thread) {
    close(client);
    if (stripes_) stripes_->append_transaction(client.out, thread);
    if (!canaries_) return;
    const auto index = static_cast<uint32_t>(client.checks.below(indices_));
    canaries_->append(client.out, client.checks, index, client.turns++,
                      [&] { return table_->random_key(client.checks, index, records_); });
  }

  const Mix& mix_;
  uint64_t seed_;
  workload::CheckPolicy policy_;
  uint32_t threads_, indices_, per_open_;
  bool auto_commit_;
  uint64_t records_, operations_;
  workload::AcknowledgedCounter counter_;
  ItemChooser chooser_;
  script::ScriptBuilder script_;
  std::optional<UserTable> table_;
  std::vector<uint64_t> inserted_;  // items that all threads inserted in this turn
  std::optional<workload::Stripes> stripes_;
  std::optional<workload::Canaries> canaries_;
  std::array<uint32_t, kClasses.size()> classes_{};
  uint32_t check_ = 0, load_ = 0;
};

constexpr double kIntegerRecordBytes = 16, kStringRecordBytes = 124;
constexpr double kKeyBytesMax = 24;  // "user" and a hash in decimal

class Ycsb : public workload::Workload {
 public:
  explicit Ycsb(const Mix& mix) : mix_(mix) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    const double record_bytes =
        mix_.mapping == Mapping::kInt64 ? kIntegerRecordBytes : kStringRecordBytes;
    workload::Demand demand(threads);
    demand.add_load(parameters.number("records"), record_bytes);
    const double scanned =
        mix_.scan * kScanMax / 200.0;  // calls of scans in an average transaction
    const double operations = threads * parameters.number("operations_per_thread");
    const double changed = (mix_.update + mix_.read_modify_write) / 100.0;
    const double calls = 1 + mix_.scan / 100.0 + changed + mix_.read_modify_write / 100.0;
    demand.add_transactions(operations, calls, calls + scanned);
    const double per_open = parameters.number("transactions_per_open");
    demand.load_ops += kOpenAndClose * parameters.number("records") /
                       (parameters.number("indices") > 1 ? 1 : per_open);
    demand.run_ops += kOpenAndClose * operations / per_open;
    demand.add_inserts(operations * mix_.insert / 100.0, record_bytes);
    demand.add_changes(operations * changed, operations * changed);
    if (mix_.mapping != Mapping::kInt64) demand.add_strings(demand.records * kKeyBytesMax);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    // LatestZipf begins with one rank fewer than there are items. It uses GrayZipf, the
    // approximation of J. Gray et al. (kit/workload/distributions.h). A GrayZipf that begins with
    // at most two ranks and then grows returns ranks that do not exist, because its constant eta is
    // 0 or negative.
    const int64_t least = mix_.items == Items::kLatest ? 4 : 2;
    if (parameters["records"] < least * parameters["indices"]) {
      return Error{"records is " + std::to_string(parameters["records"]) + " and indices is " +
                   std::to_string(parameters["indices"]) + ", but each index needs at least " +
                   std::to_string(least) + " records: raise records or lower indices"};
    }
    return Generator(mix_, parameters, seed, policy).run();
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (!script.phases[p].timed) continue;
      const bool auto_commit = is_auto_commit(script.phases[p]);
      double operations = 0;
      for (uint32_t class_ = 0; class_ < kAutoCommitCalls.size(); ++class_) {
        const double committed =
            workload::committed_per_second(outcome.phases[p], phases[p], class_);
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

std::unique_ptr<workload::Workload> make_ycsb(std::string_view instance) {
  return std::make_unique<ycsb::Ycsb>(ycsb::mix_of(instance));
}

}  // namespace keydrome
