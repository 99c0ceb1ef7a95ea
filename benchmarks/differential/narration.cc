// Implements the narrator, which describes API calls for people: it numbers payloads, names
// handles and keys, and writes calls in words or in the notation of the scenarios
// (benchmarks/scenarios/README.md).
#include "benchmarks/differential/narration.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/count_text.h"
#include "benchmarks/differential/judged_calls.h"
#include "benchmarks/kit/judge/judge.h"
#include "checker/history/calls.h"

namespace keydrome::differential {

using history::Event;
using history::EventCall;
using history::History;

namespace {

constexpr uint32_t kRunMin = 4;        // at least this many similar calls become one line
constexpr uint32_t kTokensMax = 20;    // maximum number of calls shown in the notation
constexpr int64_t kNumberMax = 1'000;  // larger keys get labels in the notation
// Of string keys with more bytes, history::key_text() shows only the beginning and the end.
constexpr std::size_t kWholeKeyMax = 16;
constexpr std::size_t kAbbreviatedMax = 4;  // keys whose length is shown

bool has_index(EventCall call) {
  return call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort;
}

bool names_key(const Event& event) {
  const EventCall call = call_of(event);
  return history::is_data_call(call) && (call != EventCall::kNext || succeeded(event));
}

bool is_integer(const History& history, const Event& event) {
  return history.indexes[event.index].type != VARCHAR;
}

// Returns the name of the handle of each event (recorded call): "A" for the first handle of index
// A, "A2" for the second.
std::vector<std::string> handles_of(const Case& session, const History& history) {
  std::vector<std::string> handles;
  // By index: the slots (numbered variables of the player) of its handles, the first opened first.
  std::map<uint16_t, std::vector<uint8_t>> slots;
  const bool known = corresponds(history, session.calls);
  for (std::size_t i = 0; i < history.threads[0].size(); ++i) {
    const Event& event = history.threads[0][i];
    std::string name = has_index(call_of(event)) ? history.indexes[event.index].name : "";
    if (known && has_index(call_of(event)) && session.calls[i].kind != CallKind::kCreate) {
      std::vector<uint8_t>& of_index = slots[event.index];
      const auto found = std::ranges::find(of_index, session.calls[i].slot);
      const auto position = static_cast<std::size_t>(found - of_index.begin());
      if (found == of_index.end()) of_index.push_back(session.calls[i].slot);
      if (position > 0) name += std::to_string(position + 1);
    }
    handles.push_back(std::move(name));
  }
  return handles;
}

}  // namespace

Narrator::Narrator(const Case& session, const History& history)
    : history_(history),
      events_(history.threads[0]),
      handles_(handles_of(session, history)),
      keys_(history.indexes.size()) {
  for (const Event& event : events_) {
    const EventCall call = call_of(event);
    const bool passes = call == EventCall::kInsert || call == EventCall::kDeletePair;
    if (passes) payloads_.try_emplace(event.payload, payloads_.size() + 1);
    if (names_key(event)) keys_[event.index].push_back(event.key);
  }
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    std::vector<uint64_t>& keys = keys_[index];
    std::ranges::sort(keys, {}, [](uint64_t key) { return static_cast<int64_t>(key); });
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
}

std::string Narrator::payload(uint64_t hash) const {
  const auto found = payloads_.find(hash);
  if (found == payloads_.end()) return "a payload that was never passed to the library";
  return "p" + std::to_string(found->second);
}

std::string Narrator::answer(const Event& event) const {
  if (event.code == kNoAnswer) return "";
  const EventCall call = call_of(event);
  const bool reads = call == EventCall::kGet || call == EventCall::kNext;
  if (!succeeded(event) || !reads) return " -> " + code_text(event);
  const std::string payload = this->payload(event.payload);
  if (call == EventCall::kGet) return " -> " + payload;
  return " -> " + named_key(history_, event.index, event.key) + " with " +
         (payloads_.contains(event.payload) ? "payload " : "") + payload;
}

std::string Narrator::call(uint32_t position) const {
  const Event& event = events_[position];
  const EventCall call = call_of(event);
  std::string arguments = handles_[position];
  if (call == EventCall::kCreate) {
    constexpr std::array<const char*, 3> kTypes{"int32", "int64", "varchar"};
    const auto type = static_cast<std::size_t>(history_.indexes[event.index].type);
    arguments += std::string(", ") + kTypes.at(type);
  }
  if (history::is_data_call(call) && call != EventCall::kNext) {
    arguments += ", " + key_text(history_, event.index, event.key);
  }
  if (call == EventCall::kInsert || call == EventCall::kDeletePair) {
    arguments += ", " + payload(event.payload);
  }
  if (call == EventCall::kDeleteKey) arguments += ", all payloads";
  return std::string(call_name(call)) + "(" + arguments + ")" +
         (is_auto_commit(event) ? " with auto-commit" : "") + answer(event);
}

bool Narrator::alike(uint32_t a, uint32_t b) const {
  return events_[a].call == events_[b].call && events_[a].code == events_[b].code &&
         handles_[a] == handles_[b];
}

std::string Narrator::run_text(uint32_t first, uint32_t end) const {
  const std::string begin = call(first), number = std::to_string(end - first);
  for (uint32_t i = first + 1; i < end; ++i) {
    if (call(i) == begin) continue;
    const std::string last = call(end - 1);
    std::string text = number + " similar calls, ";
    if (last == begin) return text.append("such as ").append(call(i));
    return text.append("from ").append(begin).append(" to ").append(last);
  }
  return number + " times " + begin;
}

std::vector<std::string> Narrator::lines(uint32_t last) const {
  std::vector<std::string> lines, numbers;
  for (uint32_t first = 0; first <= last;) {
    uint32_t end = first + 1;
    while (end < last && alike(first, end)) ++end;
    if (end - first >= kRunMin) {
      lines.push_back(run_text(first, end));
      numbers.push_back("calls " + std::to_string(first + 1) + " to " + std::to_string(end) + ": ");
    } else {
      for (uint32_t i = first; i < end; ++i) {
        lines.push_back(call(i));
        numbers.push_back("call " + std::to_string(i + 1) + ": ");
      }
    }
    first = end;
  }
  if (lines.size() <= kLinesMax) return lines;
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].insert(0, numbers[i]);
  return lines;
}

std::string Narrator::abbreviations(uint32_t last) const {
  std::set<std::string> parts;
  for (uint32_t i = 0; i <= last; ++i) {
    const Event& event = events_[i];
    if (!names_key(event) || is_integer(history_, event)) continue;
    if (event.key >= history_.varchar_keys.size()) continue;
    const std::size_t bytes = history_.varchar_keys[event.key].size();
    if (bytes <= kWholeKeyMax) continue;
    parts.insert(key_text(history_, event.index, event.key) + " has " + count_text(bytes, "byte"));
  }
  std::string text;
  std::size_t shown = 0;
  for (const std::string& part : parts) {
    if (++shown > kAbbreviatedMax) break;
    text += (text.empty() ? "Long keys are shown in part: " : ", ") + part;
  }
  return text;
}

std::string Narrator::label(const Event& event) const {
  const std::vector<uint64_t>& keys = keys_[event.index];
  const auto key = static_cast<int64_t>(event.key);
  if (is_integer(history_, event) && key > -kNumberMax && key < kNumberMax) {
    return std::to_string(key);
  }
  const auto position = std::ranges::find(keys, event.key) - keys.begin();
  return "k" + std::to_string(position + 1);
}

std::string Narrator::token(uint32_t position) const {
  const Event& event = events_[position];
  constexpr std::array<const char*, 11> kLetters{"create", "open", "close", "b", "c", "a",
                                                 "g",      "n",    "i",     "d", "d"};
  const EventCall call = call_of(event);
  std::string text = kLetters.at(static_cast<std::size_t>(call));
  const bool several = std::ranges::any_of(handles_, [&](const std::string& handle) {
    return !handle.empty() && handle != handles_[position];
  });
  if (has_index(call) && several) text.insert(0, handles_[position] + ".");
  if (history::is_data_call(call) && call != EventCall::kNext) {
    text += "(" + label(event);
    if (call == EventCall::kInsert || call == EventCall::kDeletePair) {
      text += "," + payload(event.payload);
    }
    text += call == EventCall::kDeleteKey ? ",*)" : ")";
  }
  return text + result_token(event);
}

std::string Narrator::result_token(const Event& event) const {
  constexpr std::array<const char*, 11> kCodes{"",          "DB_DNE",     "DB_EXISTS", "END",
                                               "NF",        "TXN_EXISTS", "TXN_DNE",   "EXISTS",
                                               "ENTRY_DNE", "DEADLOCK",   "FAILURE"};
  if (event.code == kNoAnswer) return "";
  if (!succeeded(event)) {
    return std::string("=") + (event.code < kCodes.size() ? kCodes.at(event.code) : "?");
  }
  const EventCall call = call_of(event);
  if (call != EventCall::kGet && call != EventCall::kNext) return "";
  const bool known = payloads_.contains(event.payload);
  return "=" + (call == EventCall::kNext ? label(event) + ":" : std::string()) +
         (known ? payload(event.payload) : "?");
}

std::string Narrator::legend(uint32_t last) const {
  std::string payloads, further;
  for (uint32_t i = 0; i <= last; ++i) {
    const EventCall call = call_of(events_[i]);
    const bool passes = call == EventCall::kInsert || call == EventCall::kDeletePair;
    const bool reads = call == EventCall::kGet || call == EventCall::kNext;
    if (passes || (reads && succeeded(events_[i]))) payloads = "p1, p2 and so on are payloads";
    if (!has_index(call) || !further.empty()) continue;
    const std::string& index = history_.indexes[events_[i].index].name;
    if (handles_[i] != index) further = handles_[i] + " is a further handle of the index " + index;
  }
  if (payloads.empty() && further.empty()) return "";
  return "Here " + payloads + (payloads.empty() || further.empty() ? "" : ", and ") + further;
}

std::string Narrator::notation(uint32_t last) const {
  if (last >= kTokensMax) return "";
  std::string text = "T1:", legend;
  std::set<std::string> opened;
  for (uint32_t i = 0; i <= last; ++i) {
    const EventCall call = call_of(events_[i]);
    const bool first = call == EventCall::kOpen && opened.insert(handles_[i]).second;
    if (call != EventCall::kCreate && !first) text += " " + token(i);
  }
  if (text == "T1:") return "";  // the notation has no create and no first openIndex of a handle
  std::vector<std::string> explained;
  for (uint32_t i = 0; i <= last; ++i) {
    if (!names_key(events_[i])) continue;
    const std::string name = label(events_[i]);
    if (!name.starts_with('k')) continue;
    std::string line = history_.indexes[events_[i].index].name + "." + name + " is " +
                       key_text(history_, events_[i].index, events_[i].key);
    if (std::ranges::find(explained, line) != explained.end()) continue;
    legend += (legend.empty() ? "; " : ", ") + line;
    explained.push_back(std::move(line));
  }
  return text + legend;
}

}  // namespace keydrome::differential
