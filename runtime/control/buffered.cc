#include "runtime/control/buffered.h"

#include <algorithm>

#include "runtime/control/mutant.h"

namespace keydrome::runtime {

using Answer = ReadLog::Step::Answer;

bool Buffered::Running::writes() const {
  return std::any_of(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(used),
                     [](const std::unique_ptr<Use>& use) { return !use->overlay.empty(); });
}

ErrCode Buffered::begin(Transaction&) { return SUCCESS; }

ErrCode Buffered::abort(Transaction& transaction) {
  end(static_cast<Running&>(transaction));
  return SUCCESS;
}

ErrCode Buffered::commit(Transaction& transaction) {
  auto& self = static_cast<Running&>(transaction);
  ErrCode code;
  if (self.writes()) {
    const WriteLatch alone(section_);
    ++sections_;
    code = validate(self);
    if (code == SUCCESS) code = install(self);
  } else {
    code = commit_reads(self);
  }
  end(self);
  return code;
}

void Buffered::end(Running& transaction) {
  ended(transaction);
  for (size_t at = 0; at < transaction.used; ++at) {
    transaction.uses[at]->overlay.clear();
    transaction.uses[at]->log.clear();
  }
  transaction.used = 0;
  transaction.pins.clear();
}

Buffered::Use& Buffered::use_of(Running& transaction, Index& index) {
  for (size_t at = transaction.used; at-- > 0;) {
    if (transaction.uses[at]->index == &index) return *transaction.uses[at];
  }
  if (transaction.used == transaction.uses.size()) {
    transaction.uses.push_back(std::make_unique<Use>());
  }
  transaction.pins.add(index);
  Use& use = *transaction.uses[transaction.used++];
  use.index = &index;
  first_use(transaction, use);
  return use;
}

// The first pair from `from` on, and before `limit` if there is one, that this transaction sees: 1
// with the pair, 0, negative for a failure. Notes what it saw of the committed pairs. `position`
// stands at `from` and moves on; `position_good` says whether it stands before the next committed
// pair afterwards. Under the latch.
int Buffered::read(const Running& transaction, Use& use, Bound from, const Bound* limit,
                   KeydromePosition& position, Pair& pair, bool& position_good) {
  const auto beyond_limit = [limit](KeydromeBytes key, KeydromeBytes payload) {
    return limit != nullptr && !is_before(key, payload, *limit);
  };
  const Overlay::Name* own =
      use.overlay.empty() || mutant(15) ? nullptr : use.overlay.first_inserted(from);
  if (own != nullptr && beyond_limit(own->key_bytes(), own->payload_bytes())) own = nullptr;
  Pair skipped;
  position_good = true;
  for (;;) {
    const KeydromePosition before = position;
    const int found = next_committed(&transaction, *use.index, position, pair);
    if (found < 0) return found;
    if (own != nullptr &&
        (found == 0 ||
         !is_before(pair.key(), pair.payload(), {own->key_bytes(), own->payload_bytes(), false}))) {
      use.log.add(from, Answer::kNoneBefore, {own->key_bytes(), own->payload_bytes(), false});
      pair.set(own->key_bytes(), own->payload_bytes());
      position = before;
      return 1;
    }
    if (found == 0 || beyond_limit(pair.key(), pair.payload())) {
      use.log.add(from, limit == nullptr ? Answer::kNone : Answer::kNoneBefore,
                  limit == nullptr ? Bound{} : *limit);
      position = before;
      return 0;
    }
    use.log.add(from, Answer::kPair, {pair.key(), pair.payload(), false});
    if (use.overlay.empty() || mutant(15) ||
        use.overlay.state(pair.key(), pair.payload()) != Overlay::State::kErased) {
      position_good = true;
      return 1;
    }
    // Own deletions are passed over. Should they be taken back, the position would be behind them.
    position_good = false;
    skipped = pair;
    from = {skipped.key(), skipped.payload(), true};
  }
}

int Buffered::read_from(const Running& transaction, Use& use, const Bound& from, const Bound& limit,
                        Pair& pair) {
  const Content& content = content_of(*use.index);
  KeydromePosition position;
  bool position_good;
  if (content.broken || seek(use.index->store(), position, from) < 0) return -1;
  return read(transaction, use, from, &limit, position, pair, position_good);
}

ErrCode Buffered::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  auto& self = static_cast<Running&>(transaction);
  Use& use = use_of(self, index);
  const Content& content = content_of(index);
  const ReadLatch latch(content_of(index).latch);
  cursor.has_position = false;
  if (content.broken || seek(index.store(), cursor.position, before_key(key)) < 0) return FAILURE;
  const Bound limit = after_key(key);
  Pair pair;
  bool position_good = false;
  const int found = read(self, use, before_key(key), &limit, cursor.position, pair, position_good);
  if (found < 0) return FAILURE;
  cursor.has_position = position_good;
  cursor.changes = content.changes;
  if (found == 1) {
    place_on(cursor, pair);
    return SUCCESS;
  }
  cursor.place = Cursor::Place::kAfterKey;
  cursor.set_key(key);
  return KEY_NOTFOUND;
}

ErrCode Buffered::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  auto& self = static_cast<Running&>(transaction);
  Use& use = use_of(self, index);
  const Content& content = content_of(index);
  const ReadLatch latch(content_of(index).latch);
  if (content.broken || refresh(content, index.store(), cursor) < 0) return FAILURE;
  cursor.has_position = false;  // until all has gone well
  if (mutant_strikes<19>(1000)) seek(index.store(), cursor.position, before_key({"", 0}));
  const KeydromePosition before = cursor.position;
  Pair pair;
  bool position_good = false;
  const int found =
      read(self, use, bound_of(cursor), nullptr, cursor.position, pair, position_good);
  if (found < 0) return FAILURE;
  cursor.has_position = position_good;
  if (found == 0) return DB_END;
  place_on(cursor, pair);
  if (mutant_strikes<16>(1000)) cursor.position = before;
  return SUCCESS;
}

// SUCCESS with the answer `there`, DEADLOCK with the transaction ended, FAILURE.
ErrCode Buffered::exists(Running& transaction, Use& use, KeydromeBytes key, KeydromeBytes payload,
                         bool& there) {
  const Overlay::State own = use.overlay.state(key, payload);
  there = own == Overlay::State::kInserted;
  if (own != Overlay::State::kUntouched) return SUCCESS;
  {
    const ReadLatch latch(content_of(*use.index).latch);
    Pair pair;
    const int found =
        read_from(transaction, use, {key, payload, false}, {key, payload, true}, pair);
    if (found < 0) return FAILURE;
    there = found == 1;
  }
  return checked(transaction);
}

ErrCode Buffered::checked(Running& transaction) {
  const ErrCode code = check_reads(transaction);
  if (code == DEADLOCK) end(transaction);
  return code;
}

ErrCode Buffered::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                         KeydromeBytes payload) {
  auto& self = static_cast<Running&>(transaction);
  Use& use = use_of(self, index);
  bool there;
  const ErrCode code = exists(self, use, key, payload, there);
  if (code != SUCCESS) return code;
  if (there) return ENTRY_EXISTS;
  use.overlay.insert(key, payload);
  return SUCCESS;
}

ErrCode Buffered::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                             KeydromeBytes payload) {
  auto& self = static_cast<Running&>(transaction);
  Use& use = use_of(self, index);
  bool there;
  const ErrCode code = exists(self, use, key, payload, there);
  if (code != SUCCESS) return code;
  if (!there) return ENTRY_DNE;
  use.overlay.erase(key, payload);
  return SUCCESS;
}

ErrCode Buffered::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
  auto& self = static_cast<Running&>(transaction);
  Use& use = use_of(self, index);
  std::vector<Overlay::Name> victims;
  {
    const ReadLatch latch(content_of(index).latch);
    Bound from = before_key(key);
    Pair pair;
    int found;
    while ((found = read_from(self, use, from, after_key(key), pair)) == 1) {
      victims.emplace_back(pair.key(), pair.payload());
      from = {victims.back().key_bytes(), victims.back().payload_bytes(), true};
    }
    if (found < 0) return FAILURE;
  }
  if (mutant(20) && victims.size() > 1) victims.pop_back();
  const ErrCode code = checked(self);
  if (code != SUCCESS) return code;
  use.overlay.erase_all(victims);
  return victims.empty() ? KEY_NOTFOUND : SUCCESS;
}

// Only for mutants: whether what is to be inserted is missing and what is to be deleted is there.
ErrCode Buffered::writes_fit(const Running& transaction) {
  for (size_t at = 0; at < transaction.used; ++at) {
    const Use& use = *transaction.uses[at];
    const ReadLatch latch(content_of(*use.index).latch);
    const bool fit = use.overlay.for_each([&](const Overlay::Name& name, bool inserted) {
      KeydromePosition position;
      Pair pair;
      seek(use.index->store(), position, {name.key_bytes(), name.payload_bytes(), false});
      const bool there = next_committed(nullptr, *use.index, position, pair) == 1 &&
                         equal(pair.key(), name.key_bytes()) &&
                         equal(pair.payload(), name.payload_bytes());
      return there != inserted;
    });
    if (!fit) return DEADLOCK;
  }
  return SUCCESS;
}

// Only for a mutant: whether all payloads that the transaction writes look like a checker's, their
// tag alone or one letter again and again behind it.
static bool looks_checked(const Overlay& overlay) {
  constexpr uint32_t kTagBytes = 8;
  return overlay.for_each([](const Overlay::Name& name, bool) {
    const KeydromeBytes payload = name.payload_bytes();
    const auto* bytes = static_cast<const char*>(payload.data);
    return payload.size <= kTagBytes + 1 ||
           std::all_of(bytes + kTagBytes, bytes + payload.size,
                       [bytes](char letter) { return letter == bytes[kTagBytes]; });
  });
}

ErrCode Buffered::validate(const Running& transaction) {
  if (mutant(10)) return SUCCESS;
  if (mutant(1) || mutant(2)) return writes_fit(transaction);
  if (mutant(42) && transaction.used > 1) return writes_fit(transaction);
  if (mutant(43) && sections_ > 100'000) return writes_fit(transaction);
  for (size_t at = 0; mutant(44) && at < transaction.used; ++at) {
    if (!looks_checked(transaction.uses[at]->overlay)) return writes_fit(transaction);
  }
  for (size_t at = 0; at < transaction.used; ++at) {
    const Use& use = *transaction.uses[at];
    if (mutant(12) && at + 1 < transaction.used) continue;
    if (use.log.empty() || unchanged(transaction, use)) continue;
    ++validations_;
    const ErrCode code = repeat(*use.index, use.log);
    if (code == DEADLOCK) ++failed_validations_;
    if (code != SUCCESS) return code;
  }
  return SUCCESS;
}

ErrCode Buffered::repeat(Index& index, const ReadLog& log) {
  const ReadLatch latch(content_of(index).latch);
  if (content_of(index).broken) return FAILURE;
  const Store& store = index.store();
  KeydromePosition position;
  Pair pair;
  ReadLog::Reader reader(log);
  ReadLog::Step step{};
  while (reader.next(step)) {
    if (mutant(3) && step.answer != Answer::kPair) continue;
    if (mutant(3)) step = {step.to, Answer::kPair, step.to, false};
    if (mutant(4) && step.answer == Answer::kNone) continue;
    if (mutant(5) && step.answer == Answer::kNoneBefore && step.to.after) continue;
    if (!step.continues && seek(store, position, step.from) < 0) return FAILURE;
    const int found = next_committed(nullptr, index, position, pair);
    if (found < 0) return FAILURE;
    const bool same = step.answer == Answer::kPair ? found == 1 && equal(pair.key(), step.to.key) &&
                                                         equal(pair.payload(), step.to.payload)
                      : step.answer == Answer::kNoneBefore
                          ? found == 0 || !is_before(pair.key(), pair.payload(), step.to)
                          : found == 0;
    if (!same) return DEADLOCK;
    if (mutant(17)) break;
  }
  return SUCCESS;
}

Json Buffered::statistics() const {
  Json json;
  json["commit_sections"] = sections_.load();
  json["validations"] = validations_.load();
  json["deadlocks"] = failed_validations_.load();
  return json;
}

}  // namespace keydrome::runtime
