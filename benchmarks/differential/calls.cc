// Implements the operations on a session, the calls of the one client thread of the benchmark
// "differential": which calls are possible, and how indexes, keys and texts are renumbered.
#include "benchmarks/differential/calls.h"

#include <array>
#include <map>
#include <set>

#include "benchmarks/kit/format/payload_tag.h"

namespace keydrome::differential {
namespace {

// Tracks the open handles and the transaction of the thread.
class Client {
 public:
  // Makes the call if the call is possible; otherwise returns false.
  bool make(const Call& call) {
    switch (call.kind) {
      case CallKind::kCreate:
        if (in_transaction_) return false;
        created_.insert(call.index);
        return true;
      case CallKind::kOpen:
        if (slots_[call.slot] != 0) return false;
        if (created_.contains(call.index)) slots_[call.slot] = call.index + 1u;
        return true;
      case CallKind::kClose:
        if (!is_open(call)) return false;
        slots_[call.slot] = 0;
        return true;
      case CallKind::kBegin:
        if (in_transaction_) return false;
        in_transaction_ = true;
        return true;
      case CallKind::kCommit:
      case CallKind::kAbort:
        if (!in_transaction_) return false;
        in_transaction_ = false;
        return true;
      default:
        return is_open(call);
    }
  }
  bool in_transaction() const { return in_transaction_; }

 private:
  bool is_open(const Call& call) const { return slots_[call.slot] == call.index + 1u; }

  // By slot, the numbered variable for a handle: index + 1, or 0 if no handle is open.
  std::array<uint32_t, format::kSlots> slots_{};
  std::set<uint16_t> created_;
  bool in_transaction_ = false;
};

}  // namespace

std::vector<Call> playable(const std::vector<Call>& calls) {
  Client client;
  std::vector<Call> left;
  left.reserve(calls.size() + 1);
  for (const Call& call : calls) {
    if (client.make(call)) left.push_back(call);
  }
  if (client.in_transaction()) left.push_back({.kind = CallKind::kCommit});
  return left;
}

Case compact(const Case& session) {
  Case small{.indexes = {}, .keys = {}, .texts = {""}, .calls = {}};
  std::map<uint16_t, uint16_t> indexes;
  std::map<uint32_t, uint32_t> keys, texts{{0, 0}};
  for (Call call : session.calls) {
    if (uses_index(call.kind)) {
      const auto [entry, fresh] = indexes.try_emplace(call.index, small.indexes.size());
      if (fresh) small.indexes.push_back(session.indexes[call.index]);
      call.index = entry->second;
    }
    if (has_key(call.kind)) {
      const auto [entry, fresh] = keys.try_emplace(call.key, small.keys.size());
      if (fresh) small.keys.push_back(session.keys[call.key]);
      call.key = entry->second;
    }
    if (has_payload(call.kind)) {
      const auto [entry, fresh] = texts.try_emplace(call.text, small.texts.size());
      if (fresh) small.texts.push_back(session.texts[call.text]);
      call.text = entry->second;
    }
    small.calls.push_back(call);
  }
  return small;
}

std::string index_name(uint32_t number) {
  constexpr uint32_t kLetters = 26;
  if (number < kLetters) return {static_cast<char>('A' + number)};
  return "I" + std::to_string(number);
}

std::string payload_bytes(const Case& session, const Call& call) {
  std::string bytes(format::kTagBytes, ' ');
  format::write_tag(call.tag, bytes.data());
  return bytes + session.texts[call.text];
}

}  // namespace keydrome::differential
