// Implements harness/referee/hang/stack_reader.h: signals the threads of the player (the jailed
// process with the library), waits for their stacks, and checks what they wrote. The player is
// untrusted and can write to the stack page at any time.
#include "harness/referee/hang/stack_reader.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "harness/stacks.h"

namespace keydrome {
namespace {

constexpr uint64_t kWaitNs = 1'000'000'000;
constexpr int kPollEveryMs = 2;

const ThreadStack& stack_at(std::span<const std::byte> page, uint32_t number) {
  KEYDROME_CHECK(page.size() >= sizeof(StackPage));
  return reinterpret_cast<const StackPage*>(page.data())->stacks[number];
}

// The acquire load pairs with the writer's release store of `state`, which follows the writes to
// the stack.
uint32_t state_of(const ThreadStack& stack) {
  return std::atomic_ref(const_cast<uint32_t&>(stack.state)).load(std::memory_order_acquire);
}

std::size_t count_named(std::span<const std::byte> page) {
  std::size_t count = 0;
  for (uint32_t i = 0; i < kStacksMax; ++i) count += state_of(stack_at(page, i)) == kStackNamed;
  return count;
}

std::string hexadecimal(uint64_t number) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
  return text.data();
}

// Turns a name from the untrusted process into one word: blanks and unprintable characters become
// '?'.
template <std::size_t kCapacity>
std::string word_of(const char (&text)[kCapacity]) {
  std::string word(text, strnlen(text, kCapacity));
  std::ranges::replace_if(word, [](char c) { return c <= ' ' || c > '~'; }, '?');
  return word;
}

std::string frame_text(const StackFrame& frame, bool named) {
  const std::string module = named ? word_of(frame.module) : std::string();
  if (module.empty()) return hexadecimal(frame.address);
  const std::string symbol = word_of(frame.symbol);
  return module + "+" + hexadecimal(frame.offset) +
         (symbol.empty() ? "" : " (" + symbol + "+" + hexadecimal(frame.symbol_offset) + ")");
}

std::string stack_text(const ThreadStack& stack, uint32_t state) {
  std::string text;
  const uint32_t frames = std::min(stack.frames, kFramesMax);
  for (uint32_t i = 0; i < frames; ++i) {
    const std::string frame = frame_text(stack.frame[i], state == kStackNamed);
    const bool player = frame.starts_with("player+");
    text += (text.empty() ? "" : " < ") + (player ? "player" : frame);
    if (player) break;  // the player's own callers do not explain a hang
  }
  return text;
}

}  // namespace

Stacks read_stacks(std::span<const std::byte> page) {
  Stacks stacks;
  for (uint32_t i = 0; i < kStacksMax; ++i) {
    const uint32_t state = state_of(stack_at(page, i));
    if (state != kStackWalked && state != kStackNamed) continue;
    const auto copy = std::make_unique<ThreadStack>(stack_at(page, i));
    std::string text = stack_text(*copy, state);
    if (!text.empty()) stacks.emplace(copy->thread_id, std::move(text));
  }
  return stacks;
}

// A signal cannot reach a wrong thread. If a listed thread has exited, the kernel gives its id to
// another thread only after it has used all other ids.
Stacks collect_stacks(pid_t process, const std::vector<ThreadFacts>& threads,
                      std::span<const std::byte> page) {
  std::size_t signalled = 0;
  for (const ThreadFacts& thread : threads) {
    if (signalled == kStacksMax) break;
    signalled += syscall(SYS_tgkill, process, thread.outside, kStackSignal) == 0 ? 1 : 0;
  }
  const uint64_t deadline_ns = now_ns() + kWaitNs;
  while (count_named(page) < signalled && now_ns() < deadline_ns) poll(nullptr, 0, kPollEveryMs);
  return read_stacks(page);
}

}  // namespace keydrome
