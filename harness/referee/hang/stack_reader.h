// Collects the stacks of the player's threads through the stack page, a shared memory page
// (harness/stacks.h).
//
// The player, the jailed process with the library under test, writes the page and is untrusted.
// Therefore the referee, the trusted process that runs the benchmark, copies each stack once and
// checks the copy. The library can still forge addresses and names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/referee/hang/thread_facts.h"

namespace keydrome {

// Stacks as text, by the thread's id in the jail (sandbox), such as "library.so+0x1234
// (insertRecord+0x54) < ...". The innermost call comes first. The last entry is "player", the
// caller of the library.
using Stacks = std::map<uint32_t, std::string>;

// Sends kStackSignal to the threads of `process`, and waits until they have written their stacks,
// but at most a second. The result has no entry for a thread that wrote no stack.
Stacks collect_stacks(pid_t process, const std::vector<ThreadFacts>& threads,
                      std::span<const std::byte> page);

// Returns the stacks that the page contains at present.
Stacks read_stacks(std::span<const std::byte> page);

}  // namespace keydrome
