// Implements the calls of index.h. Each call finds the Client of the calling thread (the state that
// the runtime keeps for a thread, client.h), the handle and the transaction. Then it calls the
// concurrency control.
#include "runtime/runtime.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime/codec/key_codec.h"
#include "runtime/concurrency/none.h"

namespace keydrome::runtime {

namespace {

// Ends the calling thread's client when the thread exits.
struct ThreadEnd {
  Runtime* runtime = nullptr;
  ~ThreadEnd();
};

// The client of the calling thread. Every call reads this variable. The TLS model initial-exec
// makes the read one load instead of a call of __tls_get_addr. The cost is eight bytes of the
// static TLS space that glibc reserves for libraries that are loaded with dlopen.
[[gnu::tls_model("initial-exec")]] thread_local Client* t_client = nullptr;
thread_local ThreadEnd t_thread_end;

ThreadEnd::~ThreadEnd() {
  if (t_client != nullptr) runtime->end_client(*std::exchange(t_client, nullptr));
}

// Returns the size of a payload, or MAX_PAYLOAD_LEN + 1 if the payload is too long.
uint32_t payload_size(const char* payload) {
  return static_cast<uint32_t>(strnlen(payload, MAX_PAYLOAD_LEN + 1));
}

void copy_payload(const Cursor& cursor, Record& record) {
  std::memcpy(record.payload, cursor.payload, cursor.payload_size);
  record.payload[cursor.payload_size] = '\0';
}

}  // namespace

// Every call inlines this function, but not take_client(), which a thread usually calls once.
inline Client* Runtime::current_client() {
  if (t_client == nullptr) [[unlikely]] {
    take_client();
  }
  return t_client;
}

[[gnu::noinline]] void Runtime::take_client() {
  t_client = clients_.take();
  t_thread_end.runtime = this;
}

namespace {

// Implements the calls for one type of concurrency control. `AnyConcurrency` is Concurrency or
// NoConcurrency. NoConcurrency is final, so the compiler can inline its functions. This matters
// because NoConcurrency is used to time the structure alone, with as little overhead as possible.
template <class AnyConcurrency>
class RuntimeUnder final : public Runtime {
 public:
  RuntimeUnder(const StructureLibrary& structure, const Configuration& configuration)
      : Runtime(structure, configuration) {}

  ErrCode begin(TxnState** transaction) override {
    if (transaction == nullptr) return FAILURE;
    return as_client([&](Client& client) {
      if (client.state() != Client::State::kNone) return TXN_EXISTS;
      const ErrCode begun = concurrency().begin(client.own());
      if (begun == SUCCESS) *transaction = client.open_transaction();
      return begun;
    });
  }

  ErrCode abort(TxnState* transaction) override {
    return as_client([&](Client& client) {
      if (!client.is_open_transaction(transaction)) return TXN_DNE;
      const bool doomed = client.state() == Client::State::kDoomed;
      client.end_transaction();
      return doomed ? SUCCESS : concurrency().abort(client.own());
    });
  }

  ErrCode commit(TxnState* transaction) override {
    return as_client([&](Client& client) {
      if (!client.is_open_transaction(transaction)) return TXN_DNE;
      if (client.state() == Client::State::kDoomed) return DEADLOCK;
      const ErrCode committed = concurrency().commit(client.own());
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
        return concurrency().get(own, index, cursor, key);
      };
      const ErrCode code = with_encoded(record->key, index.type(), read);
      if (code == SUCCESS) copy_payload(cursor, *record);
      return code;
    });
  }

  ErrCode get_next(IdxState* state, TxnState* transaction, Record* record) override {
    if (record == nullptr) return FAILURE;
    return run(state, transaction, [&](Transaction& own, Index& index, Cursor& cursor) {
      const ErrCode code = concurrency().get_next(own, index, cursor);
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
      const uint32_t size = payload_size(payload);
      if (size > payload_bytes_max()) [[unlikely]] {
        return refuse_payload(size);
      }
      return with_encoded(*key, index.type(), [&](KeydromeBytes encoded) {
        return concurrency().insert(own, index, encoded, {payload, size});
      });
    });
  }

  ErrCode erase(IdxState* state, TxnState* transaction, const Record* record) override {
    if (record == nullptr) return FAILURE;
    return run(state, transaction, [&](Transaction& own, Index& index, Cursor&) {
      const uint32_t size = payload_size(record->payload);
      if (size > payload_bytes_max()) [[unlikely]] {
        // ENTRY_DNE: the structure cannot hold such a pair, so the pair does not exist.
        return size > MAX_PAYLOAD_LEN ? FAILURE : ENTRY_DNE;
      }
      return with_encoded(record->key, index.type(), [&](KeydromeBytes key) {
        return size == 0 ? concurrency().erase_key(own, index, key)
                         : concurrency().erase_pair(own, index, key, {record->payload, size});
      });
    });
  }

 private:
  AnyConcurrency& concurrency() { return static_cast<AnyConcurrency&>(Runtime::concurrency()); }

  // Runs `call(client)` for the calling thread.
  template <class Call>
  ErrCode as_client(Call&& call) {
    Client* client = current_client();
    return client == nullptr ? FAILURE : call(*client);
  }

  // Ends the transaction of an auto-commit call (a call without a transaction) whose result is
  // `code`. After DEADLOCK the concurrency control has already rolled the transaction back. After
  // FAILURE this function rolls it back; otherwise it commits. Returns `code`, or the result of the
  // commit if the commit fails.
  ErrCode end_automatic(Transaction& automatic, ErrCode code) {
    if (code == DEADLOCK) return code;
    if (code == FAILURE) {
      concurrency().abort(automatic);
      return code;
    }
    const ErrCode committed = concurrency().commit(automatic);
    return committed == SUCCESS ? code : committed;
  }

  // Runs `call(transaction, index, cursor)` with the handle and the transaction of the API call. If
  // `transaction` is NULL, begins an automatic transaction for this call and ends it afterwards. If
  // the call returns DEADLOCK in the client's own transaction, marks this transaction as doomed:
  // all its further calls except abort return DEADLOCK.
  template <class Call>
  ErrCode run(IdxState* state, TxnState* transaction, Call&& call) {
    return as_client([&](Client& client) {
      Handle* handle = client.handle(state);
      if (handle == nullptr) [[unlikely]] {
        return DB_DNE;
      }
      const bool automatic = transaction == nullptr;
      const ErrCode ready =
          automatic ? concurrency().begin(client.automatic()) : client.check(transaction);
      if (ready != SUCCESS) [[unlikely]] {
        return ready;
      }
      Transaction& used = automatic ? client.automatic() : client.own();
      Cursor& cursor = automatic ? client.fresh_cursor() : client.cursor(*handle);
      ErrCode code;
      try {
        code = call(used, *handle->index, cursor);
      } catch (...) {
        if (automatic) concurrency().abort(used);
        throw;
      }
      if (automatic) return end_automatic(used, code);
      if (code == DEADLOCK) client.doom();
      return code;
    });
  }
};

// `options` is the JSON text of the options, or empty.
Error no_instance(const std::string& structure, const std::string& options) {
  const std::string what = "the structure " + structure + " made no instance: ";
  if (options.empty() || options == "{}") {
    return Error{what + "its create returned NULL, although it received no options; correct " +
                 "create, or if memory ran out, give the run more memory"};
  }
  return Error{what + "it does not know one of the options " + options +
               " (configuration.options), or memory ran out; run without the options, and if this "
               "message appears again, give the run more memory"};
}

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::make(std::string_view setup_json) {
  const Result<Setup> setup = parse_setup(setup_json);
  if (!setup.ok()) return setup.error();
  const Result<StructureLibrary> structure = StructureLibrary::load(setup->structure_path);
  if (!structure.ok()) return structure.error();
  const Result<void> few = check_threads(setup->configuration, structure->table(), setup->threads);
  if (!few.ok()) return few.error();
  const Result<void> held = check_key_types(setup->key_types, structure->table());
  if (!held.ok()) return held.error();
  return make(*structure, setup->configuration);
}

Result<std::unique_ptr<Runtime>> Runtime::make(const StructureLibrary& structure,
                                               const Configuration& configuration) {
  const Result<void> able = check_capabilities(configuration, structure.table());
  if (!able.ok()) return able.error();
  std::unique_ptr<Runtime> runtime;
  if (configuration.concurrency == NoConcurrency::kName) {
    runtime = std::make_unique<RuntimeUnder<NoConcurrency>>(structure, configuration);
  } else {
    runtime = std::make_unique<RuntimeUnder<Concurrency>>(structure, configuration);
  }
  // Make one data structure and destroy it again, so that options that the structure does not
  // understand are reported now instead of at the first create.
  if (runtime->strategy_->make_store(structure.table().key_bytes_only) == nullptr) {
    return no_instance(structure.table().name, configuration.options);
  }
  return runtime;
}

Runtime::Runtime(const StructureLibrary& structure, Configuration configuration)
    : structure_(structure),
      payload_bytes_max_(structure.table().payload_bytes_max == 0
                             ? MAX_PAYLOAD_LEN
                             : structure.table().payload_bytes_max),
      configuration_(std::move(configuration)),
      strategy_(make_strategy(configuration_, structure_.table())),
      concurrency_(make_concurrency(configuration_, structure_.table())),
      clients_(*concurrency_) {}

ErrCode Runtime::refuse_payload(uint32_t size) const {
  static std::atomic<bool> said = false;
  if (size <= MAX_PAYLOAD_LEN && !said.exchange(true)) {
    std::fprintf(
        stderr,
        "keydrome runtime: insertRecord returns FAILURE, because the payload has %u bytes, "
        "and the table of the structure %s allows at most %u (payload_bytes_max). Use "
        "another structure, or a benchmark with shorter payloads.\n",
        size, structure_.table().name, payload_bytes_max_);
  }
  return FAILURE;
}

void Runtime::end_client(Client& client) {
  if (client.state() == Client::State::kOpen) concurrency_->abort(client.own());
  client.end_transaction();
  client.close_all();
  clients_.give_back(client);
}

ErrCode Runtime::create(KeyType type, const char* name) {
  if (name == nullptr || (type != SHORT && type != INT && type != VARCHAR)) return FAILURE;
  const uint32_t key_bytes = structure_.table().key_bytes_only;
  if (key_bytes != 0 && key_bytes_of(type) != key_bytes) {
    static std::atomic<bool> said = false;
    if (!said.exchange(true)) {
      std::fprintf(stderr,
                   "keydrome runtime: create returns FAILURE, because the structure %s holds only "
                   "keys of %u bytes (key_bytes_only of its table), and the keys of index %s have "
                   "the type %s. Use a structure for keys of any size, or only indexes whose keys "
                   "have %u bytes.\n",
                   structure_.table().name, key_bytes, name, described(type), key_bytes);
    }
    return FAILURE;
  }
  if (catalog_.has(name)) return DB_EXISTS;
  std::unique_ptr<Store> store = strategy_->make_store(key_bytes_of(type));
  if (store == nullptr) return FAILURE;
  return catalog_.add(std::make_unique<Index>(name, type, std::move(store),
                                              concurrency_->make_index_concurrency()));
}

ErrCode Runtime::open_index(const char* name, IdxState** state) {
  if (name == nullptr || state == nullptr) return FAILURE;
  Client* client = current_client();
  return client == nullptr ? FAILURE : client->open(name, catalog_, state);
}

ErrCode Runtime::close_index(IdxState* state) {
  Client* client = current_client();
  if (client == nullptr) return FAILURE;
  return client->close(state) ? SUCCESS : DB_DNE;
}

}  // namespace keydrome::runtime
