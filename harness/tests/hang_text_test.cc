// Tests the text of the finding `hang`, which says what the threads were doing when a run of a
// benchmark hung, with invented threads.
#include "harness/referee/hang/hang_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace keydrome {
namespace {

script::Script one_index() {
  script::Script script;
  script.indexes = {{"A", SHORT}};
  return script;
}

Touch touch(uint64_t op, const std::string& key) {
  return {.op = op, .index = 0, .key = key, .writes = true};
}

// Returns a thread that has written key `has` and waits to write key `wants`.
HungThread thread(std::size_t number, const std::string& has, const std::string& wants) {
  HungThread thread;
  thread.number = number;
  thread.position = {.op = 9,
                     .in_call = true,
                     .begin = 3,
                     .touched = {touch(4, has)},
                     .wants = touch(9, wants),
                     .call = "insertRecord(\"A\", " + wants + ")"};
  thread.stuck_ms = 1234;
  thread.facts = ThreadFacts{
      .outside = 1, .inside = 1, .state = 'S', .cpu_ms = 20, .waits_in = "futex", .endless = true};
  thread.facts->futex = 0x7000 + number;
  thread.stack = "library.so+0x10";
  return thread;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HangText, NamesTheCycleAndOnlyThat) {
  const std::string text =
      hang_text(one_index(), {thread(0, "1", "2"), thread(1, "2", "3"), thread(2, "3", "2")});
  EXPECT_TRUE(text.starts_with(
      "These threads wait for each other:\n"
      "- thread 1 requests key 3 of \"A\"; the open transaction of thread 2 has touched key 3 of "
      "\"A\" (operation 4)\n"
      "- thread 2 requests key 2 of \"A\"; the open transaction of thread 1 has touched"))
      << text;
  EXPECT_FALSE(has(text, "- thread 0")) << text;
  EXPECT_TRUE(
      has(text, "\nIf transactions wait for each other, one of their calls must return DEADLOCK"))
      << text;
}

TEST(HangText, DescribesEachThread) {
  const std::string text = hang_text(one_index(), {thread(0, "1", "2")});
  EXPECT_EQ(
      text,
      "No open transaction has touched the records that the waiting threads request, so a "
      "transaction that has ended may have kept a lock, or a wake-up was lost\n"
      "thread 0: insertRecord(\"A\", 2) (operation 9) has not returned for at least 1.2 s; it "
      "waits in futex without a time limit, 0.0 s of CPU time so far\n"
      "  its open transaction, begun at operation 3, has touched key 1 of \"A\" (written)\n"
      "  stack: library.so+0x10");
}

TEST(HangText, AWholeIndexMayBeLocked) {
  const std::string text = hang_text(one_index(), {thread(0, "1", "2"), thread(1, "3", "4")});
  EXPECT_TRUE(
      text.starts_with("These threads wait for each other, if the library locks whole indexes or "
                       "parts of them:\n- thread 0 requests key 2"))
      << text;
}

TEST(HangText, AWaitWithoutACycleIsOnlyAPossibility) {
  HungThread holder = thread(1, "2", "9");
  holder.position.wants.reset();
  const std::string text = hang_text(one_index(), {thread(0, "1", "2"), holder});
  EXPECT_TRUE(text.starts_with("Possible waits:\n- thread 0 requests key 2")) << text;
  EXPECT_FALSE(has(text, "DEADLOCK")) << text;
}

TEST(HangText, OfADeadProcessShowsTheCallsOnly) {
  HungThread finished = thread(1, "3", "2");
  finished.position = {.op = 12, .finished = true};
  finished.stack.clear();
  HungThread died = thread(0, "1", "2");
  died.stack.clear();
  EXPECT_EQ(last_calls_text(one_index(), {died, finished}),
            "thread 0: insertRecord(\"A\", 2) (operation 9) was running when the process ended\n"
            "1 thread has finished the phase");
  died.before = {"beginTransaction()", "get(\"A\", 1)"};
  HungThread waits = thread(2, "3", "2");
  waits.position.in_call = false;
  waits.stack.clear();
  EXPECT_EQ(
      last_calls_text(one_index(), {died, waits}),
      "thread 0: insertRecord(\"A\", 2) (operation 9) was running when the process ended; the "
      "calls before it:\n"
      "  beginTransaction()\n"
      "  get(\"A\", 1)\n"
      "1 thread was waiting for other threads, outside any call of the library");
  HungThread first = thread(3, "3", "2");
  first.position.op = 0;
  EXPECT_TRUE(has(last_calls_text(one_index(), {first}), "(operation 0) was running when"));
  first.stack.clear();
  EXPECT_TRUE(has(last_calls_text(one_index(), {first}),
                  "(operation 0) was running or about to begin when"));
  waits.stack = "library.so+0x10";
  EXPECT_TRUE(has(last_calls_text(one_index(), {waits}),
                  "thread 2: was waiting for other threads (operation 9), without calling the "
                  "library, when it crashed\n"
                  "  stack at the crash: library.so+0x10"));
  HungThread aborts = thread(4, "3", "2");
  aborts.position.rolling_back = true;
  aborts.stack.clear();
  aborts.before = {"beginTransaction()"};
  EXPECT_EQ(last_calls_text(one_index(), {aborts}),
            "thread 4: abortTransaction, called because of the result of insertRecord(\"A\", "
            "2) (operation 9), was running when the process ended; the calls before it:\n"
            "  beginTransaction()");
  HungThread piece = thread(5, "3", "2");
  piece.position = {.op = 9, .awaits_piece = true, .call = "insertRecord(\"A\", 2)"};
  piece.stack.clear();
  EXPECT_EQ(last_calls_text(one_index(), {piece}),
            "thread 5: was waiting for the next operations from the referee (operation 9), without "
            "calling the library, when the process ended");
}

TEST(HangText, ShowsTheStacksOfACrash) {
  HungThread finished;
  finished.number = 1;
  finished.position.finished = true;
  finished.stack = "library.so+0x10";
  HungThread own;
  own.stack = "library.so+0x20";
  EXPECT_EQ(last_calls_text(one_index(), {finished, own}),
            "thread 1: had finished the phase when it crashed\n"
            "  stack at the crash: library.so+0x10\n"
            "a thread that the library started: it crashed\n"
            "  stack at the crash: library.so+0x20");
  own.loads_library = true;
  EXPECT_EQ(last_calls_text(one_index(), {own}),
            "a thread crashed while the library was loaded\n"
            "  stack at the crash: library.so+0x20");
}

TEST(HangText, AThreadThatEndedWithinItsCallHasNoStack) {
  HungThread ended = thread(0, "1", "2");
  ended.position.touched.clear();
  ended.facts.reset();
  ended.stack.clear();
  const std::string text = hang_text(one_index(), {ended});
  EXPECT_TRUE(
      text.ends_with("thread 0: insertRecord(\"A\", 2) (operation 9) has not returned for "
                     "at least 1.2 s; the kernel no longer lists the thread, so it has ended "
                     "within this call, which a library must not cause"))
      << text;
  ended.position.op = 0;
  EXPECT_TRUE(has(hang_text(one_index(), {ended}), "so it has ended or not begun"));
}

TEST(HangText, AThreadThatWaitsForItsPieceDoesNotWaitForTheLibrary) {
  HungThread waits = thread(0, "1", "2");
  waits.position = {.op = 9, .awaits_piece = true, .call = "insertRecord(\"A\", 2)"};
  const std::string text = hang_text(one_index(), {waits});
  EXPECT_TRUE(
      text.starts_with("thread 0: waits for the next operations from the referee "
                       "(operation 9), without calling the library for at least 1.2 s; "
                       "it waits in futex"))
      << text;
}

TEST(HangText, ShowsAThreadThatRunsAndGaveNoStack) {
  HungThread spins = thread(0, "1", "2");
  spins.facts->state = 'R';
  spins.facts->waits_in.clear();
  spins.busy_ms = 90;
  spins.stack.clear();
  const std::string text = hang_text(one_index(), {spins});
  EXPECT_TRUE(text.starts_with("thread 0: ")) << text;
  EXPECT_TRUE(has(text, "it runs: on a CPU for 90 of the last 100 ms, 0.0 s of CPU time so far"))
      << text;
  EXPECT_TRUE(has(text, "no stack: the thread wrote none within a second")) << text;
}

TEST(HangText, ThreadsThatFinishedOrHaveNoNumber) {
  HungThread finished;
  finished.number = 0;
  finished.position.finished = true;
  HungThread own = thread(0, "1", "2");
  own.number.reset();
  own.position = {};
  const std::string text = hang_text(one_index(), {finished, own});
  EXPECT_TRUE(has(text, "a thread that the library started: it waits in futex")) << text;
  EXPECT_TRUE(text.ends_with("1 thread has finished the phase")) << text;
}

TEST(HangText, StaysShort) {
  std::vector<HungThread> many;
  for (std::size_t i = 0; i < 200; ++i) many.push_back(thread(i, "1", "1"));
  const std::string text = hang_text(one_index(), many);
  EXPECT_TRUE(text.ends_with("\nnot shown: 188 more threads")) << text;
  many.resize(13);
  EXPECT_TRUE(hang_text(one_index(), many).ends_with("\nnot shown: 1 more thread"));
  EXPECT_LT(text.size(), 8000u);
}

}  // namespace
}  // namespace keydrome
