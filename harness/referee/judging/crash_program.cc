// Implements crash_program(), which writes a C program that makes the calls of a session (one
// repetition of a benchmark) up to a crash of the library. Writes the operations up to the crash as
// C tables, between the parts that are the same in every program (crash_program_parts.h).
#include "harness/referee/judging/crash_program.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "benchmarks/kit/format/program.h"
#include "checker/witness/c_literal.h"
#include "harness/referee/judging/crash_program_parts.h"

namespace keydrome {
namespace {

using format::Op;
using format::OpCode;
using history::EventCall;

// The operations of each thread of a phase, up to the crash.
struct PlayedPhase {
  std::string name;
  std::vector<std::span<const Op>> threads;
};

// The names that the C program has for its operations, in the order of OpCode.
constexpr std::array<std::string_view, 20> kCodes = {
    "CREATE", "OPEN",        "CLOSE",       "BEGIN",      "COMMIT",      "ABORT",  "GET",
    "NEXT",   "NEXT_TO_END", "INSERT",      "DELETE_KEY", "DELETE_PAIR", "REPEAT", "SIGNAL",
    "WAIT",   "YIELD",       "DELETE_READ", "STEP",       "STEP_DONE",   "BARE"};
static_assert(static_cast<std::size_t>(OpCode::kBareCall) + 1 == kCodes.size());
static_assert(format::kSlots == 16 && format::kEvents == 16);  // SLOTS, EVENTS in the C program

// An operation takes at least this many bytes of the program.
constexpr std::size_t kOpBytesMin = 8;

bool calls_library(OpCode code) {
  return code <= OpCode::kDeletePair || code == OpCode::kDeleteRead || code == OpCode::kBareCall;
}

// Returns the number of the index that the operation creates or opens.
std::optional<uint32_t> index_of(const Op& op) {
  if (op.code == OpCode::kCreate || op.code == OpCode::kOpen) return op.argument;
  if (op.code != OpCode::kBareCall) return std::nullopt;
  const EventCall call = format::BareCall::unpacked(op.argument).call;
  if (call == EventCall::kCreate || call == EventCall::kOpen) return op.key;
  return std::nullopt;
}

std::set<uint32_t> indexes_of(const PlayedPhase& phase) {
  std::set<uint32_t> indexes;
  for (const std::span<const Op> ops : phase.threads) {
    for (const Op& op : ops) {
      if (const std::optional<uint32_t> index = index_of(op)) indexes.insert(*index);
    }
  }
  return indexes;
}

std::size_t operations_of(std::span<const PlayedPhase> phases) {
  std::size_t count = 0;
  for (const PlayedPhase& phase : phases) {
    for (const std::span<const Op> ops : phase.threads) count += ops.size();
  }
  return count;
}

// Returns the operations that were played. In the last phase, each thread has the operations up to
// the one that it had reached.
std::vector<PlayedPhase> played_phases(const script::Script& script, const SessionResult& result) {
  std::vector<PlayedPhase> phases;
  const std::size_t last = result.phases.size();
  for (std::size_t p = 0; p <= last; ++p) {
    PlayedPhase phase{.name = script.phases[p].name, .threads = {}};
    for (std::size_t t = 0; t < script.phases[p].threads.size(); ++t) {
      std::span<const Op> ops = script.phases[p].threads[t];
      if (p == last && result.positions[t] < ops.size()) {
        // If the thread was waiting for another thread, leave out the wait. In the C program, the
        // other thread also ends where it was at the crash, so the wait might never end.
        const bool calls = calls_library(ops[result.positions[t]].code);
        ops = ops.first(result.positions[t] + (calls ? 1 : 0));
      }
      phase.threads.push_back(ops);
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

// Writes the tables of the program.
class TableWriter {
 public:
  explicit TableWriter(const script::Script& script) : script_(script) {}

  std::string tables(std::span<const PlayedPhase> phases) {
    std::string programs, list = "static const Phase phases[] = {\n";
    std::size_t threads_max = 1;
    for (std::size_t p = 0; p < phases.size(); ++p) {
      const std::string name = "phase" + std::to_string(p);
      const std::size_t threads = phases[p].threads.size();
      programs += phase_table(name, phases[p]);
      list += "    {" + witness::c_string(phases[p].name) + ", " + name + ", " +
              std::to_string(threads) + "},\n";
      threads_max = std::max(threads_max, threads);
    }
    return "enum { THREADS = " + std::to_string(threads_max) + " };\n\n" + indexes() + texts() +
           programs + list + "};\n";
  }

 private:
  std::string phase_table(const std::string& name, const PlayedPhase& phase) {
    std::string tables, list = "static const Program " + name + "[] = {\n";
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      const std::string thread = name + "_thread" + std::to_string(t);
      const std::size_t count = phase.threads[t].size();
      if (count > 0) tables += thread_table(thread, phase.threads[t]);
      list += "    {" + (count > 0 ? thread : "NULL") + ", " + std::to_string(count) + "},\n";
    }
    return tables + list + "};\n\n";
  }

  std::string thread_table(const std::string& name, std::span<const Op> ops) {
    constexpr std::size_t kLineBytes = 96;
    std::string table = "static const Op " + name + "[] = {\n";
    std::string line = "   ";
    slots_ = {};
    for (const Op& op : ops) {
      const std::string entry = entry_of(op) + ",";
      if (line.size() + 1 + entry.size() > kLineBytes) {
        table += line + "\n";
        line = "   ";
      }
      line += " " + entry;
    }
    return table + line + "\n};\n";
  }

  std::string entry_of(const Op& op) {
    // An operation that only waits until a given time is not left out, but becomes YIELD. So the
    // later operations keep their numbers.
    if (op.code == OpCode::kArrive || op.code == OpCode::kUntil) return "{YIELD}";
    if (op.code == OpCode::kOpen) slots_[op.slot] = script_.indexes[op.argument].type;
    const std::array<std::string, 6> fields = {
        std::string(kCodes[static_cast<std::size_t>(op.code)]),
        key(op),
        std::to_string(op.argument),
        payload(op),
        std::to_string(op.slot),
        flags(op)};
    // Leave out zeros at the end of the entry, because C sets missing fields to 0.
    std::size_t count = fields.size();
    while (count > 1 && fields[count - 1] == "0") --count;
    std::string entry = "{" + fields[0];
    for (std::size_t i = 1; i < count; ++i) entry += "," + fields[i];
    return entry + "}";
  }

  static std::string flags(const Op& op) {
    std::string flags;
    const auto add = [&](bool is_set, std::string_view name) {
      if (is_set) flags += (flags.empty() ? "" : "|") + std::string(name);
    };
    const bool begins = op.code == OpCode::kBegin;
    add((op.flags & format::kAutoCommit) != 0, "AUTO");
    add((op.flags & format::kKeep) != 0, "KEEP");
    add(begins && (op.flags & format::kOneAttempt) != 0, "ONCE");
    add(begins && (op.flags & format::kAnyCode) != 0, "ANY");
    return flags.empty() ? "0" : flags;
  }

  std::string key(const Op& op) {
    if (op.code == OpCode::kYield) return std::to_string(op.key);
    if (op.code == OpCode::kBareCall) {
      const format::BareCall bare = format::BareCall::unpacked(op.argument);
      return bare.has_key() ? key(bare.key_type, op.key) : std::to_string(op.key);
    }
    const std::optional<KeyType> type = slots_[op.slot];
    return type && format::is_data_call(op.code) ? key(*type, op.key) : "0";
  }

  std::string key(KeyType type, uint32_t number) {
    if (type == VARCHAR) return text(script_.pools.varchar_keys[number]);
    const int64_t value =
        type == SHORT ? script_.pools.int32_keys[number] : script_.pools.int64_keys[number];
    const bool fits = value >= INT32_MIN && value <= INT32_MAX;
    return fits ? std::to_string(value) : witness::c_integer(value);
  }

  std::string payload(const Op& op) {
    const bool has_text =
        op.code == OpCode::kInsert || op.code == OpCode::kDeletePair ||
        (op.code == OpCode::kBareCall && format::BareCall::unpacked(op.argument).has_payload());
    if (has_text) return text(script_.pools.payloads[op.payload]);
    // In a read, this field is not an argument of the call.
    if (op.code == OpCode::kGet || format::is_scan(op.code)) return "0";
    return std::to_string(op.payload);
  }

  // Returns the number of a text in the table of texts. Adds the text if the table lacks it.
  std::string text(std::string_view text) {
    const auto [entry, is_new] = numbers_.try_emplace(std::string(text), order_.size());
    if (is_new) order_.push_back(&entry->first);
    return std::to_string(entry->second);
  }

  std::string texts() const {
    std::string table = "static const char* const texts[] = {\n";
    for (const std::string* text : order_) table += "    " + witness::c_string(*text) + ",\n";
    return table + (order_.empty() ? "    \"\",\n" : "") + "};\n\n";
  }

  std::string indexes() const {
    constexpr std::array<std::string_view, 3> kTypes = {"SHORT", "INT", "VARCHAR"};
    std::string names, table = "static const Index indexes[] = {\n";
    for (std::size_t i = 0; i < script_.indexes.size(); ++i) {
      const script::IndexSpec& index = script_.indexes[i];
      const std::string name = "name" + std::to_string(i);
      names += "static char " + name + "[] = " + witness::c_string(index.name) + ";\n";
      table += "    {" + std::string(kTypes[index.type]) + ", " + name + "},\n";
    }
    return names + table + "};\n\n";
  }

  const script::Script& script_;
  std::array<std::optional<KeyType>, format::kSlots> slots_;
  std::map<std::string, std::size_t> numbers_ = {{"", 0}};
  std::vector<const std::string*> order_ = {&numbers_.begin()->first};
};

// Returns the program's opening comment. `end` says how the session ended. `phases_left_out` is the
// number of earlier phases that are not in the program.
std::string about(const std::string& end, std::span<const PlayedPhase> phases,
                  std::size_t phases_left_out) {
  std::string text =
      "/* This program makes the calls of a session of Keydrome up to the crash of the library:\n"
      " * " +
      end +
      ".\n *\n"
      " * Build and run it, with your library as LIBRARY.so:\n"
      " *   cc -std=c99 -g -pthread -I api/include THIS_FILE.c ./LIBRARY.so -o replay && ./replay\n"
      " * With -v, the program prints each operation before its call.\n *\n"
      " * If the crash occurs again, it ends the program. Exit status 0: every call returned.\n";
  const bool has_threads = std::ranges::any_of(
      phases, [](const PlayedPhase& phase) { return phase.threads.size() > 1; });
  if (has_threads) {
    text +=
        " *\n * Each thread makes its calls in the order of the session. How calls of different\n"
        " * threads overlapped is not recorded, so the program cannot repeat it. If the crash "
        "does\n"
        " * not occur, run the program again, or compile it with your source and "
        "-fsanitize=thread.\n";
  }
  if (phases_left_out > 0) {
    text += " *\n * The program leaves out " + std::to_string(phases_left_out) +
            (phases_left_out == 1 ? " earlier phase that shares" : " earlier phases that share") +
            " no index with the phase of the crash.\n";
  }
  return text + " */\n";
}

// Returns the program, or an empty text if it would be too long.
std::string write_program(const script::Script& script, std::span<const PlayedPhase> phases,
                          std::size_t phases_left_out, const std::string& end) {
  if (operations_of(phases) > kCrashProgramBytesMax / kOpBytesMin) return "";
  std::string text = about(end, phases, phases_left_out) + std::string(kCrashTypes);
  text += TableWriter(script).tables(phases);
  text += kCrashThreads;
  text += kCrashCalls;
  return text.size() <= kCrashProgramBytesMax ? text : "";
}

bool runs_procedures(const PlayedPhase& phase) {
  return std::ranges::any_of(phase.threads, [](std::span<const Op> ops) {
    return std::ranges::any_of(ops, [](const Op& op) { return op.code == OpCode::kRun; });
  });
}

}  // namespace

CrashProgram crash_program(const script::Script& script, const SessionResult& result,
                           const std::string& end) {
  const std::size_t last = result.phases.size();
  if (last >= script.phases.size() ||
      result.positions.size() != script.phases[last].threads.size()) {
    return {};
  }
  std::vector<PlayedPhase> phases = played_phases(script, result);
  if (std::ranges::any_of(phases, runs_procedures)) {
    return {.text = {},
            .why_none =
                "no C program repeats the crash, because calls of this benchmark depend on results "
                "of earlier calls"};
  }
  if (std::string text = write_program(script, phases, 0, end); !text.empty()) {
    return {.text = std::move(text), .why_none = {}};
  }
  const std::size_t operations = operations_of(phases);
  const std::set<uint32_t> needed = indexes_of(phases.back());
  const std::size_t removed = std::erase_if(phases, [&](const PlayedPhase& phase) {
    const std::set<uint32_t> used = indexes_of(phase);
    return std::ranges::none_of(used, [&](uint32_t index) { return needed.contains(index); });
  });
  if (std::string text = write_program(script, phases, removed, end); !text.empty()) {
    return {.text = std::move(text), .why_none = {}};
  }
  return {.text = {},
          .why_none = "no C program repeats the crash, because a program with the " +
                      std::to_string(operations) +
                      " operations up to the crash would be longer than " +
                      std::to_string(kCrashProgramBytesMax) + " bytes"};
}

}  // namespace keydrome
