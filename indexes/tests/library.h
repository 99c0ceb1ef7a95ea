// The library under test, loaded with dlopen as the player does it, and a client of it that plays
// fair and checks that the library does: every argument lives in memory that is overwritten and
// freed as soon as the call returns.
//
// Thread safety: the table is constant after load(). A Handle belongs to one thread.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "keydrome/index.h"

namespace keydrome {

// The ten calls.
struct Calls {
  decltype(&::create) create;
  decltype(&::openIndex) open_index;
  decltype(&::closeIndex) close_index;
  decltype(&::beginTransaction) begin;
  decltype(&::abortTransaction) abort;
  decltype(&::commitTransaction) commit;
  decltype(&::get) get;
  decltype(&::getNext) get_next;
  decltype(&::insertRecord) insert;
  decltype(&::deleteRecord) erase;
};

// Loads the library at `path` and, when `configuration` is not empty, hands it to
// keydrome_configure. Prints what is wrong and returns false on failure. Call once, before any
// test.
bool load_library(const std::string& path, const std::string& configuration);

const Calls& library();

// No scan of these tests is longer: a library that never answers DB_END must not hang them.
inline constexpr int kScanMax = 10000;

// The seed of the random tests, from --seed.
uint64_t test_seed();
void set_test_seed(uint64_t seed);

const char* code_name(ErrCode code);

// A key as the tests think of it: an integer of either width, or a string. Orders as the contract
// says.
using KeyValue = std::variant<int64_t, std::string>;

// What a reading call returned. key and payload are empty unless code is SUCCESS.
struct Read {
  ErrCode code = FAILURE;
  KeyValue key;
  std::string payload;

  bool operator==(const Read&) const = default;
};
std::string show(const KeyValue& key);
std::ostream& operator<<(std::ostream& out, const Read& read);

// Makes an index with a name that no other test uses, and returns the name, which stays alive.
const char* make_index(KeyType type, std::string_view hint = "index");

// The key number `number` of a type, in an order that all types share; for tests that run on every
// key type.
KeyValue numbered_key(KeyType type, int64_t number);

// One open index, seen by one thread.
class Handle {
 public:
  Handle(const char* name, KeyType type);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Read get(TxnState* txn, const KeyValue& key) const;
  Read next(TxnState* txn) const;
  ErrCode insert(TxnState* txn, const KeyValue& key, std::string_view payload) const;
  ErrCode erase(TxnState* txn, const KeyValue& key, std::string_view payload) const;
  ErrCode erase_all(TxnState* txn, const KeyValue& key) const { return erase(txn, key, {}); }

  // Closes and opens again; what the cursor was is forgotten.
  void reopen();

  [[nodiscard]] KeyType type() const { return type_; }
  [[nodiscard]] KeyValue key(int64_t number) const { return numbered_key(type_, number); }
  [[nodiscard]] IdxState* raw() const { return state_; }

 private:
  std::string name_;
  KeyType type_;
  IdxState* state_ = nullptr;
};

// A transaction that aborts at the end of its scope unless it was ended.
class Transaction {
 public:
  Transaction();
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  ErrCode commit();
  ErrCode abort();
  operator TxnState*() const { return state_; }  // NOLINT: stands for the pointer in calls

 private:
  TxnState* state_ = nullptr;
};

}  // namespace keydrome
