/* Implements keydrome_tighten(): Landlock restricts opening files, mseal seals loaded code, and a
 * second seccomp filter refuses system calls that only loading needs. This file is linked into the
 * jailed program, not into the jail. */
#include "jail/tighten.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "jail/tighten.c: define NATIVE_ARCHITECTURE for this machine (linux/audit.h)"
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Landlock constants that older kernel headers lack. */
static const uint64_t kAccessTruncate = 0x4000;
static const uint64_t kAccessIoctlDevice = 0x8000;
static const uint64_t kNetTcp = 0x3;   /* bind and connect */
static const uint64_t kScopeAll = 0x3; /* abstract Unix sockets and signals to other processes */
static const unsigned int kRestrictAllThreads = 0x8;
enum { kMseal = 462 }; /* since Linux 6.10; the same number on every architecture */

struct ruleset_attributes {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

static int fail(char* reason, size_t capacity, const char* what) {
  if (capacity > 0) {
    snprintf(
        reason, capacity,
        "%s: %s; the library may have installed a seccomp filter that refuses this step, which "
        "a library must not do. Otherwise this machine's kernel or container refuses it, which "
        "`jail --check` shows: in a container, allow the step in its seccomp profile, as "
        "docker-compose.yml does",
        what, strerror(errno));
  }
  return -1;
}

/* Sets only the access rights that this version of Landlock knows, because the kernel rejects
 * unknown bits. Returns the size of the structure in this version. */
static size_t fit(struct ruleset_attributes* attributes, int version) {
  const uint64_t first = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1; /* all access rights of version 1 */
  attributes->handled_access_fs = first;
  attributes->handled_access_net = 0;
  attributes->scoped = 0;
  if (version >= 2) {
    attributes->handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
  }
  if (version >= 3) {
    attributes->handled_access_fs |= kAccessTruncate;
  }
  if (version >= 4) {
    attributes->handled_access_net = kNetTcp;
  }
  if (version >= 5) {
    attributes->handled_access_fs |= kAccessIoctlDevice;
  }
  if (version >= 6) {
    attributes->scoped = kScopeAll;
  }
  return version >= 6 ? sizeof *attributes : version >= 4 ? 16 : 8;
}

/* Allows `access` to `path` and to everything below it. Returns 0 if the rule was added or the path
 * does not exist, otherwise -1. */
static int allow_beneath(int ruleset, const char* path, uint64_t access) {
  struct landlock_path_beneath_attr rule = {.allowed_access = access};
  rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (rule.parent_fd < 0) {
    return errno == ENOENT ? 0 : -1;
  }
  long result = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
  return (int)result;
}

/* Adds Landlock rules that allow the working directory and the devices. Returns 0 or -1. */
static int fill(int ruleset, const char* working_directory, uint64_t handled) {
  static const char* const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom"};
  const uint64_t never = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                         LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                         LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |
                         kAccessIoctlDevice;
  if (allow_beneath(ruleset, working_directory, handled & ~never) < 0) {
    return -1;
  }
  const uint64_t device_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    if (allow_beneath(ruleset, devices[i], device_access) < 0) {
      return -1;
    }
  }
  return 0;
}

/* Restricts which files can be opened: in all threads if the kernel supports this, otherwise in the
 * calling thread. Returns the bits of enum keydrome_tighten_layer in force, 0 if the kernel has no
 * Landlock, or -1 with errno set on failure. */
static int restrict_opening(const char* working_directory) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) {
    return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -1;
  }
  struct ruleset_attributes attributes;
  size_t size = fit(&attributes, (int)version);
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
  if (ruleset < 0) {
    return -1;
  }
  int layers = -1;
  if (fill(ruleset, working_directory, attributes.handled_access_fs) == 0) {
    if (syscall(SYS_landlock_restrict_self, ruleset, kRestrictAllThreads) == 0) {
      layers = KEYDROME_TIGHTEN_LANDLOCK + KEYDROME_TIGHTEN_LANDLOCK_ALL;
    } else if (syscall(SYS_landlock_restrict_self, ruleset, 0) == 0) {
      layers = KEYDROME_TIGHTEN_LANDLOCK;
    }
  }
  int error = errno;
  close(ruleset);
  errno = error;
  return layers;
}

/* Seals all pages that overlap the range. Returns false with errno set on failure. */
static bool seal(uintptr_t begin, uintptr_t end, uintptr_t page) {
  const uintptr_t first = begin - begin % page;
  const uintptr_t last = (end + page - 1) / page * page;
  return syscall((long)kMseal, first, last - first, 0ul) == 0;
}

/* Callback of dl_iterate_phdr: seals code and relocated data of one loaded object. Returns 0, or an
 * errno value, which ends the iteration. */
static int seal_object(struct dl_phdr_info* object, size_t size, void* unused) {
  (void)size;
  (void)unused;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    bool is_code = part->p_type == PT_LOAD && (part->p_flags & PF_X) && !(part->p_flags & PF_W);
    bool is_relocated = part->p_type == PT_GNU_RELRO;
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    uintptr_t end = begin + part->p_memsz;
    if (is_relocated) {
      end -= end % page; /* The last page may also contain writable data, so it stays unsealed. */
    }
    if ((is_code || is_relocated) && end > begin && !seal(begin, end, page)) {
      return errno;
    }
  }
  return 0;
}

/* Seals all loaded objects, including the vDSO. Returns KEYDROME_TIGHTEN_MSEAL, or 0 if an object
 * could not be sealed, for example because the kernel has no mseal. */
static int seal_all(void) {
  return dl_iterate_phdr(seal_object, NULL) == 0 ? KEYDROME_TIGHTEN_MSEAL : 0;
}

/* BPF loads 32 bits at a time. LOAD of a 64-bit argument loads the low half, because both supported
 * architectures are little-endian. */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define REFUSE_CALL(number) IF_EQUAL((number), 0, 1), REFUSE

/* Loads a second filter, which refuses the calls that the jail's own filter allows only for
 * loading. The jail's filter stays in force, because for each call the strictest filter wins.
 * Returns 0, or -1 with errno set. */
static int restrict_calls(void) {
  struct sock_filter code[] = {
      LOAD(arch),
      IF_EQUAL(NATIVE_ARCHITECTURE, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      LOAD(nr),
#if defined(__x86_64__)
      /* Refuse the calls of the x32 table, whose numbers start at 0x40000000. */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      REFUSE,
#endif
      REFUSE_CALL(SYS_execve),
      REFUSE_CALL(SYS_execveat),
      REFUSE_CALL(SYS_seccomp),
      REFUSE_CALL(SYS_pkey_mprotect),
      REFUSE_CALL(SYS_shmat),
      REFUSE_CALL(SYS_remap_file_pages),
      REFUSE_CALL(SYS_personality),
      REFUSE_CALL(SYS_landlock_create_ruleset),
      REFUSE_CALL(SYS_landlock_add_rule),
      REFUSE_CALL(SYS_landlock_restrict_self),
      REFUSE_CALL(kMseal),
      /* Refuse mmap and mprotect with PROT_EXEC. */
      IF_EQUAL(SYS_mmap, 1, 0),
      IF_EQUAL(SYS_mprotect, 0, 3),
      LOAD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 7),
      REFUSE,
      /* Refuse prctl, except for names of threads and of mappings. */
      IF_EQUAL(SYS_prctl, 0, 5),
      LOAD(args[0]),
      IF_EQUAL(PR_SET_NAME, 3, 0),
      IF_EQUAL(PR_GET_NAME, 2, 0),
      IF_EQUAL(PR_SET_VMA, 1, 0),
      REFUSE,
      RETURN(SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  const unsigned int flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (result > 0) {
    /* `result` is the id of a thread that has another filter, so the kernel could not install this
     * filter in all threads. No honest library installs a filter. */
    errno = EBUSY;
    return -1;
  }
  return (int)result;
}

int keydrome_tighten(const char* working_directory, char* reason, size_t capacity) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
    return fail(reason, capacity, "cannot set no_new_privs");
  }
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) {
    return fail(reason, capacity, "cannot make the process non-dumpable (PR_SET_DUMPABLE)");
  }
  int layers = restrict_opening(working_directory);
  if (layers < 0) {
    return fail(reason, capacity, "cannot restrict the opening of files (Landlock)");
  }
  layers += seal_all();
  if (restrict_calls() < 0) {
    if (errno != EBUSY) {
      return fail(reason, capacity, "cannot load the second system call filter (seccomp)");
    }
    if (capacity > 0) {
      snprintf(reason, capacity, "%s", KEYDROME_TIGHTEN_OTHER_FILTER);
    }
    return -1;
  }
  return layers + KEYDROME_TIGHTEN_SECCOMP;
}
