// Implements crowds about index names and about extreme sizes: very many indexes, calls and
// transactions.
#include <array>
#include <map>
#include <string>

#include "benchmarks/scenarios/crowds/crowd_kind.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;

namespace {

constexpr uint32_t kHalf = 2, kUpdated = 3;  // events that threads signal
constexpr uint32_t kReaderWaitsUs = 100'000;
constexpr uint32_t kPerIndex = 10;    // records of each index
constexpr uint32_t kPart = 5;         // one transaction uses 1 / kPart of the indexes
constexpr uint32_t kSameKey = 10;     // every kSameKey-th insert uses key 0
constexpr uint32_t kSmallAbort = 32;  // changes of the smallest transaction in large_changes()
constexpr uint32_t kFewKeys = 10;
constexpr uint32_t kReadKeys = 100;
constexpr uint8_t kUnknownSlot = 7;

class Writer : public CrowdStage {
 public:
  explicit Writer(const CrowdStage& stage) : CrowdStage(stage) {}

  void names() {
    const std::array<std::string, 4> names{id_ + "Orders", id_ + "orders", id_ + "order",
                                           id_ + "orders1"};
    const uint32_t unknown = script_.add_index(id_ + "Order", type_);
    named(names, &unknown);
  }

  // Pairs of names of 16, 40 and 63 bytes. The names of a pair differ only in the last byte.
  void long_names() {
    std::vector<std::string> names;
    for (const std::size_t bytes : {16, 40, 63}) {
      for (const char last : {'a', 'b'}) {
        names.push_back(id_ + std::string(bytes - id_.size() - 1, 'n') + last);
      }
    }
    named(names, nullptr);
  }

  void odd_names() {
    std::string first(1'001, 'n'), second = first;  // the names differ only in the last byte
    first.back() = '1';
    second.back() = '2';
    const std::array<std::string, 7> names{"", "/", "a/b", "a b", "\xff\xfe", first, second};
    named(names, nullptr);
  }

  void create_again() {
    script::ThreadBuilder thread = script_.thread(phase_, 0);
    thread.auto_commit_as(format::Kind::kScript, class_);
    for (uint32_t round = 0; round < crowd_.rounds; ++round) {
      const std::string name = id_ + "-" + std::to_string(round);
      const uint32_t first = script_.add_index(name, type_);
      const uint32_t second = script_.add_index(name, type_ == VARCHAR ? SHORT : VARCHAR);
      thread.create(first);
      thread.open(kA, first);
      insert(thread, kA, 0, crowd_.records);
      thread.create(second, format::kAnyCode);
      thread.begin(format::Kind::kScript, class_);
      thread.next_to_end(kA, crowd_.records);
      thread.commit();
      thread.close(kA);
    }
  }

  void many_indexes() {
    script::ThreadBuilder thread = script_.thread(phase_, 0);
    std::vector<uint32_t> indexes;
    for (uint32_t i = 0; i < crowd_.records; ++i) {
      indexes.push_back(add_index(std::to_string(i)));
      thread.create(indexes.back());
      thread.open(kA, indexes.back());
      thread.begin(format::Kind::kScript, class_);
      insert(thread, kA, 0, kPerIndex);
      thread.commit();
      thread.close(kA);
    }
    indexes.resize(part());
    for (const bool commits : {false, true}) {
      thread.begin(format::Kind::kScript, class_);
      for (const uint32_t index : indexes) {
        thread.open(kA, index);
        insert(thread, kA, kPerIndex, 1);
        thread.close(kA);
      }
      commits ? thread.commit() : thread.abort();
    }
    thread.begin(format::Kind::kScript, class_);
    for (const uint32_t index : indexes) {
      thread.open(kA, index);
      thread.next_to_end(kA, kPerIndex + 2);
      thread.close(kA);
    }
    thread.commit();
  }

  void large_transaction() {
    script::ThreadBuilder thread = alone();
    for (const bool commits : {false, true}) {
      thread.begin(format::Kind::kScript, class_);
      for (uint32_t i = 0; i < crowd_.records; ++i) {
        insert(thread, kA, i % kSameKey == 0 ? 0 : i, 1);
      }
      commits ? thread.commit() : thread.abort();
      scan(thread);
    }
    thread.begin(format::Kind::kScript, class_);
    thread.delete_key(kA, key(0));
    thread.commit();
    scan(thread);
    thread.close(kA);
  }

  // Aborts inserts of several sizes, then commits inserts, aborts deletes and commits deletes. Each of
  // the transactions is followed by a scan.
  void large_changes() {
    script::ThreadBuilder thread = alone();
    for (const uint32_t inserts : {kSmallAbort, kSmallAbort * kSmallAbort, crowd_.records}) {
      changes(thread, [&] { insert(thread, kA, 0, inserts); }, false);
    }
    changes(thread, [&] { insert(thread, kA, 0, crowd_.records); }, true);
    const auto deletes = [&] {
      for (uint32_t i = 0; i < crowd_.records; ++i) thread.delete_key(kA, key(i));
    };
    changes(thread, deletes, false);
    changes(thread, deletes, true);
    thread.close(kA);
  }

  void empty_transactions() {
    script::ThreadBuilder thread = alone();
    uint64_t first = thread.size();
    thread.begin(format::Kind::kScript, class_);
    thread.commit();
    thread.repeat(first, crowd_.records - 1);
    first = thread.size();
    thread.open(kB, script_.index_count() - 1);
    thread.close(kB);
    thread.repeat(first, crowd_.records - 1);
    scan(thread);
    thread.close(kA);
  }

  void same_keys_again() {
    script::ThreadBuilder thread = alone();
    for (uint32_t i = 0; i < crowd_.records; i += kFewKeys) {
      thread.begin(format::Kind::kScript, class_);
      insert(thread, kA, 0, kFewKeys);
      thread.commit();
      thread.begin(format::Kind::kScript, class_);
      for (uint32_t k = 0; k < kFewKeys; ++k) thread.delete_key(kA, key(k));
      thread.commit();
    }
    scan(thread);
    thread.close(kA);
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
    // The wait has a limit, because the other session may be waiting for locks of this session.
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

  void long_reader() {
    script::ThreadBuilder reader = alone();
    reader.begin(format::Kind::kScript, class_);
    insert(reader, kA, 0, kReadKeys);
    reader.commit();
    reader.signal(kReady);
    reader.begin(format::Kind::kScript, class_);
    reader.next(kA, kReadKeys / 2);
    reader.signal(kHalf);
    // The wait has a limit, because the other session may be waiting for locks of this session.
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

 private:
  uint32_t part() const { return std::max(1u, crowd_.records / kPart); }

  // Returns the first thread, with a new index open in slot A.
  script::ThreadBuilder alone() {
    const uint32_t a = add_index("A");
    script::ThreadBuilder thread = script_.thread(phase_, 0);
    thread.create(a);
    thread.open(kA, a);
    return thread;
  }

  // Inserts records under the keys first, first + 1, ...
  void insert(script::ThreadBuilder& thread, uint8_t slot, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      thread.insert(slot, key(first + i), script_.new_payload());
    }
  }

  void scan(script::ThreadBuilder& thread) {
    thread.begin(format::Kind::kScript, class_);
    thread.next_to_end(kA, 2 * crowd_.records + 1);
    thread.commit();
  }

  template <typename Calls>
  void changes(script::ThreadBuilder& thread, const Calls& calls, bool commits) {
    thread.begin(format::Kind::kScript, class_);
    calls();
    commits ? thread.commit() : thread.abort();
    scan(thread);
  }

  // Creates an index with one record for each name. Opens `unknown`, which no thread creates.
  void named(std::span<const std::string> names, const uint32_t* unknown) {
    script::ThreadBuilder thread = script_.thread(phase_, 0);
    thread.auto_commit_as(format::Kind::kScript, class_);
    std::vector<uint32_t> indexes;
    for (const std::string& name : names) {
      indexes.push_back(script_.add_index(name, type_));
      thread.create(indexes.back(), format::kAnyCode);
    }
    if (unknown != nullptr) thread.open_missing(kUnknownSlot, *unknown);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      thread.open(static_cast<uint8_t>(i), indexes[i], format::kAnyCode);
      insert(thread, static_cast<uint8_t>(i), static_cast<uint32_t>(i), 1);
    }
    thread.begin(format::Kind::kScript, class_);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      thread.next_to_end(static_cast<uint8_t>(i), static_cast<uint32_t>(indexes.size()));
    }
    thread.commit();
    for (std::size_t i = 0; i < indexes.size(); ++i) thread.close(static_cast<uint8_t>(i));
  }
};

class Judge : public CrowdRecord {
 public:
  explicit Judge(const CrowdRecord& record) : CrowdRecord(record) {}

  // An open of a created index must succeed, and the index must contain exactly its record. An open
  // of an index that was never created must return DB_DNE.
  std::string names() const {
    std::map<uint16_t, uint64_t> inserted, read;
    std::map<uint16_t, uint32_t> records;
    for (const Event& event : history_.threads[0]) {
      const bool created = inserted.contains(event.index);
      switch (call_of(event)) {
        case EventCall::kCreate:
          if (!succeeded(event)) return "create returned " + code_text(event);
          inserted[event.index] = 0;
          break;
        case EventCall::kOpen:
          if (event.code == (created ? SUCCESS : DB_DNE)) break;
          return std::string("openIndex of a name that was ") + (created ? "" : "not ") +
                 "created returned " + code_text(event);
        case EventCall::kInsert:
          inserted[event.index] = event.payload;
          break;
        case EventCall::kNext:
          if (!succeeded(event)) break;
          read[event.index] = event.payload;
          ++records[event.index];
          break;
        default:
          break;
      }
    }
    for (const auto& [index, count] : records) {
      if (count == 1 && read[index] == inserted[index]) continue;
      return count == 1 ? std::string("an index contains another record than the one inserted")
                        : "an index with one inserted record contains this many records: " +
                              std::to_string(count);
    }
    return records.size() == inserted.size() ? ""
                                             : "an index is empty although a record was inserted";
  }

  CrowdFault create_again() const {
    uint64_t creates = 0;
    for (const Event& event : history_.threads[0]) {
      if (call_of(event) != EventCall::kCreate) continue;
      const ErrCode right = creates++ % 2 == 0 ? SUCCESS : DB_EXISTS;
      if (event.code != right) {
        return {{}, "create returned " + code_text(event) + " instead of " + code_text(right)};
      }
    }
    return {"missing_record", found(std::vector<uint64_t>(crowd_.rounds, crowd_.records))};
  }

  std::string many_indexes() const {
    return found({uint64_t{std::max(1u, crowd_.records / kPart)} * (kPerIndex + 1)});
  }

  std::string large_transaction() const {
    const uint64_t all = crowd_.records, same = (all + kSameKey - 1) / kSameKey;
    return found({0, all, all - same});
  }

  std::string large_changes() const { return found({0, 0, 0, crowd_.records, crowd_.records, 0}); }

  std::string empty_transactions() const {
    for (const auto& [call, name] : {std::pair{EventCall::kBegin, "beginTransaction"},
                                     {EventCall::kCommit, "commitTransaction"},
                                     {EventCall::kOpen, "openIndex"},
                                     {EventCall::kClose, "closeIndex"}}) {
      const std::string wrong = first_code(call, {SUCCESS, DEADLOCK}, name);
      if (!wrong.empty()) return wrong;
    }
    return found({0});
  }

  std::string same_keys_again() const { return found({0}); }
  // If the reader read the first payload, it came before every update. If an update did not find the
  // reader's record, it came before the reader.
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
    return "a transaction read a record before another one replaced it, and inserted a record that "
           "the other one had not found, but both committed; their order is a circle";
  }

  std::string conflicts() const { return found({2}); }
  std::string long_reader() const { return found({kReadKeys}); }

 private:
  // Checks that the committed scans found these numbers of records, in this order.
  std::string found(const std::vector<uint64_t>& right) const {
    const auto scanned = scans();
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (i >= scanned.size()) return "a transaction that only reads did not commit";
      if (scanned[i].second == right[i]) continue;
      return "a transaction found " + std::to_string(scanned[i].second) + " records instead of " +
             std::to_string(right[i]);
    }
    return "";
  }
};

constexpr std::array kKinds{
    CrowdKind{"names", [](const CrowdStage& stage) { Writer(stage).names(); },
              [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).names()}; }},
    CrowdKind{"long_names", [](const CrowdStage& stage) { Writer(stage).long_names(); },
              [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).names()}; }},
    CrowdKind{"large_changes", [](const CrowdStage& stage) { Writer(stage).large_changes(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).large_changes()};
              }},
    CrowdKind{"odd_names", [](const CrowdStage& stage) { Writer(stage).odd_names(); },
              [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).names()}; }},
    CrowdKind{"create_again", [](const CrowdStage& stage) { Writer(stage).create_again(); },
              [](const CrowdRecord& record) -> CrowdFault { return Judge(record).create_again(); }},
    CrowdKind{
        "many_indexes", [](const CrowdStage& stage) { Writer(stage).many_indexes(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).many_indexes()}; }},
    CrowdKind{"large_transaction",
              [](const CrowdStage& stage) { Writer(stage).large_transaction(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).large_transaction()};
              }},
    CrowdKind{"empty_transactions",
              [](const CrowdStage& stage) { Writer(stage).empty_transactions(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).empty_transactions()};
              }},
    CrowdKind{"same_keys_again", [](const CrowdStage& stage) { Writer(stage).same_keys_again(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).same_keys_again()};
              }},
    CrowdKind{"many_commits", [](const CrowdStage& stage) { Writer(stage).many_commits(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).many_commits()};
              }},
    CrowdKind{"conflicts", [](const CrowdStage& stage) { Writer(stage).conflicts(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).conflicts()};
              }},
    CrowdKind{
        "long_reader", [](const CrowdStage& stage) { Writer(stage).long_reader(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).long_reader()}; }},
};

}  // namespace

std::span<const CrowdKind> extreme_crowds() { return kKinds; }

}  // namespace keydrome::scenarios
