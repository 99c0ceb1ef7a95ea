#include "runtime/runtime.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/codec/key_codec.h"
#include "runtime/control/mutant.h"
#include "runtime/control/none.h"

namespace keydrome::runtime {

namespace {

// The calling thread's session. Ends with the thread: an open transaction is rolled back, handles
// are closed.
struct ThreadEnd {
  Runtime* runtime = nullptr;
  ~ThreadEnd();
};

// Looked up by every call: initial-exec makes that one load instead of a call of __tls_get_addr,
// for eight bytes of what glibc sets aside for libraries that are loaded later.
[[gnu::tls_model("initial-exec")]] thread_local Session* t_session = nullptr;
thread_local ThreadEnd t_thread_end;

ThreadEnd::~ThreadEnd() {
  if (t_session != nullptr) runtime->end_session(*std::exchange(t_session, nullptr));
}

// Size of a payload, or more than MAX_PAYLOAD_LEN when it is too long.
uint32_t payload_size(const char* payload) {
  return static_cast<uint32_t>(strnlen(payload, MAX_PAYLOAD_LEN + 1));
}

// Only for a mutant.
Cursor& shared_cursor() {
  static Cursor cursor;
  return cursor;
}

void copy_payload(const Cursor& cursor, Record& record) {
  std::memcpy(record.payload, cursor.payload, cursor.payload_size);
  record.payload[cursor.payload_size] = '\0';
}

}  // namespace

// Inlined into every call. What makes a session is kept out of its way.
inline Session* Runtime::session() {
  if (t_session == nullptr) [[unlikely]] {
    take_session();
  }
  return t_session;
}

[[gnu::noinline]] void Runtime::take_session() {
  t_session = sessions_.take();
  t_thread_end.runtime = this;
}

namespace {

// The calls under one control(). `AnyControl` is Control, or a control whose calls the compiler may
// then inline: "none", because the structure alone is what is compared there, so that every
// nanosecond beside it counts.
template <class AnyControl>
class RuntimeUnder final : public Runtime {
 public:
  RuntimeUnder(const StructureLibrary& structure, const Configuration& configuration)
      : Runtime(structure, configuration) {}

  ErrCode begin(TxnState** transaction) override {
    if (transaction == nullptr) return FAILURE;
    return as_client([&](Session& client) {
      if (client.state() != Session::State::kNone) return TXN_EXISTS;
      const ErrCode begun = control().begin(client.own());
      if (begun == SUCCESS) *transaction = client.open_transaction();
      return begun;
    });
  }

  ErrCode abort(TxnState* transaction) override {
    return as_client([&](Session& client) {
      if (!client.is_open_transaction(transaction)) return TXN_DNE;
      const bool doomed = client.state() == Session::State::kDoomed;
      client.end_transaction();
      return doomed ? SUCCESS : control().abort(client.own());
    });
  }

  ErrCode commit(TxnState* transaction) override {
    return as_client([&](Session& client) {
      if (!client.is_open_transaction(transaction)) return TXN_DNE;
      if (mutant(30) && client.state() == Session::State::kDoomed) {
        client.end_transaction();
        return SUCCESS;
      }
      if (client.state() == Session::State::kDoomed) return DEADLOCK;
      const ErrCode committed = control().commit(client.own());
      if (committed == DEADLOCK) {
        client.doom();
      } else {
        client.end_transaction();
      }
      return committed;
    });
  }

  ErrCode get(IdxState* state, TxnState* transaction, Record* record) override {
    if (record == nullptr) return FAILURE;
    return run(state, transaction, [&](Transaction& own, Index& index, Cursor& cursor) {
      const auto read = [&](KeydromeBytes key) __attribute__((always_inline)) {
        return control().get(own, index, cursor, key);
      };
      const ErrCode code = with_encoded(record->key, index.type(), read);
      if (code == SUCCESS) copy_payload(cursor, *record);
      return code;
    });
  }

  ErrCode get_next(IdxState* state, TxnState* transaction, Record* record) override {
    if (record == nullptr) return FAILURE;
    return run(state, transaction, [&](Transaction& own, Index& index, Cursor& cursor) {
      const ErrCode code = control().get_next(own, index, cursor);
      if (code != SUCCESS) return code;
      if (!decode_key(cursor.key_bytes(), index.type(), record->key)) return FAILURE;
      copy_payload(cursor, *record);
      return SUCCESS;
    });
  }

  ErrCode insert(IdxState* state, TxnState* transaction, const Key* key,
                 const char* payload) override {
    if (key == nullptr || payload == nullptr) return FAILURE;
    return run(state, transaction, [&](Transaction& own, Index& index, Cursor&) {
      const uint32_t full_size = payload_size(payload);
      const uint32_t size = mutant(40) && full_size == MAX_PAYLOAD_LEN ? full_size - 1 : full_size;
      if (size > MAX_PAYLOAD_LEN) return FAILURE;
      return with_encoded(*key, index.type(), [&](KeydromeBytes encoded) {
        return control().insert(own, index, encoded, {payload, size});
      });
    });
  }

  ErrCode erase(IdxState* state, TxnState* transaction, const Record* record) override {
    if (record == nullptr) return FAILURE;
    return run(state, transaction, [&](Transaction& own, Index& index, Cursor&) {
      const uint32_t size = payload_size(record->payload);
      if (size > MAX_PAYLOAD_LEN) return FAILURE;
      return with_encoded(record->key, index.type(), [&](KeydromeBytes key) {
        return size == 0 ? control().erase_key(own, index, key)
                         : control().erase_pair(own, index, key, {record->payload, size});
      });
    });
  }

 private:
  AnyControl& control() { return static_cast<AnyControl&>(Runtime::control()); }

  // Runs `call(client)` for the calling thread.
  template <class Call>
  ErrCode as_client(Call&& call) {
    Session* client = session();
    return client == nullptr ? FAILURE : call(*client);
  }

  // Ends the transaction of an auto-commit call that answered `code`. The answer stands, whether or
  // not it found something.
  ErrCode end_automatic(Transaction& automatic, ErrCode code) {
    if (code == DEADLOCK) return code;
    if (code == FAILURE) {
      control().abort(automatic);
      return code;
    }
    const ErrCode committed = control().commit(automatic);
    return committed == SUCCESS ? code : committed;
  }

  // Finds handle and transaction, or makes one for this call alone, runs
  // `call(transaction, index, cursor)` and keeps the books.
  template <class Call>
  ErrCode run(IdxState* state, TxnState* transaction, Call&& call) {
    return as_client([&](Session& client) {
      Handle* handle = client.handle(state);
      if (handle == nullptr) [[unlikely]] {
        return DB_DNE;
      }
      const bool automatic = transaction == nullptr;
      const ErrCode ready =
          automatic ? control().begin(client.automatic()) : client.check(transaction);
      if (ready != SUCCESS) [[unlikely]] {
        return ready;
      }
      Transaction& used = automatic ? client.automatic() : client.own();
      Cursor& cursor = automatic    ? client.fresh_cursor()
                       : mutant(37) ? shared_cursor()
                                    : client.cursor(*handle);
      ErrCode code;
      try {
        code = call(used, *handle->index, cursor);
      } catch (...) {
        if (automatic) control().abort(used);
        throw;
      }
      if (automatic) return end_automatic(used, code);
      if (code == DEADLOCK) client.doom();
      return code;
    });
  }
};

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::make(std::string_view setup_json) {
  const Result<Setup> setup = parse_setup(setup_json);
  if (!setup.ok()) return setup.error();
  const Result<StructureLibrary> structure = StructureLibrary::load(setup->structure_path);
  if (!structure.ok()) return structure.error();
  const Result<void> few = check_threads(setup->configuration, structure->table(), setup->threads);
  if (!few.ok()) return few.error();
  return make(*structure, setup->configuration);
}

Result<std::unique_ptr<Runtime>> Runtime::make(const StructureLibrary& structure,
                                               const Configuration& configuration) {
  const Result<void> able = check_capabilities(configuration, structure.table());
  if (!able.ok()) return able.error();
  std::unique_ptr<Runtime> runtime;
  if (configuration.control == ControlKind::kNone) {
    runtime = std::make_unique<RuntimeUnder<NoControl>>(structure, configuration);
  } else {
    runtime = std::make_unique<RuntimeUnder<Control>>(structure, configuration);
  }
  // A trial instance: options that the structure does not understand are an error now, not in the
  // first create.
  if (runtime->strategy_->make_store() == nullptr) {
    return Error{std::string("the structure ") + structure.table().name +
                 " makes no instance: configuration.options " +
                 (configuration.options.empty() ? "{}" : configuration.options) +
                 " are not understood, or memory is exhausted"};
  }
  return runtime;
}

Runtime::Runtime(const StructureLibrary& structure, Configuration configuration)
    : structure_(structure),
      configuration_(std::move(configuration)),
      strategy_(make_strategy(configuration_, structure_.table())),
      control_(make_control(configuration_, structure_.table())),
      description_(std::string(structure_.table().name) + " under " + configuration_.name + " (" +
                   describe(configuration_) + "): " + structure_.table().description),
      sessions_(*control_) {}

void Runtime::end_session(Session& session) {
  if (session.state() == Session::State::kOpen) control_->abort(session.own());
  session.end_transaction();
  session.close_all();
  sessions_.give_back(session);
}

ErrCode Runtime::create(KeyType type, const char* name) {
  if (name == nullptr || (type != SHORT && type != INT && type != VARCHAR)) return FAILURE;
  if (catalog_.has(name)) return DB_EXISTS;
  std::unique_ptr<Store> store = strategy_->make_store();
  if (store == nullptr) return FAILURE;
  return catalog_.add(
      std::make_shared<Index>(name, type, std::move(store), control_->make_index_control()));
}

ErrCode Runtime::delete_index(const char* name) {
  return name == nullptr ? DB_DNE : catalog_.remove(name);
}

ErrCode Runtime::open_index(const char* name, IdxState** state) {
  if (name == nullptr || state == nullptr) return FAILURE;
  Session* client = session();
  return client == nullptr ? FAILURE : client->open(name, catalog_, state);
}

ErrCode Runtime::close_index(IdxState* state) {
  Session* client = session();
  if (client == nullptr) return FAILURE;
  if (mutant(41) && client->state() == Session::State::kOpen) {
    control_->abort(client->own());
    control_->begin(client->own());
  }
  return client->close(state) ? SUCCESS : DB_DNE;
}

std::string Runtime::statistics() const {
  uint64_t pairs = 0;
  uint64_t bytes = 0;
  uint64_t height = 0;
  const std::vector<std::shared_ptr<Index>> indexes = catalog_.all();
  for (const std::shared_ptr<Index>& index : indexes) {
    const StoreStatistics one = index->store().statistics();
    pairs += one.pairs;
    bytes += one.bytes;
    height = std::max(height, one.height);
  }
  Json json;
  json["structure"] = structure_.table().name;
  json["configuration"] = configuration_.name;
  json["indexes"] = static_cast<uint64_t>(indexes.size());
  json["pairs"] = pairs;
  json["bytes"] = bytes;
  json["height_max"] = height;
  json["control"] = control_->statistics();
  return json.dump();
}

}  // namespace keydrome::runtime
