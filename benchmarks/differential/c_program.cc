// Implements c_program(), which writes a C program that repeats the calls of a failed run. The
// program consists of a fixed prelude and one line for each call, with the result that the call
// had in the failed run.
#include "benchmarks/differential/c_program.h"

#include <array>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "benchmarks/differential/judged_calls.h"
#include "benchmarks/kit/judge/judge.h"
#include "checker/history/calls.h"
#include "checker/witness/c_literal.h"

namespace keydrome::differential {

using history::Event;
using history::History;
using history::kEventUnknownCode;

namespace {

constexpr std::string_view kPrelude = R"c(#include <stdio.h>
#include <string.h>

#include "keydrome/index.h"

enum call { CREATE, OPEN, CLOSE, BEGIN, COMMIT, ABORT, GET, NEXT, INSERT, DELETE };
enum { UNKNOWN = -1 }; /* the call did not return, or was not made */

static IdxState* handles[8];
static TxnState* txn;
static int differences; /* calls with other results than in the failed run */
static char passed[STEPS][MAX_PAYLOAD_LEN + 1]; /* the payloads of inserts */
static Key passed_keys[STEPS]; /* the keys of inserts */
static int passes;

static Record make(KeyType type, long long number, const char* text, const char* payload) {
  Record record;
  memset(&record, 0, sizeof record);
  record.key.type = type;
  if (type == SHORT) record.key.keyval.shortkey = (int32_t)number;
  if (type == INT) record.key.keyval.intkey = number;
  if (type == VARCHAR) strcpy(record.key.keyval.charkey, text);
  strcpy(record.payload, payload);
  return record;
}

static int same_payload(const char* got, const char* failed) {
  int i;
  if (strcmp(failed, "?") != 0) return strcmp(got, failed) == 0;
  for (i = 0; i < passes; i++) { /* the failed run returned a payload that was never passed */
    if (strcmp(got, passed[i]) == 0) return 0;
  }
  return 1;
}

static int same_key(const Key* a, const Key* b) {
  int i;
  if (a->type == SHORT) return a->keyval.shortkey == b->keyval.shortkey;
  if (a->type == INT) return a->keyval.intkey == b->keyval.intkey;
  if (strcmp(b->keyval.charkey, "?") == 0) { /* the failed run returned a key that was never passed */
    for (i = 0; i < passes; i++) {
      if (passed_keys[i].type == VARCHAR &&
          strcmp(a->keyval.charkey, passed_keys[i].keyval.charkey) == 0) return 0;
    }
    return 1;
  }
  return strcmp(a->keyval.charkey, b->keyval.charkey) == 0;
}

static const char* code_name(int code) {
  return code >= 0 && code <= FAILURE ? kCodes[code] : "an undocumented code";
}

/* Makes a call and compares it: `wanted` and `failed` are the code and record of the failed run. */
static void step(enum call call, char* name, int slot, Record record, int wanted, Record failed) {
  static const char* const kCalls[] = {"create", "openIndex", "closeIndex", "beginTransaction",
                                       "commitTransaction", "abortTransaction", "get", "getNext",
                                       "insertRecord", "deleteRecord"};
  IdxState* handle = handles[slot];
  int code = SUCCESS, same;
  printf("%s(%s)", kCalls[call], name == NULL ? "" : name);
  fflush(stdout); /* the call may not return */
  switch (call) {
    case CREATE: code = create(record.key.type, name); break;
    case OPEN: code = openIndex(name, &handles[slot]); break;
    case CLOSE: code = closeIndex(handle); break;
    case BEGIN: code = beginTransaction(&txn); break;
    case COMMIT: code = commitTransaction(txn); txn = NULL; break;
    case ABORT: code = abortTransaction(txn); txn = NULL; break;
    case GET: code = get(handle, txn, &record); break;
    case NEXT: code = getNext(handle, txn, &record); break;
    case INSERT: passed_keys[passes] = record.key; strcpy(passed[passes++], record.payload); code = insertRecord(handle, txn, &record.key, record.payload); break;
    case DELETE: code = deleteRecord(handle, txn, &record); break;
  }
  same = code == wanted;
  printf(" -> %s", code_name(code));
  if ((call == GET || call == NEXT) && code == SUCCESS) {
    printf(" \"%s\"", record.payload);
    same = same && same_payload(record.payload, failed.payload);
    if (call == NEXT) same = same && same_key(&record.key, &failed.key);
  }
  if (!same) differences++;
  if (!same && wanted != UNKNOWN) printf(", in the failed run %s", code_name(wanted));
  if (!same && wanted == SUCCESS && failed.payload[0] != 0) printf(" \"%s\"", failed.payload);
  printf("\n");
}

)c";

constexpr std::string_view kEnd = R"c(  if (differences == 0) {
    printf("Every call returned the same as in the failed run. %s\n", FAULT);
    return 1;
  }
  printf("Not every call returned the same as in the failed run. "
         "If the error depends on time or chance, run this program several times.\n");
  return 0;
}
)c";

std::string type_name(KeyType type) {
  return type == SHORT ? "SHORT" : type == INT ? "INT" : "VARCHAR";
}

std::string make(KeyType type, int64_t number, std::string_view text, std::string_view payload) {
  return "make(" + type_name(type) + ", " + witness::c_integer(number) + ", " +
         witness::c_string(text) + ", " + witness::c_string(payload) + ")";
}

class Writer {
 public:
  Writer(const Case& session, const History& history)
      : session_(session), events_(history.threads[0]), history_(history) {
    for (const Call& call : session.calls) {
      if (!has_payload(call.kind)) continue;
      const std::string bytes = payload_bytes(session, call);
      payloads_.emplace(hash_bytes(bytes), bytes);
    }
  }

  std::string main() const {
    std::string text = "int main(void) {\n";
    for (std::size_t i = 0; i < session_.indexes.size(); ++i) {
      const std::string name = index_name(static_cast<uint32_t>(i));
      text.append("  static char ").append(name).append("[] = \"").append(name).append("\";\n");
    }
    for (std::size_t i = 0; i < session_.calls.size(); ++i) text += step(i);
    return text + std::string(kEnd);
  }

 private:
  std::string step(std::size_t position) const {
    const Call& call = session_.calls[position];
    const Event& event = events_[position];
    constexpr std::array<const char*, kCallKinds> kNames{"CREATE", "OPEN",   "CLOSE", "BEGIN",
                                                         "COMMIT", "ABORT",  "GET",   "NEXT",
                                                         "INSERT", "DELETE", "DELETE"};
    const bool named = uses_index(call.kind);
    const KeyType type = named ? session_.indexes[call.index] : SHORT;
    const bool known = event.code != kNoAnswer && event.code != kEventUnknownCode;
    return "  step(" + std::string(kNames.at(static_cast<std::size_t>(call.kind))) + ", " +
           (named ? index_name(call.index) : std::string("NULL")) + ", " +
           std::to_string(call.slot) + ", " + passed(call, type) + ", " +
           (known ? c_code(event.code) : std::string("UNKNOWN")) + ", " +
           returned(call, event, type) + ");\n";
  }

  // Returns a result code as C: its name, or its number if the contract has no such code.
  static std::string c_code(uint8_t code) {
    return code <= FAILURE ? code_text(code) : std::to_string(code);
  }

  std::string passed(const Call& call, KeyType type) const {
    if (!has_key(call.kind)) return make(type, 0, "", "");
    const KeyValue& key = session_.keys[call.key];
    return make(type, key.number, key.text,
                has_payload(call.kind) ? payload_bytes(session_, call) : std::string());
  }

  // Returns the record that a read returned in the failed run, with "?" for a payload that no call
  // passed.
  std::string returned(const Call& call, const Event& event, KeyType type) const {
    const bool reads = call.kind == CallKind::kGet || call.kind == CallKind::kNext;
    if (!reads || !succeeded(event)) return make(type, 0, "", "");
    const auto found = payloads_.find(event.payload);
    const std::string payload = found == payloads_.end() ? "?" : found->second;
    if (type != VARCHAR) return make(type, static_cast<int64_t>(event.key), "", payload);
    const bool known = event.key < history_.varchar_keys.size();
    return make(type, 0, known ? history_.varchar_keys[event.key] : "?", payload);
  }

  const Case& session_;
  const std::vector<Event>& events_;
  const History& history_;
  std::unordered_map<uint64_t, std::string> payloads_;
};

}  // namespace

std::string c_program(const Case& session, const History& history, const std::string& fault) {
  return "/* The calls of one thread that reveal an error of the library: " + fault +
         ".\n *\n * Build and run, with this file as session.c and your library as LIBRARY.so:\n"
         " *   cc -std=c99 -I api/include session.c ./LIBRARY.so -o session && ./session\n"
         " * Exit status 1: every call returned the same as in the failed run.\n"
         " * Exit status 0: at least one call returned something else.\n"
         " */\n#define STEPS " +
         std::to_string(session.calls.size()) + "\n" + witness::c_code_names() +
         std::string(kPrelude) + "#define FAULT " +
         witness::c_string("What is wrong: " + fault + ".") + "\n\n" +
         Writer(session, history).main();
}

}  // namespace keydrome::differential
