// Implements wording.h: writes recorded calls and their results as text, such as get("A", 5). The
// history has only hashes of payloads, so records are named r1, r2 and so on.
#include "checker/witness/wording.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "checker/history/calls.h"
#include "checker/names.h"

namespace keydrome::witness {

using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;

Wording::Wording(const History& history, std::vector<EventRef> calls) : history_(history) {
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

std::string Wording::record(uint64_t payload) const {
  const auto found = records_.find(payload);
  return found == records_.end() ? "?" : found->second;
}

std::string Wording::index(const Event& event) const {
  if (event.index >= history_.indexes.size()) return "?";
  return '"' + history_.indexes[event.index].name + '"' + handle_text(event);
}

std::string handle_text(const Event& event) {
  const uint32_t handle = handle_of(event);
  if (handle == 0) return "";
  return ", handle " + std::to_string(handle + 1) +
         (handle == history::kEventManyHandles ? " or higher" : "");
}

std::string Wording::call(const Event& event) const {
  const EventCall call = call_of(event);
  std::string text = std::string(call_name(call)) + "(";
  if (call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort) {
    text += index(event);
  }
  if (is_data_call(call) && call != EventCall::kNext) {
    text += ", " + key_text(history_, event.index, event.key);
  }
  if (call == EventCall::kInsert || call == EventCall::kDeletePair) {
    text += ", " + record(event.payload);
  }
  return text + (call == EventCall::kDeleteKey ? ", all)" : ")");
}

std::string Wording::answer(const Event& event) const {
  std::string text = code_text(event);
  if (event.code != SUCCESS) return text;
  if (call_of(event) == EventCall::kGet) return text + ", " + record(event.payload);
  if (call_of(event) != EventCall::kNext) return text;
  return text + ", " + key_text(history_, event.index, event.key) + ", " + record(event.payload);
}

}  // namespace keydrome::witness
