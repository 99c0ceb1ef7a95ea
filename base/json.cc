// Implements json.h with the library nlohmann-json. The library parses and prints, and the
// functions here convert values between its type and Json.
#include "base/json.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

namespace keydrome {
namespace {

using Library = nlohmann::json;

Json from_library(const Library& value) {
  switch (value.type()) {
    case Library::value_t::boolean:
      return Json(value.get<bool>());
    case Library::value_t::number_integer:
      return Json(value.get<int64_t>());
    case Library::value_t::number_unsigned:
      return Json(value.get<uint64_t>());
    case Library::value_t::number_float:
      return Json(value.get<double>());
    case Library::value_t::string:
      return Json(value.get<std::string>());
    case Library::value_t::array: {
      Json::Array array;
      array.reserve(value.size());
      for (const Library& element : value) array.push_back(from_library(element));
      return Json(std::move(array));
    }
    case Library::value_t::object: {
      Json::Object object;
      for (const auto& [key, member] : value.items()) object.emplace(key, from_library(member));
      return Json(std::move(object));
    }
    default:
      return Json();
  }
}

Library to_library(const Json& value) {
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) return value.as_int();
  if (value.is_number()) return value.as_number();
  if (value.is_string()) return value.as_string();
  if (value.is_array()) {
    Library array = Library::array();
    for (const Json& element : value.as_array()) array.push_back(to_library(element));
    return array;
  }
  if (value.is_object()) {
    Library object = Library::object();
    for (const auto& [key, member] : value.as_object()) object[key] = to_library(member);
    return object;
  }
  return nullptr;
}

// A callback for the parser that finds duplicate keys in objects. Without the callback the library
// would keep the last of the duplicate keys and report no error.
class DuplicateKeys {
 public:
  bool operator()(int, Library::parse_event_t event, Library& parsed) {
    if (event == Library::parse_event_t::object_start) open_.emplace_back();
    if (event == Library::parse_event_t::object_end) open_.pop_back();
    if (event == Library::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      if (!open_.back().insert(key).second && !first_) first_ = key;
    }
    return true;
  }
  const std::optional<std::string>& first() const { return first_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::optional<std::string> first_;
};

// Removes the code at the beginning of a message of the library, such as
// "[json.exception.parse_error.101] ".
std::string without_code(std::string_view message) {
  const std::size_t end = message.find("] ");
  return std::string(message.starts_with('[') && end != std::string_view::npos
                         ? message.substr(end + 2)
                         : message);
}

Error missing(std::string_view key, const std::string& wanted) {
  return Error{"the field " + std::string(key) + " is missing; add it, with " + wanted +
               " as its value"};
}

Error wrong_type(std::string_view key, const Json& value, const std::string& wanted) {
  return Error{"the field " + std::string(key) + " is " + value.brief() + ", but must be " +
               wanted};
}

}  // namespace

Json::Json(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    value_ = static_cast<int64_t>(value);
  } else {
    value_ = static_cast<double>(value);
  }
}

Result<Json> Json::parse(std::string_view text) {
  DuplicateKeys duplicates;
  try {
    const Library parsed =
        Library::parse(text, [&](int depth, Library::parse_event_t event, Library& at) {
          return duplicates(depth, event, at);
        });
    if (duplicates.first()) {
      return Error{"the text is not valid JSON: an object has the key \"" + *duplicates.first() +
                   "\" twice: remove one of the two"};
    }
    return from_library(parsed);
  } catch (const Library::exception& failure) {
    return Error{"the text is not valid JSON: " + without_code(failure.what()) +
                 ": correct the text"};
  }
}

Result<Json> Json::parse_file(const std::string& path, const std::string& advice) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "it is empty";
    return Error{path + ": cannot read the file (" + reason + "): " + advice};
  }
  Result<Json> parsed = parse(text.str());
  if (!parsed) return Error{path + ": " + parsed.error().message};
  return parsed;
}

bool Json::as_bool() const {
  KEYDROME_CHECK(is_bool());
  return std::get<bool>(value_);
}

int64_t Json::as_int() const {
  KEYDROME_CHECK(is_int());
  return std::get<int64_t>(value_);
}

double Json::as_number() const {
  return is_int() ? static_cast<double>(as_int()) : std::get<double>(value_);
}

const std::string& Json::as_string() const {
  KEYDROME_CHECK(is_string());
  return std::get<std::string>(value_);
}

const Json::Array& Json::as_array() const {
  KEYDROME_CHECK(is_array());
  return std::get<Array>(value_);
}

const Json::Object& Json::as_object() const {
  KEYDROME_CHECK(is_object());
  return std::get<Object>(value_);
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const Object& object = as_object();
  const auto member = object.find(key);
  return member == object.end() ? nullptr : &member->second;
}

Result<std::string> Json::string_member(std::string_view key) const {
  const Json* member = find(key);
  if (member == nullptr) return missing(key, "a string");
  if (!member->is_string()) return wrong_type(key, *member, "a string");
  return member->as_string();
}

Result<int64_t> Json::int_member(std::string_view key) const {
  const Json* member = find(key);
  if (member == nullptr) return missing(key, "an integer");
  if (!member->is_int()) return wrong_type(key, *member, "an integer");
  return member->as_int();
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object{};
  KEYDROME_CHECK(is_object());
  return std::get<Object>(value_)[std::string(key)];
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Array{};
  KEYDROME_CHECK(is_array());
  std::get<Array>(value_).push_back(std::move(element));
}

std::string Json::dump(int indent) const {
  return to_library(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

std::string Json::brief() const {
  if (is_object()) return "an object";
  if (is_array()) return "an array";
  return dump();
}

}  // namespace keydrome
