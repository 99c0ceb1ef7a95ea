// Implements judge_words(): judges every read, insert and delete of a session by its word, the 8
// bytes in which the player (the process that calls the library) reports the result
// (format/evidence_word.h). Read WordJudge::add() first.
//
// An op is one operation of a thread's program. A slot is a thread's variable for an open handle of
// an index. A rank is the position of a key in key order. A tag is the unique number at the
// beginning of a payload. A moment is the position of a read or write in the script.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "benchmarks/kit/format/hidden_key.h"
#include "benchmarks/kit/format/legal_answers.h"
#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/judge_threads.h"
#include "benchmarks/kit/judge/known_records.h"
#include "benchmarks/kit/judge/read_groups.h"
#include "benchmarks/kit/judge/words.h"
#include "benchmarks/kit/judge/write_judge.h"

namespace keydrome::judge {
namespace {

// The table entries for a word are prefetched in several steps, because each entry contains the
// address of the next. Between two steps, this many other words are judged, so that the entry of
// the first step arrives in time.
constexpr uint32_t kWordsAhead = 6;
// After a result that is_known() does not recognise, the tables that the rules need (ExpectedState)
// are prefetched for this many ops.
constexpr uint32_t kUnknownAhead = 64;

// Up to four bytes that a read must have returned. The library may return any bytes after the NUL
// at the end of a text, so nothing is known about them.
struct KnownBytes {
  uint32_t bytes = 0, known = 0;

  // In a payload, a NUL follows `text`, so this byte is known, too.
  KnownBytes(std::string_view text, std::size_t from) {
    const std::size_t length =
        from > text.size() ? 0 : std::min<std::size_t>(4, text.size() + 1 - from);
    if (length == 0) return;
    std::memcpy(&bytes, text.data() + from, std::min(length, text.size() - from));
    known = length == 4 ? ~0u : (1u << 8 * length) - 1;
  }
};

// Returns true if a read of this insert's record leaves this word. Only the word of a getNext
// contains the key.
bool gives_word(const script::Script& script, const KeyRanks& ranks, const Change& insert,
                bool with_key, uint32_t window, uint64_t word) {
  char tag[format::kTagBytes + 4] = {};
  format::write_tag(insert.tag, tag);
  const std::string_view text = script.pools.payloads[insert.text];
  KnownBytes window_bytes = window < format::kTagBytes
                                ? KnownBytes({tag, format::kTagBytes}, window)
                                : KnownBytes(text, window - format::kTagBytes);
  KnownBytes key_bytes({}, 1);
  key_bytes.known = ~0u;
  if (with_key) {
    const KeyType type = script.indexes[insert.index].type;
    key_bytes = KnownBytes(ranks.bytes(type, insert.rank), type == VARCHAR ? window : 0);
  }
  char payload[sizeof tag + format::kWindowMax] = {};
  std::memcpy(payload, tag, sizeof tag);
  std::memcpy(payload + window, &window_bytes.bytes, sizeof window_bytes.bytes);
  const uint64_t expected = format::record_word(payload, window, &key_bytes.bytes);
  return ((word ^ expected) & format::known_bits(window_bytes.known & key_bytes.known)) == 0;
}

// The judge's place in the program of the present thread.
struct Place {
  std::array<uint32_t, format::kSlots> slots{};  // by slot: the index that is open in it
  uint64_t next = 0;                             // the first op that follow_to() has not seen
  bool in_transaction = false;
  bool accepts_any_code = false;  // the open transaction has kAnyCode
  uint64_t last_op = 0;           // the last op on records
  uint64_t transaction = format::kNoTransaction;

  void follow_to(std::span<const format::Op> ops, uint64_t end) {
    for (; next < end; ++next) {
      const format::Op& before = ops[next];
      if (before.code == format::OpCode::kOpen) slots[before.slot] = before.argument;
      if (before.code == format::OpCode::kBegin) {
        in_transaction = true;
        accepts_any_code = (before.flags & format::kAnyCode) != 0;
      }
      if (before.code == format::OpCode::kCommit || before.code == format::OpCode::kAbort)
        in_transaction = accepts_any_code = false;
    }
  }
};

// Prefetches the table entries for the words and ops that follow (kWordsAhead). Without this, the
// judge waits for many cache misses per read.
class LookAhead {
 public:
  LookAhead(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
            const KnownRecords& known)
      : script_(script), ranks_(ranks), expected_(expected), known_(known) {}

  // Must be called for a word that needs the rules. Some of the next words probably need them, too.
  void expect_unknown() { unknown_ahead_ = kUnknownAhead; }

  // `rest` are the words that follow the words of op number `op`.
  void from_op(std::span<const format::Op> ops, uint64_t op, const Place& at,
               std::span<const uint64_t> rest) {
    from_word(rest);
    if (unknown_ahead_ == 0) return;
    --unknown_ahead_;
    constexpr uint32_t kSteps = 4;  // the rank, and three steps for its key
    for (uint32_t step = 0; step < kSteps; ++step) {
      const uint64_t later = op + (kSteps - step) * kWordsAhead;
      if (later < ops.size()) prefetch(ops[later], at, step);
    }
  }

  // `rest` are the words after the current word of a scan.
  [[gnu::always_inline]] void from_word(std::span<const uint64_t> rest) const {
    constexpr std::size_t kFirst = (ExpectedState::kPrefetchSteps + 1) * kWordsAhead;
    if (kFirst < rest.size()) known_.prefetch(rest[kFirst]);
    if (unknown_ahead_ == 0) return;
    for (uint32_t step = 0; step < ExpectedState::kPrefetchSteps; ++step) {
      const std::size_t ahead = (ExpectedState::kPrefetchSteps - step) * kWordsAhead;
      if (ahead < rest.size()) expected_.prefetch(format::tag_of_word(rest[ahead]), step);
    }
  }

 private:
  void prefetch(const format::Op& op, const Place& at, uint32_t step) const {
    if (!format::is_on_records(op.code)) return;
    const uint32_t index = at.slots[op.slot];  // probably still the slot's index at that op
    if (index >= script_.indexes.size()) return;
    const KeyType type = script_.indexes[index].type;
    if (step == 0) return ranks_.prefetch(type, op.key);
    if (ranks_.has(type, op.key))
      expected_.prefetch_key(index, ranks_.rank(type, op.key), step - 1);
  }

  const script::Script& script_;
  const KeyRanks& ranks_;
  const ExpectedState& expected_;
  const KnownRecords& known_;
  uint32_t unknown_ahead_ = 0;  // ops for which the tables for the rules are still prefetched
};

// Follows the hidden gets of a thread in a phase (format/hidden_key.h). After a wrong answer, the
// key that the player passes to the next hidden get is not the key in the program.
class HiddenGets {
 public:
  explicit HiddenGets(uint32_t hidden_bits = 0) : hidden_bits_(hidden_bits) {}

  // Notes the word of an op. Returns false if the op is a hidden get for which the player passed
  // another key than the one in the program.
  bool ask(const format::Op& op, uint64_t word) {
    if (op.code != format::OpCode::kGet || (op.flags & format::kHidden) == 0) [[likely]]
      return true;
    const uint32_t hiding = format::hiding_bits(answer_) & hidden_bits_;
    answer_ = word;
    return hiding == op.argument;
  }

 private:
  uint32_t hidden_bits_;
  uint64_t answer_ = 0;  // the word of the last hidden get
};

// Judges the words of a thread. Use each object once.
class WordJudge {
 public:
  WordJudge(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
            const KnownRecords& known, Findings& findings, bool shortcut)
      : script_(script),
        ranks_(ranks),
        expected_(expected),
        findings_(findings),
        shortcut_(shortcut),
        known_(known),
        look_ahead_(script, ranks, expected, known),
        groups_(script, ranks, expected, findings),
        writes_(script, ranks, expected, findings) {}

  void judge_thread(const script::Outcome& outcome, uint32_t phase, uint32_t thread) {
    const script::PhaseScript& script = script_.phases[phase];
    ops_ = script.threads[thread];
    hidden_ = HiddenGets(script_.hidden_bits);
    const bool fits =
        for_each_words(ops_, outcome.phases[phase].threads[thread],
                       [&](const format::Step& step, std::span<const uint64_t> words,
                           std::span<const uint64_t> rest) {
                         const Moment moment{phase, thread, step.op, step.transaction};
                         rest_ = rest;
                         look_ahead_.from_op(ops_, step.op, at_, rest);
                         visit(step, words, moment);
                         return pass_known(step, moment, rest);
                       });
    groups_.end_transaction();
    if (fits && legal_) return;
    findings_.required("outcome_mismatch",
                       phase_text(script) + ", thread " + std::to_string(thread) +
                           ": the results in Keydrome's recording do not fit the calls of this "
                           "thread. Keydrome keeps this recording in the library's process, so the "
                           "library must have overwritten it: look for writes outside the "
                           "library's own memory");
  }

 private:
  void visit(const format::Step& step, std::span<const uint64_t> words, const Moment& moment) {
    const format::Op& op = ops_[step.op];
    follow_slots(step.op);
    if (step.transaction != at_.transaction) {
      groups_.end_transaction();
      at_.transaction = step.transaction;
    }
    const bool follows = step.op == at_.last_op + 1;
    at_.last_op = step.op;
    if (!words.empty()) {
      const bool asked = hidden_.ask(op, words[0]);
      if (!asked || is_known(step.op, step.kind, moment, words[0])) return groups_.close();
    }
    look_ahead_.expect_unknown();
    for (const uint64_t word : words) check_code(op, format::code_of_word(word));
    if (at_.accepts_any_code) return groups_.close();
    const ReadGroups::Reader reader{
        .index = at_.slots[op.slot], .slot = op.slot, .moment = moment, .kind = step.kind};
    if (op.code == format::OpCode::kGet) return get(op, reader, words[0]);
    if (format::is_scan(op.code)) return scan(op, reader, words, follows);
    groups_.close();  // a write may move the cursor
    // Every attempt of the transaction makes this auto-commit call. An earlier attempt may have
    // made the change already, so the result is not judged.
    if (at_.in_transaction && (op.flags & format::kAutoCommit) != 0) return;
    writes_.judge(op, reader.index, format::code_of_word(words[0]), moment);
  }

  // Returns true if the result is certainly right. Returns false for a get that getNext calls
  // follow, because all these calls are judged together (read_groups.h). Also returns false for the
  // reads of a canary, an extra transaction whose reads must agree, because they must be compared
  // with each other.
  bool is_known(uint64_t number, format::Kind kind, const Moment& reader, uint64_t word) const {
    const format::Op& op = ops_[number];
    if (!shortcut_) return false;
    if (op.code == format::OpCode::kInsert) return known_.is_right_insert(op, word);
    if (op.code != format::OpCode::kGet || kind == format::Kind::kCanary) return false;
    if (number + 1 < ops_.size() && format::is_scan(ops_[number + 1].code)) return false;
    return known_.is_right_get(op, at_.slots[op.slot], reader.phase, reader.thread, word);
  }

  // Skips the next ops of the same transaction, as long as they are gets and inserts whose results
  // are certainly right. Returns how many it skips. `rest` are the words after the op of `step`.
  uint64_t pass_known(const format::Step& step, const Moment& moment,
                      std::span<const uint64_t> rest) {
    if (!at_.in_transaction) return 0;
    uint64_t passed = 0;
    for (uint64_t op = step.op + 1; op < ops_.size() && passed < rest.size(); ++op, ++passed) {
      const bool alone = (ops_[op].flags & format::kAutoCommit) != 0;
      if (alone || !is_known(op, step.kind, moment, rest[passed])) break;
      hidden_.ask(ops_[op], rest[passed]);
      look_ahead_.from_op(ops_, op, at_, rest.subspan(passed + 1));
    }
    if (passed == 0) return 0;
    groups_.close();
    at_.last_op = step.op + passed;
    at_.next = std::max(at_.next, at_.last_op + 1);
    return passed;
  }

  // Follows the ops up to this one, to know which index each slot (handle) refers to and which
  // codes the transaction accepts. The words come in program order, except that the next pass of a
  // repeated body begins at an earlier op. In this case, first follows the ops up to the end of the
  // body. The cost is at most that of one pass.
  void follow_slots(uint64_t op) {
    if (op < at_.next) {
      uint64_t end = at_.next;
      while (ops_[end].code != format::OpCode::kRepeat) ++end;
      at_.follow_to(ops_, end);
      at_.next = end - ops_[end].payload;
    }
    at_.follow_to(ops_, op + 1);
  }

  // Notes whether all codes so far are legal. After an illegal code the player gives the
  // transaction up, and the words of such a transaction are not visited (words.h). So an illegal
  // code in a visited word shows that the library overwrote the words.
  void check_code(const format::Op& op, uint32_t code) {
    legal_ = legal_ && (code == SUCCESS || format::is_legal_answer(op, code) ||
                        (at_.accepts_any_code && code <= FAILURE));
  }

  void get(const format::Op& op, const ReadGroups::Reader& reader, uint64_t word) {
    const uint32_t rank = ranks_.rank(script_.indexes[reader.index].type, op.key);
    const bool found = format::code_of_word(word) == SUCCESS;
    groups_.start_at(reader, rank, found);
    if (found) add(op, word, rank);
  }

  void scan(const format::Op& op, const ReadGroups::Reader& reader, std::span<const uint64_t> words,
            bool follows) {
    // A getNext directly after a begin reads from the start of the index. An auto-commit getNext
    // has no cursor.
    const bool alone = (op.flags & format::kAutoCommit) != 0;
    const bool fresh =
        reader.moment.op > 0 && ops_[reader.moment.op - 1].code == format::OpCode::kBegin;
    if (!follows || !groups_.continues(op.slot)) groups_.start(reader, fresh);
    for (const uint64_t& word : words) {
      const auto left = static_cast<std::size_t>(&words.back() - &word);
      // `words` and `rest_` are adjacent parts of one array.
      if (left > 0) look_ahead_.from_word({&word + 1, left + rest_.size()});
      if (alone) groups_.start(reader, false);
      const uint32_t code = format::code_of_word(word);
      code == SUCCESS ? add(op, word, std::nullopt) : groups_.add_code(code);
    }
  }

  // Identifies the record that a read returned and adds it to the current group. `rank` is the rank
  // (position in key order) of the requested key of a get.
  void add(const format::Op& op, uint64_t word, std::optional<uint32_t> rank) {
    const uint32_t index = groups_.reader().index, tag = format::tag_of_word(word);
    const Moment& moment = groups_.reader().moment;
    const Change* record = nullptr;
    bool possible = false;
    std::optional<std::string> reason;
    expected_.for_each_insert(tag, [&](const Change& insert) {
      if (possible || insert.index != index || insert.rank != rank.value_or(insert.rank)) return;
      record = &insert;
      reason = gives_word(script_, ranks_, insert, !rank, op.payload, word)
                   ? expected_.why_invisible(insert, moment)
                   : "the text of the record's payload differs from the inserted text";
      possible = !reason;
    });
    if (record == nullptr) {
      reason = std::string("no transaction inserted the record's payload ") +
               (rank ? "under this key" : "into this index");
    }
    if (reason && expected_.has_computed_keys(index)) {
      reason = expected_.why_not_computed(tag, moment);
      if (!reason && !rank) return;  // the key is unknown
    }
    if (reason) return impossible(record, rank, *reason);
    if (!groups_.at_end()) groups_.add({.rank = rank ? *rank : record->rank, .tag = tag});
  }

  void impossible(const Change* record, std::optional<uint32_t> rank, const std::string& reason) {
    groups_.not_complete();
    if (record != nullptr) rank = record->rank;
    groups_.report("impossible_record", "a read returned a record" +
                                            (rank ? " under key " + groups_.key_text(*rank) : "") +
                                            " that cannot exist: " + reason);
  }

  const script::Script& script_;
  const KeyRanks& ranks_;
  const ExpectedState& expected_;
  Findings& findings_;
  std::span<const format::Op> ops_;
  std::span<const uint64_t> rest_;  // the words that follow the words of the present op
  Place at_;
  bool legal_ = true;  // all codes of the thread so far are legal
  HiddenGets hidden_;
  const bool shortcut_;
  const KnownRecords& known_;
  LookAhead look_ahead_;
  ReadGroups groups_;
  WriteJudge writes_;
};

}  // namespace

void judge_words(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
                 const script::Outcome& outcome, Findings& findings, bool shortcut) {
  const KnownRecords known(script, ranks, expected);
  const auto judge = [&](uint32_t phase, uint32_t thread, Findings& found) {
    WordJudge(script, ranks, expected, known, found, shortcut).judge_thread(outcome, phase, thread);
  };
  judge_threads(script, outcome, findings, /*verifies=*/false, judge);
}

}  // namespace keydrome::judge
