// Implements configuration.h: parses the JSON that keydrome_configure receives and checks every
// field. The JSON names a structure (the library of a data structure without transactions) and a
// configuration. A method is a concurrency control that a configuration can name.
#include "runtime/configuration.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "runtime/codec/key_codec.h"
#include "runtime/concurrency/methods.h"
#include "runtime/strategy/direct.h"

namespace keydrome::runtime {

namespace {

template <class Kind>
struct Word {
  std::string_view word;
  Kind kind;
};

constexpr Word<StrategyKind> kStrategies[] = {{"direct", StrategyKind::kDirect}};
constexpr Word<LockKind> kLocks[] = {
    {"exclusive", LockKind::kExclusive}, {"rw", LockKind::kReadWrite}, {"none", LockKind::kNone}};

constexpr Word<KeyType> kKeyTypes[] = {{"short", SHORT}, {"int", INT}, {"varchar", VARCHAR}};

// Returns an error if `object` has a field that is neither in `known` nor equal to `accepted`. The
// message lists `known` only, because `accepted` is an old name that new files must not use.
Result<void> refuse_unknown(const Json& object, const char* what,
                            std::initializer_list<std::string_view> known,
                            std::string_view accepted = {}) {
  for (const auto& [name, value] : object.as_object()) {
    if (name == accepted || std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string message =
        std::string(what) + "." + name + ": unknown field; remove it, or use one of these:";
    for (const std::string_view one : known) message += " " + std::string(one);
    return Error{message};
  }
  return {};
}

Result<std::string> text_field(const Json& object, const char* name) {
  const Json* value = object.find(name);
  const std::string where = std::string("configuration.") + name;
  if (value == nullptr) return Error{where + ": missing; add this field"};
  if (!value->is_string()) return Error{where + ": must be a string"};
  return value->as_string();
}

Error unsupported(const char* name, const std::string& text,
                  const std::vector<std::string_view>& choices) {
  std::string message =
      std::string("configuration.") + name + ": \"" + text + "\" is not supported; choose one of";
  for (const std::string_view choice : choices) message += " \"" + std::string(choice) + "\",";
  message.pop_back();
  return Error{message};
}

// Parses a field whose value is one of a few words.
template <class Kind, size_t count>
Result<Kind> choice_field(const Json& object, const char* name, const Word<Kind> (&words)[count]) {
  const Result<std::string> text = text_field(object, name);
  if (!text.ok()) return text.error();
  std::vector<std::string_view> choices;
  for (const Word<Kind>& word : words) {
    if (word.word == *text) return word.kind;
    choices.push_back(word.word);
  }
  return unsupported(name, *text, choices);
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos;
}

Result<std::string> parse_options(const Json& object) {
  const Json* options = object.find("options");
  if (options == nullptr) return std::string();
  if (!options->is_object()) return Error{"configuration.options: must be an object"};
  return options->dump();
}

// Format 2 of configurations has the field `concurrency`. Format 1 called it `control`, and stored
// configurations still use that name.
Result<const ConcurrencyMethod*> parse_concurrency(const Json& object) {
  const bool old = object.find("control") != nullptr;
  if (old && object.find("concurrency") != nullptr) {
    return Error{
        "configuration.control: this is the old name of the field \"concurrency\", and the "
        "configuration has both; remove \"control\""};
  }
  const char* name = old ? "control" : "concurrency";
  const Result<std::string> text = text_field(object, name);
  if (!text.ok()) return text.error();
  if (const ConcurrencyMethod* method = find_concurrency_method(*text)) return method;
  std::vector<std::string_view> choices;
  for (const ConcurrencyMethod& method : concurrency_methods()) choices.push_back(method.name);
  return unsupported(name, *text, choices);
}

// Checks the type of the field `reference`. Only the tools of this repository use its value
// (docs/reference/configuration.md); the runtime ignores it.
Result<void> check_reference(const Json& object) {
  const Json* reference = object.find("reference");
  if (reference == nullptr || reference->is_bool()) return {};
  return Error{"configuration.reference: must be true or false"};
}

Result<Configuration> parse_configuration(const Json& json) {
  if (!json.is_object()) return Error{"configuration: must be an object"};
  const Result<void> known = refuse_unknown(
      json, "configuration",
      {"name", "title", "description", "strategy", "concurrency", "lock", "options", "reference"},
      "control");
  if (!known.ok()) return known.error();
  const Result<std::string> name = text_field(json, "name");
  if (!name.ok()) return name.error();
  if (!is_name(*name)) {
    return Error{"configuration.name: must be 1 to 64 characters of a-z, 0-9, '-' and '_'"};
  }
  const Result<std::string> title = text_field(json, "title");
  if (!title.ok()) return title.error();
  const Result<std::string> description = text_field(json, "description");
  if (!description.ok()) return description.error();
  const Result<StrategyKind> strategy = choice_field(json, "strategy", kStrategies);
  if (!strategy.ok()) return strategy.error();
  const Result<const ConcurrencyMethod*> method = parse_concurrency(json);
  if (!method.ok()) return method.error();
  const Result<LockKind> lock = choice_field(json, "lock", kLocks);
  if (!lock.ok()) return lock.error();
  const std::string concurrency((*method)->name);
  if ((*method)->isolates == (*lock == LockKind::kNone)) {
    return Error{"configuration.lock: must be " +
                 std::string((*method)->isolates ? "\"exclusive\" or \"rw\"" : "\"none\"") +
                 " for concurrency \"" + concurrency + "\""};
  }
  const Result<void> reference = check_reference(json);
  if (!reference.ok()) return reference.error();
  const Result<std::string> options = parse_options(json);
  if (!options.ok()) return options.error();
  return Configuration{*name, *title, *description, *strategy, concurrency, *lock, *options};
}

Result<std::vector<KeyType>> parse_key_types(const Json& setup) {
  const Error wrong{"key_types: must be a list of \"short\", \"int\" and \"varchar\""};
  std::vector<KeyType> types;
  const Json* given = setup.find("key_types");
  if (given == nullptr) return types;
  if (!given->is_array()) return wrong;
  for (const Json& name : given->as_array()) {
    const auto* found =
        std::find_if(std::begin(kKeyTypes), std::end(kKeyTypes), [&](const Word<KeyType>& word) {
          return name.is_string() && name.as_string() == word.word;
        });
    if (found == std::end(kKeyTypes)) return wrong;
    types.push_back(found->kind);
  }
  return types;
}

// Precondition: `configuration.concurrency` names a method. parse_setup has checked it.
const ConcurrencyMethod& method_of(const Configuration& configuration) {
  const ConcurrencyMethod* method = find_concurrency_method(configuration.concurrency);
  KEYDROME_CHECK(method != nullptr);
  return *method;
}

// Returns the names of the methods for which `need` is false, in quotes and joined by "or".
std::string methods_without(bool ConcurrencyMethod::* need) {
  std::string names;
  for (const ConcurrencyMethod& method : concurrency_methods()) {
    if (method.*need) continue;
    names += (names.empty() ? "\"" : " or \"") + std::string(method.name) + "\"";
  }
  return names;
}

LatchKind latch_of(LockKind lock) {
  switch (lock) {
    case LockKind::kExclusive:
      return LatchKind::kExclusive;
    case LockKind::kReadWrite:
      return LatchKind::kShared;
    case LockKind::kNone:
      break;
  }
  return LatchKind::kNone;
}

bool is_thread_safe(const KeydromeStructureTable& table) {
  return (table.capabilities & KEYDROME_THREAD_SAFE) != 0;
}

}  // namespace

Result<Setup> parse_setup(std::string_view text) {
  const Result<Json> json = Json::parse(text);
  if (!json.ok()) return Error{"the configuration is not JSON: " + json.error().message};
  if (!json->is_object()) return Error{"the configuration must be a JSON object"};
  const Result<void> known =
      refuse_unknown(*json, "setup", {"structure", "configuration", "threads", "key_types"});
  if (!known.ok()) return known.error();
  const Json* structure = json->find("structure");
  if (structure == nullptr || !structure->is_string() || structure->as_string().empty()) {
    return Error{"structure: must be the path of a bare structure's library"};
  }
  const Json* inner = json->find("configuration");
  if (inner == nullptr) return Error{"configuration: missing; add this field"};
  Result<Configuration> configuration = parse_configuration(*inner);
  if (!configuration.ok()) return configuration.error();
  int64_t threads = 1;
  if (const Json* given = json->find("threads")) {
    if (!given->is_int() || given->as_int() < 1)
      return Error{"threads: must be a positive integer"};
    threads = given->as_int();
  }
  const Result<std::vector<KeyType>> key_types = parse_key_types(*json);
  if (!key_types.ok()) return key_types.error();
  return Setup{structure->as_string(), *std::move(configuration), threads, *key_types};
}

Result<void> check_capabilities(const Configuration& configuration,
                                const KeydromeStructureTable& table) {
  constexpr uint32_t kReadersTogether = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE;
  if (configuration.lock == LockKind::kReadWrite && (table.capabilities & kReadersTogether) == 0) {
    return Error{
        std::string("configuration.lock: \"rw\" lets several threads read at once, but the "
                    "structure ") +
        table.name + " does not have the capability KEYDROME_SHARED_READS; use \"exclusive\""};
  }
  const ConcurrencyMethod& method = method_of(configuration);
  if (method.needs_order && (table.capabilities & KEYDROME_UNORDERED) != 0) {
    return Error{std::string("configuration.concurrency: \"") + configuration.concurrency +
                 "\" scans the structure, but the structure " + table.name +
                 " has the capability KEYDROME_UNORDERED; use " +
                 methods_without(&ConcurrencyMethod::needs_order)};
  }
  if (method.needs_payloads && table.payloads_max != 0) {
    return Error{std::string("configuration.concurrency: \"") + configuration.concurrency +
                 "\" keeps several payloads of a key for a while, but the structure " + table.name +
                 " holds only " + std::to_string(table.payloads_max) +
                 " of a key (payloads_max of its table); use " +
                 methods_without(&ConcurrencyMethod::needs_payloads)};
  }
  return {};
}

Result<void> check_threads(const Configuration& configuration, const KeydromeStructureTable& table,
                           int64_t threads) {
  if (threads == 1 || method_of(configuration).isolates || is_thread_safe(table)) return {};
  return Error{
      std::to_string(threads) + " threads will call, but concurrency \"" +
      configuration.concurrency + "\" does not lock the structure, and " + table.name +
      " does not have the capability KEYDROME_THREAD_SAFE; use a benchmark that calls from one "
      "thread (for example ycsb with auto_commit=1 and threads=1), or a configuration with another "
      "concurrency"};
}

Result<void> check_key_types(const std::vector<KeyType>& key_types,
                             const KeydromeStructureTable& table) {
  const uint32_t only = table.key_bytes_only;
  for (const KeyType type : key_types) {
    if (only == 0 || key_bytes_of(type) == only) continue;
    return Error{std::string("the structure ") + table.name + " holds only keys of " +
                 std::to_string(only) + " bytes (key_bytes_only of its table), but the benchmark " +
                 "has an index with keys of another type; use another structure, or a benchmark " +
                 "with keys of this size only (4 bytes: SHORT, 8 bytes: INT)"};
  }
  return {};
}

std::unique_ptr<Strategy> make_strategy(const Configuration& configuration,
                                        const KeydromeStructureTable& table) {
  switch (configuration.strategy) {
    case StrategyKind::kDirect:
      return std::make_unique<DirectStrategy>(table, configuration.options);
  }
  return nullptr;
}

std::unique_ptr<Concurrency> make_concurrency(const Configuration& configuration,
                                              const KeydromeStructureTable& table) {
  return method_of(configuration).make({latch_of(configuration.lock), is_thread_safe(table)});
}

}  // namespace keydrome::runtime
