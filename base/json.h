// Json: a JSON value, with a strict parser and a printer.
//
// The parser accepts exactly one value, and rejects comments, duplicate keys, NaN and infinity.
// Signed 64-bit integers keep their exact value. The parser library nlohmann-json is slow to
// compile, so only base/json.cc includes it. Thread safety: plain data.
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
  Json(uint64_t value);  // stored as a double if above INT64_MAX
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // Parses a text. Returns an error if the text is not strict JSON, for example because of invalid
  // UTF-8 or a duplicate key. The error names the duplicate key or the position in the text.
  static Result<Json> parse(std::string_view text);
  // Parses the text of a file. An error names the file. `advice` says what to do if the file cannot
  // be read.
  static Result<Json> parse_file(
      const std::string& path,
      const std::string& advice = "give a JSON file that is readable and not empty");

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Return the value. Abort the process if the value has another type.
  bool as_bool() const;
  int64_t as_int() const;
  double as_number() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;

  // Returns the member of an object, or nullptr if this value is not an object or lacks the member.
  const Json* find(std::string_view key) const;

  // Return the member of an object, or an error such as "the field seed is 12, but must be a
  // string".
  Result<std::string> string_member(std::string_view key) const;
  Result<int64_t> int_member(std::string_view key) const;

  // Returns a member of an object. Adds the member if it is missing. A null value becomes an object
  // first.
  Json& operator[](std::string_view key);
  // Appends an element to an array. A null value becomes an array first.
  void push_back(Json element);

  // Returns the value as UTF-8 text, on one line if `indent` < 0. Invalid UTF-8 in strings becomes
  // U+FFFD. NaN and infinity become null.
  std::string dump(int indent = -1) const;

  // Returns a short text for error messages: the value, or "an object" or "an array", because these
  // may be long.
  std::string brief() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace keydrome
