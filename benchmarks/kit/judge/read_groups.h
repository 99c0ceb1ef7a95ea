// ReadGroups: compares the reads of one thread, group by group, with the expected state: the
// records that reads may and must find. A group is a get with the getNext calls after it, or a
// series of getNext calls without a get. The records of a group must be ascending and different. If
// the start of the group is known, they must also be complete.
//
// Refers to its arguments, which must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/expected_state.h"
#include "benchmarks/kit/judge/finding.h"

namespace keydrome::judge {

// A record that a read returned: the rank of its key in key order, and the tag (number) of its
// payload.
struct ReadRecord {
  uint32_t rank = 0;
  uint32_t tag = 0;
  bool operator==(const ReadRecord&) const = default;
  bool operator<(const ReadRecord& other) const {
    return rank != other.rank ? rank < other.rank : tag < other.tag;
  }
};

class ReadGroups {
 public:
  ReadGroups(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
             Findings& findings)
      : script_(&script), ranks_(&ranks), expected_(&expected), findings_(&findings) {}

  // The place of a read: its index, its slot (the thread's variable for the handle), its position
  // in the script, and the kind of its transaction.
  struct Reader {
    uint32_t index = 0;
    uint8_t slot = 0;
    Moment moment;
    format::Kind kind = format::Kind::kStream;
  };

  // Begins a group with a get of the key with this rank.
  void start_at(const Reader& reader, uint64_t rank, bool found);
  // Begins a group with a getNext. If `complete` is true, the getNext reads from the start of the
  // index. Otherwise the position of the cursor is unknown, so no record is required.
  void start(const Reader& reader, bool complete);
  // Adds the record that a read of the current group returned.
  void add(const ReadRecord& record);
  // Adds a result without a record.
  void add_code(uint32_t code);
  // Notes that the records of the current group are known only in part, so that none is required.
  void not_complete() { group_.complete = false; }
  // Ends the current group of reads and compares it with the expected state.
  void close();
  // Ends a transaction: compares the groups of a canary, an extra transaction that reads the same
  // keys twice, with each other.
  void end_transaction();

  // Returns true if a getNext through this slot belongs to the current group.
  bool continues(uint8_t slot) const { return open_ && group_.reader.slot == slot; }
  // Returns true if DB_END was returned. Results after DB_END are not judged.
  bool at_end() const { return group_.at_end; }
  const Reader& reader() const { return group_.reader; }
  // Adds a finding, an entry of the report, about the current group.
  void report(const std::string& name, const std::string& what);
  // Returns the key with this rank in the index of the current group.
  std::string key_text(uint32_t rank) const;

 private:
  static constexpr uint64_t kEndOfIndex = UINT64_MAX;  // a rank that is larger than any other

  struct Group {
    Reader reader;
    bool found = false;     // the get found a record
    uint64_t from = 0;      // rank of the requested key; 0 if the group begins at the first key
    bool from_key = false;  // the group begins with a get
    bool at_end = false;    // DB_END was returned
    bool complete = true;   // true: the group must contain all records of the covered keys
    std::vector<ReadRecord> records;

    // Returns the end of the covered range: the group read all records with from <= rank <
    // covered_to().
    uint64_t covered_to() const {
      if (at_end) return kEndOfIndex;
      if (from_key && !found && records.empty()) return from + 1;
      return records.empty() ? from : records.back().rank;
    }
  };

  void begin(const Reader& reader);
  void keep_for_comparison();
  void compare(const Group& a, const Group& b);

  const script::Script* script_;
  const KeyRanks* ranks_;
  const ExpectedState* expected_;
  Findings* findings_;
  Group group_;
  bool open_ = false;          // more getNext calls may be added
  std::vector<Group> groups_;  // finished groups of the current canary, with sorted records
};

}  // namespace keydrome::judge
