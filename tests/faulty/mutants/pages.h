// Defines the pages of an index for a mutant (a library with one deliberate fault) that loses locks
// when a page splits. The runtime, which adds locks to a data structure, does not see the pages of
// the structure. So this file models pages: a page covers a range of keys, and splits in the middle
// when it has too many pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/content/content.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

// No key is greater than this one.
inline constexpr auto kAboveAllKeys = [] {
  std::array<unsigned char, KEYDROME_KEY_BYTES_MAX> bytes{};
  bytes.fill(0xff);
  return bytes;
}();

// Not thread-safe; the latch of the index guards it.
class Pages {
 public:
  static constexpr size_t kPairsMax = 64;
  static constexpr uint8_t kNames = 250;

  // Returns the name of the page that covers the key. A new page has a new name; after kNames pages
  // the names are used again.
  uint8_t name_of(KeydromeBytes key) { return page_of(key)->second.name; }

  // Splits the page of an inserted key if it is full. Also removes the next page if that is empty
  // and not the last.
  void inserted(const Store& store, KeydromeBytes key) {
    const auto page = page_of(key);
    const auto next = std::next(page);
    if (next != pages_.end() && std::next(next) != pages_.end() &&
        keys_of(store, next, 1).empty()) {
      pages_.erase(next);
    }
    if (++page->second.pairs <= kPairsMax) return;
    const std::vector<std::string> keys = keys_of(store, page, SIZE_MAX);
    page->second.pairs = keys.size();
    const std::string& middle = keys.empty() ? page->first : keys[keys.size() / 2];
    if (keys.size() <= kPairsMax || middle <= page->first) return;
    page->second.pairs = keys.size() / 2;
    pages_.emplace(middle,
                   Page{static_cast<uint8_t>(names_++ % kNames), keys.size() - keys.size() / 2});
  }

 private:
  struct Page {
    uint8_t name;
    size_t pairs;  // at least as many as there are, because deletions are not counted
  };
  using Map = std::map<std::string, Page, std::less<>>;  // by the smallest key of the page

  Map::iterator page_of(KeydromeBytes key) {
    return std::prev(
        pages_.upper_bound(std::string_view(static_cast<const char*>(key.data), key.size)));
  }

  // Returns the keys of at most `most` pairs of a page.
  std::vector<std::string> keys_of(const Store& store, Map::const_iterator page,
                                   size_t most) const {
    const auto next = std::next(page);
    std::vector<std::string> keys;
    const KeydromeBytes first{page->first.data(), static_cast<uint32_t>(page->first.size())};
    Run run;
    KeydromeBytes found, payload;
    for (; keys.size() < most && run.peek(store, before_key(first), found, payload) == 1;
         run.pass()) {
      std::string key(static_cast<const char*>(found.data), found.size);
      if (next != pages_.end() && key >= next->first) break;
      keys.push_back(std::move(key));
    }
    return keys;
  }

  Map pages_{{"", {0, 0}}};
  size_t names_ = 1;
};

struct PagedContent : Content {
  using Content::Content;
  Pages pages;
};

}  // namespace keydrome::runtime
