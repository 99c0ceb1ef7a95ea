// The runtime: one structure under one configuration, behind the calls of contract A.
//
// library.cc exports these calls; here they have their meaning: which thread, which handle, which
// transaction, which bytes. What a transaction then does to an index is the Control's.
//
// Thread safety: all functions, from any thread; a session belongs to the calling thread. Functions
// that take memory throw std::bad_alloc.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "keydrome/index.h"
#include "runtime/catalog.h"
#include "runtime/configuration.h"
#include "runtime/control/control.h"
#include "runtime/instance/structure_library.h"
#include "runtime/session.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

class Runtime {
 public:
  // `setup` is the JSON of keydrome_configure. Loads the structure.
  static Result<std::unique_ptr<Runtime>> make(std::string_view setup);
  static Result<std::unique_ptr<Runtime>> make(const StructureLibrary& structure,
                                               const Configuration& configuration);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  ErrCode create(KeyType type, const char* name);
  ErrCode delete_index(const char* name);
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

  const std::string& description() const { return description_; }
  // JSON. Reads the structures without a lock: only when no call is under way.
  std::string statistics() const;

  // Rolls back what the thread left open and makes its session free.
  void end_session(Session& session);

 protected:
  Runtime(const StructureLibrary& structure, Configuration configuration);

  // The calling thread's. nullptr when the control takes no further thread.
  Session* session();
  Control& control() { return *control_; }

 private:
  void take_session();

  const StructureLibrary structure_;
  const Configuration configuration_;
  const std::unique_ptr<Strategy> strategy_;
  const std::unique_ptr<Control> control_;
  const std::string description_;
  Catalog catalog_;
  SessionPool sessions_;
};

}  // namespace keydrome::runtime
