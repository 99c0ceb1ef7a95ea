// Implements StrictObject: typed access to the members of a JSON object. Only the first error is
// kept.
#include "harness/referee/plan/strict_object.h"

#include <algorithm>

namespace keydrome {
namespace {

// Says that a required field is missing. `wanted` describes its value, such as "a string".
std::string missing_text(const std::string& wanted) {
  return "this required field is missing; add it (" + wanted + ")";
}

std::string integer_text(IntegerRange range) {
  const std::string min = std::to_string(range.min);
  if (range.max == INT64_MAX) return "an integer of at least " + min;
  return "an integer from " + min + " to " + std::to_string(range.max);
}

}  // namespace

StrictObject::StrictObject(const Json& json, std::string name)
    : json_(json), name_(std::move(name)) {
  if (!json_.is_object()) {
    error_ = Error{name_ + ": is " + json_.brief() + ", but must be an object"};
  }
}

void StrictObject::fail_value(std::string_view key, const Json& value, const std::string& wanted) {
  fail(key, "is " + value.brief() + ", but must be " + wanted);
}

void StrictObject::fail(std::string_view key, std::string_view what) {
  if (error_) return;
  error_ = Error{name_ + "." + std::string(key) + ": " + std::string(what)};
}

const Json* StrictObject::member(std::string_view key) {
  known_.emplace(key);
  return json_.find(key);
}

std::string StrictObject::required_string(std::string_view key) {
  std::optional<std::string> value = optional_string(key);
  if (!value) fail(key, missing_text("a string"));
  return value.value_or("");
}

std::optional<std::string> StrictObject::optional_string(std::string_view key) {
  const Json* value = member(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    fail_value(key, *value, "a string");
    return "";
  }
  return value->as_string();
}

int64_t StrictObject::required_integer(std::string_view key, IntegerRange range) {
  const std::optional<uint64_t> value = optional_integer(key, range);
  if (!value) fail(key, missing_text(integer_text(range)));
  return static_cast<int64_t>(value.value_or(0));
}

std::optional<uint64_t> StrictObject::optional_integer(std::string_view key, IntegerRange range) {
  const Json* value = member(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_int() || value->as_int() < range.min || value->as_int() > range.max) {
    fail_value(key, *value, integer_text(range));
    return 0;
  }
  return static_cast<uint64_t>(value->as_int());
}

bool StrictObject::optional_bool(std::string_view key, bool otherwise) {
  const Json* value = member(key);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) {
    fail_value(key, *value, "true or false");
    return otherwise;
  }
  return value->as_bool();
}

const Json* StrictObject::object(std::string_view key, bool required) {
  const Json* value = member(key);
  if (value == nullptr && required) fail(key, missing_text("an object"));
  if (value != nullptr && !value->is_object()) {
    fail_value(key, *value, "an object");
    return nullptr;
  }
  return value;
}

void StrictObject::expect_one_of(std::string_view key, std::string_view value,
                                 std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (const std::string_view word : allowed) {
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  fail_value(key, Json(std::string(value)),
             allowed.size() == 1 ? '"' + list + '"' : "one of " + list);
}

Result<void> StrictObject::finish() {
  if (error_) return *error_;
  for (const auto& [key, value] : json_.as_object()) {
    if (!known_.contains(key))
      return Error{name_ + "." + key + ": this field is unknown; remove it or correct its name"};
  }
  return {};
}

}  // namespace keydrome
