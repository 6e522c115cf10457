#define _GNU_SOURCE
#include "profiler.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/// Skips one instruction unless the value is equal.
#define UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define STOP BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)
#define CONTINUE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/// The lower half of an argument.
#define ARGUMENT(at) args[at]

int hw_profile_install_filter(void) {
  // The calls that release or move resident memory, those that touch it, and those of mmap that map code.
  struct sock_filter filter[] = {
    LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), CONTINUE,
    LOAD(nr),
    UNLESS(SYS_munmap), STOP,
    UNLESS(SYS_brk), STOP,
    UNLESS(SYS_mremap), STOP,
    UNLESS(SYS_execve), STOP,
    UNLESS(SYS_execveat), STOP,
    UNLESS(SYS_mlock), STOP,
    UNLESS(SYS_mlock2), STOP,
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 10),
    LOAD(ARGUMENT(2)), UNLESS(MADV_DONTNEED), STOP, UNLESS(MADV_FREE), STOP, UNLESS(MADV_REMOVE), STOP,
    UNLESS(HW_POPULATE_WRITE), STOP, CONTINUE,
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 7),
    LOAD(ARGUMENT(3)), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED | MAP_POPULATE | MAP_LOCKED, 0, 1), STOP,
    LOAD(ARGUMENT(2)), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), STOP,
    CONTINUE,
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_recvfrom, 1, 0), CONTINUE,
    LOAD(ARGUMENT(2)), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, HW_LARGE_READ, 0, 1), STOP,
    CONTINUE,
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0) return 0;
  // Without CAP_SYS_ADMIN the kernel requires that programs gain no privileges (seccomp(2)).
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}
