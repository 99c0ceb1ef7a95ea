// Defines the C text that c_program() (c_program.h) copies unchanged into every program that
// repeats the calls of a failed run. c_program_parts.h says what each part is for.
#include "checker/witness/c_program_parts.h"

namespace keydrome::witness {

constexpr std::string_view kPrelude = R"(
/* Each attempt has names of its own, because a library may keep a pointer to the name. */
static char names[ATTEMPTS][INDEXES][NAME_BYTES];
static int attempt;
static FILE* out; /* what this attempt prints */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved;
static int place[CALLS];   /* position of each call in the order of this attempt */
static int is_done[CALLS];
static int turn;           /* calls up to this position may be made now */
static int differences;    /* calls whose result differs from the failed run */
/* 1: in this attempt a call began before another call had returned, but in the failed run it began
 * only after the other call had returned. */
static int is_overtaken;

/* Chooses an order of the calls. Calls that overlapped in the failed run get another order in each
 * attempt. */
static void choose_order(void) {
  static unsigned long long state = 88172645463325252ULL;
  long long at[CALLS];
  int i, j;
  for (i = 0; i < CALLS; i++) {
    long long duration = ends[i] - begins[i];
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    at[i] = begins[i];
    if (attempt % 4 == 1) at[i] += duration;
    if (attempt % 4 >= 2) at[i] += (long long)(state % (unsigned long long)(duration + 1));
  }
  for (i = 0; i < CALLS; i++) {
    is_done[i] = 0;
    place[i] = 0;
    for (j = 0; j < CALLS; j++) {
      if (at[j] < at[i] || (at[j] == at[i] && j < i)) place[i]++;
    }
  }
}

/* Waits until the call may be made. Returns 0 if the attempt is over, because a result differed. */
static int await_turn(int call) {
  int i, keep_running;
  pthread_mutex_lock(&lock);
  while (turn < place[call] && differences == 0) {
    int seen = turn;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TURN_TIMEOUT_US * 1000L;
    if (until.tv_nsec >= 1000000000L) {
      until.tv_nsec -= 1000000000L;
      until.tv_sec += 1;
    }
    while (turn == seen && differences == 0 &&
           pthread_cond_timedwait(&moved, &lock, &until) != ETIMEDOUT) {
    }
    if (turn == seen) {
      turn++; /* the call of this turn has not returned: it may be waiting for a later call */
      pthread_cond_broadcast(&moved);
    }
  }
  for (i = 0; i < CALLS; i++) {
    if (ends[i] < begins[call] && !is_done[i]) is_overtaken = 1;
  }
  keep_running = differences == 0;
  pthread_mutex_unlock(&lock);
  return keep_running;
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
  return code >= 0 && code <= FAILURE ? kCodes[code] : "an undocumented code";
}

static void print_record(const Record* record) {
  if (record->key.type == SHORT) fprintf(out, " %ld:", (long)record->key.keyval.shortkey);
  if (record->key.type == INT) fprintf(out, " %lld:", (long long)record->key.keyval.intkey);
  if (record->key.type == VARCHAR) fprintf(out, " \"%s\":", record->key.keyval.charkey);
  fprintf(out, " \"%s\"", record->payload);
}

static void print_result(int code, const Record* record) {
  fprintf(out, "%s", code_name(code));
  if (record != NULL && code == SUCCESS) print_record(record);
}

/* Prints the result of a call. `same` is 1 if the failed run had the same result. */
static void check(const char* call, int code, int wanted, const Record* got, const Record* failed,
                 int same) {
  pthread_mutex_lock(&lock);
  fprintf(out, "%-44s -> ", call);
  print_result(code, got);
  if (!same) {
    differences++;
    fprintf(out, ", in the failed run ");
    print_result(wanted, failed);
  }
  fprintf(out, "\n");
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
int main(int argc, char** argv) {
  const int prints_all = argc > 1 && strcmp(argv[1], "-v") == 0;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&moved, &monotonic);
  for (attempt = 0; attempt < ATTEMPTS; attempt++) {
    pthread_t threads[SESSIONS];
    char* text = NULL;
    size_t size = 0;
    int i, is_shown;
    turn = 0;
    differences = 0;
    is_overtaken = 0;
    choose_order();
    /* Most attempts print the same, so only the first one and the one that succeeds are shown. */
    out = prints_all || attempt == 0 ? stdout : open_memstream(&text, &size);
    if (out == NULL) return 2;
    fprintf(out, "attempt %d\n", attempt + 1);
    set_up();
    for (i = 0; i < SESSIONS; i++) pthread_create(&threads[i], NULL, sessions[i], NULL);
    for (i = 0; i < SESSIONS; i++) pthread_join(threads[i], NULL);
    if (differences == 0) read_everything();
    is_shown = differences == 0 && !is_overtaken;
    if (out != stdout) {
      fclose(out);
      if (is_shown) printf("%s", text);
      free(text);
    }
    if (is_shown) {
      printf("Every call returned what it returned in the failed run. %s\n", VIOLATION);
      return 1;
    }
  }
  printf("The violation did not occur: none of %d attempts had the results and order of the failed "
         "run. -v prints every attempt.\n", ATTEMPTS);
  if (SESSIONS > 1) {
    printf("If your library is unchanged, the likely reason is a data race: the result depends on how "
           "two calls overlap, which differs from run to run. Run the program again, or compile it "
           "together with your source and -fsanitize=thread.\n");
  }
  return 0;
}
)";

}  // namespace keydrome::witness
