// Implements Manifest and Parameters: checks every member of a benchmark.json, and computes the
// parameters of a session from an instance, a scale and the user's overrides.
#include "benchmarks/kit/workload/parameters.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/check.h"

namespace keydrome::workload {
namespace {

constexpr std::array<std::string_view, 3> kScales = {"smoke", "laptop", "paper"};

// Returns an error that names the member of benchmark.json at `place`, or no member if `place` is
// empty. Manifest::parse() adds the name of the file.
Error at(const std::string& place, const std::string& what) {
  return Error{place.empty() ? what : place + ": " + what};
}

Error wrong_type(const std::string& place, const Json& value, const std::string& wanted) {
  return at(place, "is " + value.brief() + ", but must be " + wanted);
}

// Checks that a JSON object has all required members and no unknown members.
Result<void> check_members(const Json& json, const std::string& place,
                           const std::set<std::string, std::less<>>& required,
                           const std::set<std::string, std::less<>>& optional = {}) {
  if (!json.is_object()) return wrong_type(place, json, "a JSON object");
  std::set<std::string, std::less<>> known = required;
  known.insert(optional.begin(), optional.end());
  const auto unknown = std::ranges::find_if(
      json.as_object(), [&](const auto& member) { return !known.contains(member.first); });
  if (unknown != json.as_object().end()) {
    std::string names;
    for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
    return at(place, "the member " + unknown->first +
                         " is unknown: remove it, or correct its name to one of " + names);
  }
  for (const std::string& key : required) {
    if (json.find(key) == nullptr) return at(place, "the member " + key + " is missing: add it");
  }
  return {};
}

Result<ParameterValues> parse_values(const Json& json, const std::string& place) {
  if (!json.is_object()) return wrong_type(place, json, "a JSON object");
  ParameterValues values;
  for (const auto& [key, value] : json.as_object()) {
    if (!value.is_int()) {
      std::string member = place;
      return wrong_type(member.append(".").append(key), value, "an integer");
    }
    values[key] = value.as_int();
  }
  return values;
}

Result<void> check_bounds(const Manifest& manifest, const std::string& name, int64_t value) {
  const ParameterBounds& bounds = manifest.parameters.find(name)->second;
  if (value >= bounds.min && value <= bounds.max) return {};
  return Error{"parameter " + name + " is " + std::to_string(value) + ", but must be from " +
               std::to_string(bounds.min) + " to " + std::to_string(bounds.max)};
}

Result<void> parse_parameters(const Json& json, Manifest& manifest) {
  if (!json.is_object()) return wrong_type("parameters", json, "a JSON object");
  for (const auto& [name, entry] : json.as_object()) {
    const std::string place = "parameters." + name;
    if (Result<void> fine = check_members(entry, place, {"unit", "min", "max", "description"});
        !fine) {
      return fine;
    }
    const Result<std::string> unit = entry.string_member("unit");
    const Result<std::string> description = entry.string_member("description");
    const Result<int64_t> min = entry.int_member("min"), max = entry.int_member("max");
    if (!unit) return at(place, unit.error().message);
    if (!description) return at(place, description.error().message);
    if (!min) return at(place, min.error().message);
    if (!max) return at(place, max.error().message);
    if (*min > *max) {
      return at(place, "min is " + std::to_string(*min) + ", but must not exceed max, which is " +
                           std::to_string(*max));
    }
    manifest.parameters[name] = {
        .unit = *unit, .description = *description, .min = *min, .max = *max};
  }
  return {};
}

Result<ParameterValues> parse_scale(const Json& json, const std::string& place,
                                    const Manifest& manifest) {
  Result<ParameterValues> values = parse_values(json, place);
  if (!values) return values;
  for (const auto& [name, value] : *values) {
    if (!manifest.parameters.contains(name)) {
      return at(place, "the parameter " + name +
                           " is not declared: remove it, or declare it in the member parameters");
    }
    if (Result<void> fine = check_bounds(manifest, name, value); !fine) {
      return at(place, fine.error().message);
    }
  }
  for (const auto& [name, bounds] : manifest.parameters) {
    if (!values->contains(name)) {
      return at(place, "the value of parameter " + name + " is missing: add it");
    }
  }
  return values;
}

Result<InstanceManifest> parse_instance(const Json& json, const std::string& place,
                                        const Manifest& manifest) {
  if (Result<void> fine = check_members(json, place, {"title", "description", "scales"},
                                        {"advisory", "keys", "trace"});
      !fine) {
    return fine.error();
  }
  const Result<std::string> title = json.string_member("title");
  const Result<std::string> description = json.string_member("description");
  if (!title) return at(place, title.error().message);
  if (!description) return at(place, description.error().message);
  InstanceManifest instance{.title = *title, .description = *description, .keys = {}, .scales = {}};
  for (const auto& [member, flag] :
       {std::pair("advisory", &instance.advisory), std::pair("trace", &instance.trace)}) {
    const Json* value = json.find(member);
    if (value == nullptr) continue;
    if (!value->is_bool()) {
      return at(place,
                std::string(member) + " is " + value->brief() + ", but must be true or false");
    }
    *flag = value->as_bool();
  }
  if (json.find("keys") != nullptr) {
    const Result<std::string> keys = json.string_member("keys");
    if (!keys) return at(place, keys.error().message);
    if (*keys != "int64" && *keys != "varchar") {
      return at(place, "keys is \"" + *keys + "\", but must be int64 or varchar");
    }
    instance.keys = *keys;
  }
  const Json& scales = *json.find("scales");
  if (Result<void> fine = check_members(scales, place + ".scales", {"smoke", "laptop", "paper"});
      !fine) {
    return fine.error();
  }
  for (const auto& [scale, values] : scales.as_object()) {
    std::string scale_place = place;
    scale_place.append(".scales.").append(scale);
    Result<ParameterValues> parsed = parse_scale(values, scale_place, manifest);
    if (!parsed) return parsed.error();
    instance.scales[scale] = std::move(*parsed);
  }
  return instance;
}

Result<void> parse_head(const Json& json, Manifest& manifest) {
  const Result<std::string> name = json.string_member("name"), kind = json.string_member("kind");
  const Result<std::string> title = json.string_member("title");
  const Result<int64_t> version = json.int_member("version");
  for (const Result<std::string>* text : {&name, &kind, &title}) {
    if (!*text) return at("", text->error().message);
  }
  if (!version) return at("", version.error().message);
  if (*version < 1 || *version > UINT32_MAX) {
    return at("version", "is " + std::to_string(*version) + ", but must be from 1 to 4294967295");
  }
  if (*kind != "correctness" && *kind != "performance") {
    return at("kind", "is \"" + *kind + "\", but must be \"correctness\" or \"performance\"");
  }
  manifest.name = *name;
  manifest.kind = *kind;
  manifest.title = *title;
  manifest.version = static_cast<uint32_t>(*version);
  return {};
}

Result<Manifest> parse_checked(const Json& json) {
  if (Result<void> fine = check_members(json, "",
                                        {"name", "version", "kind", "title", "description",
                                         "source", "instances", "parameters", "metric", "limits"},
                                        {"own_metrics"});
      !fine) {
    return fine.error();
  }
  Manifest manifest;
  if (Result<void> fine = parse_head(json, manifest); !fine) return fine.error();
  if (Result<void> fine = parse_parameters(*json.find("parameters"), manifest); !fine)
    return fine.error();
  const Json& instances = *json.find("instances");
  if (!instances.is_object() || instances.as_object().empty()) {
    return at("instances", "is " +
                               (instances.is_object() ? std::string("empty") : instances.brief()) +
                               ", but must be a JSON object with at least one instance");
  }
  for (const auto& [id, entry] : instances.as_object()) {
    Result<InstanceManifest> instance = parse_instance(entry, "instances." + id, manifest);
    if (!instance) return instance.error();
    manifest.instances[id] = std::move(*instance);
  }
  const Json& limits = *json.find("limits");
  for (const std::string_view scale : kScales) {
    const Json* entry = limits.find(scale);
    const std::string place = "limits." + std::string(scale);
    if (entry == nullptr) return at(place, "the limits of this scale are missing: add them");
    if (Result<void> fine =
            check_members(*entry, place, {"phase_timeout_ms", "memory_bytes", "tmpfs_bytes"},
                          {"session_timeout_ms"});
        !fine) {
      return fine.error();
    }
    Result<ParameterValues> values = parse_values(*entry, place);
    if (!values) return values.error();
    manifest.limits[std::string(scale)] = std::move(*values);
  }
  return manifest;
}

template <typename Map>
std::string names_of(const Map& map) {
  std::string names;
  for (const auto& [name, value] : map) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

int64_t Parameters::operator[](std::string_view name) const {
  const auto entry = values_.find(name);
  if (entry == values_.end())
    fail(KEYDROME_HERE,
         "the workload reads the parameter " + std::string(name) +
             ", which its benchmark.json does not declare: add it to the member parameters there");
  return entry->second;
}

uint32_t Parameters::u32(std::string_view name) const {
  const int64_t value = (*this)[name];
  KEYDROME_CHECK(value >= 0 && value <= UINT32_MAX);
  return static_cast<uint32_t>(value);
}

double Parameters::number(std::string_view name) const {
  return static_cast<double>((*this)[name]);
}

uint64_t Parameters::u64(std::string_view name) const {
  const int64_t value = (*this)[name];
  KEYDROME_CHECK(value >= 0);
  return static_cast<uint64_t>(value);
}

Result<Manifest> Manifest::parse(std::string_view text) {
  const Result<Json> json = Json::parse(text);
  Result<Manifest> manifest = json ? parse_checked(*json) : Result<Manifest>(json.error());
  if (manifest) return manifest;
  const Result<std::string> name = json ? json->string_member("name") : json.error();
  return Error{(name ? "benchmarks/" + *name + "/" : std::string()) + "benchmark.json: " +
               manifest.error().message + "; after the correction, run ./dev build"};
}

Result<Parameters> Manifest::resolve(std::string_view instance, std::string_view scale,
                                     const ParameterValues& overrides) const {
  const auto found = instances.find(instance);
  if (found == instances.end()) {
    return Error{"benchmark " + name + " has no instance " + std::string(instance) + "; it has " +
                 names_of(instances)};
  }
  const auto values = found->second.scales.find(scale);
  if (values == found->second.scales.end()) {
    return Error{"there is no scale " + std::string(scale) + "; choose smoke, laptop or paper"};
  }
  ParameterValues resolved = values->second;
  for (const auto& [parameter, value] : overrides) {
    if (!parameters.contains(parameter)) {
      const std::string choice =
          parameters.empty() ? "it has none" : "it has " + names_of(parameters);
      std::string message = "benchmark ";
      return Error{message.append(name)
                       .append(" has no parameter ")
                       .append(parameter)
                       .append("; ")
                       .append(choice)};
    }
    if (Result<void> fine = check_bounds(*this, parameter, value); !fine) return fine.error();
    resolved[parameter] = value;
  }
  return Parameters(std::move(resolved));
}

}  // namespace keydrome::workload
