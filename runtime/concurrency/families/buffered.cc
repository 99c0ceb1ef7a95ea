// Implements Buffered: logs reads, keeps uncommitted writes in an overlay, and validates at commit
// by repeating the logged reads. A pair is a key with one of its payloads. A committed pair is one
// that the index contains, apart from the overlays.
#include "runtime/concurrency/families/buffered.h"

#include <algorithm>

namespace keydrome::runtime {

using Outcome = ReadLog::Step::Outcome;

namespace {

// Returns true if the repeated step has the outcome that the log recorded. `first` is the first
// pair that the repetition found, or nullptr if it found none.
bool has_outcome(const ReadLog::Step& step, const Pair* first) {
  switch (step.outcome) {
    case Outcome::kPair:
      return first != nullptr && equal(first->key(), step.to.key) &&
             equal(first->payload(), step.to.payload);
    case Outcome::kNoneBefore:
      return first == nullptr || !is_before(first->key(), first->payload(), step.to);
    case Outcome::kNone:
      return first == nullptr;
  }
  return false;
}

bool is_beyond(KeydromeBytes key, KeydromeBytes payload, const Bound* limit) {
  return limit != nullptr && !is_before(key, payload, *limit);
}

// Returns the first pair at or after `from` and before `limit` that the transaction has inserted,
// or nullptr if there is none. If `limit` is nullptr, the search has no upper end.
const Overlay::StoredPair* first_own(const Overlay& overlay, const Bound& from,
                                     const Bound* limit) {
  const Overlay::StoredPair* own = overlay.empty() ? nullptr : overlay.first_inserted(from);
  if (own == nullptr || is_beyond(own->key_bytes(), own->payload_bytes(), limit)) return nullptr;
  return own;
}

}  // namespace

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
}

Buffered::Use& Buffered::use_of(Running& transaction, Index& index) {
  for (size_t at = transaction.used; at-- > 0;) {
    if (transaction.uses[at]->index == &index) return *transaction.uses[at];
  }
  if (transaction.used == transaction.uses.size()) {
    transaction.uses.push_back(std::make_unique<Use>());
  }
  Use& use = *transaction.uses[transaction.used++];
  use.index = &index;
  first_use(transaction, use);
  return use;
}

// Finds the first pair at or after `from` and before `limit` that the transaction sees. If `limit`
// is nullptr, the search has no upper end. Returns 1 and sets `pair`, 0 if there is none, or a
// negative number for a failure.
//
// The read log gets one step for each committed pair that the search skips or returns. If the
// search returns no committed pair, the log also gets a step that says that there is none.
//
// On entry `position` must be at `from`. On return `position_good` is true if `position` is
// directly before the next committed pair. The caller holds the index's latch.
int Buffered::read(const Running& transaction, Use& use, Bound from, const Bound* limit,
                   KeydromePosition& position, Pair& pair, bool& position_good) {
  const Overlay::StoredPair* own = first_own(use.overlay, from, limit);
  Pair skipped;
  position_good = true;
  for (;;) {
    const KeydromePosition before = position;
    const int found = next_committed(&transaction, *use.index, position, pair);
    if (found < 0) return found;
    if (own != nullptr &&
        (found == 0 ||
         !is_before(pair.key(), pair.payload(), {own->key_bytes(), own->payload_bytes(), false}))) {
      use.log.add(from, Outcome::kNoneBefore, {own->key_bytes(), own->payload_bytes(), false});
      pair.set(own->key_bytes(), own->payload_bytes());
      position = before;
      return 1;
    }
    if (found == 0 || is_beyond(pair.key(), pair.payload(), limit)) {
      use.log.add(from, limit == nullptr ? Outcome::kNone : Outcome::kNoneBefore,
                  limit == nullptr ? Bound{} : *limit);
      position = before;
      return 0;
    }
    use.log.add(from, Outcome::kPair, {pair.key(), pair.payload(), false});
    if (use.overlay.empty() ||
        use.overlay.state(pair.key(), pair.payload()) != Overlay::State::kErased) {
      position_good = true;
      return 1;
    }
    // The transaction has deleted this pair, so skip it. The position is then after the deleted
    // pair. If the transaction inserts the pair again, a read from this position would miss it.
    // Therefore the next read must seek.
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
  cursor.has_position = false;  // until the read has succeeded
  Pair pair;
  bool position_good = false;
  const int found =
      read(self, use, bound_of(cursor), nullptr, cursor.position, pair, position_good);
  if (found < 0) return FAILURE;
  cursor.has_position = position_good;
  if (found == 0) return DB_END;
  place_on(cursor, pair);
  return SUCCESS;
}

// Returns SUCCESS, and sets `there` to whether the transaction sees the pair. If the transaction's
// reads are no longer consistent, ends the transaction and returns DEADLOCK. Returns FAILURE if the
// structure fails.
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

// Calls check_reads, and ends the transaction if the result is DEADLOCK.
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
  std::vector<Overlay::StoredPair> victims;
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
  const ErrCode code = checked(self);
  if (code != SUCCESS) return code;
  use.overlay.erase_all(victims);
  return victims.empty() ? KEY_NOTFOUND : SUCCESS;
}

ErrCode Buffered::validate(const Running& transaction) {
  for (size_t at = 0; at < transaction.used; ++at) {
    const Use& use = *transaction.uses[at];
    if (use.log.empty() || unchanged(transaction, use)) continue;
    ++validations_;
    const ErrCode code = repeat(*use.index, use.log);
    if (code == DEADLOCK) ++failed_validations_;
    if (code != SUCCESS) return code;
  }
  return SUCCESS;
}

// Repeats the reads of one index. Returns SUCCESS, DEADLOCK if a result differs now, or FAILURE.
ErrCode Buffered::repeat(Index& index, const ReadLog& log) {
  const ReadLatch latch(content_of(index).latch);
  if (content_of(index).broken) return FAILURE;
  const Store& store = index.store();
  KeydromePosition position;
  Pair pair;
  ReadLog::Reader reader(log);
  ReadLog::Step step{};
  while (reader.next(step)) {
    if (!step.continues && seek(store, position, step.from) < 0) return FAILURE;
    const int found = next_committed(nullptr, index, position, pair);
    if (found < 0) return FAILURE;
    if (!has_outcome(step, found == 1 ? &pair : nullptr)) return DEADLOCK;
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
