/* Implements processes_find(), which finds the processes of a range of users: reads
 * /proc/PID/status of every process. */
#include "jail/leftovers/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jail/support/die.h"
#include "jail/support/files.h"

/* Reads name, state and user from the text of /proc/PID/status. Returns false if a field is missing
 * or the process is dead. */
static bool parse_status(const char* text, struct process* process) {
  char state = 0;
  const char* at = strstr(text, "\nState:");
  const char* user = strstr(text, "\nUid:");
  if (sscanf(text, "Name: %31[^\n]", process->name) != 1 || !at || !user ||
      sscanf(at, "\nState: %c", &state) != 1) {
    return false;
  }
  process->user = (unsigned int)strtoul(user + strlen("\nUid:"), NULL, 10);
  return state != 'Z' && state != 'X';
}

void processes_find(unsigned int first, unsigned int last,
                    void (*take)(const struct process* process, void* context), void* context) {
  DIR* folder = opendir("/proc");
  if (!folder) {
    die_errno("mount it with `mount -t proc proc /proc`", "cannot list /proc");
  }
  for (struct dirent* entry; (entry = readdir(folder));) {
    char path[sizeof entry->d_name + 8];
    char text[2048];
    struct process process = {.number = (pid_t)strtol(entry->d_name, NULL, 10)};
    snprintf(path, sizeof path, "%s/status", entry->d_name);
    if (!isdigit((unsigned char)entry->d_name[0]) ||
        read_file_at(dirfd(folder), path, text, sizeof text) <= 0 ||
        !parse_status(text, &process)) {
      continue; /* not a process, or a process that has just ended */
    }
    if (process.user >= first && process.user <= last) {
      take(&process, context);
    }
  }
  closedir(folder);
}
