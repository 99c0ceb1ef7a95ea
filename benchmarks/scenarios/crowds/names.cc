// Implements crowds (scenarios with loops) about the names of indexes, and about an index that is
// created again.
#include <array>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/scenarios/crowds/crowd_kind.h"

namespace keydrome::scenarios {

using history::Event;
using history::EventCall;

namespace {

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
    for (const std::size_t bytes : {16u, 40u, 63u}) {
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

 private:
  // Creates an index with one record for each name. If `unknown` is not null, also opens this
  // index, which no thread creates.
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
        case EventCall::kBegin:  // after DEADLOCK, the thread reads all indexes again
          read.clear();
          records.clear();
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
                        : "an index contains " + std::to_string(count) +
                              " records, but only one was inserted";
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
};

constexpr std::array kKinds{
    CrowdKind{"names", [](const CrowdStage& stage) { Writer(stage).names(); },
              [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).names()}; }},
    CrowdKind{"long_names", [](const CrowdStage& stage) { Writer(stage).long_names(); },
              [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).names()}; }},
    CrowdKind{"odd_names", [](const CrowdStage& stage) { Writer(stage).odd_names(); },
              [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).names()}; }},
    CrowdKind{"create_again", [](const CrowdStage& stage) { Writer(stage).create_again(); },
              [](const CrowdRecord& record) -> CrowdFault { return Judge(record).create_again(); }},
};

}  // namespace

std::span<const CrowdKind> name_crowds() { return kKinds; }

}  // namespace keydrome::scenarios
