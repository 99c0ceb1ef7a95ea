// Changes the pairs of a T-tree (tree.h): implements put, del, replace and the destructor of Tree.
#include "structures/ttree/tree.h"

namespace keydrome::ttree {

Tree::~Tree() {
  for (Place at = keys_.first(); at.node != nullptr; at.advance()) drop(at.entry().item);
}

void Tree::drop(Item item) {
  Record* record = item.record();
  if (item.has_duplicates()) Duplicates::of(item).drop(memory_);
  record->drop(memory_);
}

int Tree::put(KeydromeBytes key, KeydromeBytes payload_bytes) noexcept {
  const Probe probe = Probe::of(key);
  const std::string_view payload = view_of(payload_bytes);
  const Place place = keys_.lower_bound(probe);
  if (!place.has(probe)) return insert_key(probe, payload);
  Entry& entry = place.entry();
  if (!entry.item.has_duplicates()) {
    if (entry.item.record()->payload() == payload) return 0;
    return add_second_payload(entry, payload);
  }
  Duplicates& duplicates = Duplicates::of(entry.item);
  const Probe wanted = Probe::of(payload);
  if (duplicates.payloads.lower_bound(wanted).has(wanted)) return 0;
  return duplicates.add(memory_, payload) ? 1 : KEYDROME_NO_MEMORY;
}

int Tree::insert_key(const Probe& key, std::string_view payload) {
  Record* record = Record::make(memory_, key.key, payload);
  if (record == nullptr) return KEYDROME_NO_MEMORY;
  if (keys_.insert(key, Item(record))) return 1;
  record->drop(memory_);
  return KEYDROME_NO_MEMORY;
}

// Replaces the record of the entry by Duplicates, a tree of payloads (duplicates.h), with the
// payload of this record and a second one.
int Tree::add_second_payload(Entry& entry, std::string_view payload) {
  Record* record = entry.item.record();
  Duplicates* duplicates = Duplicates::make(memory_, record);
  if (duplicates == nullptr) return KEYDROME_NO_MEMORY;
  if (duplicates->add(memory_, record->payload()) && duplicates->add(memory_, payload)) {
    entry.item = Item(duplicates);
    return 1;
  }
  duplicates->drop(memory_);
  return KEYDROME_NO_MEMORY;
}

int Tree::del(KeydromeBytes key, KeydromeBytes payload_bytes) noexcept {
  const Probe probe = Probe::of(key);
  const std::string_view payload = view_of(payload_bytes);
  const Place place = keys_.lower_bound(probe);
  if (!place.has(probe)) return 0;
  const Item item = place.entry().item;
  if (item.has_duplicates()) {
    Set& payloads = Duplicates::of(item).payloads;
    const Probe wanted = Probe::of(payload);
    const Place at = payloads.lower_bound(wanted);
    if (!at.has(wanted)) return 0;
    if (payloads.size() > 1) {
      Duplicates::of(item).remove(memory_, at);
      if (payloads.size() == 1) make_single(place.entry());
      return 1;
    }
  } else if (item.record()->payload() != payload) {
    return 0;
  }
  keys_.erase(probe);
  drop(item);
  return 1;
}

// Replaces Duplicates with one payload by a record. If there is no memory for the record, the
// Duplicates stay.
void Tree::make_single(Entry& entry) {
  const Item old = entry.item;
  const std::string_view payload = Duplicates::of(old).payloads.first().entry().item.key();
  Record* record = Record::make(memory_, old.key(), payload);
  if (record == nullptr) return;
  entry.item = Item(record);
  drop(old);
}

int Tree::replace(KeydromeBytes key, KeydromeBytes before_bytes, KeydromeBytes now_bytes) noexcept {
  const Probe probe = Probe::of(key);
  const std::string_view before = view_of(before_bytes), now = view_of(now_bytes);
  const Place place = keys_.lower_bound(probe);
  if (!place.has(probe)) return 0;
  Entry& entry = place.entry();
  if (entry.item.has_duplicates()) {
    Duplicates& duplicates = Duplicates::of(entry.item);
    const Probe old = Probe::of(before), wanted = Probe::of(now);
    if (!duplicates.payloads.lower_bound(old).has(old)) return 0;
    if (duplicates.payloads.lower_bound(wanted).has(wanted)) return 2;
    if (!duplicates.add(memory_, now)) return KEYDROME_NO_MEMORY;
    duplicates.remove(memory_, duplicates.payloads.lower_bound(old));
    return 1;
  }
  Record* record = entry.item.record();
  if (record->payload() != before) return 0;
  if (before == now) return 2;
  Record* made = Record::make(memory_, probe.key, now);
  if (made == nullptr) return KEYDROME_NO_MEMORY;
  entry.item = Item(made);
  record->drop(memory_);
  return 1;
}

}  // namespace keydrome::ttree
