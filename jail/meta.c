/* Implements jail/meta.h: formats the output lines of the jail about isolation, missing mechanisms
 * and the end of the program. */
#include "jail/meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "jail/isolation/hint.h"
#include "jail/support/files.h"

bool meta_write_isolation(int fd, const struct isolation* isolation,
                          const struct options* options) {
  char mechanisms[256];
  char missing[256];
  char lines[1024];
  isolation_list(isolation->mechanisms, mechanisms, sizeof mechanisms);
  isolation_list(isolation_missing(isolation, options->cpus != NULL), missing, sizeof missing);
  int length = snprintf(lines, sizeof lines, "level:%s\ncgroup:%s\nmechanisms:%s\nmissing:%s\n",
                        level_name(isolation_level(isolation->mechanisms)), isolation->backend,
                        mechanisms, missing);
  if (isolation->note[0]) {
    length += snprintf(lines + length, sizeof lines - (size_t)length, "note:%s\n", isolation->note);
  }
  return write_all(fd, lines, (size_t)length);
}

bool meta_write_hints(int fd, const struct isolation* isolation, const struct options* options) {
  uint32_t missing = isolation_missing(isolation, options->cpus != NULL);
  bool written = true;
  for (int i = 0; i < MECHANISM_COUNT; i++) {
    enum mechanism mechanism = (enum mechanism)i;
    const char* hint = hint_for_mechanism(isolation, options, mechanism);
    if (missing & mechanism_bit(mechanism) && hint) {
      written = dprintf(fd, "remedy_%s:%s%s\n", mechanism_name(mechanism), hint,
                        hint_about_level(mechanism)) > 0 &&
                written;
    }
  }
  return written;
}

bool meta_write_outcome(int fd, const struct outcome* outcome) {
  static const char* const statuses[] = {
      [STATUS_EXITED] = "exited",
      [STATUS_SIGNALED] = "signaled",
      [STATUS_TIMED_OUT] = "timed_out",
      [STATUS_CPU_EXCEEDED] = "cpu_exceeded",
      [STATUS_OUT_OF_MEMORY] = "out_of_memory",
      [STATUS_KILLED] = "killed",
  };
  char lines[512];
  FILE* text = fmemopen(lines, sizeof lines, "w");
  if (!text) {
    return false;
  }
  fprintf(text, "status:%s\n", statuses[outcome->status]);
  if (outcome->status == STATUS_EXITED) {
    fprintf(text, "exit_code:%d\n", outcome->exit_code);
  }
  if (outcome->signal) {
    fprintf(text, "signal:%d\n", outcome->signal);
  }
  fprintf(text, "wall_us:%" PRIu64 "\n", outcome->wall_us);
  if (outcome->usage.cpu_us != UINT64_MAX) {
    fprintf(text, "cpu_us:%" PRIu64 "\n", outcome->usage.cpu_us);
  }
  if (outcome->usage.memory_peak_bytes != UINT64_MAX) {
    fprintf(text, "memory_peak_bytes:%" PRIu64 "\n", outcome->usage.memory_peak_bytes);
  }
  fprintf(text, "oom_kills:%" PRIu64 "\nprocesses_left:%" PRIu32 "\n", outcome->oom_kills,
          outcome->processes_left);
  fclose(text);
  return write_all(fd, lines, strlen(lines));
}
