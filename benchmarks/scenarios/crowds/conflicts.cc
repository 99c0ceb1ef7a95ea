// Implements crowds (scenarios with loops and many threads) in which other threads commit many
// transactions while a transaction runs.
#include <array>
#include <string>
#include <vector>

#include "benchmarks/scenarios/crowds/crowd_kind.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;

namespace {

// Events on which threads wait. kHalf: the reader has made the first part of its reads, or in
// conflicts() the two records exist. kUpdated: another thread has updated records.
constexpr uint32_t kHalf = 2, kUpdated = 3;
constexpr uint32_t kReaderWaitsUs = 100'000;  // longest wait for the updates of the other thread
constexpr uint32_t kReadKeys = 100;
// In split_range: how many keys are scanned, the distance between two of them, and the first of
// them. The keys whose inserts split pages are smaller than the first.
constexpr uint32_t kRangeKeys = 20, kRangeGap = 10, kRangeFirst = 100'000;

class Writer : public CrowdStage {
 public:
  explicit Writer(const CrowdStage& stage) : CrowdStage(stage) {}

  // A transaction scans all records in two parts. In between, a second thread commits many
  // transactions, each of which replaces one record.
  void long_reader() {
    script::ThreadBuilder reader = alone();
    reader.begin(format::Kind::kScript, class_);
    insert(reader, kA, 0, kReadKeys);
    reader.commit();
    reader.signal(kReady);
    reader.begin(format::Kind::kScript, class_);
    reader.next(kA, kReadKeys / 2);
    reader.signal(kHalf);
    // The wait has a limit, because the other thread may be waiting for locks of this thread.
    reader.yield(kUpdated, 1, kReaderWaitsUs);
    reader.next_to_end(kA, crowd_.records);
    reader.commit();
    reader.close(kA);
    script::ThreadBuilder updater = enter(1);
    updater.wait(kHalf, 1);
    updater.open(kA, script_.index_count() - 1);
    for (uint32_t i = 0; i < crowd_.records; ++i) {
      updater.begin(format::Kind::kScript, class_);
      updater.delete_key(kA, key(i * 7 % kReadKeys));
      insert(updater, kA, i * 7 % kReadKeys, 1);
      updater.commit();
    }
    updater.signal(kUpdated);
    updater.close(kA);
  }

  // Every transaction replaces one of two records and reads the other.
  void conflicts() {
    const uint32_t a = add_index("A");
    set_up({a});
    script::ThreadBuilder first = script_.thread(phase_, 0);
    first.open(kA, a);
    insert(first, kA, 0, 2);
    first.signal(kHalf);
    first.close(kA);
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = enter(t);
      thread.wait(kHalf, 1);
      thread.open(kA, a);
      for (uint32_t i = 0; i < crowd_.records; ++i) {
        const uint32_t written = (i + t) % 2;
        thread.begin(format::Kind::kScript, class_);
        thread.get(kA, key(1 - written));
        thread.delete_key(kA, key(written));
        let_others_run(thread);
        insert(thread, kA, written, 1);
        thread.commit();
      }
      thread.signal(kUpdated);
      thread.close(kA);
    }
    first.wait(kUpdated, crowd_.threads);
    first.open(kA, a);
    scan(first);
    first.close(kA);
  }

  // A transaction reads a record and then inserts another one. In between, a second thread commits
  // many transactions, each of which looks for that other record and replaces the first one.
  void many_commits() {
    script::ThreadBuilder reader = alone();
    reader.auto_commit_as(format::Kind::kScript, class_);
    insert(reader, kA, 0, 1);
    reader.begin(format::Kind::kScript, class_);
    reader.get(kA, key(0));
    reader.signal(kHalf);
    // The wait has a limit, because the other thread may be waiting for locks of this thread.
    reader.yield(kUpdated, 1, kReaderWaitsUs);
    insert(reader, kA, 1, 1);
    reader.commit();
    reader.close(kA);
    script::ThreadBuilder updater = script_.thread(phase_, 1);
    updater.wait(kHalf, 1);
    updater.open(kA, script_.index_count() - 1);
    for (uint32_t i = 0; i < crowd_.records; ++i) {
      updater.begin(format::Kind::kScript, class_);
      updater.get(kA, key(1));
      updater.delete_key(kA, key(0));
      insert(updater, kA, 0, 1);
      updater.commit();
    }
    updater.signal(kUpdated);
    updater.close(kA);
  }

  // A transaction scans a range twice. In between, a second thread inserts many records just before
  // the range, so that pages of the index split. It then inserts one record between any two
  // neighbouring records of the range.
  void split_range() {
    script::ThreadBuilder reader = alone();
    reader.begin(format::Kind::kScript, class_);
    for (uint32_t i = 0; i < kRangeKeys; ++i) insert(reader, kA, kRangeFirst + kRangeGap * i, 1);
    reader.commit();
    reader.signal(kReady);
    reader.begin(format::Kind::kScript, class_);
    for (uint32_t pass = 0; pass < 2; ++pass) {
      reader.get(kA, key(kRangeFirst));
      reader.next(kA, kRangeKeys - 1);
      if (pass == 1) break;
      reader.signal(kHalf);
      // The wait has a limit, because the other thread may be waiting for locks of this thread.
      reader.yield(kUpdated, 1, kReaderWaitsUs);
    }
    reader.commit();
    reader.close(kA);
    script::ThreadBuilder updater = enter(1);
    updater.wait(kHalf, 1);
    updater.open(kA, script_.index_count() - 1);
    const auto insert_alone = [&](uint32_t number) {
      updater.begin(format::Kind::kScript, class_);
      insert(updater, kA, number, 1);
      updater.commit();
    };
    for (uint32_t i = 0; i < crowd_.records; ++i) insert_alone(kRangeFirst - crowd_.records + i);
    for (uint32_t i = 0; i + 1 < kRangeKeys; ++i) {
      insert_alone(kRangeFirst + kRangeGap * i + kRangeGap / 2);
    }
    updater.signal(kUpdated);
    updater.close(kA);
  }
};

class Judge : public CrowdRecord {
 public:
  explicit Judge(const CrowdRecord& record) : CrowdRecord(record) {}

  std::string long_reader() const {
    return found({{"the scan of the long transaction", kReadKeys}});
  }

  std::string conflicts() const { return found({{kScanAtEnd, 2}}); }

  // If the reader read the first payload, the reader precedes every update. If an update did not
  // find the reader's record, the update precedes the reader. Only one of the two can be true.
  std::string many_commits() const {
    uint64_t first_payload = 0;
    bool read_first = false, earlier_update = false;
    for (const history::Transaction& transaction : transactions_.committed) {
      bool read = false, missed = false, inserted = false;
      for_each_call(history_, transaction, [&](uint32_t, const Event& event) {
        const EventCall call = call_of(event);
        if (call == EventCall::kInsert && is_auto_commit(event)) first_payload = event.payload;
        inserted |= call == EventCall::kInsert && succeeded(event);
        if (call != EventCall::kGet) return;
        read |= succeeded(event) && event.payload == first_payload;
        missed |= event.code == KEY_NOTFOUND;
      });
      if (transaction.thread == 0 && read && inserted) read_first = true;
      if (transaction.thread == 1 && missed) earlier_update = true;
    }
    if (!read_first || !earlier_update) return "";
    return "no serial order explains the committed transactions. Transaction A of thread 0 read "
           "the record as it was before thread 1 first replaced it, so A must come before all "
           "transactions of thread 1. But transaction B of thread 1 did not find the record that A "
           "inserted, so A must come after B. One of A and B must not commit";
  }

  // Both scans of a committed transaction must return the same keys.
  std::string split_range() const {
    for (const history::Transaction& transaction : transactions_.committed) {
      std::vector<std::vector<uint64_t>> passes;
      for_each_call(history_, transaction, [&](uint32_t, const Event& event) {
        if (call_of(event) == EventCall::kGet) passes.emplace_back();
        if (call_of(event) == EventCall::kNext && !passes.empty()) {
          passes.back().push_back(succeeded(event) ? event.key : UINT64_MAX);
        }
      });
      if (passes.size() == 2 && passes[0] != passes[1]) {
        return "a transaction scanned a range twice, and the second scan returned other records "
               "than the first one: both must return the same records";
      }
    }
    return "";
  }
};

constexpr std::array kKinds{
    CrowdKind{
        "many_commits", [](const CrowdStage& stage) { Writer(stage).many_commits(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).many_commits()}; }},
    CrowdKind{
        "conflicts", [](const CrowdStage& stage) { Writer(stage).conflicts(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).conflicts()}; }},
    CrowdKind{
        "split_range", [](const CrowdStage& stage) { Writer(stage).split_range(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).split_range()}; }},
    CrowdKind{
        "long_reader", [](const CrowdStage& stage) { Writer(stage).long_reader(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).long_reader()}; }},
};

}  // namespace

std::span<const CrowdKind> conflict_crowds() { return kKinds; }

}  // namespace keydrome::scenarios
