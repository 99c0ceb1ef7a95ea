// Loads the library under test with dlopen, and defines classes that call the library. The calls
// keep the promises that contract A (keydrome/index.h) demands of a caller. After each call, the
// memory of its key, record and payload is overwritten and freed. This detects a library that keeps
// a pointer to this memory.
//
// Thread safety: the table of functions is constant after load_library(). A Handle belongs to one
// thread.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "keydrome/index.h"

namespace keydrome {

// The ten functions of the library.
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

// Loads the library at `path`. If `configuration` is not empty, passes it to keydrome_configure.
// If loading or configuring fails, prints the cause and returns false. Must be called once, before
// any test.
bool load_library(const std::string& path, const std::string& configuration);

const Calls& library();

// The largest number of steps of a scan. The limit stops a test whose library never returns DB_END.
inline constexpr int kScanMax = 10000;

// The seed of the random tests, which the option --seed sets.
uint64_t test_seed();
void set_test_seed(uint64_t seed);

std::string code_name(ErrCode code);

// A key: a 32-bit or 64-bit integer, or a string. Comparing values gives the order of the contract.
using KeyValue = std::variant<int64_t, std::string>;

// The result of get or getNext. key and payload are set only if code is SUCCESS.
struct Read {
  ErrCode code = FAILURE;
  KeyValue key;
  std::string payload;

  bool operator==(const Read&) const = default;
};
std::string show(const KeyValue& key);
std::ostream& operator<<(std::ostream& out, const Read& read);

// Makes an index with a new name. Returns the name, which stays valid until the process ends.
const char* make_index(KeyType type, std::string_view hint = "index");

// Converts a number to a key of `type`. Keys have the same order as the numbers. For tests that run
// with every key type.
KeyValue numbered_key(KeyType type, int64_t number);

// Returns the name of the last of the four calls on records that this thread made with a Handle.
const char* last_call();

// An open index of one thread.
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

  // Closes the index and opens it again, which resets the cursor.
  void reopen();

  [[nodiscard]] KeyType type() const { return type_; }
  [[nodiscard]] KeyValue key(int64_t number) const { return numbered_key(type_, number); }
  [[nodiscard]] IdxState* raw() const { return state_; }

 private:
  std::string name_;
  KeyType type_;
  IdxState* state_ = nullptr;
};

// A transaction. If it is still open at the end of its scope, the destructor aborts it.
class Transaction {
 public:
  Transaction();
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  ErrCode commit();
  ErrCode abort();
  operator TxnState*() const { return state_; }  // NOLINT: passed as the pointer in calls

 private:
  TxnState* state_ = nullptr;
};

}  // namespace keydrome
