// Implements Buffered, the base class of optimistic concurrency controls: logs reads, keeps
// uncommitted writes in an overlay, and validates at commit by repeating the logged reads. A pair
// is a key with one of its payloads. The committed pairs are those in the index itself, without the
// pairs in overlays.
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

// Reads the committed pairs that a transaction sees, in order. Takes them from a Run
// (content/run.h), which copies several pairs at a time. If `transaction` is nullptr, reads the
// pairs that are committed now.
class Buffered::RunSource {
 public:
  RunSource(const Buffered& method, const Running* transaction, Index& index, Run& run,
            const Bound& from)
      : method_(method), transaction_(transaction), index_(index), run_(run), from_(from) {}

  // Copies the next pair, and does not move past it. Returns 1 if there is a pair, 0 at the end, or
  // a negative number for a failure.
  int peek(Pair& pair) {
    KeydromeBytes key, payload;
    int found;
    while ((found = run_.peek(index_.store(), from_, key, payload)) == 1) {
      if (method_.sees(transaction_, index_, key, payload)) {
        pair.set(key, payload);
        return 1;
      }
      run_.pass();
    }
    return found;
  }
  void pass() { run_.pass(); }

 private:
  const Buffered& method_;
  const Running* transaction_;
  Index& index_;
  Run& run_;
  const Bound from_;  // ignored after the first pass() of the run
};

// Like RunSource, but reads only the payloads of one key, and needs no run.
class Buffered::KeySource {
 public:
  KeySource(const Buffered& method, const Running& transaction, Index& index, KeydromeBytes key)
      : method_(method), transaction_(transaction), index_(index), key_(key) {}

  int peek(Pair& pair) {
    KeydromeBuffer payload{payload_[1 - last_], 0, sizeof payload_[0]};
    int found;
    while ((found = index_.store().find(key_, after_, payload)) == 1) {
      if (payload.size > payload.capacity) return -1;
      found_ = {payload.data, payload.size};
      if (method_.sees(&transaction_, index_, key_, found_)) {
        pair.set(key_, found_);
        return 1;
      }
      pass();
      payload.data = payload_[1 - last_];
    }
    return found;
  }
  void pass() {
    after_ = found_;
    last_ = 1 - last_;
  }

 private:
  const Buffered& method_;
  const Running& transaction_;
  Index& index_;
  const KeydromeBytes key_;
  // `after_` is in payload_[last_]; peek() writes to the other of the two buffers.
  uint8_t payload_[2][KEYDROME_PAYLOAD_BYTES_MAX];
  int last_ = 0;
  KeydromeBytes after_ = kAnyPayload;
  KeydromeBytes found_ = kAnyPayload;
};

// Finds the first pair at or after `from` and before `limit` that the transaction sees. If `limit`
// is nullptr, the search has no upper end. Returns 1 and sets `pair`, 0 if there is none, or a
// negative number for a failure.
//
// The read log gets one step for each committed pair that the search skips or returns. If the
// search returns no committed pair, the log also gets a step that says that there is none.
//
// On entry `source` must be at `from`. The function moves `source` past the committed pairs that it
// skips or returns. The caller holds the index's latch.
template <class Source>
int Buffered::read(Use& use, Bound from, const Bound* limit, Source& source, Pair& pair) {
  if (content_of(*use.index).broken) return -1;
  const Overlay::StoredPair* own = first_own(use.overlay, from, limit);
  Pair skipped;
  for (;;) {
    const int found = source.peek(pair);
    if (found < 0) return found;
    if (own != nullptr &&
        (found == 0 ||
         !is_before(pair.key(), pair.payload(), {own->key_bytes(), own->payload_bytes(), false}))) {
      use.log.add(from, Outcome::kNoneBefore, {own->key_bytes(), own->payload_bytes(), false});
      pair.set(own->key_bytes(), own->payload_bytes());
      return 1;
    }
    if (found == 0 || is_beyond(pair.key(), pair.payload(), limit)) {
      use.log.add(from, limit == nullptr ? Outcome::kNone : Outcome::kNoneBefore,
                  limit == nullptr ? Bound{} : *limit);
      return 0;
    }
    source.pass();
    use.log.add(from, Outcome::kPair, {pair.key(), pair.payload(), false});
    if (use.overlay.empty() ||
        use.overlay.state(pair.key(), pair.payload()) != Overlay::State::kErased) {
      return 1;
    }
    skipped = pair;
    from = {skipped.key(), skipped.payload(), true};
  }
}

ErrCode Buffered::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  auto& self = static_cast<Running&>(transaction);
  Use& use = use_of(self, index);
  const ReadLatch latch(content_of(index).latch);
  cursor.run.drop();
  const Bound limit = after_key(key);
  Pair pair;
  KeySource source(*this, self, index, key);
  const int found = read(use, before_key(key), &limit, source, pair);
  if (found < 0) return FAILURE;
  if (found == 1) {
    place_on(cursor, pair.key(), pair.payload());
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
  refresh(content, cursor);
  Pair pair;
  const Bound from = bound_of(index.store(), cursor);
  RunSource source(*this, &self, index, cursor.run, from);
  const int found = read(use, from, nullptr, source, pair);
  if (found == 1) {
    place_on(cursor, pair.key(), pair.payload());
    return SUCCESS;
  }
  // The cursor has not moved, but the run may have passed pairs that the transaction has deleted.
  // If the transaction inserts such a pair again, the overlay only forgets the deletion, and reads
  // must find the pair in the index. A read from this run would miss it.
  cursor.run.drop();
  return found == 0 ? DB_END : FAILURE;
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
    const Bound from{key, payload, false};
    const Bound limit{key, payload, true};
    transaction.run.drop();
    RunSource source(*this, &transaction, *use.index, transaction.run, from);
    const int found = read(use, from, &limit, source, pair);
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
    const Bound limit = after_key(key);
    Pair pair;
    KeySource source(*this, self, index, key);
    int found;
    while ((found = read(use, from, &limit, source, pair)) == 1) {
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

ErrCode Buffered::validate(Running& transaction) {
  for (size_t at = 0; at < transaction.used; ++at) {
    const Use& use = *transaction.uses[at];
    if (use.log.empty() || unchanged(transaction, use)) continue;
    ++validations_;
    const ErrCode code = repeat(transaction, *use.index, use.log);
    if (code == DEADLOCK) ++failed_validations_;
    if (code != SUCCESS) return code;
  }
  return SUCCESS;
}

// Repeats the reads of one index. Returns SUCCESS, DEADLOCK if a result differs now, or FAILURE.
ErrCode Buffered::repeat(Running& transaction, Index& index, const ReadLog& log) {
  const ReadLatch latch(content_of(index).latch);
  if (content_of(index).broken) return FAILURE;
  Pair pair;
  ReadLog::Reader reader(log);
  ReadLog::Step step{};
  while (reader.next(step)) {
    if (!step.continues) transaction.run.drop();
    RunSource source(*this, nullptr, index, transaction.run, step.from);
    const int found = source.peek(pair);
    if (found < 0) return FAILURE;
    if (!has_outcome(step, found == 1 ? &pair : nullptr)) return DEADLOCK;
    if (found == 1) source.pass();
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
