// Implements structure_subject.h: loads the library of a structure, and calls its table.
#include "structures/bench/structure_subject.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "structures/bench/map_subject.h"

namespace keydrome::bench {
namespace {

constexpr uint32_t kBatch = 64;
constexpr uint32_t kRunBytes = 1u << 16;

KeydromeBytes bytes_of(std::string_view text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}
KeydromeBytes bytes_of(const uint64_t& payload) { return {&payload, sizeof payload}; }

uint64_t number_in(const void* payload) {
  uint64_t number = 0;
  std::memcpy(&number, payload, sizeof number);
  return number;
}

KeydromeStructureTable copy_of(const KeydromeStructureTable& table) {
  KeydromeStructureTable copy{};
  std::memcpy(&copy, &table, std::min<std::size_t>(table.size, sizeof copy));
  return copy;
}

}  // namespace

Result<const KeydromeStructureTable*> load_structure(const std::string& path) {
  // Makes the path absolute, because dlopen searches for a name without a slash only in the
  // system's folders.
  void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{"cannot load " + path + ": " + dlerror() +
                 "; give a structure's shared library that is built for this machine and linked "
                 "with everything it needs"};
  }
  using Entry = const KeydromeStructureTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "keydrome_structure"));
  if (entry == nullptr) {
    return Error{path +
                 " is not a structure, because it does not export keydrome_structure; give the "
                 "path of a structure's shared library"};
  }
  const KeydromeStructureTable* table = entry();
  if (table == nullptr) {
    return Error{path +
                 ": keydrome_structure returned NULL; it must return the structure's table of "
                 "functions"};
  }
  if (table->version != KEYDROME_STRUCTURE_VERSION) {
    return Error{path + " has version " + std::to_string(table->version) +
                 " of the structure contract, but this program needs version " +
                 std::to_string(KEYDROME_STRUCTURE_VERSION) +
                 "; compile the structure with keydrome/structure.h of this repository"};
  }
  return table;
}

StructureSubject::StructureSubject(const KeydromeStructureTable& table, bool integers,
                                   bool huge_pages)
    : table_(copy_of(table)), integers_(integers), huge_pages_(huge_pages) {
  create();
}

Abilities StructureSubject::abilities() const {
  const auto has = [&](uint32_t capability) { return (table_.capabilities & capability) != 0; };
  return {.peer = false,
          .ordered = table_.scan != nullptr,
          .batch = table_.find_batch != nullptr,
          .shared_reads = has(KEYDROME_SHARED_READS) || has(KEYDROME_THREAD_SAFE),
          .updates = table_.replace != nullptr,
          .thread_safe = has(KEYDROME_THREAD_SAFE)};
}

void StructureSubject::stop(const std::string& what) const {
  stop_at_wrong_result(std::string("the structure ") + table_.name, what.c_str());
}

void StructureSubject::create() {
  arena_ = std::make_unique<Arena>(huge_pages_);
  const KeydromeSetup setup{sizeof setup, integers_ ? 8u : 0u, nullptr};
  instance_ = table_.create(arena_->environment(), &setup);
  if (instance_ == nullptr)
    stop("create without options returned NULL, but must return an instance");
}

void StructureSubject::clear() {
  table_.destroy(instance_);
  if (arena_->blocks() != 0) {
    stop("destroy did not retire " + std::to_string(arena_->blocks()) +
         " blocks of memory; it must retire all memory of the instance");
  }
  create();
}

void StructureSubject::load(const Keys& keys) {
  for (uint64_t i = 0; i < keys.size(); ++i) {
    const int stored = table_.put(instance_, bytes_of(keys[i]), bytes_of(i));
    if (stored != 1)
      stop("put of a new pair returned " + std::to_string(stored) + ", but must return 1");
  }
}

// If the structure has no `find`, a lookup is a scan of one pair, as in the runtime.
uint64_t StructureSubject::payload_of(std::string_view key) const {
  if (table_.find != nullptr) {
    unsigned char payload[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer buffer{payload, 0, sizeof payload};
    const int found = table_.find(instance_, bytes_of(key), {nullptr, 0}, &buffer);
    if (found != 1)
      stop("find of an inserted key returned " + std::to_string(found) + ", but must return 1");
    return number_in(payload);
  }
  unsigned char pair[KEYDROME_RUN_BYTES_MIN];
  KeydromeRun run{pair, sizeof pair, 0, 1, 0};
  if (table_.scan(instance_, bytes_of(key), {nullptr, 0}, 0, &run) < 0 || run.pairs != 1) {
    stop("scan of one pair from an inserted key returned an error or no pair");
  }
  KeydromeBytes found{}, payload{};
  keydrome_run_read(&run, 0, &found, &payload);
  if (found.size != key.size() || std::memcmp(found.data, key.data(), key.size()) != 0) {
    stop("scan from an inserted key returned another key first, but must return this key");
  }
  return number_in(payload.data);
}

uint64_t StructureSubject::look_up(const Queries& queries) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < queries.keys.size(); ++i) sum += payload_of(queries.keys[i]);
  return sum & ~kUpdateBit;
}

uint64_t StructureSubject::chain(const Queries& queries, uint64_t zero) {
  uint64_t sum = 0, payload = 0;
  for (uint64_t i = 0; i < queries.keys.size(); ++i) {
    payload = payload_of(after(queries.keys, i, payload, zero));
    sum += payload;
  }
  return sum & ~kUpdateBit;
}

uint64_t StructureSubject::batch(const Queries& queries) {
  std::array<KeydromeLookup, kBatch> lookups{};
  std::array<std::array<unsigned char, KEYDROME_PAYLOAD_BYTES_MAX>, kBatch> payloads;
  uint64_t sum = 0;
  for (uint64_t begin = 0; begin < queries.keys.size(); begin += kBatch) {
    const auto count =
        static_cast<uint32_t>(std::min<uint64_t>(kBatch, queries.keys.size() - begin));
    for (uint32_t i = 0; i < count; ++i) {
      lookups[i] = {bytes_of(queries.keys[begin + i]),
                    {payloads[i].data(), 0, KEYDROME_PAYLOAD_BYTES_MAX},
                    0};
    }
    const int result = table_.find_batch(instance_, count, lookups.data());
    if (result != 0) stop("find_batch returned " + std::to_string(result) + ", but must return 0");
    for (uint32_t i = 0; i < count; ++i) {
      if (lookups[i].found != 1) stop("find_batch did not find an inserted key, but must find it");
      sum += number_in(payloads[i].data());
    }
  }
  return sum & ~kUpdateBit;
}

uint64_t StructureSubject::scan(const Queries& queries, uint32_t length) {
  const auto memory = std::make_unique<unsigned char[]>(kRunBytes);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < queries.keys.size(); ++i) {
    KeydromeRun run{memory.get(), kRunBytes, 0, length, 0};
    const int more = table_.scan(instance_, bytes_of(queries.keys[i]), {nullptr, 0}, 0, &run);
    if (more < 0) stop("scan returned " + std::to_string(more) + ", but must return 0 or 1");
    if (more > 0 && run.pairs != length) {
      stop("scan returned " + std::to_string(run.pairs) + " pairs instead of " +
           std::to_string(length) + ", although it says that more pairs follow");
    }
    uint32_t at = 0;
    for (uint32_t left = run.pairs; left > 0; --left) {
      KeydromeBytes key{}, payload{};
      at = keydrome_run_read(&run, at, &key, &payload);
      sum += number_in(payload.data);
    }
  }
  return sum & ~kUpdateBit;
}

// Another thread may update the same key between the lookup and the replacement. The loop then
// tries again.
void StructureSubject::update(std::string_view key, uint64_t payload) {
  for (;;) {
    const uint64_t now = payload ^ kUpdateBit;
    const int replaced = table_.replace(instance_, bytes_of(key), bytes_of(payload), bytes_of(now));
    if (replaced == 1) return;
    if (replaced != 0) {
      stop("replace returned " + std::to_string(replaced) +
           ", but must return 1 (the pair was replaced) or 0 (the old pair does not exist)");
    }
    payload = payload_of(key);
  }
}

uint64_t StructureSubject::mixed(const Queries& queries) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < queries.keys.size(); ++i) {
    const uint64_t payload = payload_of(queries.keys[i]);
    sum += payload;
    if (i % 2 == 1) update(queries.keys[i], payload);
  }
  return sum & ~kUpdateBit;
}

}  // namespace keydrome::bench
