// Implements a small JSON Schema validator for the tests. json_schema.h lists the keywords that it
// knows.
#include "harness/tests/json_schema.h"

#include <algorithm>
#include <regex>
#include <set>
#include <string_view>

namespace keydrome {
namespace {

std::string check(const Json& schema, const Json& value, const std::string& place);

bool has_type(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_int();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  return false;
}

bool has_any_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.as_string());
  const Json::Array& list = types.as_array();
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& type) { return has_type(value, type.as_string()); });
}

// LIMIT: more than 15 branches, because each keyword of JSON Schema needs one.
std::string check_scalar(const Json& schema, const Json& value) {
  if (const Json* types = schema.find("type"); types && !has_any_type(value, *types)) {
    return "is not of type " + types->dump();
  }
  if (const Json* only = schema.find("const"); only && only->dump() != value.dump()) {
    return "is not " + only->dump();
  }
  if (const Json* allowed = schema.find("enum")) {
    const Json::Array& list = allowed->as_array();
    const bool found = std::any_of(list.begin(), list.end(),
                                   [&](const Json& one) { return one.dump() == value.dump(); });
    if (!found) return "is not one of " + allowed->dump();
  }
  if (const Json* pattern = schema.find("pattern"); pattern && value.is_string()) {
    if (!std::regex_search(value.as_string(), std::regex(pattern->as_string()))) {
      return "does not match " + pattern->as_string();
    }
  }
  const Json* minimum = schema.find("minimum");
  if (minimum && value.is_number() && value.as_number() < minimum->as_number())
    return "is too small";
  const Json* maximum = schema.find("maximum");
  if (maximum && value.is_number() && value.as_number() > maximum->as_number())
    return "is too large";
  return "";
}

std::string check_member(const Json& schema, const std::string& key, const Json& value,
                         const std::string& place) {
  const Json* properties = schema.find("properties");
  const Json* property = properties ? properties->find(key) : nullptr;
  if (property != nullptr) return check(*property, value, place);
  const Json* others = schema.find("additionalProperties");
  if (others == nullptr) return "";
  if (others->is_bool()) return others->as_bool() ? "" : place + ": no such member";
  return check(*others, value, place);
}

std::string check_object(const Json& schema, const Json& value, const std::string& place) {
  if (const Json* required = schema.find("required")) {
    for (const Json& name : required->as_array()) {
      if (!value.find(name.as_string())) return place + ": " + name.as_string() + " is missing";
    }
  }
  for (const auto& [key, member] : value.as_object()) {
    std::string error = check_member(schema, key, member, place + "/" + key);
    if (!error.empty()) return error;
  }
  return "";
}

std::string check_array(const Json& schema, const Json& value, const std::string& place) {
  const Json::Array& elements = value.as_array();
  const auto size = static_cast<int64_t>(elements.size());
  if (const Json* least = schema.find("minItems"); least && size < least->as_int()) {
    return place + ": too few elements";
  }
  if (const Json* most = schema.find("maxItems"); most && size > most->as_int()) {
    return place + ": too many elements";
  }
  const Json* items = schema.find("items");
  const Json* prefix = schema.find("prefixItems");
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool in_prefix = prefix && i < prefix->as_array().size();
    const Json* rule = in_prefix ? &prefix->as_array()[i] : items;
    if (rule == nullptr) continue;
    std::string error = check(*rule, elements[i], place + "/" + std::to_string(i));
    if (!error.empty()) return error;
  }
  return "";
}

std::string check(const Json& schema, const Json& value, const std::string& place) {
  static const std::set<std::string, std::less<>> kKnown{
      "$schema", "$id",      "title",    "description", "default",    "type",
      "enum",    "const",    "pattern",  "minimum",     "maximum",    "required",
      "items",   "minItems", "maxItems", "prefixItems", "properties", "additionalProperties"};
  for (const auto& [keyword, unused] : schema.as_object()) {
    if (!kKnown.contains(keyword)) {
      return place + ": the schema uses the keyword " + keyword +
             ", which this validator does not know: add it to json_schema.cc";
    }
  }
  if (std::string error = check_scalar(schema, value); !error.empty()) return place + ": " + error;
  if (value.is_object()) return check_object(schema, value, place);
  if (value.is_array()) return check_array(schema, value, place);
  return "";
}

}  // namespace

std::string schema_error(const Json& schema, const Json& value) { return check(schema, value, ""); }

}  // namespace keydrome
