// Implements c_program.h: writes a C program that repeats the calls of a failed run. The program
// has three parts:
// - tables with the times of the calls
// - a fixed part that orders the threads and compares results
// - a function for each session, which is one thread of the run
#include "checker/witness/c_program.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "checker/history/calls.h"
#include "checker/names.h"
#include "checker/witness/c_literal.h"
#include "checker/witness/c_program_parts.h"
#include "checker/witness/c_records.h"

namespace keydrome::witness {

using history::EventCall;
using history::HistoryIndex;

namespace {

constexpr std::size_t kLineBytes = 96;

// Returns the text in a form that is safe inside a C comment: splits every end of a comment, and
// replaces control characters by '?'.
std::string harmless(std::string text) {
  for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos; at += 3) {
    text.insert(at + 1, " ");
  }
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n') c = '?';
  }
  return text;
}

// Returns the result code as a C expression.
std::string code_expression(uint8_t code) {
  return code < kCodeNames.size() ? std::string(kCodeNames[code]) : std::to_string(code);
}

// Returns a C expression for the name of an index. Each attempt uses another name.
std::string index_name(std::size_t index) {
  return "names[attempt][" + std::to_string(index) + "]";
}

// Returns true if the program must also compare the key that the call returned.
bool returns_key(const ReproducerCall& call) {
  return call.call == EventCall::kNext && call.code == SUCCESS;
}

// Writes the function of one session's thread.
class SessionWriter {
 public:
  // `calls` must contain the calls of all sessions, sorted by time.
  SessionWriter(const Reproducer& reproducer, const std::vector<ReproducerCall>& calls)
      : reproducer_(reproducer), calls_(calls) {}

  std::string session_function(uint32_t session) const {
    std::string text = "static void* session" + std::to_string(session + 1) +
                       "(void* unused) {\n  IdxState* index[INDEXES] = {NULL};\n" +
                       declare_further_handles() +
                       "  TxnState* txn = NULL;\n  int call = -1;\n  int code;\n"
                       "  Record record, failed;\n  (void)unused;\n";
    for (uint32_t index = 0; index < reproducer_.indexes.size(); ++index) {
      if (opens_itself(session, index)) continue;
      for (uint32_t handle = 0; handle <= last_handle(session, index); ++handle) {
        text += "  openIndex(" + index_name(index) + ", &" + handle_name(index, handle) + ");\n";
      }
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].session == session) text += call(calls_[i], i);
    }
    text += "  (void)failed;\n  (void)record;\n" + close_handles(session) +
            "  return NULL;\n"
            "stop: /* a result differed, so repeating later calls is useless */\n"
            "  if (txn != NULL) abortTransaction(txn);\n  end_turn(call);\n" +
            close_handles(session) + "  return NULL;\n}\n\n";
    return text;
  }

 private:
  // Returns true if the session's own calls open the index. If not, the program opens the index
  // when the session starts.
  bool opens_itself(uint32_t session, std::size_t index) const {
    return std::ranges::any_of(calls_, [&](const ReproducerCall& call) {
      return call.session == session && call.call == EventCall::kOpen && call.index == index;
    });
  }

  // Returns the largest handle number that the session's calls use for the index, or 0.
  uint32_t last_handle(uint32_t session, std::size_t index) const {
    uint32_t last = 0;
    for (const ReproducerCall& call : calls_) {
      if (call.session == session && call.index == index) last = std::max(last, call.handle);
    }
    return last;
  }

  // Returns the declaration of the variables for handles other than the first of each index.
  std::string declare_further_handles() const {
    uint32_t last = 0;
    for (const ReproducerCall& call : calls_) last = std::max(last, call.handle);
    if (last == 0) return "";
    return "  IdxState* further[" + std::to_string(last) + "][INDEXES] = {{NULL}};\n";
  }

  // Returns the variable of a handle as a C expression.
  static std::string handle_name(uint32_t index, uint32_t handle) {
    const std::string in_array = "[" + std::to_string(index) + "]";
    return handle == 0 ? "index" + in_array
                       : "further[" + std::to_string(handle - 1) + "]" + in_array;
  }

  std::string close_handles(uint32_t session) const {
    std::string text;
    for (uint32_t index = 0; index < reproducer_.indexes.size(); ++index) {
      if (opens_itself(session, index)) continue;
      for (uint32_t handle = 0; handle <= last_handle(session, index); ++handle) {
        text += "  closeIndex(" + handle_name(index, handle) + ");\n";
      }
    }
    return text;
  }

  std::string call(const ReproducerCall& call, std::size_t number) const {
    const bool found = call.code == SUCCESS;
    const bool reads = call.call == EventCall::kGet || call.call == EventCall::kNext;
    std::string text = "\n  call = " + std::to_string(number) + ";\n";
    if (is_data_call(call.call)) {
      ReproducerRecord nothing;
      nothing.index = call.index;
      text +=
          "  record = " + make(reproducer_, call.call == EventCall::kNext ? nothing : call.passed) +
          ";\n";
      text +=
          "  failed = " + (found && reads ? make(reproducer_, call.returned) : "record") + ";\n";
    }
    text += "  if (!await_turn(call)) goto stop;\n  code = " + expression(call) + ";\n";
    const std::string wanted = code_expression(call.code);
    const std::string same = "code == " + wanted + (found && reads ? same_record(call) : "");
    text += "  check(" + c_string(call.text) + ", code, " + wanted + ", " +
            (reads ? "&record, &failed, " : "NULL, NULL, ") + same + ");\n";
    if (call.call == EventCall::kCommit || call.call == EventCall::kAbort) {
      text += "  if (code != DEADLOCK) txn = NULL;\n";
    }
    return text + "  if (code != " + wanted + ") goto stop;\n  end_turn(call);\n";
  }

  // Returns a C condition with a leading "&&". It is true if a read returned the recorded record.
  std::string same_record(const ReproducerCall& call) const {
    std::string same;
    if (!call.returned.is_unknown_payload) {
      same += " && strcmp(record.payload, failed.payload) == 0";
    }
    if (returns_key(call) && !call.returned.is_unknown_key) {
      same += " && same_key(&record.key, &failed.key, " +
              type_name(reproducer_.indexes[call.index].type) + ")";
    }
    const std::string unknown = is_unknown(call.returned);
    return same + (unknown.empty() ? "" : " && " + unknown);
  }

  std::string expression(const ReproducerCall& call) const {
    const std::string index = handle_name(call.index, call.handle);
    const std::string txn = call.auto_commit ? "NULL" : "txn";
    switch (call.call) {
      case EventCall::kOpen:
        return "openIndex(" + index_name(call.index) + ", &" + index + ")";
      case EventCall::kClose:
        return "closeIndex(" + index + ")";
      case EventCall::kBegin:
        return "beginTransaction(&txn)";
      case EventCall::kCommit:
        return "commitTransaction(txn)";
      case EventCall::kAbort:
        return "abortTransaction(txn)";
      case EventCall::kGet:
        return "get(" + index + ", " + txn + ", &record)";
      case EventCall::kNext:
        return "getNext(" + index + ", " + txn + ", &record)";
      case EventCall::kInsert:
        return "insertRecord(" + index + ", " + txn + ", &record.key, record.payload)";
      default:
        return "deleteRecord(" + index + ", " + txn + ", &record)";
    }
  }

  const Reproducer& reproducer_;
  const std::vector<ReproducerCall>& calls_;
};

// Writes the whole program.
class ProgramWriter {
 public:
  explicit ProgramWriter(const Reproducer& reproducer)
      : reproducer_(reproducer), calls_(reproducer.calls) {
    std::ranges::sort(calls_, {}, [](const ReproducerCall& call) {
      return std::tuple(call.begin_ticks, call.session, call.end_ticks);
    });
  }

  std::string write() {
    std::string text = head() + tables();
    text += c_code_names();
    text += kPrelude;
    const std::string inserted = inserted_functions(reproducer_);
    const bool compares_keys = inserted.find("same_key") != std::string::npos;
    if (reproducer_.final_records || std::ranges::any_of(calls_, returns_key) || compares_keys) {
      text += kSameKey;
    }
    text += inserted;
    text += set_up();
    for (uint32_t session = 0; session < reproducer_.sessions; ++session) {
      text += SessionWriter(reproducer_, calls_).session_function(session);
    }
    text += "static void* (*const sessions[SESSIONS])(void*) = {";
    for (uint32_t session = 0; session < reproducer_.sessions; ++session) {
      text += (session > 0 ? ", session" : "session") + std::to_string(session + 1);
    }
    return text + "};\n\n" + read_everything() + std::string(kMain);
  }

 private:
  std::string head() const {
    std::string text = "/*";
    std::string_view rest = reproducer_.about;
    while (!rest.empty()) {
      const std::size_t line_end = std::min(rest.find('\n'), rest.size());
      std::size_t end = line_end;
      // Breaks a long line at a space. Keeps an indented line whole, because it is a call or a
      // command.
      if (end > kLineBytes && rest[0] != ' ') {
        const std::size_t space = rest.rfind(' ', kLineBytes);
        if (space != std::string_view::npos) end = space;
      }
      const std::string line = harmless(std::string(rest.substr(0, end)));
      text += line.empty() ? "\n *" : (text == "/*" ? " " : "\n * ") + line;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return text +
           "\n */\n#define _POSIX_C_SOURCE 200809L\n#include <errno.h>\n#include <pthread.h>\n"
           "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n\n"
           "#include \"keydrome/index.h\"\n\n";
  }

  std::string tables() const {
    std::size_t name_bytes = 0;
    for (const HistoryIndex& index : reproducer_.indexes) {
      name_bytes = std::max(name_bytes, index.name.size());
    }
    std::string text =
        "#define VIOLATION " + c_string(reproducer_.violation) + "\nenum { ATTEMPTS = 100, ";
    text += "TURN_TIMEOUT_US = 5000, SESSIONS = " + std::to_string(reproducer_.sessions) +
            ", CALLS = " + std::to_string(calls_.size()) +
            ", INDEXES = " + std::to_string(reproducer_.indexes.size()) +
            ", NAME_BYTES = " + std::to_string(name_bytes + 16) +
            ", FINAL_MAX = " + std::to_string(final_max()) +
            ",\n       READ_MAX = " + std::to_string(final_max() + reproducer_.initial.size()) +
            " };\n\n";
    text += "/* The times in ticks at which each call of the failed run began and returned. */\n";
    text +=
        table("begins", &ReproducerCall::begin_ticks) + table("ends", &ReproducerCall::end_ticks);
    return text;
  }

  // Returns the number of records that the program expects at the end, plus one, because an array
  // of this size must not be empty.
  std::size_t final_max() const {
    return reproducer_.final_records ? reproducer_.final_records->size() + 1 : 1;
  }

  std::string table(const std::string& name, uint64_t ReproducerCall::* member) const {
    std::string text = "static const long long " + name + "[CALLS] = {";
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      text += (i == 0 ? "" : i % 10 == 0 ? ",\n    " : ", ") + std::to_string(calls_[i].*member);
    }
    return text + "};\n";
  }

  std::string set_up() const {
    std::string text =
        "static void set_up(void) {\n  IdxState* index;\n  Record record;\n  (void)record;\n";
    for (std::size_t index = 0; index < reproducer_.indexes.size(); ++index) {
      text += "  snprintf(" + index_name(index) + ", NAME_BYTES, \"%s%d\", " +
              c_string(reproducer_.indexes[index].name) + ", attempt);\n  create(" +
              type_name(reproducer_.indexes[index].type) + ", " + index_name(index) +
              ");\n  openIndex(" + index_name(index) + ", &index);\n";
      for (const ReproducerRecord& record : reproducer_.initial) {
        if (record.index != index) continue;
        text += "  record = " + make(reproducer_, record) +
                ";\n  insertRecord(index, NULL, &record.key, record.payload);\n";
      }
      text += "  closeIndex(index);\n";
    }
    return text + "}\n\n";
  }

  // Returns the C function read_everything(), which reads every index and compares the records with
  // the records of the failed run.
  std::string read_everything() const {
    if (!reproducer_.final_records) return "static void read_everything(void) {}\n";
    std::string text =
        "/* Reads all records and compares them with the records of the failed run. */\n"
        "static void read_everything(void) {\n  IdxState* index;\n  TxnState* txn;\n"
        "  Record record, expected[FINAL_MAX];\n  int rest, at, unknown, read, i, found;\n"
        "  fprintf(out, \"at the end:\\n\");\n";
    for (std::size_t index = 0; index < reproducer_.indexes.size(); ++index) {
      text += "  rest = at = unknown = 0;\n";
      std::set<std::string> conditions;
      for (const ReproducerRecord& record : *reproducer_.final_records) {
        if (record.index != index) continue;
        const std::string condition = is_unknown(record);
        if (!condition.empty()) conditions.insert(condition);
        text += condition.empty()
                    ? "  expected[rest++] = " + make(reproducer_, record) + ";\n"
                    : "  unknown++; /* a record whose key or payload no call inserted */\n";
      }
      text += read_index(index, conditions);
    }
    return text + "}\n";
  }

  std::string read_index(std::size_t index, const std::set<std::string>& conditions) const {
    const std::string type_of_key = type_name(reproducer_.indexes[index].type);
    std::string is_unknown = "0";
    for (const std::string& condition : conditions) is_unknown += " || (" + condition + ")";
    return "  openIndex(" + index_name(index) +
           ", &index);\n  if (beginTransaction(&txn) != SUCCESS) return;\n"
           "  record = make(" +
           type_of_key +
           ", 0, \"\", \"\");\n"
           "  for (read = 0; getNext(index, txn, &record) == SUCCESS; read++) {\n"
           "    if (read == READ_MAX) {\n      differences++; /* the scan has no end */\n"
           "      break;\n    }\n"
           "    if (strcmp(record.payload, " +
           c_string(reproducer_.ignored) +
           ") == 0) continue;\n"
           "    fprintf(out, \"  %s\", " +
           c_string(reproducer_.indexes[index].name) +
           ");\n    print_record(&record);\n    fprintf(out, \"\\n\");\n"
           "    /* The keys have an order. The payloads of a key have none. */\n"
           "    found = 0;\n"
           "    for (i = at; i < rest && same_key(&expected[i].key, &expected[at].key, " +
           type_of_key +
           "); i++) {\n"
           "      if (same_key(&record.key, &expected[i].key, " +
           type_of_key +
           ") && strcmp(record.payload, expected[i].payload) == 0) {\n        found = 1;\n"
           "        break;\n      }\n    }\n"
           "    if (found) {\n      expected[i] = expected[at++];\n"
           "    } else if (unknown > 0 && (" +
           is_unknown +
           ")) {\n      unknown--;\n    } else {\n"
           "      differences++;\n    }\n  }\n"
           "  differences += rest - at + unknown;\n  commitTransaction(txn);\n  "
           "closeIndex(index);\n";
  }

  const Reproducer& reproducer_;
  std::vector<ReproducerCall> calls_;
};

}  // namespace

std::string c_program(const Reproducer& reproducer) { return ProgramWriter(reproducer).write(); }

}  // namespace keydrome::witness
