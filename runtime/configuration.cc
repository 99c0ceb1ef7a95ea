#include "runtime/configuration.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/json.h"
#include "runtime/control/gap_2pl.h"
#include "runtime/control/index_2pl.h"
#include "runtime/control/mvcc.h"
#include "runtime/control/none.h"
#include "runtime/control/occ.h"
#include "runtime/control/serial.h"
#include "runtime/strategy/direct.h"

namespace keydrome::runtime {

namespace {

template <class Kind>
struct Word {
  std::string_view word;
  Kind kind;
};

constexpr Word<StrategyKind> kStrategies[] = {{"direct", StrategyKind::kDirect}};
constexpr Word<ControlKind> kControls[] = {
    {"index_2pl", ControlKind::kIndex2pl}, {"gap_2pl", ControlKind::kGap2pl},
    {"serial", ControlKind::kSerial},      {"occ", ControlKind::kOcc},
    {"mvcc", ControlKind::kMvcc},          {"none", ControlKind::kNone}};
constexpr Word<LockKind> kLocks[] = {
    {"exclusive", LockKind::kExclusive}, {"rw", LockKind::kReadWrite}, {"none", LockKind::kNone}};

Result<void> refuse_unknown(const Json& object, const char* what,
                            std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.as_object()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string message = std::string(what) + "." + name + ": unknown field; known are";
    for (const std::string_view one : known) message += " " + std::string(one);
    return Error{message};
  }
  return {};
}

Result<std::string> text_field(const Json& object, const char* name) {
  const Json* value = object.find(name);
  const std::string where = std::string("configuration.") + name;
  if (value == nullptr) return Error{where + ": missing"};
  if (!value->is_string()) return Error{where + ": must be a string"};
  return value->as_string();
}

// A field whose value is one of a few words.
template <class Kind, size_t count>
Result<Kind> choice_field(const Json& object, const char* name, const Word<Kind> (&words)[count]) {
  const Result<std::string> text = text_field(object, name);
  if (!text.ok()) return text.error();
  std::string message =
      std::string("configuration.") + name + ": \"" + *text + "\" is not supported; choose";
  for (const Word<Kind>& word : words) {
    if (word.word == *text) return word.kind;
    message += " \"" + std::string(word.word) + "\"";
  }
  return Error{message};
}

template <class Kind, size_t count>
std::string_view word_of(Kind kind, const Word<Kind> (&words)[count]) {
  for (const Word<Kind>& word : words) {
    if (word.kind == kind) return word.word;
  }
  return {};
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

Result<Configuration> parse_configuration(const Json& json) {
  if (!json.is_object()) return Error{"configuration: must be an object"};
  const Result<void> known =
      refuse_unknown(json, "configuration",
                     {"name", "title", "description", "strategy", "control", "lock", "options"});
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
  const Result<ControlKind> control = choice_field(json, "control", kControls);
  if (!control.ok()) return control.error();
  const Result<LockKind> lock = choice_field(json, "lock", kLocks);
  if (!lock.ok()) return lock.error();
  if ((*control == ControlKind::kNone) != (*lock == LockKind::kNone)) {
    return Error{
        "configuration.lock: \"none\" belongs to control \"none\", and every other control needs "
        "one"};
  }
  const Result<std::string> options = parse_options(json);
  if (!options.ok()) return options.error();
  return Configuration{*name, *title, *description, *strategy, *control, *lock, *options};
}

}  // namespace

Result<Setup> parse_setup(std::string_view text) {
  const Result<Json> json = Json::parse(text);
  if (!json.ok()) return Error{"the configuration is not JSON: " + json.error().message};
  if (!json->is_object()) return Error{"the configuration must be a JSON object"};
  const Result<void> known =
      refuse_unknown(*json, "setup", {"structure", "configuration", "threads"});
  if (!known.ok()) return known.error();
  const Json* structure = json->find("structure");
  if (structure == nullptr || !structure->is_string() || structure->as_string().empty()) {
    return Error{"structure: must be the path of a bare structure's library"};
  }
  const Json* inner = json->find("configuration");
  if (inner == nullptr) return Error{"configuration: missing"};
  Result<Configuration> configuration = parse_configuration(*inner);
  if (!configuration.ok()) return configuration.error();
  int64_t threads = 1;
  if (const Json* told = json->find("threads")) {
    if (!told->is_int() || told->as_int() < 1) return Error{"threads: must be a positive integer"};
    threads = told->as_int();
  }
  return Setup{structure->as_string(), *std::move(configuration), threads};
}

Result<void> check_capabilities(const Configuration& configuration,
                                const KeydromeStructureTable& table) {
  constexpr uint32_t kReadersTogether = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE;
  if (configuration.lock == LockKind::kReadWrite && (table.capabilities & kReadersTogether) == 0) {
    return Error{std::string("configuration.lock: \"rw\" lets several readers in at once, but the "
                             "structure ") +
                 table.name +
                 " does not have the capability KEYDROME_SHARED_READS; use \"exclusive\""};
  }
  return {};
}

Result<void> check_threads(const Configuration& configuration, const KeydromeStructureTable& table,
                           int64_t threads) {
  if (threads == 1 || configuration.control != ControlKind::kNone ||
      (table.capabilities & KEYDROME_THREAD_SAFE) != 0) {
    return {};
  }
  return Error{
      std::to_string(threads) +
      " threads are to call, but control \"none\" adds no latch and the structure " + table.name +
      " does not have the capability KEYDROME_THREAD_SAFE; use one thread (--threads 1), or "
      "a configuration with another control"};
}

std::unique_ptr<Strategy> make_strategy(const Configuration& configuration,
                                        const KeydromeStructureTable& table) {
  switch (configuration.strategy) {
    case StrategyKind::kDirect:
      return std::make_unique<DirectStrategy>(table, configuration.options);
  }
  return nullptr;
}

std::unique_ptr<Control> make_control(const Configuration& configuration,
                                      const KeydromeStructureTable& table) {
  const bool shared = configuration.lock == LockKind::kReadWrite;
  const LatchKind latch = shared ? LatchKind::kShared : LatchKind::kExclusive;
  switch (configuration.control) {
    case ControlKind::kIndex2pl:
      return std::make_unique<Index2pl>(shared ? ReadLock::kShared : ReadLock::kExclusive);
    case ControlKind::kGap2pl:
      return std::make_unique<Gap2pl>(latch);
    case ControlKind::kSerial:
      return std::make_unique<Serial>(latch);
    case ControlKind::kOcc:
      return std::make_unique<Occ>(latch);
    case ControlKind::kMvcc:
      return std::make_unique<Mvcc>(latch);
    case ControlKind::kNone:
      return std::make_unique<NoControl>((table.capabilities & KEYDROME_THREAD_SAFE) != 0);
  }
  return nullptr;
}

std::string describe(const Configuration& configuration) {
  std::string text(word_of(configuration.strategy, kStrategies));
  text += ", " + std::string(word_of(configuration.control, kControls));
  text += ", lock " + std::string(word_of(configuration.lock, kLocks));
  return text;
}

}  // namespace keydrome::runtime
