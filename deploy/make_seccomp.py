"""Writes seccomp-bench.json, the system-call filter (seccomp profile) of the bench container.

The bench container runs the worker, which judges the libraries that contestants upload. The jail is the sandbox for
these libraries. The jail needs calls that Docker's default profile refuses: pivot_root, mount and clone3. This profile
therefore allows all calls except those in DENIED. Attackers have used many of the calls in DENIED to break into the
kernel. The worker and the jail work without them. Only the jail's option --counters, which counts cycles and cache
misses, needs perf_event_open. So in this container the option counts nothing. The profile applies to all processes of
the container. In addition, the jail gives contestants' code its own, much shorter list of allowed calls.

Usage: python3 deploy/make_seccomp.py > deploy/seccomp-bench.json
"""

import json
import sys

DENIED = [
    "acct", "add_key", "bpf", "clock_adjtime", "clock_settime", "create_module", "delete_module", "finit_module",
    "get_kernel_syms", "init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl",
    "kcmp", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "migrate_pages", "move_pages",
    "nfsservctl", "open_by_handle_at", "perf_event_open", "personality", "process_vm_readv", "process_vm_writev",
    "ptrace", "query_module", "quotactl", "reboot", "request_key", "settimeofday", "stime", "swapoff", "swapon",
    "sysfs", "_sysctl", "uselib", "userfaultfd", "ustat", "vm86", "vm86old",
]  # fmt: skip


def main() -> None:
    """Print the profile as JSON."""
    profile = {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [{"names": DENIED, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}],
    }
    json.dump(profile, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
