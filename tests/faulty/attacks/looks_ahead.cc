// A library that attacks the measurement: it reads coming operations before the player, the program
// that calls the library, executes them. The player gets its operations through the ring, a piece
// of shared memory. This library finds the next gets there and searches for eight keys at once, so
// that the processor waits for their cache misses together.
//
// The library passes, because all its results are right. An audit, which plays a session (one
// repetition of a benchmark) again with the calls made from another process, must report the
// finding look_ahead (results/look_ahead.py).
#include "tests/faulty/attacks/fast_reads.h"
#include "tests/faulty/attacks/ring_reader.h"

namespace {

using attacks::FastIndex;
using attacks::kBatch;
using attacks::NextGet;

constexpr uint32_t kMissesMax = 64;
// After a look into the ring that did not find the get, this many calls do not look.
constexpr uint32_t kPauseCalls = 1000;

// The keys of the next gets in the ring, and their payloads once the tree has been searched.
struct Batch {
  attacks::RingReader reader;
  size_t count = 0, next = 0;
  uint32_t pause = 0, misses = 0;
  const FastIndex* searched = nullptr;
  uint64_t builds = 0;
  std::array<int64_t, kBatch> keys{};
  std::array<const std::string*, kBatch> found{};
};

Batch& batch() {
  static Batch only;
  return only;
}

// Reads the keys of this get and of the next ones. Returns false if this get is not the next one in
// the ring.
bool read_ahead(Batch& all, int64_t key) {
  if (all.pause > 0) return --all.pause == 0 && read_ahead(all, key);
  NextGet get{};
  all.count = all.next = 0;
  all.searched = nullptr;
  if (!all.reader.expect(key, get)) {
    all.pause = kPauseCalls;
    return false;
  }
  all.keys.fill(key);
  for (all.count = 1; all.count < kBatch && all.reader.next(get); ++all.count)
    all.keys[all.count] = get.key;
  return true;
}

// Returns the place of this get in the batch, or kBatch if the get is not in the batch or the ring.
// The player repeats some gets, so a get may have another key than the next one of the batch. Only
// kMissesMax such gets in a row end the batch.
size_t place_of(Batch& all, int64_t key) {
  const bool in_batch = all.next < all.count;
  if (in_batch && all.keys[all.next] == key) {
    all.misses = 0;
    return all.next++;
  }
  if (in_batch && ++all.misses < kMissesMax) return kBatch;
  return read_ahead(all, key) ? all.next++ : kBatch;
}

const std::string* find(Batch& all, size_t place, const FastIndex& index, int64_t key) {
  if (place == kBatch) return index.tree.find(key);
  if (all.searched != &index || all.builds != index.builds) {
    index.tree.find_many(all.keys, all.found);
    all.searched = &index;
    all.builds = index.builds;
  }
  return all.found[place];
}

}  // namespace

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  static const bool has_ring = batch().reader.find_ring();
  (void)has_ring;
  return honest::openIndex(name, idxState);
}

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (record->key.type != INT) return attacks::honest_get(idxState, txn, record);
  const int64_t key = record->key.keyval.intkey;
  const size_t place = place_of(batch(), key);
  const FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  return attacks::answer(idxState, txn, record, find(batch(), place, *fast, key));
}
