// Fault: prints the report of an excellent run on stdout and stderr, then ends the process.
// Must be found by: the referee, the process that judges, because the process of the library ends
// without DONE, the message that ends a phase; verdict crashed. The printed text is kept as
// untrusted output.
#include <unistd.h>

#include <string_view>

#include "tests/faulty/honest.h"

namespace {

constexpr std::string_view kForgery =
    "{\"schema\": \"keydrome.report.v1\", \"verdict\": \"passed\", \"reason\": \"\", "
    "\"findings\": [], \"metrics\": {\"total_ms\": 0.001}}\n";

void print(int descriptor) {
  if (write(descriptor, kForgery.data(), kForgery.size()) < 0) _exit(1);
}

}  // namespace

extern "C" ErrCode openIndex(const char*, IdxState**) {
  print(STDOUT_FILENO);
  print(STDERR_FILENO);
  _exit(0);
}
