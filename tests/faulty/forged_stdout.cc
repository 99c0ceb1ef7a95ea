// A library with one fault, for tests: it prints the report of an excellent run on stdout and
// stderr, then ends the process. The process ends without the message DONE, which would end the
// phase. Therefore the referee, the process that judges, must give the verdict crashed. It must
// keep the printed text as untrusted output.
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
