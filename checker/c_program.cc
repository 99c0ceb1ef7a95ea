#include "checker/c_program.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "checker/c_literal.h"
#include "checker/calls.h"

namespace keydrome {
namespace {

// What every program has in common, behind the tables of its calls.
constexpr std::string_view kPrelude = R"(
static char names[ATTEMPTS][INDEXES][NAME_BYTES]; /* the contract: names live as long as the process */
static int attempt;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved;
static int place[CALLS];   /* of each call in this attempt's order */
static int is_done[CALLS];
static int turn;           /* the place whose call may be made */
static int differences;    /* calls that answered otherwise than in the failed run */
static int is_overtaken;   /* a call was made before one had returned that was over by then */

/* Where calls overlapped in the failed run, attempts differ in which goes first. */
static void draw_order(void) {
  static unsigned long long dice = 88172645463325252ULL;
  long long at[CALLS];
  int i, j;
  for (i = 0; i < CALLS; i++) {
    long long duration = ends[i] - begins[i];
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    at[i] = begins[i];
    if (attempt % 4 == 1) at[i] += duration;
    if (attempt % 4 >= 2) at[i] += (long long)(dice % (unsigned long long)(duration + 1));
  }
  for (i = 0; i < CALLS; i++) {
    is_done[i] = 0;
    place[i] = 0;
    for (j = 0; j < CALLS; j++) {
      if (at[j] < at[i] || (at[j] == at[i] && j < i)) place[i]++;
    }
  }
}

/* 0 when the attempt is over because a call has answered otherwise. */
static int await_turn(int call) {
  int i, go_on;
  pthread_mutex_lock(&lock);
  while (turn < place[call] && differences == 0) {
    int seen = turn;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PATIENCE_US * 1000L;
    if (until.tv_nsec >= 1000000000L) {
      until.tv_nsec -= 1000000000L;
      until.tv_sec += 1;
    }
    while (turn == seen && differences == 0 &&
           pthread_cond_timedwait(&moved, &lock, &until) != ETIMEDOUT) {
    }
    if (turn == seen) {
      turn++; /* it waits, perhaps for one of us */
      pthread_cond_broadcast(&moved);
    }
  }
  for (i = 0; i < CALLS; i++) {
    if (ends[i] < begins[call] && !is_done[i]) is_overtaken = 1;
  }
  go_on = differences == 0;
  pthread_mutex_unlock(&lock);
  return go_on;
}

static void end_turn(int call) {
  pthread_mutex_lock(&lock);
  is_done[call] = 1;
  if (turn == place[call]) turn++;
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

static const char* code_name(int code) {
  static const char* const kNames[] = {"SUCCESS",    "DB_DNE",       "DB_EXISTS", "DB_END",
                                       "KEY_NOTFOUND", "TXN_EXISTS", "TXN_DNE",   "ENTRY_EXISTS",
                                       "ENTRY_DNE",  "DEADLOCK",     "FAILURE"};
  return code >= 0 && code <= FAILURE ? kNames[code] : "a code that does not exist";
}

static void tell_answer(int code, const Record* record) {
  printf("%s", code_name(code));
  if (record == NULL || code != SUCCESS) return;
  if (record->key.type == SHORT) printf(" %ld:", (long)record->key.keyval.shortkey);
  if (record->key.type == INT) printf(" %lld:", (long long)record->key.keyval.intkey);
  printf(" \"%s\"", record->payload);
}

/* Says what a call answered; whether that is what it answered in the failed run is `same`. */
static void tell(const char* call, int code, int wanted, const Record* got, const Record* failed,
                 int same) {
  pthread_mutex_lock(&lock);
  printf("%-44s -> ", call);
  tell_answer(code, got);
  if (!same) {
    differences++;
    printf(", in the failed run ");
    tell_answer(wanted, failed);
  }
  printf("\n");
  pthread_mutex_unlock(&lock);
}

)";

constexpr std::string_view kSameKey =
    R"(static int same_key(const Key* a, const Key* b, KeyType type) {
  if (type == SHORT) return a->keyval.shortkey == b->keyval.shortkey;
  if (type == INT) return a->keyval.intkey == b->keyval.intkey;
  return strcmp(a->keyval.charkey, b->keyval.charkey) == 0;
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
    is_overtaken = 0;
    draw_order();
    printf("attempt %d\n", attempt + 1);
    set_up();
    for (i = 0; i < SESSIONS; i++) pthread_create(&threads[i], NULL, sessions[i], NULL);
    for (i = 0; i < SESSIONS; i++) pthread_join(threads[i], NULL);
    if (differences == 0) read_everything();
    if (differences == 0 && !is_overtaken) {
      printf("Every call answered as in the failed run. %s\n", FAULT);
      return 1;
    }
  }
  printf("In no attempt did every call answer as in the failed run.\n");
  return 0;
}
)";

constexpr std::size_t kLineBytes = 96;

// In a comment, nothing may end it.
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

std::string type_name(KeyType type) {
  return type == SHORT ? "SHORT" : type == INT ? "INT" : "VARCHAR";
}

std::string code_text(uint8_t code) {
  constexpr std::array<const char*, 11> kNames = {
      "SUCCESS", "DB_DNE",       "DB_EXISTS", "DB_END",   "KEY_NOTFOUND", "TXN_EXISTS",
      "TXN_DNE", "ENTRY_EXISTS", "ENTRY_DNE", "DEADLOCK", "FAILURE"};
  return code < kNames.size() ? kNames.at(code) : std::to_string(code);
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const Play& play) : play_(play), calls_(play.calls) {
    std::ranges::sort(calls_, {}, [](const PlayedCall& call) {
      return std::tuple(call.begin_ticks, call.session, call.end_ticks);
    });
  }

  std::string write() {
    std::string text = head() + tables();
    text += kPrelude;
    if (play_.after || std::ranges::any_of(calls_, shows_key)) text += kSameKey;
    text += set_up();
    for (uint32_t session = 0; session < play_.sessions; ++session) {
      text += session_function(session);
    }
    text += "static void* (*const sessions[SESSIONS])(void*) = {";
    for (uint32_t session = 0; session < play_.sessions; ++session) {
      text += (session > 0 ? ", session" : "session") + std::to_string(session + 1);
    }
    return text + "};\n\n" + read_everything() + std::string(kMain);
  }

 private:
  std::string head() const {
    std::string text = "/*";
    std::string_view rest = play_.about;
    while (!rest.empty()) {
      const std::size_t line_end = std::min(rest.find('\n'), rest.size());
      std::size_t end = line_end;
      // Long lines are broken at a space; what is indented, a call or a command, stays whole.
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
           "#include <stdio.h>\n#include <string.h>\n#include <time.h>\n\n"
           "#include \"keydrome/index.h\"\n\n";
  }

  std::string tables() const {
    std::size_t name_bytes = 0;
    for (const HistoryIndex& index : play_.indexes) {
      name_bytes = std::max(name_bytes, index.name.size());
    }
    std::string text = "#define FAULT " + c_string(play_.fault) + "\nenum { ATTEMPTS = 100, ";
    text += "PATIENCE_US = 5000, SESSIONS = " + std::to_string(play_.sessions) +
            ", CALLS = " + std::to_string(calls_.size()) +
            ", INDEXES = " + std::to_string(play_.indexes.size()) +
            ", NAME_BYTES = " + std::to_string(name_bytes + 16) +
            ", LEFT_MAX = " + std::to_string(play_.after ? play_.after->size() + 1 : 1) + " };\n\n";
    text +=
        "/* When each call was made and returned in the failed run, in ticks of its clock. */\n";
    text += table("begins", &PlayedCall::begin_ticks) + table("ends", &PlayedCall::end_ticks);
    return text;
  }

  std::string table(const std::string& name, uint64_t PlayedCall::* member) const {
    std::string text = "static const long long " + name + "[CALLS] = {";
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      text += (i == 0 ? "" : i % 10 == 0 ? ",\n    " : ", ") + std::to_string(calls_[i].*member);
    }
    return text + "};\n";
  }

  // The key that comes back is compared.
  static bool shows_key(const PlayedCall& call) {
    return call.call == EventCall::kNext && call.code == SUCCESS;
  }

  KeyType type(uint32_t index) const { return play_.indexes[index].type; }

  std::string make(const PlayedRecord& record) const {
    // The smallest int64 has no literal.
    return "make(" + type_name(type(record.index)) + ", " + c_integer(record.number) + ", " +
           c_string(record.text) + ", " + c_string(record.payload) + ")";
  }

  std::string name_of(std::size_t index) const {
    return "names[attempt][" + std::to_string(index) + "]";
  }

  std::string set_up() const {
    std::string text =
        "static void set_up(void) {\n  IdxState* index;\n  Record record;\n  (void)record;\n";
    for (std::size_t index = 0; index < play_.indexes.size(); ++index) {
      text += "  snprintf(" + name_of(index) + ", NAME_BYTES, \"%s%d\", " +
              c_string(play_.indexes[index].name) + ", attempt);\n  create(" +
              type_name(play_.indexes[index].type) + ", " + name_of(index) + ");\n  openIndex(" +
              name_of(index) + ", &index);\n";
      for (const PlayedRecord& record : play_.before) {
        if (record.index != index) continue;
        text += "  record = " + make(record) +
                ";\n  insertRecord(index, NULL, &record.key, record.payload);\n";
      }
      text += "  closeIndex(index);\n";
    }
    return text + "}\n\n";
  }

  std::string session_function(uint32_t session) const {
    std::string text = "static void* session" + std::to_string(session + 1) +
                       "(void* unused) {\n  IdxState* index[INDEXES] = {NULL};\n"
                       "  TxnState* txn = NULL;\n  int call = -1;\n  int code;\n"
                       "  Record record, failed;\n  (void)unused;\n";
    for (std::size_t index = 0; index < play_.indexes.size(); ++index) {
      if (opens_itself(session, index)) continue;
      text += "  openIndex(" + name_of(index) + ", &index[" + std::to_string(index) + "]);\n";
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].session == session) text += call(calls_[i], i);
    }
    text += "  (void)failed;\n  (void)record;\n" + close_handles(session) +
            "  return NULL;\n"
            "stop: /* a call answered otherwise; what follows would make no sense */\n"
            "  if (txn != NULL) abortTransaction(txn);\n  end_turn(call);\n" +
            close_handles(session) + "  return NULL;\n}\n\n";
    return text;
  }

  // Whether the session's calls say when it opens an index; otherwise it does so at once.
  bool opens_itself(uint32_t session, std::size_t index) const {
    return std::ranges::any_of(calls_, [&](const PlayedCall& call) {
      return call.session == session && call.call == EventCall::kOpen && call.index == index;
    });
  }

  std::string close_handles(uint32_t session) const {
    std::string text;
    for (std::size_t index = 0; index < play_.indexes.size(); ++index) {
      if (!opens_itself(session, index)) {
        text += "  closeIndex(index[" + std::to_string(index) + "]);\n";
      }
    }
    return text;
  }

  std::string call(const PlayedCall& call, std::size_t number) const {
    const bool found = call.code == SUCCESS;
    const bool reads = call.call == EventCall::kGet || call.call == EventCall::kNext;
    std::string text = "\n  call = " + std::to_string(number) + ";\n";
    if (is_data_call(call.call)) {
      PlayedRecord nothing;
      nothing.index = call.index;
      text += "  record = " + make(call.call == EventCall::kNext ? nothing : call.passed) + ";\n";
      text += "  failed = " + (found && reads ? make(call.answered) : "record") + ";\n";
    }
    text += "  if (!await_turn(call)) goto stop;\n  code = " + expression(call) + ";\n";
    const std::string wanted = code_text(call.code);
    std::string same = "code == " + wanted;
    if (reads && found) same += " && strcmp(record.payload, failed.payload) == 0";
    if (shows_key(call)) {
      same += " && same_key(&record.key, &failed.key, " + type_name(type(call.index)) + ")";
    }
    text += "  tell(" + c_string(call.text) + ", code, " + wanted + ", " +
            (reads ? "&record, &failed, " : "NULL, NULL, ") + same + ");\n";
    if (call.call == EventCall::kCommit || call.call == EventCall::kAbort) {
      text += "  if (code != DEADLOCK) txn = NULL;\n";
    }
    return text + "  if (code != " + wanted + ") goto stop;\n  end_turn(call);\n";
  }

  std::string expression(const PlayedCall& call) const {
    const std::string index = "index[" + std::to_string(call.index) + "]";
    const std::string txn = call.auto_commit ? "NULL" : "txn";
    switch (call.call) {
      case EventCall::kOpen:
        return "openIndex(" + name_of(call.index) + ", &" + index + ")";
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
    if (!play_.after) return "static void read_everything(void) {}\n";
    std::string text =
        "/* Reads what is there and compares it with what the failed run left, in any order. */\n"
        "static void read_everything(void) {\n  IdxState* index;\n  TxnState* txn;\n"
        "  Record record, left[LEFT_MAX];\n  int lefts, i;\n  printf(\"at the end:\\n\");\n";
    for (std::size_t index = 0; index < play_.indexes.size(); ++index) {
      text += "  lefts = 0;\n";
      for (const PlayedRecord& record : *play_.after) {
        if (record.index == index) text += "  left[lefts++] = " + make(record) + ";\n";
      }
      text += read_index(index);
    }
    return text + "}\n";
  }

  std::string read_index(std::size_t index) const {
    const std::string type_of_key = type_name(play_.indexes[index].type);
    return "  openIndex(" + name_of(index) +
           ", &index);\n  if (beginTransaction(&txn) != SUCCESS) return;\n"
           "  record = make(" +
           type_of_key +
           ", 0, \"\", \"\");\n"
           "  while (getNext(index, txn, &record) == SUCCESS) {\n"
           "    if (strcmp(record.payload, " +
           c_string(play_.ignored) +
           ") == 0) continue;\n"
           "    printf(\"  %s \\\"%s\\\"\\n\", " +
           c_string(play_.indexes[index].name) +
           ", record.payload);\n"
           "    for (i = 0; i < lefts; i++) {\n"
           "      if (same_key(&record.key, &left[i].key, " +
           type_of_key +
           ") && strcmp(record.payload, left[i].payload) == 0) break;\n    }\n"
           "    if (i < lefts) {\n      left[i] = left[--lefts];\n    } else {\n"
           "      differences++;\n    }\n  }\n"
           "  differences += lefts;\n  commitTransaction(txn);\n  closeIndex(index);\n";
  }

  const Play& play_;
  std::vector<PlayedCall> calls_;
};

}  // namespace

std::string c_program(const Play& play) { return ProgramWriter(play).write(); }

}  // namespace keydrome
