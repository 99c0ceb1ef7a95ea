// The referee's part of a stack page (harness/stacks.h): asks the threads and reads what they
// wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/referee/thread_facts.h"

namespace keydrome {

// Stacks as text, by the thread's id in the jail: "library.so+0x1234 (insertRecord+0x54) < ...",
// the innermost call first, down to the player. Their words are the player's process's.
using Stacks = std::map<uint32_t, std::string>;

// Sends kStackSignal to the threads of `process` and waits, for a second at most, until each has
// written its stack. What has not is missing.
Stacks collect_stacks(pid_t process, const std::vector<ThreadFacts>& threads,
                      std::span<const std::byte> page);

// What a page holds now.
Stacks read_stacks(std::span<const std::byte> page);

}  // namespace keydrome
