// Reads one JSON object member by member and refuses what it does not know.
//
// The first error is kept and everything after it is ignored, so a parser is a plain list of
// members with one check at the end. Not thread-safe.
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
  // `name` begins every message, e.g. "plan.jail". `json` must outlive this object.
  StrictObject(const Json& json, std::string name);

  std::string required_string(std::string_view key);
  std::optional<std::string> optional_string(std::string_view key);
  int64_t required_integer(std::string_view key, IntegerRange range);
  std::optional<uint64_t> optional_integer(std::string_view key, IntegerRange range);
  bool optional_bool(std::string_view key, bool otherwise);
  // A member that must be an object; null when it is missing (and then an error if `required`).
  const Json* object(std::string_view key, bool required);

  void expect_one_of(std::string_view key, std::string_view value,
                     std::initializer_list<std::string_view> allowed);
  void fail(std::string_view key, std::string_view what);

  // The first error, also when a member is there that nobody asked for.
  Result<void> finish();

 private:
  const Json* member(std::string_view key);

  const Json& json_;
  std::string name_;
  std::set<std::string, std::less<>> known_;
  std::optional<Error> error_;
};

}  // namespace keydrome
