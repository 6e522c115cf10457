#define _GNU_SOURCE
#include "cpus.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Newer than some headers (linux/seccomp.h of 5.19 and 6.6).
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#define HW_SYNC_WAKE_UP 1UL
#define HW_SET_NOTIFICATION_FLAGS SECCOMP_IOW(4, uint64_t)

/// The longest path that is compared.
#define MAX_PATH 512

/// `CPU_SETSIZE` of glibc in bytes; the count is checked where the project file is read.
#define MAX_MASK 128

// MARK: - In the child

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ASK BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
#define CONTINUE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/// The flags of an open(2) that the number of CPUs has no effect on.
#define NOT_ONLY_READ (O_ACCMODE | O_DIRECTORY | O_PATH)
/// Skips `count` instructions if the value is equal.
#define SKIP_IF(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (count), 0)

/// Files that are not only read, and folders, are never asked for.
static int install_filter(unsigned long flags) {
  struct sock_filter filter[] = {
    LOAD(arch), SKIP_IF(ARCHITECTURE, 1), CONTINUE,
    LOAD(nr),
#if defined(SYS_open)
    SKIP_IF(SYS_open, 5),
#endif
    SKIP_IF(SYS_openat, 6), SKIP_IF(SYS_openat2, 8), SKIP_IF(SYS_sched_getaffinity, 7),
    SKIP_IF(SYS_sched_setaffinity, 6), CONTINUE,
    LOAD(args[1]), BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
    LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NOT_ONLY_READ, 0, 1), CONTINUE,
    ASK,
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/// Without CAP_SYS_ADMIN the kernel requires that programs gain no privileges (seccomp(2)).
static int install(void) {
  unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  for (int turn = 0;; turn++) {
    int listener = install_filter(flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    if (listener < 0 && errno == EINVAL) listener = install_filter(flags);
    if (listener >= 0 || errno != EACCES || turn > 0) return listener;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  }
}

/// Room for a message with one descriptor.
struct message {
  char byte;
  struct iovec part;
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct msghdr header;
};

static void prepare(struct message *message) {
  message->part = (struct iovec){.iov_base = &message->byte, .iov_len = 1};
  message->header = (struct msghdr){
    .msg_iov = &message->part, .msg_iovlen = 1, .msg_control = message->control,
    .msg_controllen = sizeof message->control,
  };
}

HW_NO_SANITIZER int hw_cpus_install(int socket) {
  int listener = install();
  if (listener < 0) return -1;
  struct message message = {0};
  prepare(&message);
  struct cmsghdr *part = CMSG_FIRSTHDR(&message.header);
  *part = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
  memcpy(CMSG_DATA(part), &listener, sizeof listener);
  return sendmsg(socket, &message.header, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

// MARK: - In the supervisor

/// The CPUs that the target may really use, as it was started with them.
static unsigned char usable[1024];

int hw_cpus_accept(int sockets[2], pid_t program) {
  struct message message = {0};
  prepare(&message);
  ssize_t length = recvmsg(sockets[0], &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  close(sockets[0]);
  close(sockets[1]);
  if (length <= 0) return -1;
  struct cmsghdr *part = CMSG_FIRSTHDR(&message.header);
  if (part == NULL || part->cmsg_type != SCM_RIGHTS) return -1;
  int listener;
  memcpy(&listener, CMSG_DATA(part), sizeof listener);
  // Wakes the supervisor on the CPU of the caller, which sleeps then.
  ioctl(listener, HW_SET_NOTIFICATION_FLAGS, HW_SYNC_WAKE_UP);
  syscall(SYS_sched_getaffinity, program, sizeof usable, usable);
  return listener;
}

/// Copies memory of the target; returns how many bytes, fewer where a page is missing.
static ssize_t read_target(pid_t thread, uint64_t address, void *to, size_t size) {
  // Not across pages in one part, since a part is copied as a whole or not at all (process_vm_readv(2)).
  size_t first = 4096 - address % 4096;
  if (first > size) first = size;
  struct iovec here = {.iov_base = to, .iov_len = size};
  struct iovec there[2] = {
    {.iov_base = (void *)(uintptr_t)address, .iov_len = first},
    {.iov_base = (void *)(uintptr_t)(address + first), .iov_len = size - first},
  };
  return process_vm_readv(thread, &here, 1, there, 2, 0);
}

static int write_target(pid_t thread, uint64_t address, const void *from, size_t size) {
  struct iovec here = {.iov_base = (void *)(uintptr_t)from, .iov_len = size};
  struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
  return process_vm_writev(thread, &here, 1, &there, 1, 0) == (ssize_t)size;
}

// MARK: - Masks that threads have asked for

/// A thread that has restricted itself to some of the CPUs that it sees.
struct request {
  pid_t thread;
  /// When the thread was started, since its number may be used again, and when it asked; in clock ticks since the boot.
  uint64_t start, time;
  unsigned char mask[MAX_MASK];
};

/// More threads than that see the CPUs that they really may use.
#define MAX_REQUESTS 1024
static struct request requests[MAX_REQUESTS];
static int request_count;

/// Reads the parent of a thread's process, and when the thread was started (proc_pid_stat(5)); 0 if it is gone.
static int read_origin(pid_t thread, pid_t *parent, uint64_t *start) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)thread);
  int file = open(path, O_RDONLY | O_CLOEXEC), number = 0;
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The command's name may have spaces and parentheses.
  const char *rest = strrchr(text, ')');
  const char *const fields =
    ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64;
  if (rest == NULL || sscanf(rest, fields, &number, start) != 2) return 0;
  *parent = number;
  return 1;
}

static uint64_t ticks(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (uint64_t)time.tv_sec * (uint64_t)sysconf(_SC_CLK_TCK) +
    (uint64_t)time.tv_nsec * (uint64_t)sysconf(_SC_CLK_TCK) / 1000000000;
}

static struct request *own_request(pid_t thread, uint64_t start) {
  for (int at = 0; at < request_count; at++) {
    if (requests[at].thread == thread && requests[at].start == start) return &requests[at];
  }
  return NULL;
}

/// The process of a thread, which is the thread itself for the first one.
static pid_t process_of(pid_t thread) {
  char path[48], text[2048];
  snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
  int file = open(path, O_RDONLY | O_CLOEXEC), process = thread;
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[length > 0 ? length : 0] = '\0';
  const char *line = strstr(text, "\nTgid:");
  if (line != NULL) sscanf(line, "\nTgid: %d", &process);
  return process;
}

/// What a thread has asked for, or else who has started it: the first thread of its process, or of the process's parent.
static const struct request *request_of(pid_t thread) {
  uint64_t start, begin = UINT64_MAX;
  pid_t parent;
  for (int steps = 0; request_count > 0 && steps < 64 && thread > 1; steps++) {
    if (!read_origin(thread, &parent, &start)) return NULL;
    const struct request *found = own_request(thread, start);
    // What was asked for later is not inherited.
    if (found != NULL && found->time <= begin) return found;
    if (start < begin) begin = start;
    pid_t process = process_of(thread);
    thread = process != thread ? process : parent;
  }
  return NULL;
}

static void note_request(pid_t thread, const unsigned char mask[MAX_MASK]) {
  uint64_t start;
  pid_t parent;
  if (!read_origin(thread, &parent, &start)) return;
  struct request *request = own_request(thread, start);
  if (request == NULL && request_count == MAX_REQUESTS) return;
  if (request == NULL) request = &requests[request_count++];
  *request = (struct request){.thread = thread, .start = start, .time = ticks()};
  memcpy(request->mask, mask, MAX_MASK);
}

int hw_cpus_are_restricted(pid_t thread) {
  unsigned char own[sizeof usable] = {0};
  return syscall(SYS_sched_getaffinity, thread, sizeof own, own) > 0 && memcmp(own, usable, sizeof own) != 0;
}

// MARK: - Affinity

static void fill_mask(unsigned char mask[MAX_MASK], int count) {
  memset(mask, 0, MAX_MASK);
  for (int cpu = 0; cpu < count; cpu++) mask[cpu / 8] |= (unsigned char)(1 << cpu % 8);
}

/// Whether the call can proceed as it is; else `answer` has what it returns.
static int get_affinity(const struct seccomp_notif *call, int count, struct seccomp_notif_resp *answer) {
  uint64_t length = call->data.args[1];
  pid_t thread = call->data.args[0] == 0 ? (pid_t)call->pid : (pid_t)call->data.args[0];
  const struct request *request = request_of(thread);
  if (request == NULL && hw_cpus_are_restricted(thread)) return 1;
  unsigned char mask[MAX_MASK];
  fill_mask(mask, count);
  if (request != NULL) memcpy(mask, request->mask, sizeof mask);
  // The kernel copies whole words, and refuses less than all CPUs (sched_getaffinity(2)).
  size_t size = (size_t)(count + 63) / 64 * 8;
  if (length * 8 < (uint64_t)count || length % sizeof(long) != 0) answer->error = -EINVAL;
  else if (write_target((pid_t)call->pid, call->data.args[2], mask, size)) answer->val = (int64_t)size;
  else return 1;
  return 0;
}

/// The thread sees what it asked for. A mask with only CPUs that do not exist here has no other effect.
static int set_affinity(const struct seccomp_notif *call, int count) {
  unsigned char mask[MAX_MASK] = {0}, shown[MAX_MASK];
  pid_t thread = call->data.args[0] == 0 ? (pid_t)call->pid : (pid_t)call->data.args[0];
  size_t length = call->data.args[1] < sizeof mask ? call->data.args[1] : sizeof mask;
  if (read_target((pid_t)call->pid, call->data.args[2], mask, length) != (ssize_t)length) return 1;
  fill_mask(shown, count);
  int has_shown = 0, is_usable = 0;
  for (size_t at = 0; at < sizeof mask; at++) {
    is_usable |= (mask[at] & usable[at]) != 0;
    mask[at] &= shown[at];
    has_shown |= mask[at] != 0;
  }
  if (has_shown) note_request(thread, mask);
  return is_usable || !has_shown;
}

/// Which arguments of a call that opens a file have the path, and the flags; openat2(2) has them in memory.
static int position_of_path(const struct seccomp_notif *call) {
#if defined(SYS_open)
  if (call->data.nr == SYS_open) return 0;
#endif
  (void)call;
  return 1;
}

/// The flags of a call that opens a file; -1 if unknown, or if the file is not only read.
static int flags_of(const struct seccomp_notif *call) {
  struct open_how how = {.flags = call->data.args[position_of_path(call) + 1]};
  if (call->data.nr == SYS_openat2) {
    ssize_t length = read_target((pid_t)call->pid, how.flags, &how, sizeof how);
    if (length < (ssize_t)sizeof how) return -1;
  }
  return (how.flags & NOT_ONLY_READ) != 0 ? -1 : (int)how.flags;
}

/// Whether the call can proceed as it is; else it has been answered with a file.
static int open_file(int listener, const struct seccomp_notif *call, int count) {
  char path[MAX_PATH + 1] = {0};
  int flags = flags_of(call);
  uint64_t address = call->data.args[position_of_path(call)];
  if (flags < 0 || read_target((pid_t)call->pid, address, path, MAX_PATH) <= 0) return 1;
  int file = hw_cpus_open(path, (pid_t)call->pid, count);
  if (file < 0) return 1;
  struct seccomp_notif_addfd added = {
    .id = call->id, .srcfd = (uint32_t)file, .newfd_flags = (uint32_t)flags & O_CLOEXEC,
    .flags = SECCOMP_ADDFD_FLAG_SEND,
  };
  int status = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &added);
  close(file);
  // The caller may have been killed, or have reached its limit of descriptors, which the call itself reports.
  return status < 0;
}

int hw_cpus_serve(int listener, int count) {
  struct seccomp_notif call = {0};
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return errno == EINTR || errno == ENOENT;
  struct seccomp_notif_resp answer = {.id = call.id};
  int proceeds = 1;
  switch (call.data.nr) {
    case SYS_sched_getaffinity: proceeds = get_affinity(&call, count, &answer); break;
    case SYS_sched_setaffinity: proceeds = set_affinity(&call, count); break;
    default:
      if (!open_file(listener, &call, count)) return 1;
  }
  if (proceeds) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  return 1;
}
