// Implements configuration.h: parses the JSON that keydrome_configure receives and checks every
// field. The JSON names a structure (the library of a data structure without transactions) and a
// configuration. A method is a concurrency control that a configuration can name.
#include "runtime/configuration.h"

#include <algorithm>
#include <iterator>
#include <span>
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

// The fields of the JSON, and those of its field `configuration`.
constexpr std::string_view kSetupFields[] = {"structure", "configuration", "threads", "key_types"};
constexpr std::string_view kConfigurationFields[] = {
    "name", "title", "description", "strategy", "concurrency", "lock", "options", "reference"};
constexpr std::string_view kOldConcurrency = "control";

constexpr Word<KeyType> kKeyTypes[] = {{"short", SHORT}, {"int", INT}, {"varchar", VARCHAR}};

// Joins words, such as "a, b or c".
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string quoted(std::string_view word) { return "\"" + std::string(word) + "\""; }

// Returns an error if `object` has a field that is neither in `known` nor equal to `accepted`. The
// message lists `known` only, because `accepted` is an old name that new files must not use.
// `prefix` precedes the names of fields in the message.
Result<void> refuse_unknown(const Json& object, const std::string& prefix,
                            std::span<const std::string_view> known,
                            std::string_view accepted = {}) {
  for (const auto& [name, value] : object.as_object()) {
    if (name == accepted || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Error{prefix + name + ": this field is unknown; remove it, or use " +
                 joined(std::vector<std::string>(known.begin(), known.end()))};
  }
  return {};
}

// Returns the first field of `setup` that belongs in the configuration, or an empty text.
std::string misplaced_field(const Json& setup) {
  for (const auto& [name, value] : setup.as_object()) {
    const bool is_inner =
        std::ranges::find(kConfigurationFields, name) != std::end(kConfigurationFields);
    if (is_inner || name == kOldConcurrency) return name;
  }
  return "";
}

// Not inlined, because GCC 12 then warns of a read beyond the text (a false alarm).
[[gnu::noinline]] Error missing_field(const std::string& field, const std::string& rule) {
  return Error{field + ": this field is missing; add it (" + rule + ")"};
}

Error wrong_value(const std::string& field, const Json& value, const std::string& rule) {
  return Error{field + " is " + value.dump() + ", but it must be " + rule};
}

// `rule` describes the values of the field.
Result<std::string> text_field(const Json& object, const char* name,
                               const std::string& rule = "a string") {
  const Json* value = object.find(name);
  const std::string where = std::string("configuration.") + name;
  if (value == nullptr) return missing_field(where, rule);
  if (!value->is_string()) return wrong_value(where, *value, "a string");
  return value->as_string();
}

Error unsupported(const char* name, const std::string& text, const std::string& choices) {
  return Error{std::string("configuration.") + name + ": " + quoted(text) +
               " is not supported; use " + choices};
}

// Parses a field whose value is one of a few words.
template <class Kind, size_t count>
Result<Kind> choice_field(const Json& object, const char* name, const Word<Kind> (&words)[count]) {
  std::vector<std::string> choices;
  for (const Word<Kind>& word : words) choices.push_back(quoted(word.word));
  const Result<std::string> text = text_field(object, name, joined(choices));
  if (!text.ok()) return text.error();
  for (const Word<Kind>& word : words) {
    if (word.word == *text) return word.kind;
  }
  return unsupported(name, *text, joined(choices));
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos;
}

Result<std::string> parse_options(const Json& object) {
  const Json* options = object.find("options");
  if (options == nullptr) return std::string();
  if (!options->is_object()) return wrong_value("configuration.options", *options, "an object");
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
  std::vector<std::string> choices;
  for (const ConcurrencyMethod& method : concurrency_methods()) {
    choices.push_back(quoted(method.name));
  }
  const Result<std::string> text = text_field(object, name, joined(choices));
  if (!text.ok()) return text.error();
  if (const ConcurrencyMethod* method = find_concurrency_method(*text)) return method;
  return unsupported(name, *text, joined(choices));
}

// Checks the type of the field `reference`. Only the tools of this repository use its value
// (docs/reference/configuration.md); the runtime ignores it.
Result<void> check_reference(const Json& object) {
  const Json* reference = object.find("reference");
  if (reference == nullptr || reference->is_bool()) return {};
  return wrong_value("configuration.reference", *reference, "true or false");
}

Result<Configuration> parse_configuration(const Json& json) {
  if (!json.is_object()) return wrong_value("configuration", json, "an object");
  const Result<void> known =
      refuse_unknown(json, "configuration.", kConfigurationFields, kOldConcurrency);
  if (!known.ok()) return known.error();
  const Result<std::string> name = text_field(json, "name");
  if (!name.ok()) return name.error();
  if (!is_name(*name)) {
    return wrong_value("configuration.name", *name,
                       "1 to 64 of the characters a-z, 0-9, hyphen and underscore");
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
    return wrong_value("configuration.lock", *json.find("lock"),
                       std::string((*method)->isolates ? "\"exclusive\" or \"rw\"" : "\"none\"") +
                           " for the concurrency " + quoted(concurrency));
  }
  const Result<void> reference = check_reference(json);
  if (!reference.ok()) return reference.error();
  const Result<std::string> options = parse_options(json);
  if (!options.ok()) return options.error();
  return Configuration{*name, *title, *description, *strategy, concurrency, *lock, *options};
}

Result<std::vector<KeyType>> parse_key_types(const Json& setup) {
  std::vector<KeyType> types;
  const Json* given = setup.find("key_types");
  if (given == nullptr) return types;
  const Error refusal = wrong_value("key_types", *given,
                                    "a list whose elements are \"short\", \"int\" or \"varchar\"");
  if (!given->is_array()) return refusal;
  for (const Json& name : given->as_array()) {
    const auto* found =
        std::find_if(std::begin(kKeyTypes), std::end(kKeyTypes), [&](const Word<KeyType>& word) {
          return name.is_string() && name.as_string() == word.word;
        });
    if (found == std::end(kKeyTypes)) return refusal;
    types.push_back(found->kind);
  }
  return types;
}

// Parts of messages. The configuration `exclusive` needs nothing from a structure.
constexpr const char* kUse = "use a configuration with the concurrency ";
constexpr const char* kForExample = " (for example the configuration exclusive)";

// Precondition: `configuration.concurrency` names a method. parse_setup has checked it.
const ConcurrencyMethod& method_of(const Configuration& configuration) {
  const ConcurrencyMethod* method = find_concurrency_method(configuration.concurrency);
  KEYDROME_CHECK(method != nullptr);
  return *method;
}

// Returns the names of the methods for which `need` is false, in quotes and joined by "or".
std::string methods_without(bool ConcurrencyMethod::* need) {
  std::vector<std::string> names;
  for (const ConcurrencyMethod& method : concurrency_methods()) {
    if (!(method.*need)) names.push_back(quoted(method.name));
  }
  return joined(names);
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
  if (text.empty()) {
    return Error{
        "keydrome_configure received no configuration (NULL or an empty text); pass a JSON object "
        "with the fields structure and configuration"};
  }
  const Result<Json> json = Json::parse(text);
  if (!json.ok()) return Error{"the configuration is not JSON: " + json.error().message};
  if (!json->is_object()) return wrong_value("the configuration", *json, "a JSON object");
  const Json* structure = json->find("structure");
  const std::string path = "the path of a structure's shared library";
  if (const std::string field = misplaced_field(*json); !field.empty()) {
    const std::string put = "put " + field + " into the object \"configuration\"";
    if (structure != nullptr) return Error{field + ": this field is in the wrong place; " + put};
    return Error{missing_field("structure", path).message + ", and " + put +
                 " (in a plan for the referee, only add library.structure)"};
  }
  const Result<void> known = refuse_unknown(*json, "", kSetupFields);
  if (!known.ok()) return known.error();
  if (structure == nullptr) return missing_field("structure", path);
  if (!structure->is_string() || structure->as_string().empty()) {
    return wrong_value("structure", *structure, path);
  }
  const Json* inner = json->find("configuration");
  if (inner == nullptr) return missing_field("configuration", "an object");
  Result<Configuration> configuration = parse_configuration(*inner);
  if (!configuration.ok()) return configuration.error();
  int64_t threads = 1;
  if (const Json* given = json->find("threads")) {
    if (!given->is_int() || given->as_int() < 1) {
      return wrong_value("threads", *given, "an integer of at least 1");
    }
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
        table.name +
        " does not have the capability KEYDROME_SHARED_READS; use a configuration with the lock "
        "\"exclusive\"" +
        kForExample};
  }
  const ConcurrencyMethod& method = method_of(configuration);
  if (method.needs_order && (table.capabilities & KEYDROME_UNORDERED) != 0) {
    return Error{std::string("configuration.concurrency: \"") + configuration.concurrency +
                 "\" scans the structure, but the structure " + table.name +
                 " has no order (capability KEYDROME_UNORDERED); " + kUse +
                 methods_without(&ConcurrencyMethod::needs_order) + kForExample};
  }
  if (method.needs_payloads && table.payloads_max != 0) {
    return Error{std::string("configuration.concurrency: \"") + configuration.concurrency +
                 "\" at times stores several payloads of a key, but the table of the structure " +
                 table.name + " allows only " + std::to_string(table.payloads_max) +
                 " (payloads_max); " + kUse + methods_without(&ConcurrencyMethod::needs_payloads) +
                 kForExample};
  }
  return {};
}

Result<void> check_threads(const Configuration& configuration, const KeydromeStructureTable& table,
                           int64_t threads) {
  if (threads == 1 || method_of(configuration).isolates || is_thread_safe(table)) return {};
  return Error{
      std::to_string(threads) + " threads will call the library, but the concurrency \"" +
      configuration.concurrency + "\" adds no locks, and the structure " + table.name +
      " does not have the capability KEYDROME_THREAD_SAFE; use a benchmark that calls from one "
      "thread (for example ycsb with auto_commit=1 and threads=1), or a configuration with another "
      "concurrency" +
      kForExample};
}

Result<void> check_key_types(const std::vector<KeyType>& key_types,
                             const KeydromeStructureTable& table) {
  const uint32_t only = table.key_bytes_only;
  for (const KeyType type : key_types) {
    if (only == 0 || key_bytes_of(type) == only) continue;
    return Error{std::string("the structure ") + table.name + " holds only keys of " +
                 std::to_string(only) + " bytes (key_bytes_only of its table), but the benchmark " +
                 "has an index with keys of the type " + described(type) +
                 "; use a benchmark whose keys all have " + std::to_string(only) +
                 " bytes, or a structure for keys of any size (keydrome check needs one)"};
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
