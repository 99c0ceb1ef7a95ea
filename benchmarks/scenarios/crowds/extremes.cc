// Implements crowds (scenarios with loops) about extreme sizes: many indexes, large transactions,
// very many transactions.
#include <array>
#include <string>

#include "benchmarks/scenarios/crowds/crowd_kind.h"

namespace keydrome::scenarios {

using history::EventCall;

namespace {

constexpr uint32_t kPerIndex = 10;    // records per index; in changes_in_indexes(): indexes
constexpr uint32_t kPart = 5;         // one transaction uses 1 / kPart of the indexes
constexpr uint32_t kSameKey = 10;     // every kSameKey-th insert uses key 0
constexpr uint32_t kSmallAbort = 32;  // changes of the smallest transaction in large_changes()
constexpr uint32_t kFewKeys = 10;

class Writer : public CrowdStage {
 public:
  explicit Writer(const CrowdStage& stage) : CrowdStage(stage) {}

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

  // Aborts inserts of several sizes, then commits inserts, aborts deletes and commits deletes. A
  // scan follows each of these transactions.
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

  // Three transactions change all kPerIndex indexes: the first aborts inserts, the second commits
  // inserts, the third aborts deletes. A scan of all indexes follows each of them.
  void changes_in_indexes() {
    script::ThreadBuilder thread = script_.thread(phase_, 0);
    const uint32_t each = std::max(1u, crowd_.records / kPerIndex);
    std::vector<uint32_t> indexes;
    for (uint32_t i = 0; i < kPerIndex; ++i) {
      indexes.push_back(add_index(std::to_string(i)));
      thread.create(indexes.back());
    }
    const auto in_each = [&](const auto& calls) {
      thread.begin(format::Kind::kScript, class_);
      for (const uint32_t index : indexes) {
        thread.open(kA, index);
        calls();
        thread.close(kA);
      }
    };
    const auto inserts = [&] { insert(thread, kA, 0, each); };
    const auto deletes = [&] {
      for (uint32_t i = 0; i < each; ++i) thread.delete_key(kA, key(i));
    };
    const auto scans = [&] {
      in_each([&] { thread.next_to_end(kA, 2 * each + 1); });
      thread.commit();
    };
    in_each(inserts);
    thread.abort();
    scans();
    in_each(inserts);
    thread.commit();
    scans();
    in_each(deletes);
    thread.abort();
    scans();
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

 private:
  uint32_t part() const { return std::max(1u, crowd_.records / kPart); }

  template <typename Calls>
  void changes(script::ThreadBuilder& thread, const Calls& calls, bool commits) {
    thread.begin(format::Kind::kScript, class_);
    calls();
    commits ? thread.commit() : thread.abort();
    scan(thread);
  }
};

class Judge : public CrowdRecord {
 public:
  explicit Judge(const CrowdRecord& record) : CrowdRecord(record) {}

  std::string many_indexes() const {
    return found({uint64_t{std::max(1u, crowd_.records / kPart)} * (kPerIndex + 1)});
  }

  std::string large_transaction() const {
    const uint64_t all = crowd_.records, same = (all + kSameKey - 1) / kSameKey;
    return found({0, all, all - same});
  }

  std::string large_changes() const { return found({0, 0, 0, crowd_.records, crowd_.records, 0}); }

  std::string changes_in_indexes() const {
    const uint64_t all = std::max(1u, crowd_.records / kPerIndex) * kPerIndex;
    return found({0, all, all});
  }

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
};

constexpr std::array kKinds{
    CrowdKind{"large_changes", [](const CrowdStage& stage) { Writer(stage).large_changes(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).large_changes()};
              }},
    CrowdKind{
        "many_indexes", [](const CrowdStage& stage) { Writer(stage).many_indexes(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).many_indexes()}; }},
    CrowdKind{"large_transaction",
              [](const CrowdStage& stage) { Writer(stage).large_transaction(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).large_transaction()};
              }},
    CrowdKind{"changes_in_indexes",
              [](const CrowdStage& stage) { Writer(stage).changes_in_indexes(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).changes_in_indexes()};
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
};

}  // namespace

std::span<const CrowdKind> extreme_crowds() { return kKinds; }

}  // namespace keydrome::scenarios
