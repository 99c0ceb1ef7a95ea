// Implements harness/referee/plan/plan.h: reads and writes a plan, the JSON file that describes one
// repetition of a benchmark. The parser makes the checks of harness/schema/plan.v1.schema.json, and
// explains each error.
#include "harness/referee/plan/plan.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "benchmarks/kit/format/program.h"
#include "harness/protocol.h"
#include "harness/referee/plan/strict_object.h"

namespace keydrome {
namespace {

constexpr std::string_view kSchema = "keydrome.plan.v1";
constexpr std::string_view kStructureInside = "/structure.so";  // path in the jail
constexpr size_t kSeedDigits = 16;

bool is_identifier(std::string_view text) {
  if (text.empty() || text.front() < 'a' || text.front() > 'z') return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

bool is_seed(std::string_view text) {
  return text.size() == kSeedDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void expect_absolute(StrictObject& reader, std::string_view key, std::string_view path) {
  if (path.starts_with('/')) return;
  reader.fail_value(key, Json(std::string(path)), "an absolute path, which begins with /");
}

void expect_path(StrictObject& reader, std::string_view key, std::string_view path) {
  expect_absolute(reader, key, path);
  if (path.find(':') == std::string_view::npos) return;
  reader.fail_value(key, Json(std::string(path)),
                    "a path without a colon, because the jail separates paths with colons");
}

Result<void> parse_parameters(const Json& json, std::map<std::string, int64_t>& parameters) {
  for (const auto& [name, value] : json.as_object()) {
    if (!value.is_int()) {
      return Error{"plan.parameters." + name + ": is " + value.brief() +
                   ", but must be an integer"};
    }
    parameters[name] = value.as_int();
  }
  return {};
}

Result<void> parse_library(const Json& json, LibraryPlan& library) {
  StrictObject reader(json, "plan.library");
  library.path = reader.required_string("path");
  expect_path(reader, "path", library.path);
  if (const auto structure = reader.optional_string("structure")) {
    library.structure = *structure;
    expect_path(reader, "structure", library.structure);
  }
  if (const Json* configuration = reader.object("configuration", false)) {
    library.configuration = *configuration;
  }
  // The message LOAD tells the player, the process in the jail, which library to load. The text in
  // LOAD has at most kTextBytes bytes. It contains the configuration, the library's path in the
  // jail and two NULs. 64 bytes are enough for the path and the NULs.
  const std::size_t bytes =
      configuration_text(library, format::kThreadsMax, {SHORT, INT, VARCHAR}).size();
  if (bytes > kTextBytes - 64) {
    reader.fail("configuration", "takes " + std::to_string(bytes) +
                                     " bytes as JSON, but may take at most " +
                                     std::to_string(kTextBytes - 64) + "; shorten it");
  }
  return reader.finish();
}

Result<void> parse_jail(const Json& json, JailPlan& jail) {
  StrictObject reader(json, "plan.jail");
  jail.path = reader.required_string("path");
  expect_path(reader, "path", jail.path);
  jail.slot = static_cast<uint32_t>(reader.optional_integer("slot", {0, 999}).value_or(jail.slot));
  jail.require = reader.optional_string("require").value_or(jail.require);
  reader.expect_one_of("require", jail.require, {"full", "weak", "none"});
  jail.cpus = reader.optional_string("cpus").value_or("");
  if (jail.cpus.find_first_not_of("0123456789,-") != std::string::npos) {
    reader.fail_value("cpus", Json(jail.cpus), "a list of CPUs such as 0-1,4");
  }
  jail.memory_bytes = reader.optional_integer("memory_bytes", {16 << 20, INT64_MAX});
  jail.tmpfs_bytes = reader.optional_integer("tmpfs_bytes", {});
  jail.processes = reader.optional_integer("processes", {1, INT32_MAX});
  jail.cpu_seconds = reader.optional_integer("cpu_seconds", {1, INT32_MAX});
  jail.counters = reader.optional_bool("counters", false);
  return reader.finish();
}

Result<void> parse_limits(const Json& json, LimitsPlan& limits) {
  constexpr IntegerRange kMilliseconds{1, kJailWallMsMax};
  constexpr IntegerRange kOutput{1024, 64 << 20};
  StrictObject reader(json, "plan.limits");
  limits.phase_timeout_ms =
      static_cast<uint64_t>(reader.required_integer("phase_timeout_ms", kMilliseconds));
  limits.session_timeout_ms = reader.optional_integer("session_timeout_ms", kMilliseconds);
  limits.load_timeout_ms =
      reader.optional_integer("load_timeout_ms", kMilliseconds).value_or(limits.load_timeout_ms);
  limits.output_bytes =
      reader.optional_integer("output_bytes", kOutput).value_or(limits.output_bytes);
  return reader.finish();
}

// Parses those members of the plan that are JSON objects.
Result<void> parse_parts(StrictObject& reader, Plan& plan) {
  const Json* library = reader.object("library", true);
  const Json* jail = reader.object("jail", true);
  const Json* limits = reader.object("limits", true);
  const Json* parameters = reader.object("parameters", false);
  if (Result<void> whole = reader.finish(); !whole) return whole;
  if (parameters != nullptr) {
    if (Result<void> part = parse_parameters(*parameters, plan.parameters); !part) return part;
  }
  if (Result<void> part = parse_library(*library, plan.library); !part) return part;
  if (Result<void> part = parse_jail(*jail, plan.jail); !part) return part;
  return parse_limits(*limits, plan.limits);
}

}  // namespace

uint64_t Plan::seed_number() const {
  uint64_t number = 0;
  std::from_chars(seed.data(), seed.data() + seed.size(), number, 16);
  return number;
}

Result<Plan> parse_plan(const Json& json) {
  Plan plan;
  StrictObject reader(json, "plan");
  reader.expect_one_of("schema", reader.required_string("schema"), {kSchema});
  plan.benchmark = reader.required_string("benchmark");
  plan.benchmark_version =
      static_cast<uint32_t>(reader.required_integer("benchmark_version", {1, INT32_MAX}));
  plan.instance = reader.required_string("instance");
  for (const auto& [key, value] :
       {std::pair("benchmark", &plan.benchmark), std::pair("instance", &plan.instance)}) {
    if (!is_identifier(*value)) {
      reader.fail_value(key, Json(*value),
                        "lower-case letters, digits and underscores, with a letter first");
    }
  }
  plan.scale = reader.required_string("scale");
  reader.expect_one_of("scale", plan.scale, {"smoke", "laptop", "paper"});
  plan.seed = reader.required_string("seed");
  if (!is_seed(plan.seed))
    reader.fail_value("seed", Json(plan.seed), "16 lower-case hexadecimal digits");
  plan.plain = reader.optional_bool("plain", false);
  plan.record = reader.optional_bool("record", false);
  for (const auto& [key, path] : {std::pair("keys", &plan.keys), std::pair("trace", &plan.trace)}) {
    const auto given = reader.optional_string(key);
    if (!given) continue;
    *path = *given;
    expect_absolute(reader, key, *given);
  }
  plan.player = reader.required_string("player");
  expect_path(reader, "player", plan.player);
  plan.verified = reader.optional_bool("verified", false);
  if (plan.verified) {
    plan.driver = reader.required_string("driver");
    expect_path(reader, "driver", plan.driver);
  }
  if (Result<void> parts = parse_parts(reader, plan); !parts) return parts.error();
  return plan;
}

Json to_json(const Plan& plan) {
  Json json;
  json["schema"] = kSchema;
  json["benchmark"] = plan.benchmark;
  json["benchmark_version"] = plan.benchmark_version;
  json["instance"] = plan.instance;
  json["scale"] = plan.scale;
  json["parameters"] = Json::Object{};
  for (const auto& [name, value] : plan.parameters) json["parameters"][name] = value;
  json["seed"] = plan.seed;
  json["plain"] = plan.plain;
  json["record"] = plan.record;
  if (!plan.keys.empty()) json["keys"] = plan.keys;
  if (!plan.trace.empty()) json["trace"] = plan.trace;
  json["library"]["path"] = plan.library.path;
  if (!plan.library.structure.empty()) json["library"]["structure"] = plan.library.structure;
  if (plan.library.configuration) json["library"]["configuration"] = *plan.library.configuration;
  json["verified"] = plan.verified;
  json["player"] = plan.player;
  if (plan.verified) json["driver"] = plan.driver;
  Json& jail = json["jail"];
  jail["path"] = plan.jail.path;
  jail["slot"] = plan.jail.slot;
  jail["require"] = plan.jail.require;
  if (!plan.jail.cpus.empty()) jail["cpus"] = plan.jail.cpus;
  if (plan.jail.memory_bytes) jail["memory_bytes"] = *plan.jail.memory_bytes;
  if (plan.jail.tmpfs_bytes) jail["tmpfs_bytes"] = *plan.jail.tmpfs_bytes;
  if (plan.jail.processes) jail["processes"] = *plan.jail.processes;
  if (plan.jail.cpu_seconds) jail["cpu_seconds"] = *plan.jail.cpu_seconds;
  if (plan.jail.counters) jail["counters"] = true;
  json["limits"]["load_timeout_ms"] = plan.limits.load_timeout_ms;
  json["limits"]["phase_timeout_ms"] = plan.limits.phase_timeout_ms;
  if (plan.limits.session_timeout_ms) {
    json["limits"]["session_timeout_ms"] = *plan.limits.session_timeout_ms;
  }
  json["limits"]["output_bytes"] = plan.limits.output_bytes;
  return json;
}

std::string configuration_text(const LibraryPlan& library, uint32_t threads,
                               const std::vector<KeyType>& key_types) {
  if (library.structure.empty()) {
    return library.configuration ? library.configuration->dump() : "";
  }
  Json json;
  json["structure"] = kStructureInside;
  json["configuration"] = library.configuration.value_or(Json(Json::Object{}));
  json["threads"] = uint64_t{threads};
  constexpr std::pair<KeyType, const char*> kNames[] = {
      {SHORT, "short"}, {INT, "int"}, {VARCHAR, "varchar"}};
  Json& types = json["key_types"] = Json::Array{};
  for (const auto& [type, name] : kNames) {
    if (std::count(key_types.begin(), key_types.end(), type) > 0) types.push_back(name);
  }
  return json.dump();
}

}  // namespace keydrome
