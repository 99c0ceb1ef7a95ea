// Starting the processes that the referee speaks with: descriptors for both sides, and posix_spawn.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "harness/unique_fd.h"

namespace keydrome {

// Two ends that belong together, both close-on-exec and above every number that a child is given.
struct DescriptorPair {
  UniqueFd ours;
  UniqueFd theirs;
};

// A pair of Unix sockets of that type.
Result<DescriptorPair> socket_pair(int type);
// A pipe that we read without blocking.
Result<DescriptorPair> output_pipe();

// What a child gets, and its start. Use once.
class SpawnActions {
 public:
  SpawnActions();
  ~SpawnActions();
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  // `fd` becomes descriptor `as` of the child.
  void give(const UniqueFd& fd, int as);

  // The child's errno, or 0. `arguments` begins with the program's path. Own process group: a
  // Ctrl-C at the terminal reaches the referee alone, which then ends its children.
  int spawn(pid_t& pid, const std::vector<std::string>& arguments);

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace keydrome
