// Tests of UndoLog, which records the changes of a transaction for a rollback. Changes must be read
// back newest first, and clear() must empty the log.
#include "runtime/content/undo_log.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/tests/bytes_of.h"

namespace keydrome::runtime {
namespace {

std::string text_of(KeydromeBytes bytes) {
  return {static_cast<const char*>(bytes.data), bytes.size};
}

TEST(UndoLog, ReadsBackwardsToAMark) {
  UndoLog log;
  const auto add = [&](bool inserted, const std::string& key, const std::string& payload) {
    log.reserve(bytes_of(key), bytes_of(payload));
    log.append({nullptr, inserted, bytes_of(key), bytes_of(payload)});
  };
  EXPECT_TRUE(log.empty_beyond(0));
  add(true, "", "");
  add(true, std::string(128, 'k'), std::string(100, 'p'));
  const size_t mark = log.mark();
  add(false, "key", "");
  EXPECT_FALSE(log.empty_beyond(mark));
  EXPECT_EQ(text_of(log.newest().key), "key");
  EXPECT_FALSE(log.newest().inserted);
  log.drop_newest();
  EXPECT_TRUE(log.empty_beyond(mark));
  EXPECT_EQ(text_of(log.newest().key), std::string(128, 'k'));
  EXPECT_EQ(text_of(log.newest().payload), std::string(100, 'p'));
  EXPECT_TRUE(log.newest().inserted);
  log.drop_newest();
  EXPECT_EQ(text_of(log.newest().key), "");
  log.drop_newest();
  EXPECT_TRUE(log.empty_beyond(0));
}

TEST(UndoLog, IsEmptyAfterClear) {
  UndoLog log;
  for (int i = 0; i < 10000; ++i) {
    const std::string key = std::to_string(i);
    log.reserve(bytes_of(key), bytes_of(key));
    log.append({nullptr, true, bytes_of(key), bytes_of(key)});
  }
  EXPECT_EQ(text_of(log.newest().key), "9999");
  EXPECT_GT(log.memory_bytes(), size_t{64} * 1024);
  log.clear();
  EXPECT_TRUE(log.empty_beyond(0));
  EXPECT_EQ(log.memory_bytes(), 0u);
}

}  // namespace
}  // namespace keydrome::runtime
