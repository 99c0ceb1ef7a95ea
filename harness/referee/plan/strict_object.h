// Reads one JSON object member by member, and rejects members that were never read.
//
// After an error, the functions return default values, and finish() returns the first error. So the
// caller reads all members first, and checks only the result of finish(). Not thread-safe.
//
//   StrictObject reader(json, "plan.jail");
//   jail.path = reader.required_string("path");
//   jail.counters = reader.optional_bool("counters", false);
//   return reader.finish();
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace keydrome {

struct IntegerRange {
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

class StrictObject {
 public:
  // `name` is the start of every error message, such as "plan.jail". `json` must outlive this
  // object.
  StrictObject(const Json& json, std::string name);

  std::string required_string(std::string_view key);
  std::optional<std::string> optional_string(std::string_view key);
  int64_t required_integer(std::string_view key, IntegerRange range);
  std::optional<uint64_t> optional_integer(std::string_view key, IntegerRange range);
  bool optional_bool(std::string_view key, bool otherwise);
  // Returns a member that must be an object. Returns nullptr if the member is missing; a missing
  // member is an error if `required`.
  const Json* object(std::string_view key, bool required);

  void expect_one_of(std::string_view key, std::string_view value,
                     std::initializer_list<std::string_view> allowed);
  // Reports an error about member `key`. The message is the member's name, then `what`.
  void fail(std::string_view key, std::string_view what);
  // Reports that member `key` has this value, but must be `wanted`.
  void fail_value(std::string_view key, const Json& value, const std::string& wanted);

  // Returns the first error. A member that the parser never read is an error too.
  Result<void> finish();

 private:
  const Json* member(std::string_view key);

  const Json& json_;
  std::string name_;
  std::set<std::string, std::less<>> known_;
  std::optional<Error> error_;
};

}  // namespace keydrome
