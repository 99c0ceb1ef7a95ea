// Implements add_verify_phase(), which appends the final scan to a script.
#include <algorithm>

#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::script {

void add_verify_phase(ScriptBuilder& script, uint32_t threads, uint32_t class_number,
                      std::string name) {
  threads = std::max(1u, std::min(threads, script.index_count()));
  const uint32_t phase =
      script.add_phase(std::move(name), threads, {.timed = false, .verifies = true});
  for (uint32_t index = 0; index < script.index_count(); ++index) {
    ThreadBuilder thread = script.thread(phase, index % threads);
    thread.unit_start();
    thread.open(0, index);
    thread.begin(format::Kind::kScript, class_number);
    thread.next_to_end(0, script.inserts(index), format::kEvidenceAll);
    thread.commit();
    thread.close(0);
  }
}

}  // namespace keydrome::script
