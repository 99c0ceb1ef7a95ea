// Scripts of several sessions: what each session calls, in which order the calls are handed over,
// and whether a serial order of the committed transactions explains what came back.
//
// A session is a thread. A call that does not come back within kPatience counts as waiting, its
// session's further calls queue behind it, and the script goes on with the others; the verdict does
// not depend on that time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexes/tests/library.h"

namespace keydrome {

// One step of a script: session, index and call. Notation, separated by spaces:
//   1:b 1:c 1:a       begin, commit, abort in session 1
//   1:g5 1:n          get of key 5, getNext
//   1:i5=x 1:d5=x     insert, delete of the pair (5, x);   1:d5*  delete of every payload of 5
//   1:B.g5            the same on index B (A is the default);   1:@g5  auto-commit
struct Step {
  int session;
  int index;  // 0: A, 1: B
  char call;  // b c a g n i d
  bool auto_commit;
  int64_t key;
  std::string payload;  // empty for delete all
};

std::vector<Step> parse_script(std::string_view text);

// Runs `script` on fresh indexes of `type` that hold the pairs of `setup` ("10=a 20=b B.1=c").
// Returns an empty string when a serial order of the committed transactions that respects real time
// explains every answer and the final contents, else what was observed. A session that hangs for
// more than 20 s ends the process with a message.
std::string run_script(KeyType type, std::string_view setup, std::string_view script);

}  // namespace keydrome
