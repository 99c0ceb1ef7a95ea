// Runtime: provides the calls of index.h on top of one bare structure (a data structure without
// transactions and locks), as one configuration says.
//
//   Result<std::unique_ptr<Runtime>> runtime = Runtime::make(setup_json);
//   (*runtime)->create(INT, "accounts");
//
// library.cc exports these calls. A Client is the state that the runtime keeps for a thread
// (client.h). For each call, the runtime finds the Client of the calling thread, the handle and the
// transaction, and encodes the key. Then it calls the concurrency control, which reads or changes
// the index.
//
// Thread safety: several threads may call all functions at once, except the destructor. Each thread
// has its own Client. Functions that allocate memory may throw std::bad_alloc.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "keydrome/index.h"
#include "runtime/catalog.h"
#include "runtime/client.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/configuration.h"
#include "runtime/instance/structure_library.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

class Runtime {
 public:
  // Loads the structure that `setup` names and makes a runtime for it. `setup` is the JSON of
  // keydrome_configure.
  static Result<std::unique_ptr<Runtime>> make(std::string_view setup);
  static Result<std::unique_ptr<Runtime>> make(const StructureLibrary& structure,
                                               const Configuration& configuration);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  ErrCode create(KeyType type, const char* name);
  ErrCode open_index(const char* name, IdxState** state);
  ErrCode close_index(IdxState* state);
  virtual ErrCode begin(TxnState** transaction) = 0;
  virtual ErrCode abort(TxnState* transaction) = 0;
  virtual ErrCode commit(TxnState* transaction) = 0;
  virtual ErrCode get(IdxState* state, TxnState* transaction, Record* record) = 0;
  virtual ErrCode get_next(IdxState* state, TxnState* transaction, Record* record) = 0;
  virtual ErrCode insert(IdxState* state, TxnState* transaction, const Key* key,
                         const char* payload) = 0;
  virtual ErrCode erase(IdxState* state, TxnState* transaction, const Record* record) = 0;

  // Called when a thread exits. Rolls back its open transaction, closes its handles, and makes its
  // client available to another thread.
  void end_client(Client& client);

 protected:
  Runtime(const StructureLibrary& structure, Configuration configuration);

  // Returns the calling thread's client, or nullptr if the concurrency control allows no more
  // threads.
  Client* current_client();
  Concurrency& concurrency() { return *concurrency_; }
  // The longest payload that the structure can hold.
  uint32_t payload_bytes_max() const { return payload_bytes_max_; }
  // Returns FAILURE for the insertion of a payload of `size` bytes, which is too long. If index.h
  // allows this size, but the structure does not, also prints the reason on stderr, once.
  ErrCode refuse_payload(uint32_t size) const;

 private:
  void take_client();

  const StructureLibrary structure_;
  const uint32_t payload_bytes_max_;
  const Configuration configuration_;
  const std::unique_ptr<Strategy> strategy_;
  const std::unique_ptr<Concurrency> concurrency_;
  Catalog catalog_;
  ClientPool clients_;
};

}  // namespace keydrome::runtime
