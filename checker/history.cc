#include "checker/history.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "checker/calls.h"

namespace keydrome {
namespace {

using Ranks = std::unordered_map<uint64_t, uint64_t>;

Result<Ranks> ranks_of(const std::vector<std::string>& keys) {
  Ranks ranks(keys.size());
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    if (!ranks.emplace(hash_bytes(keys[rank]), rank).second) {
      return Error{"two keys of the history have the same fingerprint; record again"};
    }
  }
  return ranks;
}

bool has_varchar_key(const History& history, const Event& event) {
  const EventCall call = call_of(event);
  return is_data_call(call) && event.index < history.indexes.size() &&
         history.indexes[event.index].type == VARCHAR &&
         (call != EventCall::kNext || succeeded(event));
}

}  // namespace

Result<void> rank_varchar_keys(History& history) {
  std::sort(history.varchar_keys.begin(), history.varchar_keys.end());
  history.varchar_keys.erase(std::unique(history.varchar_keys.begin(), history.varchar_keys.end()),
                             history.varchar_keys.end());
  Result<Ranks> ranks = ranks_of(history.varchar_keys);
  if (!ranks) return ranks.error();
  for (uint32_t thread = 0; thread < history.threads.size(); ++thread) {
    std::vector<Event>& events = history.threads[thread];
    for (uint32_t position = 0; position < events.size(); ++position) {
      Event& event = events[position];
      if (!has_varchar_key(history, event)) continue;
      const auto found = ranks->find(event.key);
      if (found == ranks->end() && call_of(event) != EventCall::kNext) {
        return Error{"thread " + std::to_string(thread) + ", event " + std::to_string(position) +
                     ": the key that was passed is not among the history's keys"};
      }
      if (found == ranks->end()) history.unknown_keys.push_back({thread, position, event.key});
      event.key = found == ranks->end() ? kUnknownKeyRank : found->second;
    }
  }
  return {};
}

std::string key_text(const History& history, uint16_t index, uint64_t key) {
  if (index >= history.indexes.size() || history.indexes[index].type != VARCHAR) {
    return std::to_string(static_cast<int64_t>(key));
  }
  if (key >= history.varchar_keys.size()) return "an unknown key";
  return '"' + history.varchar_keys[key] + '"';
}

}  // namespace keydrome
