// Defines the tables of the benchmark "tatp", their keys, and the columns of their rows.
//
// A row is one payload. The columns that transactions read or write are fields of it: numbers of
// fixed width (kit/format/digits.h). All other columns are random letters.
#pragma once

#include <array>
#include <cstdint>

#include "benchmarks/kit/format/digits.h"

namespace keydrome::tatp {

// A table's number is also the number of its index, and of the slot (variable) for its handle.
enum Table : uint8_t { kSubscriber, kSubscriberNumber, kAccess, kFacility, kForwarding, kTables };

// Access rows and facilities have a type, numbered 0 to 3 here and 1 to 4 in keys. Forwardings have
// a start time, numbered 0 to 2 for 0:00, 8:00 and 16:00.
inline constexpr uint32_t kTypes = 4;
inline constexpr uint32_t kStarts = 3;
inline constexpr uint32_t kHoursPerStart = 8;
inline constexpr int64_t kHoursMax = 24;

// Rows are numbered by table. Subscriber s has subscriber row s, the facilities s * kTypes + type,
// and the forwardings facility * kStarts + start.
inline constexpr uint32_t kForwardings = kTypes * kStarts;
constexpr uint32_t facility_row(uint32_t s, uint32_t type) { return s * kTypes + type; }
constexpr uint32_t forwarding_row(uint32_t facility, uint32_t start) {
  return facility * kStarts + start;
}
constexpr uint32_t facility_of(uint32_t forwarding) { return forwarding / kStarts; }

// Returns how many rows a table can have per subscriber.
constexpr uint32_t rows_per_subscriber(Table table) {
  return table == kForwarding ? kForwardings : table == kAccess || table == kFacility ? kTypes : 1;
}

// The key of a facility is s_id << 3 | sf_type. An access row with this type has the same key. The
// key of a forwarding is the facility's key << 5 | the start hour. So the forwardings of a facility
// are adjacent, in the order of their start times.
inline constexpr int32_t kTypeBits = 3, kHourBits = 5;
constexpr int64_t subscriber_id(uint32_t s) { return int64_t{s} + 1; }
constexpr int64_t facility_key(uint32_t s, uint32_t type) {
  return subscriber_id(s) << kTypeBits | (type + 1);
}
constexpr int64_t start_hour(uint32_t start) { return int64_t{start} * kHoursPerStart; }
constexpr int64_t forwarding_key(uint32_t s, uint32_t type, uint32_t start) {
  return facility_key(s, type) << kHourBits | start_hour(start);
}

// subscriber: 10 bits and 10 hexadecimal digits of one character each, 10 bytes of two characters
// each, and two locations.
inline constexpr format::Field kBit1{.at = 0, .width = 1};
inline constexpr format::Field kVlrLocation{.at = 45, .width = 5};
inline constexpr uint32_t kSubscriberBytes = 50;
inline constexpr int64_t kLocations = int64_t{1} << 32;
static_assert(kVlrLocation.holds(kLocations - 1));
// phone_number: the subscriber's s_id.
inline constexpr format::Field kSubscriberId{.at = 0, .width = 5};
// access_info: two bytes, 3 letters and 5 letters.
inline constexpr uint32_t kAccessBytes = 12;
// facility: is_active, error_cntrl, data_a, and 5 letters.
inline constexpr format::Field kIsActive{.at = 0, .width = 1};
inline constexpr format::Field kDataA{.at = 3, .width = 2};
inline constexpr uint32_t kFacilityBytes = 10;
inline constexpr int64_t kByteValues = 256;
// call_forwarding: the end hour, and a phone number of 15 characters.
inline constexpr format::Field kEndTime{.at = 0, .width = 1};
inline constexpr uint32_t kForwardingBytes = 16;

// By table: the number of characters of a payload after its tag. The tag is the first 8 letters.
inline constexpr std::array<uint32_t, kTables> kRowBytes = {
    kSubscriberBytes, kSubscriberId.width, kAccessBytes, kFacilityBytes, kForwardingBytes};

}  // namespace keydrome::tatp
