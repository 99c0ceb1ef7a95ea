#include "runtime/control/read_log.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/tests/bytes_of.h"

namespace keydrome::runtime {
namespace {

using Answer = ReadLog::Step::Answer;

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
    text += text_of(step.from) + (step.continues ? " (goes on)" : "");
    text += step.answer == Answer::kNone         ? ": none"
            : step.answer == Answer::kNoneBefore ? ": none until " + text_of(step.to)
                                                 : ": " + text_of(step.to);
    text += "; ";
  }
  return text;
}

TEST(ReadLog, GivesBackWhatWasAdded) {
  const std::string long_key(KEYDROME_KEY_BYTES_MAX, 'k');
  const std::string long_payload(KEYDROME_PAYLOAD_BYTES_MAX, 'p');
  const std::string empty;
  ReadLog log;
  EXPECT_TRUE(log.empty());
  log.add(before_key(bytes_of(empty)), Answer::kPair, {bytes_of("a"), bytes_of(empty), false});
  log.add({bytes_of("a"), bytes_of(empty), true}, Answer::kPair,
          {bytes_of(long_key), bytes_of(long_payload), false});
  log.add(after_key(bytes_of("a")), Answer::kNoneBefore, before_key(bytes_of("b")));
  log.add({bytes_of(long_key), bytes_of(long_payload), true}, Answer::kNone, {});
  EXPECT_EQ(text_of(log), ",any before: a, before; a, after (goes on): " + long_key + "," +
                              long_payload + " before; a,any after: none until b,any before; " +
                              long_key + "," + long_payload + " after: none; ");
  log.clear();
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(text_of(log), "");
}

// Going on needs the very place behind the newest pair: not another payload, not before it, and not
// what a log said before it was cleared.
TEST(ReadLog, AStepGoesOnOnlyFromTheLastPair) {
  ReadLog log;
  const auto add_pair = [&] {
    log.add(before_key(bytes_of("k")), Answer::kPair, {bytes_of("k"), bytes_of("p"), false});
  };
  const auto last_goes_on = [&](const Bound& from) {
    add_pair();
    log.add(from, Answer::kNone, {});
    const std::string text = text_of(log);
    log.clear();
    return text.ends_with("(goes on): none; ");
  };
  EXPECT_TRUE(last_goes_on({bytes_of("k"), bytes_of("p"), true}));
  EXPECT_FALSE(last_goes_on({bytes_of("k"), bytes_of("p"), false}));
  EXPECT_FALSE(last_goes_on({bytes_of("k"), bytes_of("q"), true}));
  EXPECT_FALSE(last_goes_on(after_key(bytes_of("k"))));
  add_pair();
  log.clear();
  log.add({bytes_of("k"), bytes_of("p"), true}, Answer::kNone, {});
  EXPECT_EQ(text_of(log), "k,p after: none; ");
}

}  // namespace
}  // namespace keydrome::runtime
