// Implements history.h: replaces the hashes of varchar keys in a recorded history by ranks, and
// formats keys for people.
#include "checker/history/history.h"

#include <algorithm>

#include "base/hash.h"
#include "checker/history/calls.h"
#include "checker/history/flat_table.h"

namespace keydrome::history {
namespace {

// Returns a table that maps the hash of each key to the position of the key in `keys`, its rank.
Result<FlatTable> ranks_of(const std::vector<std::string>& keys) {
  FlatTable ranks(keys.size());
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    if (ranks.number_of(hash_bytes(keys[rank]), 0) != rank) {
      return Error{
          "two keys of the history have the same hash, so the checker cannot distinguish events "
          "on them; record the run again with other keys"};
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

bool has_unknown_key(const History& history, const Event& event) {
  return has_varchar_key(history, event) && event.key == kUnknownKeyRank;
}

Result<void> rank_varchar_keys(History& history) {
  std::sort(history.varchar_keys.begin(), history.varchar_keys.end());
  history.varchar_keys.erase(std::unique(history.varchar_keys.begin(), history.varchar_keys.end()),
                             history.varchar_keys.end());
  Result<FlatTable> ranks = ranks_of(history.varchar_keys);
  if (!ranks) return ranks.error();
  for (uint32_t thread = 0; thread < history.threads.size(); ++thread) {
    std::vector<Event>& events = history.threads[thread];
    for (uint32_t position = 0; position < events.size(); ++position) {
      Event& event = events[position];
      if (position + FlatTable::kAhead < events.size())
        ranks->prefetch(events[position + FlatTable::kAhead].key);
      if (!has_varchar_key(history, event)) continue;
      const uint32_t rank = ranks->find(event.key, 0);
      const bool known = rank < history.varchar_keys.size();
      if (!known) {
        const bool returned = call_of(event) == EventCall::kNext;
        (returned ? history.unknown_keys : history.unknown_arguments)
            .push_back({thread, position, event.key});
      }
      event.key = known ? rank : kUnknownKeyRank;
    }
  }
  return {};
}

namespace {

// Returns the key in printable ASCII. If the key has more than kShown bytes, returns only its first
// and its last 8 bytes, with "..." between them. Keys rarely differ only in the middle.
std::string readable(std::string_view key) {
  constexpr std::size_t kShown = 16, kTail = 8;
  std::string text;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key.size() > kShown && i == kShown - kTail) {
      text += "...";
      i = key.size() - kTail;
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(key[i]);
    const bool plain = byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
    if (plain) {
      text += key[i];
    } else {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15u]};
    }
  }
  return text;
}

constexpr const char* kUnknownKeyText = "an unknown key";

}  // namespace

std::string key_text(const History& history, uint16_t index, uint64_t key) {
  if (index >= history.indexes.size() || history.indexes[index].type != VARCHAR) {
    return std::to_string(static_cast<int64_t>(key));
  }
  if (key >= history.varchar_keys.size()) return kUnknownKeyText;
  return '"' + readable(history.varchar_keys[key]) + '"';
}

std::string named_key(const History& history, uint16_t index, uint64_t key) {
  std::string text = key_text(history, index, key);
  return text == kUnknownKeyText ? text : "key " + text;
}

}  // namespace keydrome::history
