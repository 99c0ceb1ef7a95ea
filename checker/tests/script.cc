// Implements script.h: turns a line of text into a recorded history for a test.
#include "checker/tests/script.h"

#include <map>
#include <sstream>

#include "base/check.h"
#include "base/hash.h"
#include "checker/history/calls.h"

namespace keydrome {

using history::Event;
using history::EventCall;
using history::History;
using history::kEventAutoCommit;

namespace {

const std::map<std::string, uint8_t> kCodes = {
    {"NF", KEY_NOTFOUND}, {"END", DB_END},      {"EXISTS", ENTRY_EXISTS},
    {"NONE", ENTRY_DNE},  {"DL", DEADLOCK},     {"TXN", TXN_DNE},
    {"FAIL", FAILURE},    {"OPEN", TXN_EXISTS}, {"NODB", DB_DNE}};
const std::map<std::string, EventCall> kCalls = {
    {"b", EventCall::kBegin},      {"c", EventCall::kCommit},    {"a", EventCall::kAbort},
    {"g", EventCall::kGet},        {"n", EventCall::kNext},      {"i", EventCall::kInsert},
    {"open", EventCall::kOpen},    {"close", EventCall::kClose}, {"d", EventCall::kDeletePair},
    {"create", EventCall::kCreate}};

// Returns the part of `text` before `mark`, and removes this part and the mark from `text`.
std::string before(std::string& text, char mark) {
  const std::size_t at = text.find(mark);
  std::string head = text.substr(0, at);
  text = at == std::string::npos ? "" : text.substr(at + 1);
  return head;
}

// One step of a script. If `overlaps` is true, its call begins together with the previous call.
struct Step {
  uint32_t thread;
  Event event{};
  bool overlaps = false;
};

// Parses the steps of a script, such as "1:i(5,x)".
class Reader {
 public:
  Reader(History& history, KeyType type) : history_(history), type_(type) {}

  Step read(std::string text) {
    Step step{};
    if (text[0] == '~') {
      step.overlaps = true;
      text.erase(0, 1);
    }
    step.thread = static_cast<uint32_t>(std::stoul(before(text, ':')));
    unsigned handle = 0;
    const std::size_t dot = text.find('.');
    if (dot == 1 || (dot == 2 && text[1] >= '1' && text[1] <= '8')) {
      step.event.index = static_cast<uint16_t>(text[0] - 'A');
      if (dot == 2) handle = static_cast<unsigned>(text[1] - '1');
      text.erase(0, dot + 1);
    }
    std::string answer = text;
    std::string call = before(answer, '=');
    std::string arguments = call;
    std::string letter = before(arguments, '(');
    if (letter.back() == '!') {
      step.event.call = kEventAutoCommit;
      letter.pop_back();
    }
    KEYDROME_CHECK(kCalls.count(letter) == 1);
    EventCall kind = kCalls.at(letter);
    std::string inside = before(arguments, ')');
    const std::string key = before(inside, ',');
    if (inside == "*") kind = EventCall::kDeleteKey;
    step.event.call |= static_cast<uint8_t>(kind);
    step.event.call |= static_cast<uint8_t>(handle << history::kEventHandleShift);
    if (!key.empty()) step.event.key = key_of(key);
    if (!inside.empty() && inside != "*") step.event.payload = hash_bytes(inside);
    read_answer(kind, answer, step.event);
    return step;
  }

 private:
  void read_answer(EventCall kind, std::string answer, Event& event) {
    const auto code = kCodes.find(answer);
    if (code != kCodes.end()) {
      event.code = code->second;
    } else if (kind == EventCall::kGet) {
      event.payload = hash_bytes(answer);
    } else if (kind == EventCall::kNext) {
      event.key = key_of(before(answer, ','));
      event.payload = hash_bytes(answer);
    } else {
      KEYDROME_CHECK(answer.empty());  // a misspelt code
    }
  }

  uint64_t key_of(const std::string& word) {
    if (type_ != VARCHAR) return static_cast<uint64_t>(std::stoll(word));
    history_.varchar_keys.push_back(word);
    return hash_bytes(word);
  }

  History& history_;
  const KeyType type_;
};

}  // namespace

History script(std::string_view steps, KeyType type) {
  History history;
  history.indexes = {{type, "A"}, {type, "B"}};
  Reader reader(history, type);
  std::istringstream words{std::string(steps)};
  uint64_t begin = 0;
  uint64_t now = 0;
  for (std::string word; words >> word;) {
    Step step = reader.read(word);
    if (history.threads.size() <= step.thread) history.threads.resize(step.thread + 1);
    if (!step.overlaps) begin = now + 10;
    now = (step.overlaps ? now : begin) + 10;
    step.event.end = now;
    step.event.duration = static_cast<uint32_t>(now - begin);
    history.threads[step.thread].push_back(step.event);
  }
  const Result<void> ranked = rank_varchar_keys(history);
  KEYDROME_CHECK(ranked.ok());
  return history;
}

std::string text_of(const History& history) {
  static const char* const kNames[] = {"create", "open", "close",  "begin",  "commit",   "abort",
                                       "get",    "next", "insert", "delete", "deleteAll"};
  std::ostringstream text;
  for (std::size_t thread = 0; thread < history.threads.size(); ++thread) {
    for (const Event& event : history.threads[thread]) {
      text << "thread " << thread << " [" << event.end - event.duration << ", " << event.end << "] "
           << (is_auto_commit(event) ? "auto " : "")
           << kNames[static_cast<std::size_t>(call_of(event))] << " index " << event.index
           << " handle " << handle_of(event) << " key " << static_cast<int64_t>(event.key)
           << " payload " << std::hex << (event.payload >> 48) << std::dec << " -> "
           << int{event.code} << "\n";
    }
  }
  return text.str();
}

}  // namespace keydrome
