// Implements library.h: loads the library under test with dlopen and calls its functions.
#include "indexes/tests/library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>

#include "checker/names.h"
#include "keydrome/extensions.h"

namespace keydrome {
namespace {

Calls loaded;
uint64_t chosen_seed = 20090116;
thread_local const char* called = "a call";

template <typename Function>
bool look_up(void* object, const char* symbol, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(object, symbol));
  if (*out == nullptr)
    std::fprintf(stderr,
                 "contract_test: the library does not export the function %s: define it with C "
                 "linkage (extern \"C\") and default visibility\n",
                 symbol);
  return *out != nullptr;
}

// Overwrites and frees the memory of one argument after the call. A library that has kept a pointer
// to the argument then reads wrong bytes, or AddressSanitizer reports the access.
template <typename Type>
struct Poisoned {
  void operator()(Type* memory) const {
    std::memset(static_cast<void*>(memory), 0xA5, sizeof(Type));
    std::free(memory);
  }
};
template <typename Type>
using Argument = std::unique_ptr<Type, Poisoned<Type>>;

template <typename Type>
Argument<Type> zeroed_argument() {
  return Argument<Type>(static_cast<Type*>(std::calloc(1, sizeof(Type))));
}

void fill_key(KeyType type, const KeyValue& value, Key* key) {
  key->type = type;
  if (type == SHORT) {
    key->keyval.shortkey = static_cast<int32_t>(std::get<int64_t>(value));
  } else if (type == INT) {
    key->keyval.intkey = std::get<int64_t>(value);
  } else {
    const std::string& text = std::get<std::string>(value);
    // Fills the bytes after the terminator, because the library must ignore them.
    std::memset(key->keyval.charkey, 0x5A, sizeof(key->keyval.charkey));
    std::memcpy(key->keyval.charkey, text.c_str(), text.size() + 1);
  }
}

KeyValue read_key(const Key& key) {
  switch (key.type) {
    case SHORT:
      return int64_t{key.keyval.shortkey};
    case INT:
      return key.keyval.intkey;
    case VARCHAR:
      return std::string(key.keyval.charkey, strnlen(key.keyval.charkey, MAX_VARCHAR_LEN + 1));
  }
  return int64_t{0};
}

Read read_of(ErrCode code, const Record& record, KeyType type) {
  if (code != SUCCESS) return {code, {}, {}};
  EXPECT_EQ(record.key.type, type) << "the record's key has a different type from the index";
  return {code, read_key(record.key),
          std::string(record.payload, strnlen(record.payload, MAX_PAYLOAD_LEN + 1))};
}

}  // namespace

bool load_library(const std::string& path, const std::string& configuration) {
  // For a name without a slash, dlopen searches only the system's folders. So the path is absolute.
  void* const object = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    std::fprintf(
        stderr,
        "contract_test: cannot load the library: %s; correct the path of --library, or link the "
        "library with what it needs\n",
        dlerror());
    return false;
  }
  const bool complete = look_up(object, "create", &loaded.create) &&
                        look_up(object, "openIndex", &loaded.open_index) &&
                        look_up(object, "closeIndex", &loaded.close_index) &&
                        look_up(object, "beginTransaction", &loaded.begin) &&
                        look_up(object, "abortTransaction", &loaded.abort) &&
                        look_up(object, "commitTransaction", &loaded.commit) &&
                        look_up(object, "get", &loaded.get) &&
                        look_up(object, "getNext", &loaded.get_next) &&
                        look_up(object, "insertRecord", &loaded.insert) &&
                        look_up(object, "deleteRecord", &loaded.erase);
  if (!complete || configuration.empty()) return complete;
  decltype(&keydrome_configure) configure = nullptr;
  if (!look_up(object, "keydrome_configure", &configure)) return false;
  std::array<char, 512> reason{};
  if (configure(configuration.c_str(), reason.data(), reason.size()) == 0) return true;
  std::fprintf(stderr,
               "contract_test: the library refuses the configuration of --configure: %s; correct "
               "this JSON\n",
               reason.data());
  return false;
}

const Calls& library() { return loaded; }

uint64_t test_seed() { return chosen_seed; }
void set_test_seed(uint64_t value) { chosen_seed = value; }

const char* last_call() { return called; }

std::string code_name(ErrCode code) { return code_text(static_cast<uint32_t>(code)); }

std::string show(const KeyValue& key) {
  if (const auto* number = std::get_if<int64_t>(&key)) return std::to_string(*number);
  return testing::PrintToString(std::get<std::string>(key));
}

std::ostream& operator<<(std::ostream& out, const Read& read) {
  out << code_name(read.code);
  if (read.code != SUCCESS) return out;
  return out << " (" << show(read.key) << ", " << testing::PrintToString(read.payload) << ")";
}

const char* make_index(KeyType type, std::string_view hint) {
  static std::mutex lock;
  // Names stay valid until the process ends, because the index API lets libraries keep the pointer.
  static std::deque<std::string> names;
  std::string* name = nullptr;
  {
    const std::lock_guard<std::mutex> guard(lock);
    name = &names.emplace_back(std::string(hint) + "_" + std::to_string(names.size()));
  }
  EXPECT_EQ(loaded.create(type, name->data()), SUCCESS) << *name;
  return name->c_str();
}

KeyValue numbered_key(KeyType type, int64_t number) {
  if (type == SHORT) return number;
  if (type == INT) return number * (int64_t{1} << 33) + number;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "key %012lld", static_cast<long long>(number + 1000000));
  return std::string(text.data());
}

Handle::Handle(const char* name, KeyType type) : name_(name), type_(type) {
  EXPECT_EQ(loaded.open_index(name_.c_str(), &state_), SUCCESS);
}

Handle::~Handle() { EXPECT_EQ(loaded.close_index(state_), SUCCESS); }

void Handle::reopen() {
  EXPECT_EQ(loaded.close_index(state_), SUCCESS);
  EXPECT_EQ(loaded.open_index(name_.c_str(), &state_), SUCCESS);
}

Read Handle::get(TxnState* txn, const KeyValue& key) const {
  const auto record = zeroed_argument<Record>();
  fill_key(type_, key, &record->key);
  called = "get";
  const ErrCode code = loaded.get(state_, txn, record.get());
  return read_of(code, *record, type_);
}

Read Handle::next(TxnState* txn) const {
  const auto record = zeroed_argument<Record>();
  called = "getNext";
  const ErrCode code = loaded.get_next(state_, txn, record.get());
  return read_of(code, *record, type_);
}

ErrCode Handle::insert(TxnState* txn, const KeyValue& value, std::string_view payload) const {
  const auto key = zeroed_argument<Key>();
  fill_key(type_, value, key.get());
  const auto text = zeroed_argument<std::array<char, MAX_PAYLOAD_LEN + 1>>();
  payload.copy(text->data(), MAX_PAYLOAD_LEN);
  called = "insertRecord";
  return loaded.insert(state_, txn, key.get(), text->data());
}

ErrCode Handle::erase(TxnState* txn, const KeyValue& key, std::string_view payload) const {
  const auto record = zeroed_argument<Record>();
  fill_key(type_, key, &record->key);
  payload.copy(record->payload, MAX_PAYLOAD_LEN);
  called = "deleteRecord";
  return loaded.erase(state_, txn, record.get());
}

Transaction::Transaction() { EXPECT_EQ(loaded.begin(&state_), SUCCESS); }

Transaction::~Transaction() {
  if (state_ != nullptr) loaded.abort(state_);
}

ErrCode Transaction::commit() {
  const ErrCode code = loaded.commit(state_);
  if (code == SUCCESS) state_ = nullptr;
  return code;
}

ErrCode Transaction::abort() {
  TxnState* const state = state_;
  state_ = nullptr;
  return loaded.abort(state);
}

}  // namespace keydrome
