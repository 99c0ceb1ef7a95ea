#include "benchmarks/unit/unit_script.h"

#include <utility>

namespace keydrome::unit {
namespace {

constexpr uint8_t kFirst = 0, kSecond = 1, kThird = 2;  // slots
constexpr uint32_t kRecordsMax = 64;                    // more than any index has here
constexpr uint32_t kShown = 0,
                   kLooked = 1;      // events: there is something to look at; it was looked at
constexpr uint32_t kChanceUs = 500;  // how long it stays, unless it was looked at before

std::vector<Answer> only(ErrCode code) { return {Answer::just(code)}; }

std::vector<Answer> either(std::vector<Answer> a, std::vector<Answer> b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

UnitScript::UnitScript(uint32_t rounds) : rounds_(rounds) {
  check_ = script_.add_class("check");
  primary_ = script_.add_index("primary_index", VARCHAR);
  secondary_ = script_.add_index("secondary_index", VARCHAR);
  terciary_ = script_.add_index("terciary_index", INT);
  missing_ = script_.add_index("missing_index", VARCHAR);
  for (const char* text :
       {"", "a_key", "a_key_and_more", "b_key", "c_key", "d_key", "\xc3\xbc_key"}) {
    keys_.push_back(script_.add_varchar_key(text));
  }
  KEYDROME_CHECK(keys_.size() == kKeys);
  for (const int64_t number :
       {INT64_MIN, int64_t{-5'000'000'000}, int64_t{-1}, int64_t{0}, int64_t{7}, INT64_MAX}) {
    numbers_.push_back(script_.add_int64_key(number));
  }
}

Script UnitScript::build() {
  phase_ = script_.add_phase("create", 1, {});
  thread_ = 0;
  ThreadBuilder create = script_.thread(phase_, 0);
  handles(create);
  phase_ = script_.add_phase("test", 3, {.timed = true});
  KEYDROME_CHECK(phase_ == kTestPhase);
  thread_ = 0;
  primary_thread(script_.thread(phase_, thread_));
  thread_ = 1;
  secondary_thread(script_.thread(phase_, thread_));
  thread_ = kLookerOn;
  looker_on(script_.thread(phase_, thread_));
  const uint32_t verify = script_.add_phase("verify", 1, {.verifies = true});
  for (const uint32_t index : {primary_, secondary_, terciary_}) {
    ThreadBuilder out = script_.thread(verify, 0);
    out.open(kFirst, index);
    out.begin(Kind::kScript, check_);
    out.next_to_end(kFirst, script_.inserts(index), kEvidenceAll);
    out.commit();
    out.close(kFirst);
  }
  return script_.build();
}

void UnitScript::require(ThreadBuilder& out, const char* name, const char* rule, Answers answers) {
  expectations_.expect_last(phase_, thread_, out, name, Severity::kRequired, rule,
                            std::move(answers));
}

void UnitScript::advise(ThreadBuilder& out, const char* name, const char* rule, Answers answers) {
  expectations_.expect_last(phase_, thread_, out, name, Severity::kAdvisory, rule,
                            std::move(answers));
}

void UnitScript::handles(ThreadBuilder& out) {
  for (const uint32_t index : {primary_, secondary_, terciary_}) {
    out.create(index, kEvidence);
    require(out, "create", "create of a new index succeeds", {only(SUCCESS)});
  }
  out.create(primary_, kEvidence | kAnyCode);
  require(out, "create_twice", "an index cannot be created twice", {only(DB_EXISTS)});
  out.open_missing(kFirst, missing_);
  require(out, "open_missing", "an index that was never created cannot be opened", {only(DB_DNE)});
}

void UnitScript::primary_thread(ThreadBuilder out) {
  out.auto_commit_as(Kind::kScript, check_);
  out.open(kFirst, primary_);
  out.open(kSecond, terciary_);
  payloads_and_duplicates(out);
  deletes(out);
  cursors(out);
  cursor_and_writes(out);
  aborts(out);
  auto_commits(out);
  handles_in_transactions(out);
  order_of_keys(out);
  two_indices(out);
  shown_and_aborted(out);
  out.close(kSecond);
  out.close(kFirst);
}

// Afterwards committed: (a, a1), (a, a2), (c, c1).
void UnitScript::payloads_and_duplicates(ThreadBuilder& out) {
  a1_ = payload("value one");
  a2_ = payload("value two");
  c1_ = payload("z");
  const uint32_t a = keys_[kA], c = keys_[kC];
  out.begin(Kind::kScript, check_);
  out.insert(kFirst, a, a1_, kEvidence);
  require(out, "insert", "a new pair can be inserted", {only(SUCCESS)});
  out.get(kFirst, a, kEvidence);
  require(out, "read_own_insert", "a transaction reads what it inserted", {one_of(a, {a1_})});
  out.next(kFirst, 1, kEvidence);
  require(out, "end_of_index", "after the last record comes DB_END", {only(DB_END)});
  out.next(kFirst, 1, kEvidence);
  advise(out, "end_is_sticky", "DB_END stays DB_END", {only(DB_END)});
  out.insert(kFirst, a, a1_, kEvidence);
  require(out, "duplicate_insert", "a pair that is stored cannot be inserted again",
          {only(ENTRY_EXISTS)});
  out.insert(kFirst, a, a2_, kEvidence);
  require(out, "second_payload", "a key takes a second payload", {only(SUCCESS)});
  out.insert(kFirst, c, c1_, kEvidence);
  require(out, "insert", "a new pair can be inserted", {only(SUCCESS)});
  out.get(kFirst, a, kEvidence);
  require(out, "read_payloads", "get gives one of the key's payloads", {one_of(a, {a1_, a2_})});
  out.next(kFirst, 3, kEvidenceAll);
  require(out, "read_payloads", "getNext gives the other payload, then the next key, then DB_END",
          {one_of(a, {a1_, a2_}), one_of(c, {c1_}), only(DB_END)});
  out.commit();
}

void UnitScript::deletes(ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const Payload b1 = payload("one"), b2 = payload("two"), other = payload("never stored");
  out.begin(Kind::kScript, check_);
  out.insert(kFirst, b, b1);
  out.insert(kFirst, b, b2);
  out.delete_pair(kFirst, b, other, kEvidence);
  require(out, "delete_missing_pair",
          "a pair that is not stored under a stored key cannot be deleted",
          {either(only(ENTRY_DNE), only(KEY_NOTFOUND))});
  out.delete_pair(kFirst, b, b1, kEvidence);
  require(out, "delete_pair", "a stored pair can be deleted", {only(SUCCESS)});
  out.delete_pair(kFirst, b, b1, kEvidence);
  require(out, "delete_pair_twice", "a pair can be deleted once",
          {either(only(ENTRY_DNE), only(KEY_NOTFOUND))});
  out.get(kFirst, b, kEvidence);
  require(out, "other_payload_stays", "the other payload of the key stays", {one_of(b, {b2})});
  out.next(kFirst, 1, kEvidence);
  require(out, "other_payload_stays", "the deleted payload is gone", {one_of(c, {c1_})});
  out.insert(kFirst, b, b1, kEvidence);
  require(out, "insert_again", "a deleted pair can be inserted again", {only(SUCCESS)});
  out.delete_key(kFirst, b, kEvidence);
  require(out, "delete_key", "all payloads of a key can be deleted", {only(SUCCESS)});
  out.get(kFirst, b, kEvidence);
  require(out, "delete_key", "a deleted key is not found", {only(KEY_NOTFOUND)});
  out.next(kFirst, 1, kEvidence);
  require(out, "next_after_miss", "after a key that was not found comes the first key after it",
          {one_of(c, {c1_})});
  out.delete_key(kFirst, b, kEvidence);
  require(out, "delete_missing_key", "a key that is not stored cannot be deleted",
          {only(KEY_NOTFOUND)});
  out.get(kFirst, a, kEvidence);
  require(out, "delete_key", "other keys stay", {one_of(a, {a1_, a2_})});
  out.commit();
}

void UnitScript::cursors(ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const Answers all = {one_of(a, {a1_, a2_}), one_of(a, {a1_, a2_}), one_of(c, {c1_}),
                       only(DB_END)};
  out.begin(Kind::kScript, check_);
  out.next_to_end(kFirst, kRecordsMax, kEvidenceAll);
  require(out, "scan_from_start", "without an earlier read getNext begins with the first record",
          all);
  out.commit();
  out.begin(Kind::kScript, check_);
  out.next(kFirst, 1, kEvidence);
  require(out, "scan_per_transaction", "a new transaction begins with the first record again",
          {one_of(a, {a1_, a2_})});
  out.get(kFirst, c, kEvidence);
  out.next(kFirst, 1, kEvidence);
  require(out, "get_moves_cursor", "getNext goes on from the key of the last get", {only(DB_END)});
  out.get(kFirst, b, kEvidence);
  require(out, "get_missing", "a missing key is not found", {only(KEY_NOTFOUND)});
  out.next_to_end(kFirst, kRecordsMax, kEvidenceAll);
  require(out, "next_after_miss", "after a key that was not found comes the first key after it",
          {one_of(c, {c1_}), only(DB_END)});
  out.get(kFirst, keys_[kEmpty], kEvidence);
  require(out, "get_empty_key", "the empty string is a key and is not stored",
          {only(KEY_NOTFOUND)});
  out.next_to_end(kFirst, kRecordsMax, kEvidenceAll);
  require(out, "scan_from_start", "after the empty string come all keys", all);
  out.commit();
}

// Everything here is aborted at the end.
void UnitScript::cursor_and_writes(ThreadBuilder& out) {
  const uint32_t a = keys_[kA], aa = keys_[kAa], b = keys_[kB], c = keys_[kC], d = keys_[kD];
  const Payload ahead = payload("ahead"), beyond = payload("beyond"), under = payload("under");
  const Payload d1 = payload("d one"), d2 = payload("d two");
  out.begin(Kind::kScript, check_);
  out.get(kFirst, aa, kEvidence);
  out.insert(kFirst, b, ahead);
  out.next(kFirst, 1, kEvidence);
  require(out, "insert_ahead", "getNext sees an own insert ahead of it", {one_of(b, {ahead})});
  out.insert(kFirst, b, under);
  out.next(kFirst, 1, kEvidence);
  require(out, "insert_under",
          "after an own insert under the current key comes that record or the next key",
          {either(one_of(b, {under}), one_of(c, {c1_}))});
  out.get(kFirst, c, kEvidence);
  out.next(kFirst, 1, kEvidence);
  require(out, "end_of_index", "after the last record comes DB_END", {only(DB_END)});
  out.insert(kFirst, d, beyond);
  out.next(kFirst, 1, kEvidence);
  advise(out, "insert_beyond_end", "after DB_END getNext sees an own insert beyond the last record",
         {one_of(d, {beyond})});
  out.get(kFirst, b, kEvidence);
  out.delete_key(kFirst, b);
  out.next(kFirst, 1, kEvidence);
  require(out, "delete_current", "after its current record was deleted a scan goes on in order",
          {one_of(c, {c1_})});
  out.abort();
  out.begin(Kind::kScript, check_);
  out.insert(kFirst, b, d1);
  out.insert(kFirst, d, d2);
  out.get(kFirst, b, kEvidence);
  out.delete_pair(kFirst, a, a1_);
  out.next(kFirst, 1, kEvidence);
  advise(out, "delete_pair_keeps_cursor", "deleting another pair does not move the cursor",
         {one_of(c, {c1_})});
  out.abort();
}

void UnitScript::aborts(ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const Payload b1 = payload("aborted");
  out.begin(Kind::kScript, check_);
  out.insert(kFirst, b, b1);
  out.delete_key(kFirst, a);
  out.delete_pair(kFirst, c, c1_);
  out.get(kFirst, a, kEvidence);
  require(out, "read_own_delete", "a transaction does not find what it deleted",
          {only(KEY_NOTFOUND)});
  out.next(kFirst, 1, kEvidence);
  require(out, "read_own_delete", "a scan leaves out what the transaction deleted",
          {one_of(b, {b1})});
  out.abort();
  out.begin(Kind::kScript, check_);
  out.get(kFirst, b, kEvidence);
  require(out, "abort_undoes_insert", "an aborted insert leaves nothing", {only(KEY_NOTFOUND)});
  out.next_to_end(kFirst, kRecordsMax, kEvidenceAll);
  require(out, "abort_undoes_delete", "an aborted delete leaves the record",
          {one_of(c, {c1_}), only(DB_END)});
  out.get(kFirst, a, kEvidence);
  require(out, "abort_undoes_delete", "an aborted delete leaves both payloads",
          {one_of(a, {a1_, a2_})});
  out.next(kFirst, 1, kEvidence);
  require(out, "abort_undoes_delete", "an aborted delete leaves both payloads",
          {one_of(a, {a1_, a2_})});
  out.commit();
}

void UnitScript::auto_commits(ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB];
  const Payload b1 = payload("auto");
  out.get(kFirst, b, kEvidence);
  require(out, "auto_commit_get", "without a transaction an aborted insert is not found",
          {only(KEY_NOTFOUND)});
  out.insert(kFirst, b, b1, kEvidence);
  require(out, "auto_commit_insert", "without a transaction an insert is committed at once",
          {only(SUCCESS)});
  out.insert(kFirst, b, b1, kEvidence);
  require(out, "auto_commit_insert", "a pair that is stored cannot be inserted again",
          {only(ENTRY_EXISTS)});
  out.get(kFirst, b, kEvidence);
  require(out, "auto_commit_get", "without a transaction committed records are found",
          {one_of(b, {b1})});
  out.next(kFirst, 2, kEvidenceAll);
  require(out, "auto_commit_next", "without a transaction getNext always gives the first record",
          {one_of(a, {a1_, a2_}), one_of(a, {a1_, a2_})});
  out.delete_key(kFirst, b, kEvidence);
  require(out, "auto_commit_delete", "without a transaction a delete is committed at once",
          {only(SUCCESS)});
  out.begin(Kind::kScript, check_);
  out.get(kFirst, b, kEvidence);
  require(out, "auto_commit_delete", "a deleted key is not found", {only(KEY_NOTFOUND)});
  out.commit();
}

void UnitScript::handles_in_transactions(ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const Payload b1 = payload("closed");
  out.begin(Kind::kScript, check_);
  out.open(kThird, primary_);
  out.next(kThird, 1, kEvidence);
  require(out, "open_in_transaction", "an index opened in a transaction can be read",
          {one_of(a, {a1_, a2_})});
  out.insert(kThird, b, b1);
  out.close(kThird);
  out.get(kFirst, b, kEvidence);
  require(out, "close_in_transaction", "closing a handle does not change the transaction's effects",
          {one_of(b, {b1})});
  out.commit();
  out.begin(Kind::kScript, check_);
  out.get(kFirst, b, kEvidence);
  require(out, "close_in_transaction", "what was written over a closed handle is committed",
          {one_of(b, {b1})});
  out.open(kThird, primary_);
  out.next(kThird, 1, kEvidence);
  advise(out, "reopen_resets_cursor", "a new handle begins with the first record",
         {one_of(a, {a1_, a2_})});
  out.close(kThird);
  out.get(kFirst, c, kEvidence);
  out.delete_key(kFirst, b);
  out.commit();
}

void UnitScript::order_of_keys(ThreadBuilder& out) {
  const std::vector<Key> order = {kEmpty, kA, kAa, kB, kC, kD, kUmlaut};
  out.begin(Kind::kScript, check_);
  Answers sorted;
  for (const Key key : order) {
    if (key == kA || key == kC) continue;
    const Payload extra = payload("order");
    out.insert(kFirst, keys_[key], extra);
    sorted.push_back(one_of(keys_[key], {extra}));
  }
  sorted.insert(sorted.begin() + 1, 2, one_of(keys_[kA], {a1_, a2_}));
  sorted.insert(sorted.begin() + 5, one_of(keys_[kC], {c1_}));
  sorted.push_back(only(DB_END));
  out.next_to_end(kFirst, kRecordsMax, kEvidenceAll);
  require(out, "string_order",
          "strings are ordered by unsigned bytes, a prefix before its extension", sorted);
  out.abort();
  out.begin(Kind::kScript, check_);
  Answers numbers;
  for (std::size_t i = numbers_.size(); i > 0; --i) {
    const Payload extra = payload("order");
    out.insert(kSecond, numbers_[i - 1], extra);
    numbers.insert(numbers.begin(), one_of(numbers_[i - 1], {extra}));
  }
  numbers.push_back(only(DB_END));
  out.next_to_end(kSecond, kRecordsMax, kEvidenceAll);
  require(out, "integer_order", "integers are ordered by value, negative ones first", numbers);
  out.abort();
}

// Pairs of records in two indices come and go together; the looker-on must see both or none.
void UnitScript::two_indices(ThreadBuilder& out) {
  const uint32_t d = keys_[kD], number = numbers_.back();
  for (uint32_t round = 0; round < rounds_; ++round) {
    const Payload left = payload("left"), right = payload("right");
    out.begin(Kind::kScript, check_);
    out.insert(kFirst, d, left);
    out.signal(kShown);
    out.yield(kLooked, round + 1, kChanceUs);
    out.insert(kSecond, number, right);
    out.get(kFirst, d, kEvidence);
    require(out, "two_indices", "a transaction reads what it wrote in one index",
            {one_of(d, {left})});
    out.get(kSecond, number, kEvidence);
    require(out, "two_indices", "and what it wrote in another", {one_of(number, {right})});
    out.commit();
    out.begin(Kind::kScript, check_);
    out.delete_key(kFirst, d);
    out.delete_key(kSecond, number);
    out.commit();
  }
}

// The looker-on must never see what is written here, because it is aborted.
void UnitScript::shown_and_aborted(ThreadBuilder& out) {
  for (uint32_t round = 0; round < rounds_; ++round) {
    out.begin(Kind::kScript, check_);
    out.insert(kFirst, keys_[kB], payload("aborted"));
    out.signal(kShown);
    out.yield(kLooked, rounds_ + round + 1, kChanceUs);
    out.abort();
  }
}

// An index of its own, beside the others.
void UnitScript::secondary_thread(ThreadBuilder out) {
  const uint32_t a = keys_[kA], c = keys_[kC];
  const Payload c1 = payload("secondary one"), c2 = payload("secondary two");
  out.auto_commit_as(Kind::kScript, check_);
  out.open(kFirst, secondary_);
  out.begin(Kind::kScript, check_);
  out.get(kFirst, a, kEvidence);
  require(out, "empty_index", "nothing is found in an empty index", {only(KEY_NOTFOUND)});
  out.next(kFirst, 1, kEvidence);
  require(out, "empty_index", "an empty index ends at once", {only(DB_END)});
  out.commit();
  out.begin(Kind::kScript, check_);
  out.insert(kFirst, c, c1);
  out.get(kFirst, c, kEvidence);
  require(out, "read_own_insert", "a transaction reads what it inserted", {one_of(c, {c1})});
  out.insert(kFirst, c, c2);
  out.next(kFirst, 1, kEvidence);
  require(out, "insert_under",
          "after an own insert under the current key comes that record or DB_END",
          {either(one_of(c, {c2}), only(DB_END))});
  out.commit();
  out.begin(Kind::kScript, check_);
  out.next_to_end(kFirst, kRecordsMax, kEvidenceAll);
  require(out, "separate_indices", "an index holds its own records and no others",
          {one_of(c, {c1, c2}), one_of(c, {c1, c2}), only(DB_END)});
  out.commit();
  out.close(kFirst);
}

void UnitScript::looker_on(ThreadBuilder out) {
  out.auto_commit_as(Kind::kScript, check_);
  out.open(kFirst, primary_);
  out.open(kSecond, terciary_);
  for (uint32_t round = 0; round < 2 * rounds_; ++round) {
    out.wait(kShown, round + 1);
    out.begin(Kind::kScript, check_);
    out.get(kFirst, keys_[kD], kEvidence);
    out.get(kSecond, numbers_.back(), kEvidence);
    out.commit();
    out.begin(Kind::kScript, check_);
    out.get(kFirst, keys_[kB], kEvidence);
    out.get(kFirst, keys_[kB], kEvidence);
    out.commit();
    out.signal(kLooked);
  }
  out.close(kSecond);
  out.close(kFirst);
}

}  // namespace keydrome::unit
