// Implements Client, which opens and closes the handles of one thread, and ClientPool, which
// provides a client for each thread.
#include "runtime/client.h"

#include <functional>
#include <new>
#include <utility>

#include "runtime/catalog.h"

namespace keydrome::runtime {

Index* Client::find(std::string_view name, const Catalog& catalog) {
  Index*& cached = names_[std::hash<std::string_view>()(name) % names_.size()];
  if (cached != nullptr && cached->name() == name) return cached;
  Index* index = catalog.find(name);
  if (index != nullptr) cached = index;
  return index;
}

// Adds closed handles. If memory runs out, changes nothing and throws std::bad_alloc.
void Client::add_handles(size_t count) {
  const size_t before = handles_.size();
  closed_.reserve(before + count);
  handles_.reserve(before + count);
  try {
    while (handles_.size() < before + count) {
      handles_.push_back(std::make_unique<Handle>(handles_.size()));
    }
  } catch (const std::bad_alloc&) {
    handles_.resize(before);
    throw;
  }
  for (size_t slot = handles_.size(); slot-- > before;) {
    closed_.push_back(static_cast<uint32_t>(slot));
  }
  mask_ = handles_.size() - 1;
}

ErrCode Client::open(std::string_view name, const Catalog& catalog, IdxState** state) {
  if (closed_.empty()) {
    if (handles_.size() > kSlotMask) return FAILURE;
    add_handles(handles_.size());
  }
  Index* index = find(name, catalog);
  if (index == nullptr) return DB_DNE;
  const uint32_t slot = closed_.back();
  closed_.pop_back();
  Handle& handle = *handles_[slot];
  handle.index = index;
  handle.token = token_of(++handle.generation, slot);
  handle.cursor_transaction = 0;
  handle.cursor.reset();
  *state = reinterpret_cast<IdxState*>(handle.token);
  return SUCCESS;
}

bool Client::close(const IdxState* state) {
  Handle* open = handle(state);
  if (open == nullptr) return false;
  open->index = nullptr;
  open->token = ~open->token;
  closed_.push_back(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(state) & kSlotMask));
  return true;
}

void Client::close_all() {
  for (const std::unique_ptr<Handle>& handle : handles_) {
    if (handle->index != nullptr) close(reinterpret_cast<IdxState*>(handle->token));
  }
}

Client* ClientPool::take() {
  {
    const MutexLock guard(mutex_);
    if (!idle_.empty()) {
      Client* client = idle_.back();
      idle_.pop_back();
      return client;
    }
  }
  std::unique_ptr<ClientConcurrency> concurrency = concurrency_.make_client();
  if (concurrency == nullptr) return nullptr;
  const MutexLock guard(mutex_);
  idle_.reserve(clients_.size() + 1);
  clients_.push_back(
      std::make_unique<Client>(static_cast<uint32_t>(clients_.size() + 1), std::move(concurrency)));
  return clients_.back().get();
}

void ClientPool::give_back(Client& client) {
  const MutexLock guard(mutex_);
  idle_.push_back(&client);
}

}  // namespace keydrome::runtime
