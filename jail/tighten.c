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
#error "jail/tighten.c: name the audit architecture of this machine"
#endif

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Bits of newer kernels than some headers know. */
static const uint64_t kAccessTruncate = 0x4000;
static const uint64_t kAccessIoctlDevice = 0x8000;
static const uint64_t kNetTcp = 0x3;   /* bind and connect */
static const uint64_t kScopeAll = 0x3; /* abstract unix sockets and signals */
static const unsigned int kRestrictAllThreads = 0x8;
enum { kMseal = 462 }; /* Linux 6.10, on every architecture */

struct ruleset_attributes {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

static int fail(char* reason, size_t capacity, const char* what) {
  if (capacity > 0) {
    snprintf(reason, capacity, "%s: %s", what, strerror(errno));
  }
  return -1;
}

/* Fits a ruleset to what the running kernel knows: unknown bits would make it refuse the whole. */
static size_t fit(struct ruleset_attributes* attributes, int version) {
  const uint64_t first = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1; /* all bits of version 1 */
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

/* Returns 0, or -1 if the path is there and the rule could not be added. */
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

/* Puts the opening rule in force. Returns its layers, 0 where the kernel has no Landlock, -1 on
 * failure. */
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

/* Seals all pages that the range touches. */
static bool seal(uintptr_t begin, uintptr_t end, uintptr_t page) {
  const uintptr_t first = begin - begin % page;
  const uintptr_t last = (end + page - 1) / page * page;
  return syscall((long)kMseal, first, last - first, 0ul) == 0;
}

/* For dl_iterate_phdr: 0 to go on, else the iteration ends with what is returned. */
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
      end -= end % page; /* the last page may be shared with data: there the loader rounds down */
    }
    if ((is_code || is_relocated) && end > begin && !seal(begin, end, page)) {
      return errno;
    }
  }
  return 0;
}

/* Seals what is loaded, the vDSO included. Returns its layer; 0 where the kernel cannot. */
static int seal_all(void) {
  return dl_iterate_phdr(seal_object, NULL) == 0 ? KEYDROME_TIGHTEN_MSEAL : 0;
}

/* Argument words are loaded by halves, on these little-endian machines the low one first. */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define REFUSE RETURN(SECCOMP_RET_ERRNO | EPERM)
#define REFUSE_CALL(number) IF_EQUAL((number), 0, 1), REFUSE

/* Everything that the first stage left open only for loading: closed. The rest is the first stage's
 * decision, since the kernel takes the strictest answer of all filters. */
static int restrict_calls(void) {
  struct sock_filter code[] = {
      LOAD(arch),
      IF_EQUAL(NATIVE_ARCHITECTURE, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      LOAD(nr),
#if defined(__x86_64__)
      /* The x32 calls have numbers of their own. */
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
      /* mmap, mprotect: no executable memory. */
      IF_EQUAL(SYS_mmap, 1, 0),
      IF_EQUAL(SYS_mprotect, 0, 3),
      LOAD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 7),
      REFUSE,
      /* prctl: thread names, names of mappings, and what the kernel answers about itself. */
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
    errno = EBUSY; /* that thread has a filter of its own, which no honest library does */
    return -1;
  }
  return (int)result;
}

int keydrome_tighten(const char* working_directory, char* reason, size_t capacity) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
    return fail(reason, capacity, "no_new_privs");
  }
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) {
    return fail(reason, capacity, "dumpable");
  }
  int layers = restrict_opening(working_directory);
  if (layers < 0) {
    return fail(reason, capacity, "landlock");
  }
  layers += seal_all();
  if (restrict_calls() < 0) {
    return fail(reason, capacity, "second seccomp filter");
  }
  return layers + KEYDROME_TIGHTEN_SECCOMP;
}
