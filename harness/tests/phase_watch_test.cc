// Tests PhaseWatch, with which the referee, the process that runs a benchmark, sees at which
// operation a thread is. The library of these tests reads the PhaseWatch inside its calls. So the
// tests check the operation at each point at which a thread could hang.
#include "harness/referee/hang/phase_watch.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/script/images.h"
#include "benchmarks/kit/script/piece_writer.h"
#include "harness/referee/hang/program_position.h"
#include "harness/tests/small_script.h"

namespace keydrome {
namespace {

using testing::op;
using testing::phase;

std::function<ErrCode()> in_insert, in_abort;

player::IndexApi library() {
  player::IndexApi api{};
  api.openIndex = [](const char*, IdxState** handle) {
    *handle = reinterpret_cast<IdxState*>(handle);
    return SUCCESS;
  };
  api.closeIndex = [](IdxState*) { return SUCCESS; };
  api.beginTransaction = [](TxnState** transaction) {
    *transaction = reinterpret_cast<TxnState*>(transaction);
    return SUCCESS;
  };
  api.commitTransaction = [](TxnState*) { return SUCCESS; };
  api.abortTransaction = [](TxnState*) { return in_abort ? in_abort() : SUCCESS; };
  api.insertRecord = [](IdxState*, TxnState*, Key*, const char*) { return in_insert(); };
  return api;
}

class PhaseWatchTest : public ::testing::Test {
 protected:
  // Prepares a phase of one thread that plays `ops`. The memory for results has `spare` words (8
  // bytes each) for failed attempts.
  void prepare(std::vector<format::Op> ops, uint64_t spare) {
    script_.indexes = {{"numbers", INT}};
    script_.class_names = {"all"};
    script_.pools.payloads = {""};
    script_.pools.int64_keys = {7};
    script_.phases = {phase("test", {std::move(ops)}, 0)};
    layout_ = script::outcome_layout(script_.phases[0], script_.pools);
    memory_.assign(layout_.size_bytes / sizeof(Line) + 1, Line{});
    std::byte* base = memory_.data()->bytes;
    const format::OutcomeHeader::Span& span = layout_.header.spans[0];
    session_ = script::pools_image(script_);
    pools_ = player::PoolsView::open(session_).value();
    names_.emplace(pools_.indexes);
    api_ = library();
    interpreter_.emplace(player::InterpreterInputs{
        .api = &api_,
        .pools = &pools_,
        .names = &*names_,
        .events = &signals_,
        .retry_budget = &retry_budget_,
        .clock = &clock_,
        .go_ticks = clock_.ticks(),
        .outcome = reinterpret_cast<format::ThreadOutcome*>(base + layout_.header.thread_offset),
        .words = {reinterpret_cast<uint64_t*>(base + span.words_offset), span.words_capacity},
        .words_spare = spare,
        .trace = {}});
    watch_.emplace(layout_, std::span<const std::byte>(base, layout_.size_bytes));
  }

  void TearDown() override { in_insert = in_abort = nullptr; }

  const std::vector<format::Op>& ops() const { return script_.phases[0].threads[0]; }

  // Plays the ops from `from` to before `to` as one piece.
  void play(std::size_t from, std::size_t to) {
    const std::vector<std::byte> piece = script::PieceWriter(script_).write(
        std::span(ops()).subspan(from, to - from), to == ops().size());
    interpreter_->run(player::PieceView::open(pools_, piece).value());
  }

  uint64_t reached() {
    watch_->sample(++now_);
    return watch_->reached(0, ops());
  }

  struct alignas(64) Line {
    std::byte bytes[64];
  };
  script::Script script_;
  script::OutcomeLayout layout_;
  std::vector<Line> memory_;
  std::vector<std::byte> session_;
  player::PoolsView pools_;
  std::optional<player::IndexNames> names_;
  player::IndexApi api_{};
  player::Signals signals_;
  player::RetryBudget retry_budget_;
  TickClock clock_{100'000};
  std::optional<player::Interpreter> interpreter_;
  std::optional<PhaseWatch> watch_;
  uint64_t now_ = 0;
};

TEST_F(PhaseWatchTest, FindsEachCallAndTheWaitForAPiece) {
  const format::Op insert = op(format::OpCode::kInsert, 0, 1, format::kAutoCommit);
  prepare({op(format::OpCode::kOpen, 0, 0, format::kUnitStart), insert, insert,
           op(format::OpCode::kClose), op(format::OpCode::kOpen, 0, 0, format::kUnitStart), insert,
           op(format::OpCode::kClose)},
          0);
  std::vector<uint64_t> found;
  in_insert = [&] {
    found.push_back(reached());
    return SUCCESS;
  };
  play(0, 4);
  EXPECT_EQ(found, (std::vector<uint64_t>{1, 2}));
  interpreter_->await_piece();
  EXPECT_EQ(reached(), 4 | format::kAwaitsPiece);
  EXPECT_TRUE(program_position(script_, ops(), reached()).awaits_piece);
  play(4, 7);
  EXPECT_EQ(found, (std::vector<uint64_t>{1, 2, 5}));
  interpreter_->finish();
  EXPECT_EQ(reached(), 7u);
}

// The interpreter writes a word for each call: the result in 8 bytes. If there is no spare room for
// failed attempts, the words of the next attempt overwrite theirs. PhaseWatch must not mistake old
// words for new ones.
TEST_F(PhaseWatchTest, FindsRepeatedAttempts) {
  const format::Op insert = op(format::OpCode::kInsert, 0, 1);
  prepare({op(format::OpCode::kOpen, 0, 0, format::kUnitStart), op(format::OpCode::kBegin, 0, 4),
           insert, insert, insert, op(format::OpCode::kCommit),
           op(format::OpCode::kInsert, 0, 2, format::kAutoCommit), op(format::OpCode::kClose)},
          0);
  std::vector<uint64_t> found;
  int calls = 0;
  in_insert = [&] {
    found.push_back(reached());
    ++calls;  // the third and the fifth call fail in the transaction, the ninth outside
    return calls == 3 || calls == 5 || calls == 9 ? DEADLOCK : SUCCESS;
  };
  in_abort = [&] {
    found.push_back(reached());
    return SUCCESS;
  };
  play(0, 8);
  constexpr uint64_t kBack = format::kRollingBack;
  EXPECT_EQ(found, (std::vector<uint64_t>{2, 3, 4, 4 | kBack, 2, 3, 3 | kBack, 2, 3, 4, 6, 6}));
}

TEST_F(PhaseWatchTest, NotesSinceWhenAThreadHasNotMoved) {
  prepare({op(format::OpCode::kOpen, 0, 0, format::kUnitStart),
           op(format::OpCode::kInsert, 0, 1, format::kAutoCommit), op(format::OpCode::kClose)},
          0);
  in_insert = [&] {
    reached();
    const uint64_t since = watch_->thread(0).since_ns;
    reached();
    EXPECT_EQ(watch_->thread(0).since_ns, since);
    EXPECT_LT(since, now_);
    return SUCCESS;
  };
  reached();
  const uint64_t before = watch_->thread(0).since_ns;
  play(0, 3);
  reached();
  EXPECT_GT(watch_->thread(0).since_ns, before);
}

}  // namespace
}  // namespace keydrome
