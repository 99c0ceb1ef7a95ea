// Implements environment.h: opens LMDB with a file in the working directory, and decides when a
// transaction may begin to read or to write.
#include "indexes/lmdb/environment.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace keydrome {
namespace {

// Address space for the file. Only pages that are used take memory.
constexpr uint64_t kMapBytesMax = uint64_t{64} << 30;
// MDB_WRITEMAP and MDB_NOSYNC: changes are written to mapped memory and never to a disk.
// MDB_NOTLS: a thread may have several read transactions.
constexpr unsigned kFlags =
    MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS | MDB_WRITEMAP | MDB_NOSYNC | MDB_NORDAHEAD;

// Writing to a mapped file beyond the space of its file system ends the process with SIGBUS. If the
// map is not larger than the space, LMDB returns MDB_MAP_FULL first.
uint64_t map_bytes() {
  struct statvfs space{};
  if (statvfs(".", &space) != 0) return 0;
  const uint64_t free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
  const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(free_bytes, kMapBytesMax) / page_bytes * page_bytes;
}

int open_database(MDB_env* env, const char* path, MDB_dbi* database) {
  int error = mdb_env_set_mapsize(env, map_bytes());
  if (error == 0) error = mdb_env_open(env, path, kFlags, 0600);
  MDB_txn* txn = nullptr;
  if (error == 0) error = mdb_txn_begin(env, nullptr, 0, &txn);
  if (error != 0) return error;
  error = mdb_dbi_open(txn, nullptr, MDB_DUPSORT, database);
  if (error == 0) return mdb_txn_commit(txn);
  mdb_txn_abort(txn);
  return error;
}

}  // namespace

Environment* Environment::open() {
  std::array<char, 16> path{"lmdb-XXXXXX"};
  const int file = mkstemp(path.data());
  if (file < 0) {
    std::fprintf(
        stderr,
        "lmdb: cannot create a file for the database in the working directory: %s; make the "
        "directory writable, or free space there\n",
        std::strerror(errno));
    return nullptr;
  }
  close(file);
  MDB_env* env = nullptr;
  MDB_dbi database = 0;
  int error = mdb_env_create(&env);
  if (error == 0) error = open_database(env, path.data(), &database);
  unlink(path.data());  // LMDB keeps the file open; its space is freed when the process ends
  if (error == 0) return new Environment(env, database);
  std::fprintf(
      stderr,
      "lmdb: LMDB cannot open the database, the file %s in the working directory: %s; free space "
      "there, or raise the memory limit of the process\n",
      path.data(), mdb_strerror(error));
  if (env != nullptr) mdb_env_close(env);
  return nullptr;
}

Environment* Environment::instance() {
  static Environment* const environment = open();
  return environment;
}

ErrCode Environment::create(KeyType type, const char* name) {
  const std::lock_guard<std::mutex> guard(directory_lock_);
  const auto number = static_cast<uint32_t>(directory_.size());
  return directory_.try_emplace(name, Index{type, number}).second ? SUCCESS : DB_EXISTS;
}

const Index* Environment::find(const char* name) {
  const std::lock_guard<std::mutex> guard(directory_lock_);
  const auto entry = directory_.find(name);
  return entry == directory_.end() ? nullptr : &entry->second;
}

int Environment::begin_read(MDB_txn** txn, uint64_t* version) {
  const std::lock_guard<std::mutex> guard(lock_);
  const int error =
      *txn != nullptr ? mdb_txn_renew(*txn) : mdb_txn_begin(env_, nullptr, MDB_RDONLY, txn);
  if (error != 0) return error;
  ++readers_;
  *version = version_;
  return 0;
}

void Environment::leave(uint64_t version) {
  --(version == version_ ? readers_ : old_readers_);
  changed_.notify_all();
}

void Environment::end_read(MDB_txn* txn, uint64_t version) {
  const std::lock_guard<std::mutex> guard(lock_);
  mdb_txn_reset(txn);
  leave(version);
}

int Environment::start_writing(MDB_txn** txn) {
  const int error = mdb_txn_begin(env_, nullptr, 0, txn);
  writes_ = error == 0;
  return error;
}

int Environment::begin_write(bool wait, MDB_txn** txn) {
  std::unique_lock<std::mutex> guard(lock_);
  if (!wait && !may_write()) return kBusy;
  changed_.wait(guard, [this] { return may_write(); });
  return start_writing(txn);
}

int Environment::upgrade(MDB_txn* reader, uint64_t version, MDB_txn** txn) {
  std::unique_lock<std::mutex> guard(lock_);
  const auto is_late = [&] { return version != version_ || writes_; };
  changed_.wait(guard, [&] { return is_late() || old_readers_ == 0; });
  const int error = is_late() ? kBusy : start_writing(txn);
  mdb_txn_reset(reader);
  leave(version);
  return error;
}

int Environment::commit(MDB_txn* txn) {
  const std::lock_guard<std::mutex> guard(lock_);
  const int error = mdb_txn_commit(txn);
  if (error == 0) {
    ++version_;
    old_readers_ += readers_;
    readers_ = 0;
  }
  writes_ = false;
  changed_.notify_all();
  return error;
}

void Environment::roll_back(MDB_txn* txn) {
  const std::lock_guard<std::mutex> guard(lock_);
  mdb_txn_abort(txn);
  writes_ = false;
  changed_.notify_all();
}

}  // namespace keydrome
