"""Writes seccomp-bench.json: the system calls that the bench container may make.

Docker's default profile lacks pivot_root and, without CAP_SYS_ADMIN's conditional rules, the mount family; it also
answers clone3 with ENOSYS. Keydrome's own profile is therefore written out: everything is allowed except calls that
neither the worker nor the jail needs and that have a history of kernel escapes. The jail puts its own, much tighter
allow-list on the contestant's code; this list guards the worker around it.

Usage: python3 deploy/make_seccomp.py > deploy/seccomp-bench.json
"""

import json
import sys

DENIED = [
    "acct", "add_key", "bpf", "clock_adjtime", "clock_settime", "create_module", "delete_module", "finit_module",
    "get_kernel_syms", "init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl",
    "kcmp", "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "mbind", "migrate_pages", "move_pages",
    "nfsservctl", "open_by_handle_at", "perf_event_open", "personality", "process_vm_readv", "process_vm_writev",
    "ptrace", "query_module", "quotactl", "reboot", "request_key", "settimeofday", "stime", "swapoff", "swapon",
    "sysfs", "_sysctl", "uselib", "userfaultfd", "ustat", "vm86", "vm86old",
]  # fmt: skip


def main() -> None:
    """Print the profile."""
    profile = {
        "defaultAction": "SCMP_ACT_ALLOW",
        "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [{"names": DENIED, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}],
    }
    json.dump(profile, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
