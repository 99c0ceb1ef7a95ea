// Json: a small value type with strict parsing and printing.
//
// Strict means: one value and nothing after it, no comments, no duplicate keys, no NaN or infinity,
// integers kept exactly within 64 bits. Only base/json.cc sees the library behind it, which is slow
// to compile. Thread safety: plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace keydrome {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(int value) : value_(static_cast<int64_t>(value)) {}
  Json(int64_t value) : value_(value) {}
  Json(uint32_t value) : value_(static_cast<int64_t>(value)) {}
  Json(uint64_t value);  // above INT64_MAX: a double
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // Invalid UTF-8, duplicate keys and anything else that is not plain JSON are errors that name the
  // place.
  static Result<Json> parse(std::string_view text);
  // Parses a file; the error names it.
  static Result<Json> parse_file(const std::string& path);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Only for a value of that type (checked).
  bool as_bool() const;
  int64_t as_int() const;
  double as_number() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;

  // The member of an object, or nullptr when this is no object or has no such member.
  const Json* find(std::string_view key) const;

  // Members by name with a clear error: "plan.seed: missing" or "plan.seed: must be a string".
  Result<std::string> string_member(std::string_view key) const;
  Result<int64_t> int_member(std::string_view key) const;

  // For building: makes this an object (when null) and returns the member.
  Json& operator[](std::string_view key);
  // For building: makes this an array (when null) and appends.
  void push_back(Json element);

  // UTF-8 text; invalid UTF-8 inside strings is replaced by U+FFFD, a NaN or infinity is printed as
  // null. `indent` < 0: one line.
  std::string dump(int indent = -1) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace keydrome
