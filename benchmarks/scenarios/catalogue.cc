// Implements the catalogue of scenarios, which are short scripts in JSON that each reveal one kind
// of error. One function reads each group of a scenario's members and returns the first error.
#include "benchmarks/scenarios/catalogue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/count_text.h"
#include "base/json.h"
#include "benchmarks/scenarios/crowds/crowd.h"
#include "benchmarks/scenarios/script/notation.h"

namespace keydrome::scenarios {

namespace {

constexpr int64_t kCrowdMax = 200;  // maximum number of threads, and of repetitions (rounds)
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
    if (text->empty()) return Error{std::string(name) + ": must not be empty"};
    *target = std::move(*text);
  }
  return {};
}

// Returns an error about the member `name`, which must be `wanted`.
Error wrong_type(const std::string& name, const Json& value, const std::string& wanted) {
  return Error{name + ": is " + value.brief() + ", but must be " + wanted};
}

Result<void> read_flag(const Json& json, std::string_view name, bool& out) {
  const Json* flag = json.find(name);
  if (flag == nullptr) return {};
  if (!flag->is_bool()) return wrong_type(std::string(name), *flag, "true or false");
  out = flag->as_bool();
  return {};
}

Result<void> read_severity(const Json& json, Scenario& out) {
  const Json* severity = json.find("severity");
  if (severity == nullptr) return {};
  if (!severity->is_string() || severity->as_string() != "advisory") {
    return wrong_type("severity", *severity,
                      "\"advisory\"; leave the member out if a violation must fail the library");
  }
  out.severity = Severity::kAdvisory;
  return {};
}

Result<void> read_types(const Json& json, Scenario& out) {
  const Json* types = json.find("types");
  for (const auto& [name, type] : kTypes) {
    if (types != nullptr && !types->is_array())
      return wrong_type("types", *types, "a list of key types (int32, int64 or varchar)");
    const bool wanted = types == nullptr ||
                        std::ranges::any_of(types->as_array(), [&name = name](const Json& entry) {
                          return entry.is_string() && entry.as_string() == name;
                        });
    if (wanted) out.types.push_back(type);
  }
  if (types != nullptr && out.types.size() != types->as_array().size()) {
    return Error{"types: is " + types->dump() +
                 ", but may contain only int32, int64 and varchar, each at most once"};
  }
  return {};
}

Result<void> read_literals(const Json& json, Scenario& out) {
  if (const Json* keys = json.find("keys"); keys != nullptr) {
    if (!keys->is_array()) return wrong_type("keys", *keys, "a list of strings");
    if (out.types.size() != 1)
      return Error{"keys: a scenario with this member needs one type in \"types\", but has " +
                   std::to_string(out.types.size())};
    for (const Json& key : keys->as_array()) {
      if (!key.is_string()) return wrong_type("keys: a key", key, "a string");
      Result<std::string> bytes =
          out.types[0] == VARCHAR ? parse_bytes(key.as_string()) : key.as_string();
      if (!bytes) return bytes.error();
      out.literal_keys.push_back(std::move(*bytes));
    }
    out.filler = false;
  }
  const Json* payloads = json.find("payloads");
  if (payloads == nullptr) return {};
  if (!payloads->is_object()) return wrong_type("payloads", *payloads, "an object");
  for (const auto& [label, text] : payloads->as_object()) {
    if (!text.is_string()) return wrong_type("payloads." + label, text, "a string");
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
  if (turns == nullptr) return Error{"steps: this field is missing; add it"};
  if (!turns->is_array())
    return wrong_type("steps", *turns, "a list of turns, such as \"T1: b g(1) c\"");
  std::vector<bool> in_transaction;
  for (const Json& turn : turns->as_array()) {
    if (!turn.is_string())
      return wrong_type("steps: a turn", turn, "a string, such as \"T1: b g(1) c\"");
    Result<void> parsed = parse_turn(turn.as_string(), in_transaction, out);
    if (!parsed) return parsed;
  }
  for (std::size_t i = 0; i < in_transaction.size(); ++i) {
    if (!in_transaction[i]) continue;
    return Error{"steps: the last transaction of session T" + std::to_string(i + 1) +
                 " does not end; add a commit (c) or an abort (a)"};
  }
  return {};
}

Result<void> read_crowd(const Json& json, Scenario& out) {
  const Json& members = *json.find("crowd");
  Crowd crowd;
  Result<std::string> kind = members.string_member("kind");
  if (!kind) return kind.error();
  crowd.kind = std::move(*kind);
  if (!is_crowd_kind(crowd.kind))
    return Error{"crowd.kind: is \"" + crowd.kind + "\", but must be one of " + crowd_kind_names()};
  for (const auto& [name, target] :
       {std::pair<std::string_view, uint32_t*>{"threads", &crowd.threads},
        {"rounds", &crowd.rounds},
        {"records", &crowd.records}}) {
    const Result<int64_t> number = members.int_member(name);
    if (!number) return number.error();
    const int64_t max = name == "records" ? kCrowdRecordsMax : kCrowdMax;
    if (*number < 1 || *number > max) {
      return Error{"crowd." + std::string(name) + ": is " + std::to_string(*number) +
                   ", but must be from 1 to " + std::to_string(max)};
    }
    *target = static_cast<uint32_t>(*number);
  }
  out.crowd = std::move(crowd);
  return {};
}

Result<void> read_body(const Json& json, Scenario& out) {
  return json.find("crowd") != nullptr ? read_crowd(json, out) : read_steps(json, out);
}

Result<void> check_id(std::string_view id) {
  const std::string_view number = id.substr(1);
  if (id[0] != 'S' || number.empty() || number[0] < '1' || number[0] > '9') {
    return Error{"id: is \"" + std::string(id) + "\", but must look like S18 or S72b"};
  }
  return {};
}

Result<void> check_steps(const Scenario& scenario) {
  std::array<bool, kSessionsMax> seen{};
  for (const Step& step : scenario.steps) {
    seen.at(step.session) = true;
    if (!step.answers.empty() && scenario.sessions > 1) {
      return Error{
          "steps: a scenario with several sessions cannot list results (such as =OK): remove them"};
    }
    const bool labelled = scenario.literal_keys.empty() ||
                          (step.key >= 0 && std::cmp_less(step.key, scenario.literal_keys.size()));
    if (!labelled)
      return Error{"steps: key " + std::to_string(step.key) +
                   " must be a position in the list \"keys\", from 0 to " +
                   std::to_string(scenario.literal_keys.size() - 1)};
  }
  if (static_cast<uint32_t>(std::ranges::count(seen, true)) != scenario.sessions) {
    return Error{"steps: one of the sessions T1 to T" + std::to_string(scenario.sessions) +
                 " has no steps; number the sessions without gaps"};
  }
  return {};
}

Result<void> check_whole(const Scenario& scenario) {
  if (scenario.steps.empty() && !scenario.crowd)
    return Error{"steps: the list has no step, but must have at least one; add one"};
  if (scenario.bare && (scenario.sessions != 1 || scenario.indexes > 1)) {
    return Error{"\"bare\": true requires one session and one index, but the scenario has " +
                 (scenario.sessions != 1 ? count_text(scenario.sessions, "session")
                                         : std::to_string(scenario.indexes) + " indexes") +
                 ": remove the others, or remove \"bare\""};
  }
  if (scenario.garbage && !scenario.bare)
    return Error{
        "\"garbage\" is true, which requires \"bare\": true: add this member, or remove "
        "\"garbage\""};
  const Result<void> id = check_id(scenario.id);
  return id ? check_steps(scenario) : id;
}

// Parses a scenario without a script. Its member "instead" says where the scenario is tested, or
// why it is not tested.
Result<Scenario> parse_unscripted(const Json& json) {
  Scenario scenario;
  for (const auto& [name, target] : {std::pair<std::string_view, std::string*>{"id", &scenario.id},
                                     {"title", &scenario.title},
                                     {"instead", &scenario.instead}}) {
    Result<std::string> text = json.string_member(name);
    if (!text) return text.error();
    if (text->empty()) return Error{std::string(name) + ": must not be empty"};
    *target = std::move(*text);
  }
  if (json.as_object().size() != 3)
    return Error{
        "a scenario with \"instead\" may have only two more members, id and title: remove the "
        "others"};
  return scenario;
}

Result<Scenario> parse_scenario(const Json& json) {
  constexpr std::array<std::string_view, 15> kMembers{
      "bare",  "crowd", "id",    "title", "about",    "finding", "garbage", "severity",
      "setup", "steps", "types", "keys",  "payloads", "filler",  "oracle"};
  if (!json.is_object())
    return Error{"a scenario is " + json.brief() + ", but must be a JSON object"};
  if (json.find("instead") != nullptr) return parse_unscripted(json);
  Scenario scenario;
  for (const auto& [name, value] : json.as_object()) {
    if (std::ranges::find(kMembers, name) == kMembers.end())
      return Error{"the member \"" + name +
                   "\" is unknown; remove it, or correct its name "
                   "(benchmarks/scenarios/README.md)"};
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
  const Result<std::string> instance = json->string_member("instance");
  if (!instance) return Error{"a file of scenarios: " + instance.error().message};
  const Json* list = json->find("scenarios");
  if (list == nullptr) {
    return Error{"the file with \"instance\": \"" + *instance +
                 "\" has no field \"scenarios\"; add it (a list of scenarios)"};
  }
  if (!list->is_array()) return wrong_type("scenarios", *list, "a list");
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
    if (!scenarios) return Error{"benchmarks/scenarios/data: " + scenarios.error().message};
    std::ranges::move(*scenarios, std::back_inserter(all));
  }
  // Sorts by number, then by letter: S9 precedes S18, and S72 precedes S72b.
  const auto rank = [](const Scenario& scenario) {
    return std::pair(std::stoul(scenario.id.substr(1)), scenario.id);
  };
  std::ranges::sort(all, {}, rank);
  const auto twice = std::ranges::adjacent_find(all, {}, &Scenario::id);
  if (twice != all.end())
    return Error{twice->id + ": two scenarios have this id; change one of them"};
  return all;
}

}  // namespace keydrome::scenarios
