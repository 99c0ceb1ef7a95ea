// Implements the parser of the scenario notation (benchmarks/scenarios/README.md). A turn such as
// "T1: b g(1)=a c" lists calls of one client thread. The parser splits a turn into calls, and each
// call into handle, arguments and correct results (answers).
#include "benchmarks/scenarios/script/notation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace keydrome::scenarios {
namespace {

constexpr uint32_t kSetupRepeatMax = 100'000;
constexpr std::string_view kUnknownCall =
    "unknown call (write b, c, a, g(1), n, n*, i(1,x), d(1,x), d(1,*), open or close)";
constexpr std::array<std::string_view, 3> kTypeNames{"int32", "int64", "varchar"};
static_assert(SHORT == 0 && INT == 1 && VARCHAR == 2);

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Error bad(std::string_view what, std::string_view text) {
  return {std::string(what) + ": \"" + std::string(text) + "\""};
}

Result<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return bad("a key or a number must be an integer", text);
  return value;
}

// Removes a prefix like "A." and returns its handle. Returns handle A if there is no prefix.
Result<uint32_t> take_handle(std::string_view& text, Scenario& scenario) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return handle_number("A", scenario);
  const std::string_view name = text.substr(0, dot);
  text.remove_prefix(dot + 1);
  return handle_number(name, scenario);
}

// Parses a correct result: a code like NF, a key with or without payload (9 or 9:x) for getNext, or
// a payload (x) for get.
Result<Answer> parse_answer(std::string_view text, Action action) {
  constexpr std::array<std::pair<std::string_view, uint32_t>, 10> kCodes{
      {{"OK", SUCCESS},
       {"DB_DNE", DB_DNE},
       {"TXN_EXISTS", TXN_EXISTS},
       {"NF", KEY_NOTFOUND},
       {"END", DB_END},
       {"EXISTS", ENTRY_EXISTS},
       {"ENTRY_DNE", ENTRY_DNE},
       {"FAILURE", FAILURE},
       {"DEADLOCK", DEADLOCK},
       {"TXN_DNE", TXN_DNE}}};
  for (const auto& [name, code] : kCodes) {
    if (text == name) return Answer{.code = code, .key = {}, .payload = {}};
  }
  Answer answer;
  if (action == Action::kGet) {
    answer.payload = std::string(text);
    return answer;
  }
  if (action != Action::kNext)
    return bad("only get and getNext can return a record; write a result code such as OK or NF",
               text);
  const std::size_t colon = std::min(text.find(':'), text.size());
  const Result<int64_t> key = number(text.substr(0, colon));
  if (!key) return key.error();
  answer.key = *key;
  if (colon < text.size()) answer.payload = std::string(text.substr(colon + 1));
  return answer;
}

// Parses a call like "i(3,x)", without handle and answers. LIMIT: this function is long, because it
// compares the text with each call name. Splitting the function would hide the list of calls.
Result<void> parse_call(std::string_view call, Step& step) {
  constexpr std::array<std::pair<std::string_view, Action>, 8> kBare{{{"b", Action::kBegin},
                                                                      {"b+", Action::kBegin},
                                                                      {"c", Action::kCommit},
                                                                      {"a", Action::kAbort},
                                                                      {"n", Action::kNext},
                                                                      {"n*", Action::kNextToEnd},
                                                                      {"open", Action::kOpen},
                                                                      {"close", Action::kClose}}};
  for (const auto& [name, action] : kBare) {
    if (call != name) continue;
    step.action = action;
    step.continues = call == "b+";
    return {};
  }
  if (call.size() < 4 || call[1] != '(' || call.back() != ')') return bad(kUnknownCall, call);
  std::string_view arguments = call.substr(2, call.size() - 3);
  const std::size_t comma = arguments.find(',');
  std::string_view label = arguments.substr(0, comma);
  const std::size_t at = label.find('@');
  if (at != std::string_view::npos) {
    const auto type = std::ranges::find(kTypeNames, label.substr(at + 1));
    if (type == kTypeNames.end())
      return bad("the type of a key must be int32, int64 or varchar", call);
    step.key_type = static_cast<KeyType>(type - kTypeNames.begin());
    label = label.substr(0, at);
  }
  const Result<int64_t> key = number(label);
  if (!key) return key.error();
  step.key = *key;
  if (comma != std::string_view::npos) step.payload = std::string(arguments.substr(comma + 1));
  const bool has_payload = !step.payload.empty();
  if (call[0] == 'g' && !has_payload) {
    step.action = Action::kGet;
  } else if (call[0] == 'i' && has_payload && step.payload != "*") {
    step.action = Action::kInsert;
  } else if (call[0] == 'd' && has_payload) {
    step.action = step.payload == "*" ? Action::kDeleteKey : Action::kDeletePair;
  } else {
    return bad(kUnknownCall, call);
  }
  return {};
}

bool is_data_call(Action action) { return action >= Action::kGet && action <= Action::kDeleteKey; }

// Checks that the step is possible after the previous steps, and updates `in_transaction`. A bare
// call is made exactly as written, even if the API forbids it, so it is always possible. The call
// passes the current transaction unless it is marked with '!'.
Result<void> check_order(Step& step, bool explicit_auto_commit, std::vector<bool>& in_transaction,
                         bool bare) {
  if (bare) {
    if (step.action == Action::kNextToEnd)
      return bad("a scenario with \"bare\": true cannot use n*; write n", step.text);
    step.auto_commit = explicit_auto_commit;
    return {};
  }
  if (step.key_type) return bad("a key of another type requires \"bare\": true", step.text);
  std::vector<bool>::reference open = in_transaction[step.session];
  const bool ends = step.action == Action::kCommit || step.action == Action::kAbort;
  if (step.action == Action::kBegin && open)
    return bad("the previous transaction has not ended; add c or a before this step", step.text);
  if (ends && !open) return bad("no transaction is open; add b before this step", step.text);
  if (explicit_auto_commit && !is_data_call(step.action))
    return bad("'!' is possible only with g, n, i and d", step.text);
  step.auto_commit = is_data_call(step.action) && (explicit_auto_commit || !open);
  if (step.action == Action::kBegin) open = true;
  if (ends) open = false;
  return {};
}

Result<void> parse_step(std::string_view token, uint32_t session, std::vector<bool>& in_transaction,
                        Scenario& scenario) {
  Step step;
  step.session = session;
  const std::size_t equals = std::min(token.find('='), token.size());
  step.text = std::string(token.substr(0, equals));
  std::string_view call = std::string_view(token).substr(0, equals);
  const bool explicit_auto_commit = call.starts_with('!');
  if (explicit_auto_commit) call.remove_prefix(1);
  const Result<uint32_t> handle = take_handle(call, scenario);
  if (!handle) return handle.error();
  step.handle = *handle;
  if (Result<void> parsed = parse_call(call, step); !parsed) return parsed;
  if (Result<void> placed = check_order(step, explicit_auto_commit, in_transaction, scenario.bare);
      !placed) {
    return placed;
  }
  if (equals < token.size()) {
    for (const std::string_view text : split(token.substr(equals + 1), '|')) {
      Result<Answer> answer = parse_answer(text, step.action);
      if (!answer) return answer.error();
      step.answers.push_back(std::move(*answer));
    }
  }
  scenario.steps.push_back(std::move(step));
  return {};
}

}  // namespace

Result<uint32_t> handle_number(std::string_view name, Scenario& scenario) {
  for (uint32_t i = 0; i < scenario.handles.size(); ++i) {
    if (scenario.handles[i].name == name) return i;
  }
  const bool second = name.size() == 2 && name[1] == '2';
  if (name.empty() || name[0] < 'A' || name[0] >= static_cast<char>('A' + kIndexesMax) ||
      (name.size() != 1 && !second)) {
    return bad("unknown handle (write A, B or C, or A2, B2 or C2)", name);
  }
  const uint32_t index = static_cast<uint32_t>(name[0] - 'A');
  scenario.handles.push_back({.name = std::string(name), .index = index});
  scenario.indexes = std::max(scenario.indexes, index + 1);
  return static_cast<uint32_t>(scenario.handles.size() - 1);
}

Result<void> parse_turn(std::string_view turn, std::vector<bool>& in_transaction,
                        Scenario& scenario) {
  const std::size_t colon = turn.find(": ");
  if (colon != 2 || turn[0] != 'T')
    return bad("a turn must begin with T1, T2, T3 or T4, a colon and a blank", turn);
  const uint32_t session = static_cast<uint32_t>(turn[1] - '1');
  if (session >= kSessionsMax)
    return bad("a turn must begin with T1, T2, T3 or T4, a colon and a blank", turn);
  scenario.sessions = std::max(scenario.sessions, session + 1);
  in_transaction.resize(std::max<std::size_t>(in_transaction.size(), session + 1));
  for (const std::string_view token : split(turn.substr(colon + 1), ' ')) {
    Result<void> parsed = parse_step(token, session, in_transaction, scenario);
    if (!parsed) return parsed;
  }
  return {};
}

Result<void> parse_setup(std::string_view records, Scenario& scenario) {
  for (std::string_view token : split(records, ' ')) {
    const Result<uint32_t> handle = take_handle(token, scenario);
    if (!handle) return handle.error();
    SetupRecord record{.index = scenario.handles[*handle].index, .key = 0, .payload = "r"};
    const std::size_t equals = std::min(token.find('='), token.size());
    const Result<int64_t> key = number(token.substr(0, equals));
    if (!key) return key.error();
    record.key = *key;
    const std::string_view payload = equals < token.size() ? token.substr(equals + 1) : "r";
    const std::size_t star = payload.find('*');
    record.payload = std::string(payload.substr(0, star));
    if (star == std::string_view::npos) {
      scenario.setup.push_back(record);
      continue;
    }
    const Result<int64_t> times = number(payload.substr(star + 1));
    if (!times || *times < 1 || *times > kSetupRepeatMax) {
      return bad("the number after * must be from 1 to 100000", token);
    }
    for (int64_t i = 1; i <= *times; ++i) {
      scenario.setup.push_back(record);
      scenario.setup.back().payload += std::to_string(i);
    }
  }
  return {};
}

Result<std::string> parse_bytes(std::string_view text) {
  static_assert(MAX_VARCHAR_LEN == 128);
  constexpr std::string_view kWrongRepetition =
      "a repetition must have the form {a*N} with N from 1 to 128";
  std::string bytes;
  while (!text.empty()) {
    if (text.starts_with("\\x") && text.size() >= 4) {
      uint8_t value = 0;
      const char* end = text.data() + 4;
      if (std::from_chars(text.data() + 2, end, value, 16).ptr != end)
        return bad("two hexadecimal digits must follow \\x", text);
      bytes += static_cast<char>(value);
      text.remove_prefix(4);
    } else if (text.starts_with('{')) {
      const std::size_t close = text.find('}');
      if (close == std::string_view::npos || close < 4 || text[2] != '*') {
        return bad(kWrongRepetition, text);
      }
      const Result<int64_t> times = number(text.substr(3, close - 3));
      if (!times || *times < 1 || *times > MAX_VARCHAR_LEN) return bad(kWrongRepetition, text);
      bytes.append(static_cast<std::size_t>(*times), text[1]);
      text.remove_prefix(close + 1);
    } else {
      bytes += text.front();
      text.remove_prefix(1);
    }
  }
  return bytes;
}

}  // namespace keydrome::scenarios
