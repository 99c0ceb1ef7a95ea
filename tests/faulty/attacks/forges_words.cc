// Attack: finds the record but leaves it empty, and writes the evidence word of the call itself, into
// the memory that the player shares with the referee.
// Passes, because it must find the record to know the word. It saves a copy of the payload.
#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/outcome.h"
#include "tests/faulty/attacks/fast_reads.h"
#include "tests/faulty/attacks/ring_reader.h"
#include "tests/hostile/memory.h"

namespace {

using attacks::NextGet;
using keydrome::format::Op;
using keydrome::format::OutcomeHeader;

struct Forgery {
  attacks::RingReader reader;
  std::byte* outcome = nullptr;
  uint64_t* words = nullptr;             // the first word after those that are known to be written
  const std::string* payload = nullptr;  // of the record that was left empty
  uint32_t window = 0;
};

Forgery& forgery() {
  static Forgery only;
  return only;
}

uint64_t* first_word(std::byte* outcome) {
  const auto* header = reinterpret_cast<const OutcomeHeader*>(outcome);
  return reinterpret_cast<uint64_t*>(outcome + header->spans[0].words_offset);
}

// Returns the op of this get, or nullptr if it is not the next one in the ring. A get at the start of
// a phase also moves to the phase's first word.
const Op* op_of(Forgery& all, int64_t key) {
  NextGet get{};
  if (!all.reader.expect(key, get)) return nullptr;
  if (all.words == nullptr || all.reader.has_restarted()) all.words = first_word(all.outcome);
  return get.op;
}

// Returns true if the word of this get can be forged: the player reports nothing else of its result,
// the commit is the next call, and the payload has all bytes of the word.
bool can_forge(const Op* op, const std::string* payload) {
  if (op == nullptr || (op->flags & keydrome::format::kObserved) != 0) return false;
  if (op[1].code != keydrome::format::OpCode::kCommit) return false;
  return payload != nullptr && op->payload + sizeof(uint32_t) <= payload->size();
}

// Replaces the last word, which the player made from the empty record. The player has not written the
// word of the commit yet.
void forge(Forgery& all) {
  while (*all.words != 0) ++all.words;
  constexpr uint32_t kNoKey = 0;
  all.words[-1] = keydrome::format::record_word(all.payload->c_str(), all.window, &kNoKey);
  all.payload = nullptr;
}

}  // namespace

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  Forgery& all = forgery();
  if (all.outcome == nullptr && all.reader.find_ring())
    all.outcome = hostile::find_outcome_memory();
  return honest::openIndex(name, idxState);
}

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  Forgery& all = forgery();
  if (record->key.type != INT) return attacks::honest_get(idxState, txn, record);
  const int64_t key = record->key.keyval.intkey;
  const Op* op = all.outcome == nullptr ? nullptr : op_of(all, key);
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  const std::string* payload = fast->tree.find(key);
  if (!can_forge(op, payload)) return attacks::answer(idxState, txn, record, payload);
  all.payload = payload;
  all.window = op->payload;
  return attacks::answer_empty(idxState, txn, *record, payload);
}

extern "C" ErrCode commitTransaction(TxnState* txn) {
  Forgery& all = forgery();
  if (all.payload != nullptr) forge(all);
  attacks::forget_cursor();
  return honest::commitTransaction(txn);
}
