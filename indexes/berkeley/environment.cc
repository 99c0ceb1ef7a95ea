// Implements environment.h: opens the Berkeley DB environment with its limits, and makes and finds
// the databases in it.
#include "indexes/berkeley/environment.h"

#include <cstdint>

namespace keydrome {
namespace {

constexpr uint32_t kMiB = 1u << 20;
constexpr uint32_t kCacheBytes = 512 * kMiB;  // largest size; memory is allocated as it is needed
constexpr uint32_t kCacheMutexes = 1024;
// Size of the log. The log must have room for all writes since the first write of the oldest open
// transaction.
constexpr uint32_t kLogBytes = 512 * kMiB;
constexpr uint32_t kLogFileBytes = 32 * kMiB;  // the log is recycled in pieces of this size
// Largest number of locks, and of locked objects. A long scan needs one lock for each page.
constexpr uint32_t kLocks = 100000;
constexpr uint32_t kLockers = 4000;  // largest number of transactions and open cursors
constexpr uint32_t kTransactions = 2000;
constexpr uint32_t kPageBytes = 4096;
// If true, each index is a file in the working directory, as in the example library that the
// organisers of the SIGMOD 2009 programming contest published. Only tests/faulty sets this macro.
#ifdef KEYDROME_BERKELEY_FILES
constexpr bool kFiles = true;
#else
constexpr bool kFiles = false;
#endif

// Sets the limits, and makes Berkeley DB abort the youngest transaction of a deadlock. library.cc
// raises the priority of a repeated transaction, so that no transaction is aborted again and again.
int configure(DB_ENV* env) {
  int error = env->set_cachesize(env, 0, kCacheBytes, 1);
  if (error == 0) error = env->set_mp_mtxcount(env, kCacheMutexes);
  if (error == 0) error = env->log_set_config(env, DB_LOG_IN_MEMORY, 1);
  if (error == 0) error = env->set_lg_bsize(env, kLogBytes);
  if (error == 0) error = env->set_lg_max(env, kLogFileBytes);
  if (error == 0) error = env->set_lk_max_locks(env, kLocks);
  if (error == 0) error = env->set_lk_max_objects(env, kLocks);
  if (error == 0) error = env->set_lk_max_lockers(env, kLockers);
  if (error == 0) error = env->set_lk_detect(env, DB_LOCK_YOUNGEST);
  if (error == 0) error = env->set_tx_max(env, kTransactions);
  if (error == 0) error = env->set_tmp_dir(env, ".");
  return error;
}

}  // namespace

ErrCode code_of(int error) {
  switch (error) {
    case 0:
      return SUCCESS;
    case DB_LOCK_DEADLOCK:
    case DB_LOCK_NOTGRANTED:
    case DB_LOG_BUFFER_FULL:
      return DEADLOCK;
    default:
      return FAILURE;
  }
}

Environment* Environment::open() {
  DB_ENV* env = nullptr;
  if (db_env_create(&env, 0) != 0) return nullptr;
  constexpr uint32_t kFlags =
      DB_CREATE | DB_PRIVATE | DB_THREAD | DB_INIT_MPOOL | DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_TXN;
  if (configure(env) != 0 || env->open(env, nullptr, kFlags, 0) != 0) {
    env->close(env, 0);
    return nullptr;
  }
  return new Environment(env);
}

Environment* Environment::instance() {
  static Environment* const environment = open();
  return environment;
}

ErrCode Environment::create(KeyType type, const char* name) {
  const std::lock_guard<std::mutex> guard(lock_);
  const auto [entry, fresh] = directory_.try_emplace(name, Index{type, nullptr});
  if (!fresh) return DB_EXISTS;
  // The database gets its own name, because Berkeley DB does not allow every name that a client may
  // use.
  const std::string own_name = "index " + std::to_string(directory_.size());
  DB* database = nullptr;
  int error = db_create(&database, env_, 0);
  if (error == 0) error = database->set_flags(database, DB_DUPSORT | DB_REVSPLITOFF);
  if (error == 0) error = database->set_pagesize(database, kPageBytes);
  if (error == 0) {
    const char* const own = own_name.c_str();
    error = database->open(database, nullptr, kFiles ? own : nullptr, kFiles ? nullptr : own,
                           DB_BTREE, DB_CREATE | DB_EXCL | DB_THREAD | DB_AUTO_COMMIT, 0);
  }
  if (error != 0) {
    if (database != nullptr) database->close(database, 0);
    directory_.erase(entry);
    return FAILURE;
  }
  entry->second.database = database;
  return SUCCESS;
}

Index* Environment::find(const char* name) {
  const std::lock_guard<std::mutex> guard(lock_);
  const auto entry = directory_.find(name);
  return entry == directory_.end() ? nullptr : &entry->second;
}

}  // namespace keydrome
