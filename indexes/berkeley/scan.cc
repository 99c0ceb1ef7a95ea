// Implements scan.h: Scan, the position from which getNext continues, and the functions that insert
// and delete pairs. Scan reads with a cursor of Berkeley DB. If the cursor is no longer valid, Scan
// searches for the position again.
#include "indexes/berkeley/scan.h"

#include <array>
#include <cstring>
#include <string_view>

namespace keydrome {
namespace {

DBT buffer(char* bytes, uint32_t size, uint32_t capacity) {
  DBT thing;
  std::memset(&thing, 0, sizeof(thing));
  thing.data = bytes;
  thing.size = size;
  thing.ulen = capacity;
  thing.flags = DB_DBT_USERMEM;
  return thing;
}

DBT key_of(KeyBytes& key) { return buffer(key.bytes.data(), key.size, MAX_VARCHAR_LEN); }
DBT payload_of(PairBytes& pair) {
  return buffer(pair.payload.data(), pair.payload_size, MAX_PAYLOAD_LEN);
}

}  // namespace

void PairBytes::set_payload(std::string_view bytes) {
  std::memcpy(payload.data(), bytes.data(), bytes.size());
  payload_size = static_cast<uint32_t>(bytes.size());
}

int Scan::open(const Index& index, DB_TXN* txn) {
  place_ = Place::kStart;
  return index.database->cursor(index.database, txn, &cursor_, 0);
}

int Scan::close() {
  DBC* const cursor = cursor_;
  cursor_ = nullptr;
  return cursor == nullptr ? 0 : cursor->close(cursor);
}

int Scan::read(std::string_view from, uint32_t flags) {
  // Berkeley DB overwrites the given key with the key that it finds, so this function passes a
  // copy.
  std::array<char, MAX_VARCHAR_LEN + 1> bytes;
  std::memcpy(bytes.data(), from.data(), from.size());
  DBT key = buffer(bytes.data(), static_cast<uint32_t>(from.size()), bytes.size());
  PairBytes answer = pair_;
  DBT payload = payload_of(answer);
  const int error = cursor_->get(cursor_, &key, &payload, flags);
  if (error != 0) return error;
  std::memcpy(answer.key.bytes.data(), bytes.data(), key.size);
  answer.key.size = key.size;
  answer.payload_size = payload.size;
  pair_ = answer;
  return 0;
}

int Scan::get(const KeyBytes& key, uint64_t writes) {
  pair_.key = key;
  const int error = read(DB_SET);
  place_ = error == 0 ? Place::kAtPair : Place::kAfterKey;
  writes_ = writes;
  return error;
}

int Scan::next(uint64_t writes) {
  int error = 0;
  if (place_ == Place::kStart) {
    error = read(DB_FIRST);
  } else if (place_ == Place::kAtPair && writes == writes_) {
    error = read(DB_NEXT);
  } else {
    const PairBytes last = pair_;
    error = place_ == Place::kAtPair ? seek_after_pair() : seek_after_key();
    if (error != 0) pair_ = last;  // the search may have overwritten pair_ before it failed
  }
  if (error != 0) return error;
  place_ = Place::kAtPair;
  writes_ = writes;
  return 0;
}

int Scan::seek_after_pair() {
  const PairBytes last = pair_;
  // Searches for the first pair of this key that is equal to the last pair or larger. If the last
  // pair was deleted while a cursor was on it, Berkeley DB may find a smaller pair. So the loop
  // skips all pairs that are not larger than the last pair.
  int error = read(DB_GET_BOTH_RANGE);
  while (error == 0 && pair_.payload_view() <= last.payload_view()) error = read(DB_NEXT_DUP);
  return error == DB_NOTFOUND ? seek_after_key() : error;
}

// Searches for the key with an appended NUL, which is the smallest byte string that is larger than
// the key. A search for the key itself could find the key even if all its payloads have been
// deleted, because another cursor may still be on it.
int Scan::seek_after_key() {
  std::array<char, MAX_VARCHAR_LEN + 1> after{};  // the key and a NUL, which no string key contains
  std::memcpy(after.data(), pair_.key.bytes.data(), pair_.key.size);
  return read(std::string_view(after.data(), pair_.key.size + 1), DB_SET_RANGE);
}

int put_pair(const Index& index, DB_TXN* txn, PairBytes& pair) {
  DBT key = key_of(pair.key);
  DBT payload = payload_of(pair);
  return index.database->put(index.database, txn, &key, &payload, DB_NODUPDATA);
}

int delete_pair(const Index& index, DB_TXN* txn, PairBytes& pair) {
  DBC* cursor = nullptr;
  int error = index.database->cursor(index.database, txn, &cursor, 0);
  if (error != 0) return error;
  DBT key = key_of(pair.key);
  DBT payload = payload_of(pair);
  error = cursor->get(cursor, &key, &payload, DB_GET_BOTH | DB_RMW);
  if (error == 0) error = cursor->del(cursor, 0);
  const int close_error = cursor->close(cursor);
  return error != 0 ? error : close_error;
}

int delete_key(const Index& index, DB_TXN* txn, KeyBytes& key) {
  DBT thing = key_of(key);
  return index.database->del(index.database, txn, &thing, 0);
}

}  // namespace keydrome
