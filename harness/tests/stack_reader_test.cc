// Tests reading the stack page, memory into which threads of the jailed process write their stacks.
// Some pages are forged, as by a hostile library.
#include "harness/referee/hang/stack_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "harness/stacks.h"

namespace keydrome {
namespace {

class StackReaderTest : public ::testing::Test {
 protected:
  ThreadStack& stack(uint32_t number) { return page_->stacks[number]; }
  Stacks read() const {
    return read_stacks({reinterpret_cast<const std::byte*>(page_.get()), sizeof *page_});
  }
  static void add(ThreadStack& stack, const char* module, const char* symbol) {
    StackFrame& frame = stack.frame[stack.frames++];
    frame.address = 0x7f0000001234;
    frame.offset = 0x1234;
    frame.symbol_offset = 0x34;
    std::strncpy(frame.module, module, sizeof frame.module);
    std::strncpy(frame.symbol, symbol, sizeof frame.symbol);
  }

  std::unique_ptr<StackPage> page_ = std::make_unique<StackPage>();
};

TEST_F(StackReaderTest, ShowsCallsDownToThePlayer) {
  stack(0).thread_id = 4;
  add(stack(0), "library.so", "insertRecord");
  add(stack(0), "libc.so.6", "");
  add(stack(0), "player", "");
  add(stack(0), "player", "");
  stack(0).state = kStackNamed;
  EXPECT_EQ(read(), (Stacks{{4,
                             "library.so+0x1234 (insertRecord+0x34) < libc.so.6+0x1234 < "
                             "player"}}));
}

TEST_F(StackReaderTest, ShowsAddressesWithoutNames) {
  stack(1).thread_id = 5;
  add(stack(1), "half a na", "");
  stack(1).state = kStackWalked;
  EXPECT_EQ(read(), (Stacks{{5, "0x7f0000001234"}}));
}

TEST_F(StackReaderTest, SurvivesAForgedPage) {
  std::memset(static_cast<void*>(page_.get()), 0x1b, sizeof *page_);
  EXPECT_TRUE(read().empty());  // StackState has no such value
  for (ThreadStack& forged : page_->stacks) forged.state = kStackNamed;
  const Stacks stacks = read();
  ASSERT_EQ(stacks.size(), 1u);  // all stacks claim the same thread id
  const std::string& text = stacks.begin()->second;
  EXPECT_LT(text.size(), kFramesMax * 200u);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace keydrome
