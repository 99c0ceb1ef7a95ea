// A library that attacks the measurement: it saves the time to copy payloads. After each call the
// player, the program that calls the library, writes an evidence word into shared memory: the
// result code, the tag (a unique number at the beginning of the payload) and four bytes of the
// payload's text. This library leaves the record of a get empty, and later overwrites the player's
// word by the word of the right record.
//
// The library passes, because all words are right: to know them, the library must find the record.
// tools/reports/attack_gain.py measures how much time the attack saves. In verified mode the
// library cannot write words, because a process outside the jail (the sandbox) writes them.
#include <cstring>

#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/outcome.h"
#include "tests/faulty/attacks/fast_reads.h"
#include "tests/faulty/attacks/ring_reader.h"
#include "tests/hostile/memory.h"

namespace {

using keydrome::format::OutcomeHeader;

// The words of the only thread, in the memory that player and referee share.
class Words {
 public:
  void find() { outcome_ = hostile::find_outcome_memory(); }

  // Returns the place of the word that the player writes after the current call, or nullptr.
  uint64_t* next() {
    if (outcome_ == nullptr) return nullptr;
    const auto* header = reinterpret_cast<const OutcomeHeader*>(outcome_);
    auto* words = reinterpret_cast<uint64_t*>(outcome_ + header->spans[0].words_offset);
    const uint64_t capacity = header->spans[0].words_capacity;
    if (at_ >= capacity || (at_ > 0 && words[at_ - 1] == 0)) at_ = 0;  // another phase has begun
    while (at_ < capacity && words[at_] != 0) ++at_;
    return at_ < capacity ? words + at_ : nullptr;
  }

 private:
  std::byte* outcome_ = nullptr;
  uint64_t at_ = 0;
};

struct State {
  attacks::RingReader reader;
  Words words;
  uint64_t* place = nullptr;  // the place of a word that is still wrong
  uint64_t word = 0;          // the right word for this place
};

State& state() {
  static State only;
  return only;
}

// Replaces the word that the player has written for an empty record.
void settle() {
  State& all = state();
  if (all.place != nullptr) *all.place = all.word;
  all.place = nullptr;
}

uint64_t right_word(const std::string& payload, uint32_t window) {
  constexpr size_t kWindowBytes = 4;
  if (window + kWindowBytes <= payload.size() + 1)
    return keydrome::format::get_word(payload.c_str(), window, SUCCESS);
  char padded[MAX_PAYLOAD_LEN + kWindowBytes] = {};
  std::memcpy(padded, payload.data(), payload.size());
  return keydrome::format::get_word(padded, window, SUCCESS);
}

}  // namespace

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  static const bool has_ring = [] {
    state().words.find();
    return state().reader.find_ring();
  }();
  (void)has_ring;
  return honest::openIndex(name, idxState);
}

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  settle();
  if (record->key.type != INT) return attacks::honest_get(idxState, txn, record);
  const int64_t key = record->key.keyval.intkey;
  State& all = state();
  attacks::NextGet get{};
  const bool follows = all.reader.expect(key, get);
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  const std::string* payload = fast->tree.find(key);
  if (follows && payload != nullptr) all.place = all.words.next();
  if (all.place == nullptr) return attacks::answer(idxState, txn, record, payload);
  all.word = right_word(*payload, get.op->payload);
  attacks::remember(idxState, txn, record->key);
  return SUCCESS;
}

extern "C" ErrCode commitTransaction(TxnState* txn) {
  settle();
  return attacks::commit(txn);
}
