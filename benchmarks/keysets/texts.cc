#include "benchmarks/keysets/texts.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <span>
#include <utility>

#include "base/check.h"

namespace keydrome::keysets {
namespace {

std::size_t common_prefix(std::string_view first, const std::vector<std::string>& texts) {
  std::size_t common = first.size();
  for (const std::string& text : texts) {
    const std::size_t length = std::min(common, text.size());
    common = static_cast<std::size_t>(
        std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(length),
                      text.begin())
            .first -
        first.begin());
  }
  return common;
}

// Eight bytes of a text, the first of them highest; zeros behind its end.
uint64_t head_of(std::string_view text, std::size_t from) {
  uint64_t head = 0;
  for (std::size_t at = from; at < from + sizeof head; ++at) {
    head = head << 8 | (at < text.size() ? static_cast<uint8_t>(text[at]) : 0u);
  }
  return head;
}

struct Place {
  uint64_t head;
  uint32_t text;
};

// Sorts places of texts that are alike in the bytes before `from`: by the next eight, and where
// these are equal again by those behind them. So a text is looked at once in eight bytes, and not
// in each comparison, which would be a cache miss.
void sort_from(std::size_t from, std::span<Place> places, const std::vector<std::string>& texts) {
  bool more = false;
  for (Place& place : places) {
    place.head = head_of(texts[place.text], from);
    more = more || texts[place.text].size() > from + sizeof place.head;
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.head < b.head; });
  if (!more) return;
  for (auto first = places.begin(); first != places.end();) {
    const auto last = std::find_if(first + 1, places.end(),
                                   [&](const Place& place) { return place.head != first->head; });
    if (last - first > 1) sort_from(from + sizeof first->head, {first, last}, texts);
    first = last;
  }
}

}  // namespace

KnownTexts::KnownTexts(uint32_t count) : slots_(std::bit_ceil(std::size_t{2} * count + 1)) {}

bool KnownTexts::add(std::string_view text, const std::vector<std::string>& texts) {
  KEYDROME_CHECK(texts.size() < slots_.size() / 2);
  const uint64_t hash = std::hash<std::string_view>()(text);
  const auto half = static_cast<uint32_t>(hash >> 32);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].next != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash == half && texts[slots_[at].next - 1] == text) return false;
  }
  slots_[at] = {.hash = half, .next = static_cast<uint32_t>(texts.size() + 1)};
  return true;
}

void sort_texts(std::vector<std::string>& texts) {
  if (texts.empty()) return;
  const std::size_t common = common_prefix(texts.front(), texts);
  std::vector<Place> places(texts.size());
  for (uint32_t i = 0; i < places.size(); ++i) places[i].text = i;
  sort_from(common, places, texts);
  std::vector<std::string> sorted;
  sorted.reserve(texts.size());
  for (const Place& place : places) sorted.push_back(std::move(texts[place.text]));
  texts = std::move(sorted);
}

}  // namespace keydrome::keysets
