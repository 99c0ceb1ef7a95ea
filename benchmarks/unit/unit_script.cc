// Implements UnitScript, the unit tests of the SIGMOD contest of 2009: one function for each group
// of edge cases. Each function appends calls to a thread's program, and after a tested call the
// results that the index API allows.
#include "benchmarks/unit/unit_script.h"

#include <utility>

namespace keydrome::unit {

namespace {

constexpr uint8_t kFirst = 0, kSecond = 1, kThird = 2;  // slots for open handles
// A bound that is larger than the number of records in any index.
constexpr uint32_t kRecordsMax = 64;
// Events: the first thread has written a record, and the observer (the third thread) has read it.
constexpr uint32_t kWritten = 0, kObserved = 1;
// The longest time in microseconds that an uncommitted record waits for the observer to read it.
constexpr uint32_t kWaitUs = 500;
constexpr int64_t kManyInserts = 32;  // inserts of the aborted transaction in large_abort()

std::vector<judge::Answer> only(ErrCode code) { return {judge::Answer::just(code)}; }

std::vector<judge::Answer> either(std::vector<judge::Answer> a, std::vector<judge::Answer> b) {
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
  for (const char* text : {"", "a_key", "a_key_and_more", "b_key", "c_key", "d_key", "e_key"}) {
    keys_.push_back(script_.add_varchar_key(text));
  }
  KEYDROME_CHECK(keys_.size() == kKeys);
  for (const int64_t number :
       {int64_t{1}, int64_t{7}, int64_t{1} << 31, int64_t{5'000'000'000}, INT64_MAX}) {
    numbers_.push_back(script_.add_int64_key(number));
  }
  for (int64_t number = 1; number <= kManyInserts; ++number) {
    many_.push_back(script_.add_int64_key(1'000 * number));
  }
}

script::Script UnitScript::build() {
  phase_ = script_.add_phase("create", 1, {});
  thread_ = 0;
  script::ThreadBuilder create = script_.thread(phase_, 0);
  handles(create);
  phase_ = script_.add_phase("test", 3, {.timed = true});
  KEYDROME_CHECK(phase_ == kTestPhase);
  thread_ = 0;
  primary_thread(script_.thread(phase_, thread_));
  thread_ = 1;
  secondary_thread(script_.thread(phase_, thread_));
  thread_ = kObserver;
  observer_thread(script_.thread(phase_, thread_));
  const uint32_t verify = script_.add_phase("verify", 1, {.verifies = true});
  for (const uint32_t index : {primary_, secondary_, terciary_}) {
    script::ThreadBuilder out = script_.thread(verify, 0);
    out.open(kFirst, index);
    out.begin(format::Kind::kScript, check_);
    out.next_to_end(kFirst, script_.inserts(index), format::kEvidenceAll);
    out.commit();
    out.close(kFirst);
  }
  return script_.build();
}

void UnitScript::require(script::ThreadBuilder& out, const char* name, const char* rule,
                         judge::Answers answers) {
  expectations_.expect_last(phase_, thread_, out, name, Severity::kRequired, rule,
                            std::move(answers));
}

void UnitScript::advise(script::ThreadBuilder& out, const char* name, const char* rule,
                        judge::Answers answers) {
  expectations_.expect_last(phase_, thread_, out, name, Severity::kAdvisory, rule,
                            std::move(answers));
}

void UnitScript::handles(script::ThreadBuilder& out) {
  for (const uint32_t index : {primary_, secondary_, terciary_}) {
    out.create(index, format::kEvidence);
    require(out, "create", "create must succeed for a new index", {only(SUCCESS)});
  }
  out.create(primary_, format::kEvidence | format::kAnyCode);
  require(out, "create_twice", "an index must not be created twice", {only(DB_EXISTS)});
  out.open_missing(kFirst, missing_);
  require(out, "open_missing", "an index that was never created must not be opened",
          {only(DB_DNE)});
}

void UnitScript::primary_thread(script::ThreadBuilder out) {
  out.auto_commit_as(format::Kind::kScript, check_);
  out.open(kFirst, primary_);
  out.open(kSecond, terciary_);
  payloads_and_duplicates(out);
  deletes(out);
  cursors(out);
  cursor_and_writes(out);
  aborts(out);
  large_abort(out);
  auto_commits(out);
  handles_in_transactions(out);
  order_of_keys(out);
  two_indices(out);
  written_and_aborted(out);
  out.close(kSecond);
  out.close(kFirst);
}

// Tests inserts and reads of several payloads. Commits (a, a1), (a, a2) and (c, c1).
void UnitScript::payloads_and_duplicates(script::ThreadBuilder& out) {
  a1_ = payload("value one");
  a2_ = payload("value two");
  c1_ = payload("z");
  const uint32_t a = keys_[kA], c = keys_[kC];
  out.begin(format::Kind::kScript, check_);
  out.insert(kFirst, a, a1_, format::kEvidence);
  require(out, "insert", "an insert of a new pair must succeed", {only(SUCCESS)});
  out.get(kFirst, a, format::kEvidence);
  require(out, "read_own_insert", "a transaction must read a record that it inserted",
          {one_of(a, {a1_})});
  out.next(kFirst, 1, format::kEvidence);
  require(out, "end_of_index", "after the last record, getNext must return DB_END", {only(DB_END)});
  out.next(kFirst, 1, format::kEvidence);
  advise(out, "end_is_sticky", "after DB_END, getNext should return DB_END again", {only(DB_END)});
  out.insert(kFirst, a, a1_, format::kEvidence);
  require(out, "duplicate_insert", "an existing pair must not be inserted again",
          {only(ENTRY_EXISTS)});
  out.insert(kFirst, a, a2_, format::kEvidence);
  require(out, "second_payload", "an insert of a second payload of a key must succeed",
          {only(SUCCESS)});
  out.insert(kFirst, c, c1_, format::kEvidence);
  require(out, "insert", "an insert of a new pair must succeed", {only(SUCCESS)});
  out.get(kFirst, a, format::kEvidence);
  require(out, "read_payloads", "get must return one of the key's payloads",
          {one_of(a, {a1_, a2_})});
  out.next(kFirst, 3, format::kEvidenceAll);
  require(out, "read_payloads",
          "after a get of a key with two payloads, getNext must return the other payload, then the "
          "next key, then DB_END",
          {one_of(a, {a1_, a2_}), one_of(c, {c1_}), only(DB_END)});
  out.commit();
}

void UnitScript::deletes(script::ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const script::Payload b1 = payload("one"), b2 = payload("two"), other = payload("never stored");
  out.begin(format::Kind::kScript, check_);
  out.insert(kFirst, b, b1);
  out.insert(kFirst, b, b2);
  out.delete_pair(kFirst, b, other, format::kEvidence);
  require(out, "delete_missing_pair",
          "a delete of a pair that was never inserted must fail, although its key exists",
          {either(only(ENTRY_DNE), only(KEY_NOTFOUND))});
  out.delete_pair(kFirst, b, b1, format::kEvidence);
  require(out, "delete_pair", "a delete of an existing pair must succeed", {only(SUCCESS)});
  out.delete_pair(kFirst, b, b1, format::kEvidence);
  require(out, "delete_pair_twice", "a second delete of the same pair must fail",
          {either(only(ENTRY_DNE), only(KEY_NOTFOUND))});
  out.get(kFirst, b, format::kEvidence);
  require(out, "other_payload_stays",
          "after the delete of one of a key's two payloads, get must return the other payload",
          {one_of(b, {b2})});
  out.next(kFirst, 1, format::kEvidence);
  require(out, "other_payload_stays", "getNext must not return the deleted payload",
          {one_of(c, {c1_})});
  out.insert(kFirst, b, b1, format::kEvidence);
  require(out, "insert_again", "an insert of a deleted pair must succeed", {only(SUCCESS)});
  out.delete_key(kFirst, b, format::kEvidence);
  require(out, "delete_key", "a delete of all payloads of a key must succeed", {only(SUCCESS)});
  out.get(kFirst, b, format::kEvidence);
  require(out, "delete_key", "a deleted key must not be found", {only(KEY_NOTFOUND)});
  out.next(kFirst, 1, format::kEvidence);
  require(out, "next_after_miss",
          "after a get of a missing key, getNext must return the first key after it",
          {one_of(c, {c1_})});
  out.delete_key(kFirst, b, format::kEvidence);
  require(out, "delete_missing_key", "a delete of a missing key must fail", {only(KEY_NOTFOUND)});
  out.get(kFirst, a, format::kEvidence);
  require(out, "delete_key", "a delete of one key must leave the other keys",
          {one_of(a, {a1_, a2_})});
  out.commit();
}

void UnitScript::cursors(script::ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const judge::Answers all = {one_of(a, {a1_, a2_}), one_of(a, {a1_, a2_}), one_of(c, {c1_}),
                              only(DB_END)};
  out.begin(format::Kind::kScript, check_);
  out.next_to_end(kFirst, kRecordsMax, format::kEvidenceAll);
  require(out, "scan_from_start",
          "without an earlier read, getNext must begin with the first record", all);
  out.commit();
  out.begin(format::Kind::kScript, check_);
  out.next(kFirst, 1, format::kEvidence);
  require(out, "scan_per_transaction",
          "getNext in a new transaction must begin with the first record again",
          {one_of(a, {a1_, a2_})});
  out.get(kFirst, c, format::kEvidence);
  out.next(kFirst, 1, format::kEvidence);
  require(out, "get_moves_cursor", "getNext must continue from the key of the last get",
          {only(DB_END)});
  out.get(kFirst, b, format::kEvidence);
  require(out, "get_missing", "a missing key must not be found", {only(KEY_NOTFOUND)});
  out.next_to_end(kFirst, kRecordsMax, format::kEvidenceAll);
  require(out, "next_after_miss",
          "after a get of a missing key, getNext must return the first key after it",
          {one_of(c, {c1_}), only(DB_END)});
  out.get(kFirst, keys_[kEmpty], format::kEvidence);
  require(out, "get_empty_key",
          "the empty string is a key that was never inserted, so get must not find it",
          {only(KEY_NOTFOUND)});
  out.next_to_end(kFirst, kRecordsMax, format::kEvidenceAll);
  require(out, "scan_from_start",
          "after a get of the empty string, getNext must return all records from the first one on",
          all);
  out.commit();
}

// Tests scans in two transactions that also write. Both transactions abort.
void UnitScript::cursor_and_writes(script::ThreadBuilder& out) {
  const uint32_t a = keys_[kA], aa = keys_[kAa], b = keys_[kB], c = keys_[kC], d = keys_[kD];
  const script::Payload ahead = payload("ahead"), beyond = payload("beyond"),
                        under = payload("under");
  const script::Payload d1 = payload("d one"), d2 = payload("d two");
  out.begin(format::Kind::kScript, check_);
  out.get(kFirst, aa, format::kEvidence);
  out.insert(kFirst, b, ahead);
  out.next(kFirst, 1, format::kEvidence);
  require(out, "insert_ahead", "getNext must return a record inserted ahead of the cursor",
          {one_of(b, {ahead})});
  out.insert(kFirst, b, under);
  out.next(kFirst, 1, format::kEvidence);
  require(
      out, "insert_under",
      "after an insert under the current key, getNext must return the new record or the next key",
      {either(one_of(b, {under}), one_of(c, {c1_}))});
  out.get(kFirst, c, format::kEvidence);
  out.next(kFirst, 1, format::kEvidence);
  require(out, "end_of_index", "after the last record, getNext must return DB_END", {only(DB_END)});
  out.insert(kFirst, d, beyond);
  out.next(kFirst, 1, format::kEvidence);
  advise(out, "insert_beyond_end",
         "after DB_END, getNext should return a record inserted beyond the last record",
         {one_of(d, {beyond})});
  out.get(kFirst, b, format::kEvidence);
  out.delete_key(kFirst, b);
  out.next(kFirst, 1, format::kEvidence);
  require(out, "delete_current",
          "after the delete of its current record, a scan must return a later record",
          {one_of(c, {c1_})});
  out.abort();
  out.begin(format::Kind::kScript, check_);
  out.insert(kFirst, b, d1);
  out.insert(kFirst, d, d2);
  out.get(kFirst, b, format::kEvidence);
  out.delete_pair(kFirst, a, a1_);
  out.next(kFirst, 1, format::kEvidence);
  advise(out, "delete_pair_keeps_cursor", "a delete of another pair should not move the cursor",
         {one_of(c, {c1_})});
  out.abort();
}

void UnitScript::aborts(script::ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const script::Payload b1 = payload("aborted");
  out.begin(format::Kind::kScript, check_);
  out.insert(kFirst, b, b1);
  out.delete_key(kFirst, a);
  out.delete_pair(kFirst, c, c1_);
  out.get(kFirst, a, format::kEvidence);
  require(out, "read_own_delete", "a transaction must not find a key that it deleted",
          {only(KEY_NOTFOUND)});
  out.next(kFirst, 1, format::kEvidence);
  require(out, "read_own_delete", "a scan must omit records that its transaction deleted",
          {one_of(b, {b1})});
  out.abort();
  out.begin(format::Kind::kScript, check_);
  out.get(kFirst, b, format::kEvidence);
  require(out, "abort_undoes_insert", "an aborted insert must leave no record",
          {only(KEY_NOTFOUND)});
  out.next_to_end(kFirst, kRecordsMax, format::kEvidenceAll);
  require(out, "abort_undoes_delete", "an aborted delete must leave the record",
          {one_of(c, {c1_}), only(DB_END)});
  out.get(kFirst, a, format::kEvidence);
  require(out, "abort_undoes_delete", "an aborted delete of a key must leave both its payloads",
          {one_of(a, {a1_, a2_})});
  out.next(kFirst, 1, format::kEvidence);
  require(out, "abort_undoes_delete", "an aborted delete of a key must leave both its payloads",
          {one_of(a, {a1_, a2_})});
  out.commit();
}

// Aborts many inserts at once. None of the records may remain.
void UnitScript::large_abort(script::ThreadBuilder& out) {
  out.begin(format::Kind::kScript, check_);
  for (const uint32_t key : many_) out.insert(kSecond, key, payload("aborted"));
  out.abort();
  out.begin(format::Kind::kScript, check_);
  out.next(kSecond, 1, format::kEvidence);
  require(out, "abort_undoes_insert", "many aborted inserts must leave no record", {only(DB_END)});
  out.commit();
}

void UnitScript::auto_commits(script::ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB];
  const script::Payload b1 = payload("auto");
  out.get(kFirst, b, format::kEvidence);
  require(out, "auto_commit_get", "a get outside a transaction must not find an aborted insert",
          {only(KEY_NOTFOUND)});
  out.insert(kFirst, b, b1, format::kEvidence);
  require(out, "auto_commit_insert", "an insert of a new pair outside a transaction must succeed",
          {only(SUCCESS)});
  out.insert(kFirst, b, b1, format::kEvidence);
  require(out, "auto_commit_insert", "an existing pair must not be inserted again",
          {only(ENTRY_EXISTS)});
  out.get(kFirst, b, format::kEvidence);
  require(out, "auto_commit_get", "a get outside a transaction must find a committed record",
          {one_of(b, {b1})});
  out.next(kFirst, 2, format::kEvidenceAll);
  require(out, "auto_commit_next",
          "getNext outside a transaction must always return the first record",
          {one_of(a, {a1_, a2_}), one_of(a, {a1_, a2_})});
  out.delete_key(kFirst, b, format::kEvidence);
  require(out, "auto_commit_delete",
          "a delete of an existing key outside a transaction must succeed", {only(SUCCESS)});
  out.begin(format::Kind::kScript, check_);
  out.get(kFirst, b, format::kEvidence);
  require(out, "auto_commit_delete", "a deleted key must not be found", {only(KEY_NOTFOUND)});
  out.commit();
}

void UnitScript::handles_in_transactions(script::ThreadBuilder& out) {
  const uint32_t a = keys_[kA], b = keys_[kB], c = keys_[kC];
  const script::Payload b1 = payload("closed");
  out.begin(format::Kind::kScript, check_);
  out.open(kThird, primary_);
  out.next(kThird, 1, format::kEvidence);
  require(out, "open_in_transaction",
          "a transaction must be able to read an index that it has opened itself",
          {one_of(a, {a1_, a2_})});
  out.insert(kThird, b, b1);
  out.close(kThird);
  out.get(kFirst, b, format::kEvidence);
  require(out, "close_in_transaction", "closing a handle must not undo the transaction's writes",
          {one_of(b, {b1})});
  out.commit();
  out.begin(format::Kind::kScript, check_);
  out.get(kFirst, b, format::kEvidence);
  require(
      out, "close_in_transaction",
      "commit must keep the records that a transaction wrote through a handle before closing it",
      {one_of(b, {b1})});
  out.open(kThird, primary_);
  out.next(kThird, 1, format::kEvidence);
  advise(out, "reopen_resets_cursor", "getNext on a new handle should begin with the first record",
         {one_of(a, {a1_, a2_})});
  out.close(kThird);
  out.get(kFirst, c, format::kEvidence);
  out.delete_key(kFirst, b);
  out.commit();
}

void UnitScript::order_of_keys(script::ThreadBuilder& out) {
  const std::vector<Key> order = {kEmpty, kA, kAa, kB, kC, kD, kE};
  out.begin(format::Kind::kScript, check_);
  judge::Answers sorted;
  for (const Key key : order) {
    if (key == kA || key == kC) continue;
    const script::Payload extra = payload("order");
    out.insert(kFirst, keys_[key], extra);
    sorted.push_back(one_of(keys_[key], {extra}));
  }
  sorted.insert(sorted.begin() + 1, 2, one_of(keys_[kA], {a1_, a2_}));
  sorted.insert(sorted.begin() + 5, one_of(keys_[kC], {c1_}));
  sorted.push_back(only(DB_END));
  out.next_to_end(kFirst, kRecordsMax, format::kEvidenceAll);
  require(out, "string_order", "strings must be ordered by bytes, a prefix before its extension",
          sorted);
  out.abort();
  out.begin(format::Kind::kScript, check_);
  judge::Answers numbers;
  for (std::size_t i = numbers_.size(); i > 0; --i) {
    const script::Payload extra = payload("order");
    out.insert(kSecond, numbers_[i - 1], extra);
    numbers.insert(numbers.begin(), one_of(numbers_[i - 1], {extra}));
  }
  numbers.push_back(only(DB_END));
  out.next_to_end(kSecond, kRecordsMax, format::kEvidenceAll);
  require(out, "integer_order", "integers must be ordered by value", numbers);
  out.abort();
}

// Inserts and then deletes pairs of records in two indices together. The observer must see both
// records or none.
void UnitScript::two_indices(script::ThreadBuilder& out) {
  const uint32_t d = keys_[kD], number = numbers_.back();
  for (uint32_t round = 0; round < rounds_; ++round) {
    const script::Payload left = payload("left"), right = payload("right");
    out.begin(format::Kind::kScript, check_);
    out.insert(kFirst, d, left);
    out.signal(kWritten);
    out.yield(kObserved, round + 1, kWaitUs);
    out.insert(kSecond, number, right);
    out.get(kFirst, d, format::kEvidence);
    require(out, "two_indices", "a transaction must read the record that it wrote in one index",
            {one_of(d, {left})});
    out.get(kSecond, number, format::kEvidence);
    require(out, "two_indices", "a transaction must read the record that it wrote in another index",
            {one_of(number, {right})});
    out.commit();
    out.begin(format::Kind::kScript, check_);
    out.delete_key(kFirst, d);
    out.delete_key(kSecond, number);
    out.commit();
  }
}

// Inserts records and aborts. The observer must never see these records.
void UnitScript::written_and_aborted(script::ThreadBuilder& out) {
  for (uint32_t round = 0; round < rounds_; ++round) {
    out.begin(format::Kind::kScript, check_);
    out.insert(kFirst, keys_[kB], payload("aborted"));
    out.signal(kWritten);
    out.yield(kObserved, rounds_ + round + 1, kWaitUs);
    out.abort();
  }
}

// Works on an index that only this thread uses, while the other threads use other indices.
void UnitScript::secondary_thread(script::ThreadBuilder out) {
  const uint32_t a = keys_[kA], c = keys_[kC];
  const script::Payload c1 = payload("secondary one"), c2 = payload("secondary two");
  out.auto_commit_as(format::Kind::kScript, check_);
  out.open(kFirst, secondary_);
  out.begin(format::Kind::kScript, check_);
  out.get(kFirst, a, format::kEvidence);
  require(out, "empty_index", "a get must find nothing in an empty index", {only(KEY_NOTFOUND)});
  out.next(kFirst, 1, format::kEvidence);
  require(out, "empty_index", "getNext on an empty index must return DB_END", {only(DB_END)});
  out.commit();
  out.begin(format::Kind::kScript, check_);
  out.insert(kFirst, c, c1);
  out.get(kFirst, c, format::kEvidence);
  require(out, "read_own_insert", "a transaction must read a record that it inserted",
          {one_of(c, {c1})});
  out.insert(kFirst, c, c2);
  out.next(kFirst, 1, format::kEvidence);
  require(out, "insert_under",
          "after an insert under the current key, getNext must return the new record or DB_END",
          {either(one_of(c, {c2}), only(DB_END))});
  out.commit();
  out.begin(format::Kind::kScript, check_);
  out.next_to_end(kFirst, kRecordsMax, format::kEvidenceAll);
  require(out, "separate_indices", "an index must contain its own records and no others",
          {one_of(c, {c1, c2}), one_of(c, {c1, c2}), only(DB_END)});
  out.commit();
  out.close(kFirst);
}

void UnitScript::observer_thread(script::ThreadBuilder out) {
  out.auto_commit_as(format::Kind::kScript, check_);
  out.open(kFirst, primary_);
  out.open(kSecond, terciary_);
  for (uint32_t round = 0; round < 2 * rounds_; ++round) {
    out.wait(kWritten, round + 1);
    out.begin(format::Kind::kScript, check_);
    out.get(kFirst, keys_[kD], format::kEvidence);
    out.get(kSecond, numbers_.back(), format::kEvidence);
    out.commit();
    out.begin(format::Kind::kScript, check_);
    out.get(kFirst, keys_[kB], format::kEvidence);
    out.get(kFirst, keys_[kB], format::kEvidence);
    out.commit();
    out.signal(kObserved);
  }
  out.close(kSecond);
  out.close(kFirst);
}

}  // namespace keydrome::unit
