// Implements the row check of the benchmark "tatp": compares the records of the final scan with the
// books, which say what the rows must be.
#include "benchmarks/tatp/rows.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "base/count_text.h"
#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::tatp {
namespace {

constexpr std::array<Table, 3> kChangedTables = {kSubscriber, kFacility, kForwarding};

int64_t integer_of(std::string_view bytes) {
  if (bytes.size() == sizeof(int32_t)) {
    int32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
  return number;
}

const char* name_of(Table table) {
  return table == kSubscriber ? "subscriber" : table == kFacility ? "facility" : "forwarding";
}

// Returns the text of a row for findings, such as "facility 2 of subscriber 17".
std::string row_text(Table table, uint32_t row) {
  std::string subscriber =
      "subscriber " + std::to_string(subscriber_id(row / rows_per_subscriber(table)));
  if (table == kSubscriber) return subscriber;
  const uint32_t facility = table == kForwarding ? facility_of(row) : row;
  std::string text = "facility " + std::to_string(facility % kTypes + 1) + " of " + subscriber;
  if (table == kFacility) return text;
  return "the forwarding at " + std::to_string(start_hour(row % kStarts)) + ":00 of " + text;
}

// Columns of a table that have the same width and follow each other in the text of a row.
struct Columns {
  Table table;
  const char* name;
  uint32_t at, width, count;
};
constexpr std::array kColumns{
    Columns{kSubscriber, "bit_", 0, 1, 10},         Columns{kSubscriber, "hex_", 10, 1, 10},
    Columns{kSubscriber, "byte2_", 20, 2, 10},      Columns{kSubscriber, "msc_location", 40, 5, 1},
    Columns{kSubscriber, "vlr_location", 45, 5, 1}, Columns{kFacility, "is_active", 0, 1, 1},
    Columns{kFacility, "error_cntrl", 1, 2, 1},     Columns{kFacility, "data_a", 3, 2, 1},
    Columns{kFacility, "data_b", 5, 5, 1},          Columns{kForwarding, "end_time", 0, 1, 1},
    Columns{kForwarding, "numberx", 1, 15, 1}};

struct NamedColumn {
  std::string name;
  uint32_t at, width;
};

// Returns the column that contains this position of a row's text.
NamedColumn column_at(Table table, uint32_t position) {
  for (const Columns& columns : kColumns) {
    const uint32_t end = columns.at + columns.width * columns.count;
    if (columns.table != table || position < columns.at || position >= end) continue;
    const uint32_t number = (position - columns.at) / columns.width;
    return {.name = columns.name + (columns.count > 1 ? std::to_string(number + 1) : ""),
            .at = columns.at + number * columns.width,
            .width = columns.width};
  }
  return {.name = "unknown", .at = position, .width = 1};
}

// Returns the text in quotation marks. A backslash marks quotation marks and backslashes in it.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + '"';
}

// Names the first column in which two texts of equal size differ.
std::string difference_text(Table table, std::string_view found, std::string_view wanted) {
  const auto position = std::ranges::mismatch(found, wanted).in1 - found.begin();
  const NamedColumn column = column_at(table, static_cast<uint32_t>(position));
  return "has " + in_quotes(found.substr(column.at, column.width)) + " in the column " +
         column.name + ", but must have " + in_quotes(wanted.substr(column.at, column.width)) +
         ", the value that was last written there";
}

class Checker {
 public:
  Checker(const script::Pools& pools, const Books& books, const FoundRows& found,
          judge::Findings& findings)
      : pools_(pools), books_(books), found_(found), findings_(findings) {}

  void run() {
    for (const std::string& fault : found_.malformed) {
      findings_.required("malformed_row", fault);
    }
    for (const Table table : kChangedTables) {
      for (uint32_t row = 0; row < found_.rows[table].size(); ++row) check_row(table, row);
    }
    for (const Observation& seen : books_.observations) check_result(seen);
    for (const WrongRead& read : books_.wrong_reads) {
      findings_.required("impossible_read", "a get_subscriber_data transaction of thread " +
                                                std::to_string(read.thread) + " for " +
                                                row_text(kSubscriber, read.subscriber) + " " +
                                                std::string(read.reason));
    }
  }

 private:
  void find(const char* finding, Table table, uint32_t row, const std::string& what) {
    findings_.required(finding, row_text(table, row) + " " + what);
  }

  // Returns how many times the row must exist. Returns nothing if the judge does not know.
  std::optional<int64_t> rows_wanted(Table table, uint32_t row,
                                     std::span<const Change> changes) const {
    int64_t wanted = books_.is_loaded(table, row) ? 1 : 0;
    if (table != kForwarding) return wanted;
    if (!books_.exact) return std::nullopt;
    for (const Change& change : changes) wanted += change.tag == format::kNoTag ? -1 : 1;
    return wanted;
  }

  void check_row(Table table, uint32_t row) {
    const FoundRow& found = found_.rows[table][row];
    const std::span<const Change> changes = books_.changes_of(table, row);
    const std::optional<int64_t> wanted = rows_wanted(table, row, changes);
    if (wanted ? found.rows != *wanted : found.rows > 1) {
      find("row_count", table, row,
           "has " + count_text(found.rows, "record") + ", but must have " +
               (wanted ? std::to_string(*wanted) : "at most 1") +
               " according to the loaded rows and the results of the transactions");
    }
    if (found.rows != 1 || (table == kForwarding && !books_.exact)) return;
    check_last_change(table, row, changes);
    if (table == kSubscriber) check_subscriber(row, changes);
  }

  // Checks that the last change of some thread wrote the row, and that the row has the values that
  // this change wrote. A row that no transaction changed must be the loaded row.
  void check_last_change(Table table, uint32_t row, std::span<const Change> changes) {
    const FoundRow& found = found_.rows[table][row];
    const LoadedRow& loaded = books_.loaded[table][row];
    if (loaded.tag != format::kNoTag && found.tag == loaded.tag) {
      if (!changes.empty()) {
        find("lost_update", table, row,
             "is still the loaded row, although " +
                 count_text(changes.size(), "committed transaction") + " changed it");
      }
      return compare_text(table, row, loaded.text, std::nullopt);
    }
    const auto change = std::ranges::find(changes, found.tag, &Change::tag);
    if (change == changes.end()) {
      return find("lost_update", table, row,
                  "has a record that neither the load nor a committed transaction wrote");
    }
    const auto next = change + 1;
    if (next != changes.end() && next->thread == change->thread) {
      find("lost_update", table, row,
           "still has a record that thread " + std::to_string(change->thread) +
               " wrote, although this thread itself replaced the record later");
    }
    compare_text(table, row, table == kForwarding ? change->value : loaded.text, *change);
  }

  // Compares the row with text number `text` of the pool (the script's list of texts), except for
  // columns of subscriber that check_subscriber() compares. `change` wrote a new value.
  void compare_text(Table table, uint32_t row, uint32_t text, std::optional<Change> change) {
    const std::string_view found = found_.rows[table][row].text;
    std::string wanted(pools_.payloads[text]);
    if (found.size() != wanted.size()) {
      return find("changed_column", table, row,
                  "has a text of " + count_text(found.size(), "character") + " instead of " +
                      std::to_string(wanted.size()));
    }
    const auto accept = [&](Column column, format::Field field) {
      if (change && change->column == column) {
        format::write_number(wanted.data(), field, change->value);
      } else if (table == kSubscriber) {  // check_subscriber() compares this column
        found.copy(wanted.data() + field.at, field.width, field.at);
      }
    };
    if (table == kSubscriber) accept(Column::kBit, kBit1);
    if (table == kSubscriber) accept(Column::kLocation, kVlrLocation);
    if (table == kFacility) accept(Column::kData, kDataA);
    if (found == wanted) return;
    find("changed_column", table, row, difference_text(table, found, wanted));
  }

  void check_subscriber(uint32_t row, std::span<const Change> changes) {
    check_column(row, changes, Column::kBit, kBit1, "bit_1");
    check_column(row, changes, Column::kLocation, kVlrLocation, "vlr_location");
  }

  // Checks that the column has the last value that some thread gave it. A column that no thread
  // changed must have the loaded value.
  void check_column(uint32_t row, std::span<const Change> changes, Column column,
                    format::Field field, const std::string& name) {
    const std::optional<int64_t> value =
        format::read_number(found_.rows[kSubscriber][row].text, field);
    if (!value) return;  // compare_text() has reported the length
    bool changed = false, is_last = false;
    std::optional<Change> newest;  // of the present thread
    const auto end_thread = [&] {
      is_last = is_last || (newest && newest->value == *value);
      newest.reset();
    };
    for (const Change& change : changes) {
      if (change.column != column) continue;
      changed = true;
      if (newest && newest->thread != change.thread) end_thread();
      newest = change;
    }
    end_thread();
    const uint32_t loaded = books_.loaded[kSubscriber][row].text;
    if (changed ? is_last : format::read_number(pools_.payloads[loaded], field) == value) return;
    find("lost_update", kSubscriber, row,
         "has " + std::to_string(*value) + " in the column " + name + ", but must have " +
             (changed ? "the value that one of the threads wrote last"
                      : "the loaded value, because no transaction changed this column"));
  }

  void check_result(const Observation& seen) {
    if (seen.transaction == kUpdateSubscriberData) {
      if ((seen.result != 0) == books_.is_loaded(kFacility, seen.row)) return;
      return find("impossible_result", kFacility, seen.row,
                  seen.result != 0 ? "does not exist, but update_subscriber_data committed"
                                   : "existed, but update_subscriber_data did not find it");
    }
    if (seen.transaction == kGetNewDestination) return check_destinations(seen);
    const std::span<const Change> changes = books_.changes_of(kForwarding, seen.row);
    const bool has_facility = books_.is_loaded(kFacility, facility_of(seen.row));
    const bool loaded = books_.is_loaded(kForwarding, seen.row);
    const auto is_delete = [](const Change& change) { return change.tag == format::kNoTag; };
    if (seen.transaction == kInsertCallForwarding) {
      const bool never_there = !loaded && std::ranges::all_of(changes, is_delete);
      if (seen.result != 0 && !has_facility) {
        find("impossible_result", kForwarding, seen.row,
             "was inserted, although its facility does not exist");
      } else if (seen.result == 0 && has_facility && never_there) {
        find("impossible_result", kForwarding, seen.row,
             "never existed, so an insert_call_forwarding transaction had to insert it. But a get "
             "of this transaction found it, or did not find its facility, which exists");
      }
    } else if (seen.result == 0 && loaded && std::ranges::none_of(changes, is_delete)) {
      find("impossible_result", kForwarding, seen.row,
           "always existed, but a delete_call_forwarding transaction did not find it");
    }
  }

  bool is_active(uint32_t facility) const {
    if (!books_.is_loaded(kFacility, facility)) return false;
    const uint32_t text = books_.loaded[kFacility][facility].text;
    return format::read_number(pools_.payloads[text], kIsActive).value_or(0) != 0;
  }

  // The order of the transactions and of this read is unknown, so the bounds allow for every order.
  void check_destinations(const Observation& seen) {
    const uint32_t facility = facility_of(seen.row);
    int64_t low = 0, high = 0;
    for (uint32_t row = forwarding_row(facility, 0); is_active(facility) && row <= seen.row;
         ++row) {
      const std::span<const Change> changes = books_.changes_of(kForwarding, row);
      const auto matches = [&](uint32_t text) {
        return format::read_number(pools_.payloads[text], kEndTime).value_or(0) > seen.end_hour;
      };
      const bool loaded =
          books_.is_loaded(kForwarding, row) && matches(books_.loaded[kForwarding][row].text);
      const bool inserted = std::ranges::any_of(changes, [&](const Change& change) {
        return change.tag != format::kNoTag && matches(change.value);
      });
      low += loaded && changes.empty() ? 1 : 0;
      high += loaded || inserted ? 1 : 0;
    }
    if (seen.result >= low && seen.result <= high) return;
    find("impossible_result", kFacility, facility,
         "had at least " + std::to_string(low) + " and at most " + count_text(high, "forwarding") +
             " that a get_new_destination transaction could find, but this transaction found " +
             std::to_string(seen.result));
  }

  const script::Pools& pools_;
  const Books& books_;
  const FoundRows& found_;
  judge::Findings& findings_;
};

void add_record(Table table, const script::Evidence& record, uint32_t subscribers,
                FoundRows& found) {
  if (record.code != SUCCESS || table == kSubscriberNumber || table == kAccess) return;
  const int64_t key = integer_of(record.key);
  if (key < 0)
    return;  // negative keys belong to stripes (checks on keys that only one thread uses)
  const std::optional<uint32_t> row = row_of(table, key, subscribers);
  const std::optional<uint32_t> tag = format::read_tag(record.payload);
  if (!row || !tag) {
    found.malformed.push_back("the record of " + std::string(name_of(table)) + " with key " +
                              std::to_string(key) +
                              (row ? " has a payload that does not begin with 8 letters from A to P"
                                   : " has a key that no row of this table can have"));
    return;
  }
  FoundRow& entry = found.rows[table][*row];
  ++entry.rows;
  entry.tag = *tag;
  entry.text = record.payload.substr(format::kTagBytes);
}

}  // namespace

FoundRows read_rows(const script::Script& script, const script::Outcome& outcome, uint32_t verify,
                    uint32_t subscribers) {
  FoundRows found;
  for (const Table table : kChangedTables) {
    found.rows[table].resize(std::size_t{subscribers} * rows_per_subscriber(table));
  }
  for (std::size_t t = 0; t < outcome.phases[verify].threads.size(); ++t) {
    const std::vector<format::Op>& ops = script.phases[verify].threads[t];
    std::size_t at = 0;
    auto table = kTables;
    const auto visit = [&](const format::Step& step, std::span<const script::Evidence> records) {
      for (; at <= step.op; ++at) {
        if (ops[at].code == format::OpCode::kOpen) table = static_cast<Table>(ops[at].argument);
      }
      for (const script::Evidence& record : records) add_record(table, record, subscribers, found);
    };
    judge::for_each_evidence(ops, outcome.phases[verify].threads[t], visit);
  }
  return found;
}

void check_rows(const script::Pools& pools, const Books& books, const FoundRows& found,
                judge::Findings& findings) {
  Checker(pools, books, found, findings).run();
}

}  // namespace keydrome::tatp
