// Store and Strategy: the interface to the data of an index. The data are pairs of a key and a
// payload. A structure (structure.h) is a data structure that stores them, without transactions and
// locks.
//
// A Strategy decides how many instances of the structure store an index, and which thread executes
// the operations. It makes one Store per index. A concurrency control sees the data only through
// the Store, so it works with every strategy. Possible strategies are one instance that the calling
// thread uses, several instances by key range, or instances that other threads own. direct.h is the
// only strategy so far.
#pragma once

#include <cstdint>
#include <memory>

#include "keydrome/structure.h"
#include "runtime/content/pair.h"

namespace keydrome::runtime {

// The pairs of one index, sorted unless the structure is unordered. Parameters and results are
// those of structure.h. The structure's capabilities say which calls may run in parallel, and the
// concurrency control prevents all other calls from running in parallel.
//
// The operations are function pointers, as in structure.h. They usually point to the structure's
// own functions, so that an operation costs one indirect call. A strategy may also pass functions
// of its own, with an object of its own in place of the structure.
class Store {
 public:
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  int put(KeydromeBytes key, KeydromeBytes payload) { return put_(structure_, key, payload); }
  int del(KeydromeBytes key, KeydromeBytes payload) { return del_(structure_, key, payload); }
  // If the structure has no `replace`, replaces() is false.
  bool replaces() const { return replace_ != nullptr; }
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) {
    return replace_(structure_, key, before, now);
  }
  // Fills the run, which the function clears first. Returns -1 if the structure is unordered.
  int scan(const Bound& from, KeydromeRun& run) const {
    keydrome_run_clear(&run);
    if (scan_ == nullptr) return no_scan();
    return scan_(structure_, from.key, from.payload, from.after ? 1 : 0, &run);
  }
  // If the structure has no `find`, scans one pair instead.
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const {
    if (find_ == nullptr) return find_by_scan(key, after, payload);
    return find_(structure_, key, after, &payload);
  }
  // Returns true if the structure holds only a limited number of payloads of a key.
  bool limits_payloads() const { return payloads_max_ != 0; }
  // Returns true if the structure has the pair, or can hold it besides the key's other payloads.
  // The caller makes sure that no other thread inserts a payload of the key before its put().
  bool has_room(KeydromeBytes key, KeydromeBytes payload) const {
    return !limits_payloads() || has_room_within_limit(key, payload);
  }
  // Returns the smallest key that the index can contain: zeros if all keys have one size, and
  // otherwise the empty key.
  KeydromeBytes smallest_key() const { return {kZeros, key_bytes_}; }

 protected:
  // `key_bytes`: the size of all keys, or 0 if sizes differ. It is the same number that the
  // structure's `create` has received (KeydromeSetup::key_bytes).
  Store(const KeydromeStructureTable& functions, KeydromeStructure* structure, uint32_t key_bytes)
      : structure_(structure),
        find_(functions.find),
        scan_(functions.scan),
        put_(functions.put),
        del_(functions.del),
        replace_(functions.replace),
        key_bytes_(key_bytes),
        payloads_max_(functions.payloads_max) {}

 private:
  static constexpr uint8_t kZeros[sizeof(int64_t)] = {};

  static int no_scan();
  bool has_room_within_limit(KeydromeBytes key, KeydromeBytes payload) const;
  int find_by_scan(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const;

  KeydromeStructure* const structure_;
  decltype(KeydromeStructureTable::find) const find_;
  decltype(KeydromeStructureTable::scan) const scan_;
  decltype(KeydromeStructureTable::put) const put_;
  decltype(KeydromeStructureTable::del) const del_;
  decltype(KeydromeStructureTable::replace) const replace_;
  const uint32_t key_bytes_;     // 0, 4 or 8
  const uint32_t payloads_max_;  // 0: any number
};

// Makes stores. Thread-safe.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // `key_bytes`: the size of all keys, 4 or 8, or 0 if sizes differ. Returns nullptr if memory runs
  // out, or if the structure does not accept its options.
  virtual std::unique_ptr<Store> make_store(uint32_t key_bytes) = 0;
};

}  // namespace keydrome::runtime
