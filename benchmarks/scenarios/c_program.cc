#include "benchmarks/scenarios/c_program.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "benchmarks/kit/judge.h"
#include "benchmarks/scenarios/narration.h"
#include "checker/calls.h"

namespace keydrome::scenarios {
namespace {

// What every program has in common. A call that does not come back must not stop the others, for it
// may wait for one of them: after kPatience they go on without it.
constexpr std::string_view kPrelude = R"(#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "keydrome/index.h"

enum { ATTEMPTS = 100, PATIENCE_US = 5000 };

static char names[ATTEMPTS][3][16]; /* the contract: names live as long as the process */
static int attempt;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved;
static int turn;        /* whose step it is */
static int differences; /* calls that answered otherwise than in the failed run */

static void await_turn(int step) {
  pthread_mutex_lock(&lock);
  while (turn < step) {
    int seen = turn;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PATIENCE_US * 1000L;
    if (until.tv_nsec >= 1000000000L) {
      until.tv_nsec -= 1000000000L;
      until.tv_sec += 1;
    }
    while (turn == seen && pthread_cond_timedwait(&moved, &lock, &until) != ETIMEDOUT) {
    }
    if (turn == seen) {
      turn++; /* it waits, perhaps for one of us */
      pthread_cond_broadcast(&moved);
    }
  }
  pthread_mutex_unlock(&lock);
}

static void end_turn(int step) {
  pthread_mutex_lock(&lock);
  if (turn == step) turn++;
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&lock);
}

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

static int same_key(const Key* a, const Key* b, KeyType type) {
  if (type == SHORT) return a->keyval.shortkey == b->keyval.shortkey;
  if (type == INT) return a->keyval.intkey == b->keyval.intkey;
  return strcmp(a->keyval.charkey, b->keyval.charkey) == 0;
}

static const char* code_name(int code) {
  static const char* const kNames[] = {"SUCCESS",    "DB_DNE",       "DB_EXISTS", "DB_END",
                                       "KEY_NOTFOUND", "TXN_EXISTS", "TXN_DNE",   "ENTRY_EXISTS",
                                       "ENTRY_DNE",  "DEADLOCK",     "FAILURE"};
  return code >= 0 && code <= FAILURE ? kNames[code] : "a code that does not exist";
}

/* Says what a call answered; whether that is what it answered in the failed run is `same`. */
static void tell(const char* call, int code, int wanted, const Record* got, const Record* failed,
                 int same) {
  pthread_mutex_lock(&lock);
  printf("%-44s -> %s", call, code_name(code));
  if (got != NULL && code == SUCCESS) printf(" \"%s\"", got->payload);
  if (!same) {
    differences++;
    printf(", in the failed run %s", code_name(wanted));
    if (failed != NULL && wanted == SUCCESS) printf(" \"%s\"", failed->payload);
  }
  printf("\n");
  pthread_mutex_unlock(&lock);
}

)";

constexpr std::string_view kMain = R"(
int main(void) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&moved, &monotonic);
  for (attempt = 0; attempt < ATTEMPTS; attempt++) {
    pthread_t threads[SESSIONS];
    int i;
    turn = 0;
    differences = 0;
    printf("attempt %d\n", attempt + 1);
    set_up();
    for (i = 0; i < SESSIONS; i++) pthread_create(&threads[i], NULL, sessions[i], NULL);
    for (i = 0; i < SESSIONS; i++) pthread_join(threads[i], NULL);
    read_everything();
    if (differences == 0) {
      printf("Every call answered as in the failed run. %s\n", FAULT);
      return 1;
    }
  }
  printf("In no attempt did every call answer as in the failed run.\n");
  return 0;
}
)";

std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?') {
      text += c;
      continue;
    }
    // Three octal digits: a hexadecimal escape would swallow the digits behind it.
    text += '\\';
    for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + (byte >> shift & 7));
  }
  return text + "\"";
}

// Enough to have neighbours; thousands of inserts would make nobody wiser.
constexpr uint32_t kFillersMax = 20;
constexpr std::size_t kSetupMax = 200;
constexpr std::size_t kCallsMax = 200;  // retries after DEADLOCK can be many

std::string type_name(KeyType type) {
  return type == SHORT ? "SHORT" : type == INT ? "INT" : "VARCHAR";
}

class Writer {
 public:
  Writer(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
         const RunLog& log)
      : scenario_(scenario), variant_(variant), vocabulary_(vocabulary), log_(log) {}

  std::string write(const Accusation& accusation) {
    std::string text = head(accusation);
    text += kPrelude;
    text += "#define FAULT " + quoted("What is wrong: " + accusation.rule + ".") + "\n";
    text += "enum { SESSIONS = " + std::to_string(scenario_.sessions) +
            ", LEFT_MAX = " + std::to_string(left_max()) + " };\n\n";
    text += set_up();
    std::vector<ToldCall> calls = told_calls(log_);
    std::ranges::sort(calls, {}, [](const ToldCall& call) {
      return std::tuple(begin_of(call.event, 0), call.session, call.event.end);
    });
    for (uint32_t session = 0; session < scenario_.sessions; ++session) {
      text += session_function(session, calls);
    }
    text += "static void* (*const sessions[SESSIONS])(void*) = {";
    for (uint32_t session = 0; session < scenario_.sessions; ++session) {
      text += (session > 0 ? ", session" : "session") + std::to_string(session + 1);
    }
    return text + "};\n\n" + read_everything() + std::string(kMain);
  }

 private:
  std::string head(const Accusation& accusation) const {
    std::string text = "/* " + scenario_.id + ", " + scenario_.title + " (" + accusation.name +
                       ").\n *\n * " + scenario_.about +
                       "\n *\n * Build and run, with your library as LIBRARY.so:\n"
                       " *   cc -std=c99 -pthread -I api/include " +
                       scenario_.id + ".c ./LIBRARY.so -o " + scenario_.id + " && ./" +
                       scenario_.id +
                       "\n * Exit status 1: every call answered as in the failed run below. 0: the "
                       "fault did not show.\n *\n * The failed run:\n";
    const std::string narrated = narrate(scenario_, variant_, vocabulary_, log_);
    std::string_view rest = narrated;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += " *   " + std::string(rest.substr(0, end)) + "\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return text + " */\n";
  }

  KeyType type(uint32_t index) const { return index_type(variant_, index); }

  // make(...) of a record with the key of a label.
  std::string labelled(uint32_t index, int64_t label, std::string_view payload) const {
    const bool is_string = type(index) == VARCHAR;
    return make(index, is_string ? 0 : vocabulary_.integer(label),
                is_string ? vocabulary_.string(label) : "", payload);
  }

  std::string make(uint32_t index, int64_t number, std::string_view string,
                   std::string_view payload) const {
    // The smallest int64 has no literal.
    const std::string literal =
        number == INT64_MIN ? std::to_string(number + 1) + "LL - 1" : std::to_string(number) + "LL";
    return "make(" + type_name(type(index)) + ", " + literal + ", " + quoted(string) + ", " +
           quoted(payload) + ")";
  }

  // The record that an event is about, as far as it is known.
  std::string recorded(const Event& event, std::string_view payload) const {
    const std::optional<int64_t> label = vocabulary_.label_of(type(event.index), event.key);
    return label ? labelled(event.index, *label, payload) : make(event.index, 0, "?", payload);
  }

  std::string payload_of(const std::string& label) const {
    const auto literal = scenario_.literal_payloads.find(label);
    return literal == scenario_.literal_payloads.end() ? label : literal->second;
  }

  std::string set_up() const {
    std::string text =
        "static void set_up(void) {\n  IdxState* index;\n  Record record;\n  (void)record;\n";
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      text += created(index);
      for (const SetupRecord& setup : scenario_.setup) {
        if (setup.index != index) continue;
        text += insert(labelled(index, setup.key, payload_of(setup.payload)));
      }
      for (uint32_t i = 0; i < std::min(vocabulary_.fillers(), kFillersMax); ++i) {
        text += insert(labelled(index, vocabulary_.filler_label(i), kFillerPayload));
      }
      text += "  closeIndex(index);\n";
    }
    return text + "}\n\n";
  }

  std::string created(uint32_t index) const {
    const std::string name = "names[attempt][" + std::to_string(index) + "]";
    return "  snprintf(" + name + ", sizeof " + name + ", \"" + index_name(index) +
           "%d\", attempt);\n  create(" + type_name(type(index)) + ", " + name +
           ");\n  openIndex(" + name + ", &index);\n";
  }

  static std::string insert(const std::string& record) {
    return "  record = " + record +
           ";\n  insertRecord(index, NULL, &record.key, record.payload);\n";
  }

  std::string session_function(uint32_t session, const std::vector<ToldCall>& calls) const {
    std::string text = "static void* session" + std::to_string(session + 1) +
                       "(void* unused) {\n  IdxState* index[3] = {NULL, NULL, NULL};\n"
                       "  TxnState* txn = NULL;\n  int step = -1;\n  int code;\n"
                       "  Record record, failed;\n  (void)unused;\n";
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].session == session) text += call(calls[i].event, session, i);
    }
    text +=
        "  (void)failed;\n  (void)record;\n  return NULL;\n"
        "stop: /* the library answered otherwise; what follows would make no sense */\n"
        "  if (txn != NULL) abortTransaction(txn);\n  end_turn(step);\n  return NULL;\n}\n\n";
    return text;
  }

  std::string call(const Event& event, uint32_t session, std::size_t step) const {
    const EventCall kind = call_of(event);
    const std::string number = std::to_string(step);
    const std::string index = "index[" + std::to_string(event.index) + "]";
    const std::string txn = is_auto_commit(event) ? "NULL" : "txn";
    const std::string payload = payload_of(vocabulary_.payload_text(event.payload));
    const bool reads = kind == EventCall::kGet || kind == EventCall::kNext;
    std::string text = "\n  step = " + number + ";\n";
    if (is_data_call(kind)) {
      const bool passes = kind == EventCall::kInsert || kind == EventCall::kDeletePair;
      text += kind == EventCall::kNext
                  ? "  record = make(" + type_name(type(event.index)) + ", 0, \"\", \"\");\n"
                  : "  record = " + recorded(event, passes ? payload : "") + ";\n";
      text += "  failed = " +
              (succeeded(event) && reads ? recorded(event, payload) : std::string("record")) +
              ";\n";
    }
    text += "  await_turn(step);\n  code = " + expression(kind, index, txn, event) + ";\n";
    const std::string wanted = code_text(event.code);
    std::string same = "code == " + wanted;
    if (reads && succeeded(event)) same += " && strcmp(record.payload, failed.payload) == 0";
    if (kind == EventCall::kNext && succeeded(event)) {
      same += " && same_key(&record.key, &failed.key, " + type_name(type(event.index)) + ")";
    }
    std::string described = call_text(scenario_, variant_, vocabulary_, session, event);
    described.resize(described.rfind(" -> "));
    text += "  tell(" + quoted(described) + ", code, " + wanted + ", " +
            (reads ? "&record, &failed, " : "NULL, NULL, ") + same + ");\n";
    if (kind == EventCall::kCommit || kind == EventCall::kAbort) {
      text += "  if (code != DEADLOCK) txn = NULL;\n";
    }
    return text + "  if (code != " + wanted + ") goto stop;\n  end_turn(step);\n";
  }

  static std::string expression(EventCall kind, const std::string& index, const std::string& txn,
                                const Event& event) {
    switch (kind) {
      case EventCall::kOpen:
        return "openIndex(names[attempt][" + std::to_string(event.index) + "], &" + index + ")";
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

  // Reads every index and compares it with what the failed run left behind, in any order.
  std::string read_everything() const {
    std::string text =
        "/* Reads what is there and compares it with what the failed run left, in any order. */\n"
        "static void read_everything(void) {\n  IdxState* index;\n  TxnState* txn;\n"
        "  Record record, left[LEFT_MAX];\n  int lefts, i;\n  printf(\"at the end:\\n\");\n";
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      text += "  lefts = 0;\n";
      for (const Event& event : final_records(log_, index)) {
        const std::string label = vocabulary_.payload_text(event.payload);
        if (label == kFillerPayload || label == kLastPayload) continue;
        text += "  left[lefts++] = ";
        text += recorded(event, payload_of(label));
        text += ";\n";
      }
      text += read_index(index);
    }
    return text + "}\n";
  }

  std::string read_index(uint32_t index) const {
    const std::string type_of_key = type_name(type(index));
    return "  openIndex(names[attempt][" + std::to_string(index) +
           "], &index);\n  if (beginTransaction(&txn) != SUCCESS) return;\n"
           "  record = make(" +
           type_of_key +
           ", 0, \"\", \"\");\n"
           "  while (getNext(index, txn, &record) == SUCCESS) {\n"
           "    if (strcmp(record.payload, \"filler\") == 0) continue;\n"
           "    printf(\"  " +
           index_name(index) +
           " \\\"%s\\\"\\n\", record.payload);\n"
           "    for (i = 0; i < lefts; i++) {\n"
           "      if (same_key(&record.key, &left[i].key, " +
           type_of_key +
           ") && strcmp(record.payload, left[i].payload) == 0) break;\n    }\n"
           "    if (i < lefts) {\n      left[i] = left[--lefts];\n    } else {\n"
           "      differences++;\n    }\n  }\n"
           "  differences += lefts;\n  commitTransaction(txn);\n  closeIndex(index);\n";
  }

  std::size_t left_max() const {
    std::size_t most = 1;
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      most = std::max(most, final_records(log_, index).size());
    }
    return most;
  }

  const Scenario& scenario_;
  const Variant& variant_;
  const Vocabulary& vocabulary_;
  const RunLog& log_;
};

}  // namespace

std::string c_program(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, const RunLog& log,
                      const Accusation& accusation) {
  const bool second_handles = std::ranges::any_of(
      scenario.handles, [](const Handle& handle) { return handle.name.size() > 1; });
  if (second_handles || scenario.setup.size() > kSetupMax) return "";
  if (told_calls(log).size() > kCallsMax) return "";
  return Writer(scenario, variant, vocabulary, log).write(accusation);
}

}  // namespace keydrome::scenarios
