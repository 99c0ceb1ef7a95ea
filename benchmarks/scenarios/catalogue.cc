#include "benchmarks/scenarios/catalogue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "benchmarks/scenarios/crowd.h"
#include "benchmarks/scenarios/notation.h"

namespace keydrome::scenarios {
namespace {

constexpr int64_t kCrowdMax = 200;  // threads and rounds
constexpr int64_t kCrowdRecordsMax = 1'000'000;

constexpr std::array<std::pair<std::string_view, KeyType>, 3> kTypes{
    {{"int32", SHORT}, {"int64", INT}, {"varchar", VARCHAR}}};

Result<void> read_texts(const Json& json, Scenario& out) {
  for (const auto& [name, target] : {std::pair<std::string_view, std::string*>{"id", &out.id},
                                     {"title", &out.title},
                                     {"about", &out.about},
                                     {"finding", &out.finding}}) {
    Result<std::string> text = json.string_member(name);
    if (!text) return text.error();
    if (text->empty()) return Error{std::string(name) + " is empty"};
    *target = std::move(*text);
  }
  return {};
}

Result<void> read_flag(const Json& json, std::string_view name, bool& out) {
  const Json* flag = json.find(name);
  if (flag == nullptr) return {};
  if (!flag->is_bool()) return Error{std::string(name) + " must be true or false"};
  out = flag->as_bool();
  return {};
}

Result<void> read_severity(const Json& json, Scenario& out) {
  const Json* severity = json.find("severity");
  if (severity == nullptr) return {};
  if (!severity->is_string() || severity->as_string() != "advisory") {
    return Error{"severity must be \"advisory\" or left out"};
  }
  out.severity = Severity::kAdvisory;
  return {};
}

Result<void> read_types(const Json& json, Scenario& out) {
  const Json* types = json.find("types");
  for (const auto& [name, type] : kTypes) {
    if (types != nullptr && !types->is_array()) return Error{"types must be a list"};
    const bool wanted = types == nullptr ||
                        std::ranges::any_of(types->as_array(), [&name = name](const Json& entry) {
                          return entry.is_string() && entry.as_string() == name;
                        });
    if (wanted) out.types.push_back(type);
  }
  if (types != nullptr && out.types.size() != types->as_array().size()) {
    return Error{"types knows int32, int64 and varchar"};
  }
  return {};
}

Result<void> read_literals(const Json& json, Scenario& out) {
  if (const Json* keys = json.find("keys"); keys != nullptr) {
    if (!keys->is_array() || out.types.size() != 1)
      return Error{"keys must be a list for one type"};
    for (const Json& key : keys->as_array()) {
      if (!key.is_string()) return Error{"keys must be strings"};
      Result<std::string> bytes =
          out.types[0] == VARCHAR ? parse_bytes(key.as_string()) : key.as_string();
      if (!bytes) return bytes.error();
      out.literal_keys.push_back(std::move(*bytes));
    }
    out.filler = false;
  }
  const Json* payloads = json.find("payloads");
  if (payloads == nullptr) return {};
  if (!payloads->is_object()) return Error{"payloads must be an object"};
  for (const auto& [label, text] : payloads->as_object()) {
    if (!text.is_string()) return Error{"payloads must be strings"};
    Result<std::string> bytes = parse_bytes(text.as_string());
    if (!bytes) return bytes.error();
    out.literal_payloads[label] = std::move(*bytes);
  }
  return {};
}

Result<void> read_steps(const Json& json, Scenario& out) {
  if (json.find("setup") != nullptr) {
    const Result<std::string> setup = json.string_member("setup");
    if (!setup) return setup.error();
    if (Result<void> parsed = parse_setup(*setup, out); !parsed) return parsed;
  }
  const Json* turns = json.find("steps");
  if (turns == nullptr || !turns->is_array()) return Error{"steps must be a list of turns"};
  std::vector<bool> in_transaction;
  for (const Json& turn : turns->as_array()) {
    if (!turn.is_string()) return Error{"a turn must be a string"};
    Result<void> parsed = parse_turn(turn.as_string(), in_transaction, out);
    if (!parsed) return parsed;
  }
  for (const bool open : in_transaction) {
    if (open) return Error{"a transaction has no end"};
  }
  return {};
}

Result<void> read_crowd(const Json& json, Scenario& out) {
  const Json& members = *json.find("crowd");
  Crowd crowd;
  Result<std::string> kind = members.string_member("kind");
  if (!kind) return kind.error();
  crowd.kind = std::move(*kind);
  if (!is_crowd_kind(crowd.kind)) return Error{"there is no crowd of the kind " + crowd.kind};
  for (const auto& [name, target] :
       {std::pair<std::string_view, uint32_t*>{"threads", &crowd.threads},
        {"rounds", &crowd.rounds},
        {"records", &crowd.records}}) {
    const Result<int64_t> number = members.int_member(name);
    if (!number) return number.error();
    if (*number < 1 || *number > (name == "records" ? kCrowdRecordsMax : kCrowdMax))
      return Error{std::string(name) + " is out of bounds"};
    *target = static_cast<uint32_t>(*number);
  }
  out.crowd = std::move(crowd);
  return {};
}

Result<void> read_body(const Json& json, Scenario& out) {
  return json.find("crowd") != nullptr ? read_crowd(json, out) : read_steps(json, out);
}

Result<void> check_whole(const Scenario& scenario) {
  if (scenario.steps.empty() && !scenario.crowd) return Error{"there are no steps"};
  const std::string_view number = std::string_view(scenario.id).substr(1);
  if (scenario.bare && (scenario.sessions != 1 || scenario.indexes > 1)) {
    return Error{"bare calls are for one session and one index"};
  }
  if (scenario.garbage && !scenario.bare) return Error{"garbage is for bare calls"};
  if (scenario.id[0] != 'S' || number.empty() || number[0] < '1' || number[0] > '9') {
    return Error{"an id looks like S18 or S72b"};
  }
  std::array<bool, kSessionsMax> seen{};
  for (const Step& step : scenario.steps) {
    seen.at(step.session) = true;
    if (!step.answers.empty() && scenario.sessions > 1) {
      return Error{"answers can be written down for a single session only"};
    }
    const bool labelled = scenario.literal_keys.empty() ||
                          (step.key >= 0 && std::cmp_less(step.key, scenario.literal_keys.size()));
    if (!labelled) return Error{"a key has no literal"};
  }
  if (static_cast<uint32_t>(std::ranges::count(seen, true)) != scenario.sessions) {
    return Error{"a session does nothing"};
  }
  return {};
}

// An entry that has its place in the list but no script.
Result<Scenario> parse_place(const Json& json) {
  Scenario scenario;
  for (const auto& [name, target] : {std::pair<std::string_view, std::string*>{"id", &scenario.id},
                                     {"title", &scenario.title},
                                     {"instead", &scenario.instead}}) {
    Result<std::string> text = json.string_member(name);
    if (!text) return text.error();
    if (text->empty()) return Error{std::string(name) + " is empty"};
    *target = std::move(*text);
  }
  if (json.as_object().size() != 3) return Error{"with \"instead\" there are only id and title"};
  return scenario;
}

Result<Scenario> parse_scenario(const Json& json) {
  constexpr std::array<std::string_view, 15> kMembers{
      "bare",  "crowd", "id",    "title", "about",    "finding", "garbage", "severity",
      "setup", "steps", "types", "keys",  "payloads", "filler",  "oracle"};
  if (!json.is_object()) return Error{"a scenario must be an object"};
  if (json.find("instead") != nullptr) return parse_place(json);
  Scenario scenario;
  for (const auto& [name, value] : json.as_object()) {
    if (std::ranges::find(kMembers, name) == kMembers.end()) return Error{"unknown member " + name};
  }
  for (const auto& [name, flag] : {std::pair<std::string_view, bool*>{"filler", &scenario.filler},
                                   {"oracle", &scenario.oracle},
                                   {"bare", &scenario.bare},
                                   {"garbage", &scenario.garbage}}) {
    if (Result<void> done = read_flag(json, name, *flag); !done) return done.error();
  }
  for (const auto& read : {read_texts, read_severity, read_types, read_literals, read_body}) {
    if (Result<void> done = read(json, scenario); !done) return done.error();
  }
  if (Result<void> done = check_whole(scenario); !done) return done.error();
  return scenario;
}

}  // namespace

Result<std::vector<Scenario>> parse_scenarios(std::string_view text) {
  const Result<Json> json = Json::parse(text);
  if (!json) return json.error();
  const Json* list = json->find("scenarios");
  if (list == nullptr || !list->is_array()) return Error{"there is no list \"scenarios\""};
  const Result<std::string> instance = json->string_member("instance");
  if (!instance) return instance.error();
  std::vector<Scenario> scenarios;
  for (const Json& entry : list->as_array()) {
    Result<Scenario> scenario = parse_scenario(entry);
    if (!scenario) {
      const Result<std::string> id = entry.string_member("id");
      return Error{(id ? *id : "a scenario without id") + ": " + scenario.error().message};
    }
    scenario->instance = *instance;
    scenarios.push_back(std::move(*scenario));
  }
  return scenarios;
}

Result<std::vector<Scenario>> load_catalogue(std::span<const std::string_view> files) {
  std::vector<Scenario> all;
  for (const std::string_view file : files) {
    Result<std::vector<Scenario>> scenarios = parse_scenarios(file);
    if (!scenarios) return scenarios.error();
    std::ranges::move(*scenarios, std::back_inserter(all));
  }
  // By number, then letter: S9 stands before S18, S72 before S72b.
  const auto place = [](const Scenario& scenario) {
    return std::pair(std::stoul(scenario.id.substr(1)), scenario.id);
  };
  std::ranges::sort(all, {}, place);
  const auto twice = std::ranges::adjacent_find(all, {}, &Scenario::id);
  if (twice != all.end()) return Error{twice->id + ": there are two of them"};
  return all;
}

}  // namespace keydrome::scenarios
