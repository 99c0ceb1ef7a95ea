// Implements five transactions of the benchmark "tatp" as procedures. A procedure is a list of
// instructions that the player, the process that calls the library, executes.
#include "benchmarks/tatp/procedures.h"

#include "benchmarks/kit/script/procedure_helpers.h"
#include "benchmarks/tatp/tables.h"

namespace keydrome::tatp {
namespace {

using script::ProcedureBuilder;
using Label = ProcedureBuilder::Label;

enum Register : uint8_t {
  kZero,
  kOne,
  kNumber,
  kId,
  kType,
  kKey,
  kFrom,
  kEnd,
  kStartHour,
  kEndHour,
  kValue,
  kSecondValue,
  kText,
  kRead,
  kMatches,
  kAt,
};
enum RowNumber : uint8_t { kRow, kNewRow };

ProcedureBuilder start(std::initializer_list<uint8_t> parameters) {
  ProcedureBuilder p;
  script::set_zero_and_one(p, kZero, kOne);
  script::take_parameters(p, parameters);
  return p;
}

// Updates one column of a row: reads the row, changes the column and writes the row back. If the
// row does not exist, jumps to `missing`.
void set_column(ProcedureBuilder& p, Table table, uint8_t key, format::Field column, uint8_t value,
                Label missing = ProcedureBuilder::kNowhere) {
  p.get(table, key, kRow, missing);
  p.store(kRow, column, value);
  p.replace(table, key, kRow);
}

// Sets kId to the s_id of the subscriber with the phone number.
void find_subscriber(ProcedureBuilder& p) {
  p.get(kSubscriberNumber, kNumber, kRow);
  p.load(kId, kRow, kSubscriberId);
}

// Sets kKey to the key of the facility with kId and kType.
void make_facility_key(ProcedureBuilder& p) {
  p.shift(kKey, kId, kTypeBits);
  p.add(kKey, kKey, kType);
}

// Changes kKey from the key of a facility to that of its forwarding with kStartHour.
void make_forwarding_key(ProcedureBuilder& p) {
  p.shift(kKey, kKey, kHourBits);
  p.add(kKey, kKey, kStartHour);
}

ProcedureBuilder get_new_destination() {
  ProcedureBuilder p = start({kKey, kStartHour, kEndHour});
  const Label next = p.label(), compare = p.label(), match = p.label(), done = p.label(),
              none = p.label();
  p.get(kFacility, kKey, kRow, none);
  p.load(kValue, kRow, kIsActive);
  p.jump_if_equal(kValue, kZero, none);
  p.shift(kFrom, kKey, kHourBits);
  p.add(kEnd, kFrom, kStartHour);
  p.add(kEnd, kEnd, kOne);
  p.scan(kForwarding, kFrom, kEnd, kEndTime);
  p.count(kRead);
  p.set(kAt, 0);
  p.set(kMatches, 0);
  p.place(next);
  p.jump_if_less(kAt, kRead, compare);
  p.jump(done);
  p.place(compare);
  p.element(kValue, kAt);
  p.add(kAt, kAt, kOne);
  p.jump_if_less(kEndHour, kValue, match);
  p.jump(next);
  p.place(match);
  p.add(kMatches, kMatches, kOne);
  p.jump(next);
  p.place(done);
  p.result(kMatches);
  p.place(none);
  p.end();
  return p;
}

ProcedureBuilder update_subscriber_data() {
  ProcedureBuilder p = start({kId, kKey, kValue, kSecondValue});
  const Label missing = p.label();
  set_column(p, kSubscriber, kId, kBit1, kValue);
  set_column(p, kFacility, kKey, kDataA, kSecondValue, missing);
  p.end();
  p.place(missing);
  p.roll_back();
  p.end();
  return p;
}

ProcedureBuilder update_location() {
  ProcedureBuilder p = start({kNumber, kValue});
  find_subscriber(p);
  set_column(p, kSubscriber, kId, kVlrLocation, kValue);
  p.end();
  return p;
}

// Reads all facilities of the subscriber, as the specification demands. Then does what a database
// does for the insert: checks that the facility exists (foreign key) and that the forwarding does
// not (primary key).
ProcedureBuilder insert_call_forwarding() {
  ProcedureBuilder p = start({kNumber, kType, kStartHour, kText});
  const Label is_free = p.label(), fails = p.label();
  find_subscriber(p);
  p.shift(kFrom, kId, kTypeBits);
  p.add(kEnd, kId, kOne);
  p.shift(kEnd, kEnd, kTypeBits);
  p.scan(kFacility, kFrom, kEnd, kDataA);
  make_facility_key(p);
  p.get(kFacility, kKey, kRow, fails);
  make_forwarding_key(p);
  p.get(kForwarding, kKey, kRow, is_free);
  p.jump(fails);
  p.place(is_free);
  p.text(kNewRow, kText);
  p.insert(kForwarding, kKey, kNewRow);
  p.result(kOne);
  p.place(fails);
  p.end();
  return p;
}

ProcedureBuilder delete_call_forwarding() {
  ProcedureBuilder p = start({kNumber, kType, kStartHour});
  const Label none = p.label();
  find_subscriber(p);
  make_facility_key(p);
  make_forwarding_key(p);
  p.get(kForwarding, kKey, kRow, none);
  p.remove(kForwarding, kKey);
  p.result(kOne);
  p.place(none);
  p.end();
  return p;
}

}  // namespace

void add_procedures(script::ScriptBuilder& builder) {
  const auto add = [&](Transaction number, const ProcedureBuilder& code,
                       const script::ProcedureLimits& limits) {
    script::add_numbered_procedure(builder, number, code, limits);
  };
  // A scan of n records makes one get and n + 1 calls of getNext.
  add(kGetNewDestination, get_new_destination(),
      {.parameters = 3, .tags = 0, .calls = 1 + 2 + kStarts});
  add(kUpdateSubscriberData, update_subscriber_data(), {.parameters = 4, .tags = 2, .calls = 6});
  add(kUpdateLocation, update_location(), {.parameters = 2, .tags = 1, .calls = 4});
  add(kInsertCallForwarding, insert_call_forwarding(),
      {.parameters = 4, .tags = 1, .calls = 6 + kTypes});
  add(kDeleteCallForwarding, delete_call_forwarding(), {.parameters = 3, .tags = 0, .calls = 3});
}

}  // namespace keydrome::tatp
