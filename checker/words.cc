#include "checker/words.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "checker/calls.h"

namespace keydrome {
namespace {

constexpr std::array<std::string_view, 11> kCodeNames = {
    "SUCCESS", "DB_DNE",       "DB_EXISTS", "DB_END",   "KEY_NOTFOUND", "TXN_EXISTS",
    "TXN_DNE", "ENTRY_EXISTS", "ENTRY_DNE", "DEADLOCK", "FAILURE"};

std::string code_name(uint8_t code) {
  if (code < kCodeNames.size()) return std::string(kCodeNames.at(code));
  return "undocumented code " + std::to_string(code);
}

}  // namespace

Words::Words(const History& history, std::vector<EventRef> calls) : history_(history) {
  const auto event = [&](EventRef ref) -> const Event& {
    return history.threads[ref.thread][ref.position];
  };
  std::ranges::sort(calls, {}, [&](EventRef ref) {
    return std::tuple(event(ref).end, ref.thread, ref.position);
  });
  for (const EventRef ref : calls) {
    const uint64_t payload = event(ref).payload;
    if (payload != 0) records_.emplace(payload, "r" + std::to_string(records_.size() + 1));
  }
}

std::string Words::record(uint64_t payload) const {
  const auto found = records_.find(payload);
  return found == records_.end() ? "?" : found->second;
}

std::string Words::index(const Event& event) const {
  if (event.index >= history_.indexes.size()) return "?";
  return '"' + history_.indexes[event.index].name + '"';
}

std::string Words::call(const Event& event) const {
  const auto with_key = [&](std::string_view name) {
    return std::string(name) + "(" + index(event) + ", " +
           key_text(history_, event.index, event.key);
  };
  switch (call_of(event)) {
    case EventCall::kCreate:
      return "create(" + index(event) + ")";
    case EventCall::kOpen:
      return "openIndex(" + index(event) + ")";
    case EventCall::kClose:
      return "closeIndex(" + index(event) + ")";
    case EventCall::kBegin:
      return "beginTransaction()";
    case EventCall::kCommit:
      return "commitTransaction()";
    case EventCall::kAbort:
      return "abortTransaction()";
    case EventCall::kGet:
      return with_key("get") + ")";
    case EventCall::kNext:
      return "getNext(" + index(event) + ")";
    case EventCall::kInsert:
      return with_key("insertRecord") + ", " + record(event.payload) + ")";
    case EventCall::kDeletePair:
      return with_key("deleteRecord") + ", " + record(event.payload) + ")";
    case EventCall::kDeleteKey:
      return with_key("deleteRecord") + ", all)";
  }
  return "an unknown call";
}

std::string Words::answer(const Event& event) const {
  std::string text = code_name(event.code);
  if (event.code != SUCCESS) return text;
  if (call_of(event) == EventCall::kGet) return text + ", " + record(event.payload);
  if (call_of(event) != EventCall::kNext) return text;
  return text + ", " + key_text(history_, event.index, event.key) + ", " + record(event.payload);
}

}  // namespace keydrome
