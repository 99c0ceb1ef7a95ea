// Tests of ReadLog, which records the reads of a transaction as steps, so that commit can repeat
// them. Steps must be read back as they were added, and consecutive steps must be recognised.
#include "runtime/content/read_log.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/tests/bytes_of.h"

namespace keydrome::runtime {
namespace {

using Outcome = ReadLog::Step::Outcome;

std::string text_of(const Bound& bound) {
  const auto text = [](KeydromeBytes bytes) {
    return std::string(static_cast<const char*>(bytes.data), bytes.size);
  };
  return text(bound.key) + "," + (bound.payload.data == nullptr ? "any" : text(bound.payload)) +
         (bound.after ? " after" : " before");
}

std::string text_of(const ReadLog& log) {
  std::string text;
  ReadLog::Reader reader(log);
  ReadLog::Step step{};
  while (reader.next(step)) {
    text += text_of(step.from) + (step.continues ? " (continues)" : "");
    text += step.outcome == Outcome::kNone         ? ": none"
            : step.outcome == Outcome::kNoneBefore ? ": none until " + text_of(step.to)
                                                   : ": " + text_of(step.to);
    text += "; ";
  }
  return text;
}

TEST(ReadLog, ReturnsWhatWasAdded) {
  const std::string long_key(KEYDROME_KEY_BYTES_MAX, 'k');
  const std::string long_payload(KEYDROME_PAYLOAD_BYTES_MAX, 'p');
  const std::string empty;
  ReadLog log;
  EXPECT_TRUE(log.empty());
  log.add(before_key(bytes_of(empty)), Outcome::kPair, {bytes_of("a"), bytes_of(empty), false});
  log.add({bytes_of("a"), bytes_of(empty), true}, Outcome::kPair,
          {bytes_of(long_key), bytes_of(long_payload), false});
  log.add(after_key(bytes_of("a")), Outcome::kNoneBefore, before_key(bytes_of("b")));
  log.add({bytes_of(long_key), bytes_of(long_payload), true}, Outcome::kNone, {});
  EXPECT_EQ(text_of(log), ",any before: a, before; a, after (continues): " + long_key + "," +
                              long_payload + " before; a,any after: none until b,any before; " +
                              long_key + "," + long_payload + " after: none; ");
  log.clear();
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(text_of(log), "");
}

// A step continues the previous step only if it starts directly after the newest pair. It does not
// continue from another payload, from before the pair, or from a pair that clear() has removed.
TEST(ReadLog, AStepContinuesOnlyFromTheLastPair) {
  ReadLog log;
  const auto add_pair = [&] {
    log.add(before_key(bytes_of("k")), Outcome::kPair, {bytes_of("k"), bytes_of("p"), false});
  };
  const auto last_continues = [&](const Bound& from) {
    add_pair();
    log.add(from, Outcome::kNone, {});
    const std::string text = text_of(log);
    log.clear();
    return text.ends_with("(continues): none; ");
  };
  EXPECT_TRUE(last_continues({bytes_of("k"), bytes_of("p"), true}));
  EXPECT_FALSE(last_continues({bytes_of("k"), bytes_of("p"), false}));
  EXPECT_FALSE(last_continues({bytes_of("k"), bytes_of("q"), true}));
  EXPECT_FALSE(last_continues(after_key(bytes_of("k"))));
  add_pair();
  log.clear();
  log.add({bytes_of("k"), bytes_of("p"), true}, Outcome::kNone, {});
  EXPECT_EQ(text_of(log), "k,p after: none; ");
}

TEST(ReadLog, FreesALargeLog) {
  ReadLog log;
  const std::string key(100, 'k');
  for (int i = 0; i < 1000; ++i) log.add(after_key(bytes_of(key)), Outcome::kNone, {});
  EXPECT_GT(log.memory_bytes(), size_t{64} * 1024);
  log.clear();
  EXPECT_EQ(log.memory_bytes(), 0u);
}

}  // namespace
}  // namespace keydrome::runtime
