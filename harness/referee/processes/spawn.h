// Starts the child processes of the referee, which runs a benchmark: the jail (a sandbox) and, in
// verified mode, the driver, which plays the operations outside the jail. Makes pipes and socket
// pairs, and calls posix_spawn().
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keydrome {

// The two ends of a pipe or socket pair: `ours` for the referee, `theirs` for the child. Both are
// close-on-exec. Their numbers are higher than all descriptor numbers of the child.
struct DescriptorPair {
  UniqueFd ours;
  UniqueFd theirs;
};

// Returns a pair of connected Unix sockets of this type.
Result<DescriptorPair> socket_pair(int type);
// Returns a pipe. `ours` is the reading end, and its reads do not block.
Result<DescriptorPair> output_pipe();

// Collects the descriptors of one child and then starts the child. Use each object once.
class SpawnActions {
 public:
  SpawnActions();
  ~SpawnActions();
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  // Makes `fd` available to the child as descriptor `as`.
  void give(const UniqueFd& fd, int as);

  // Starts the program `arguments[0]`, which messages call `what`. The environment contains only
  // PATH and LC_ALL; standard input is /dev/null. The child is in a process group of its own, so
  // that Ctrl-C at the terminal reaches only the referee. Jail and driver end by themselves when
  // the referee has died.
  Result<pid_t> spawn(const std::string& what, const std::vector<std::string>& arguments);

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace keydrome
