// Makes random calls in one thread, and checks each result against a model (model.h). There are
// three indexes, one for each key type. There are few keys and payloads, so that calls often use
// the same records. The keys include the limits of both integer types, the empty string, and
// strings of the largest length. Transactions commit and abort, and handles are closed and
// reopened.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "indexes/tests/library.h"
#include "indexes/tests/model.h"

namespace keydrome {
namespace {

constexpr size_t kIndexes = 3;
constexpr std::array<KeyType, kIndexes> kTypes = {SHORT, INT, VARCHAR};

std::vector<KeyValue> boundary_keys(KeyType type) {
  if (type == SHORT) {
    return {int64_t{std::numeric_limits<int32_t>::min()}, int64_t{-1}, int64_t{0}, int64_t{1},
            int64_t{std::numeric_limits<int32_t>::max()}};
  }
  if (type == INT) {
    return {std::numeric_limits<int64_t>::min(),
            int64_t{-1} << 32,
            int64_t{-1},
            int64_t{0},
            int64_t{1} << 31,
            int64_t{1} << 32,
            std::numeric_limits<int64_t>::max()};
  }
  return {std::string(),
          std::string("a"),
          std::string("aa"),
          std::string("\x80"),
          std::string("\xff"),
          std::string(static_cast<size_t>(MAX_VARCHAR_LEN), 'x'),
          std::string(MAX_VARCHAR_LEN - 1, 'x') + "\xff"};
}

// One random test. The seed decides all its calls.
class Game {
 public:
  explicit Game(uint64_t seed) : random_(seed) {
    for (size_t i = 0; i < kIndexes; ++i) {
      keys_[i] = boundary_keys(kTypes[i]);
      for (int64_t n = 0; n < 40; ++n) keys_[i].push_back(numbered_key(kTypes[i], n - 20));
      names_[i] = make_index(kTypes[i]);
      handles_[i] = std::make_unique<Handle>(names_[i], kTypes[i]);
    }
    payloads_ = {"",
                 "z",
                 "value one",
                 std::string(MAX_PAYLOAD_LEN, 'p'),
                 std::string(MAX_PAYLOAD_LEN - 1, 'p') + "q",
                 "\xff\x01"};
  }

  void play(int calls) {
    for (int i = 0; i < calls && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(i);
      if (!txn_) {
        if (chance(3)) {
          call(/*auto_commit=*/true);
        } else {
          begin();
        }
      } else if (chance(25)) {
        end();
      } else {
        call(/*auto_commit=*/false);
      }
    }
    if (txn_) end();
    check_contents();
  }

 private:
  bool chance(uint64_t one_in) { return random_() % one_in == 0; }
  template <typename Container>
  const auto& pick(const Container& from) {
    return from[random_() % from.size()];
  }

  void begin() {
    saved_ = state_;
    history_.clear();
    cursors_ = {};
    txn_.emplace();
  }

  void end() {
    const bool commit = !chance(3);
    EXPECT_EQ(commit ? txn_->commit() : txn_->abort(), SUCCESS);
    txn_.reset();
    if (!commit) state_ = saved_;
  }

  void call(bool auto_commit) {
    const size_t i = random_() % kIndexes;
    TxnState* const txn = auto_commit ? nullptr : static_cast<TxnState*>(*txn_);
    ModelCursor* const cursor = auto_commit ? nullptr : &cursors_[i];
    const KeyValue& key = pick(keys_[i]);
    const std::string& payload = pick(payloads_);
    Handle& handle = *handles_[i];
    ModelIndex& index = state_[i];
    const uint64_t kind = random_() % 100;
    if (kind < 20) {
      const Read answer = handle.get(txn, key);
      note({i, "get", &key, nullptr, answer});
      EXPECT_TRUE(index.accept_get(cursor, key, answer)) << history();
    } else if (kind < 55) {
      const Read answer = handle.next(txn);
      note({i, "getNext", nullptr, nullptr, answer});
      EXPECT_TRUE(index.accept_next(cursor, answer)) << history();
    } else if (kind < 80) {
      const ErrCode code = handle.insert(txn, key, payload);
      note({i, "insert", &key, &payload, {code, {}, {}}});
      EXPECT_TRUE(index.accept_insert(cursor, key, payload, code)) << history();
    } else if (kind < 98) {
      const ErrCode code = handle.erase(txn, key, payload);
      note({i, "delete", &key, &payload, {code, {}, {}}});
      EXPECT_TRUE(index.accept_erase(cursor, key, payload, code)) << history();
    } else {
      handle.reopen();
      note({i, "reopen", nullptr, nullptr, {SUCCESS, {}, {}}});
      cursors_[i] = {};
    }
  }

  // A call and its result, for the message of a failed test. The pointers are valid as long as the
  // Game exists.
  struct Note {
    size_t index;
    const char* call;
    const KeyValue* key;
    const std::string* payload;
    Read answer;
  };

  void note(Note made) { history_.push_back(std::move(made)); }

  // Returns the calls since the last begin as text.
  [[nodiscard]] std::string history() const {
    std::ostringstream lines;
    lines << "the model of the contract does not allow the result of the last of these calls:\n";
    for (const Note& note : history_) {
      lines << "  index " << note.index << ": " << note.call;
      if (note.key) lines << ' ' << show(*note.key);
      if (note.payload) lines << " \"" << *note.payload << '"';
      lines << " -> " << note.answer << '\n';
    }
    return lines.str();
  }

  void check_contents() {
    Transaction txn;
    for (size_t i = 0; i < kIndexes; ++i) {
      ModelCursor cursor;
      Read answer;
      do {  // the loop ends, because the model accepts no more records than it contains
        answer = handles_[i]->next(txn);
        ASSERT_TRUE(state_[i].accept_next(&cursor, answer))
            << "the final scan of index " << i << " is wrong: getNext returned " << answer
            << ", which is not the next record of the model; the seed gives the same calls again";
      } while (answer.code == SUCCESS);
    }
  }

  std::mt19937_64 random_;
  std::array<std::vector<KeyValue>, kIndexes> keys_;
  std::vector<std::string> payloads_;
  std::array<const char*, kIndexes> names_{};
  std::array<std::unique_ptr<Handle>, kIndexes> handles_;
  std::array<ModelIndex, kIndexes> state_, saved_;
  std::array<ModelCursor, kIndexes> cursors_;
  std::optional<Transaction> txn_;
  std::vector<Note> history_;
};

// The number of random tests. Sanitizers are slow, and a few tests suffice to find memory errors.
#ifdef KEYDROME_SANITIZED
constexpr uint64_t kGames = 4;
#else
constexpr uint64_t kGames = 20;
#endif

// A library that fails this test gets a warning, because the model also requires four promises that
// docs/reference/index-api.md calls advisory:
// - the position of the cursor after the deletion of a single pair
// - the position of the cursor after the index was opened again
// - the result of getNext after DB_END
// - the result code for the deletion of a missing pair of a key that has other payloads
TEST(AdvisoryDifferential, RandomCallsAnswerAsTheModel) {
  for (uint64_t round = 0; round < kGames && !HasFailure(); ++round) {
    const uint64_t seed = test_seed() + round;
    SCOPED_TRACE("repeat with --seed " + std::to_string(seed));
    Game(seed).play(3000);
  }
  std::printf("seeds %llu..%llu\n", static_cast<unsigned long long>(test_seed()),
              static_cast<unsigned long long>(test_seed() + kGames - 1));
}

}  // namespace
}  // namespace keydrome
