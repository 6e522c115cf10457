#ifdef __linux__
#define _GNU_SOURCE
#include "hw_launch.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct hw_launch_words watched;

/// Whether `watched` may be used: not before it is initialized, and not in a forked child.
static bool is_watching, has_forked;

/// Stores a mark: one plain store, which is allowed in a signal handler and survives any end of the process.
static void mark(uint64_t *word, uint32_t payload) {
  __atomic_store_n(word, (uint64_t)(~payload ^ watched.tag) << 32 | payload, __ATOMIC_RELAXED);
}

static bool can_mark(void) { return __atomic_load_n(&is_watching, __ATOMIC_ACQUIRE); }

// MARK: - Exits

#ifdef __GLIBC__
static void note_exit(int code, void *unused) {
  (void)unused;
  if (can_mark()) mark(watched.exit, ((uint32_t)code & 0xff) | 0x100);
}
#endif

/// quick_exit(3) does not pass the code to its handlers.
static void note_quick_exit(void) {
  if (can_mark()) mark(watched.exit, 0);
}

/// Runs in a forked child: the page and its lock belong to the parent, and the lock is held as long as any process has
/// the descriptor or the mapping.
static void release_in_child(void) {
  if (hw_launch_has_forked()) return;
  bool has_page = can_mark();
  __atomic_store_n(&is_watching, false, __ATOMIC_RELEASE);
  __atomic_store_n(&has_forked, true, __ATOMIC_RELEASE);
  if (!has_page) return;
  mark(watched.fork, (uint32_t)getpid());
  munmap(watched.page, watched.size);
  close(watched.file);
}

int hw_launch_begin(void) { return pthread_atfork(NULL, NULL, release_in_child); }

int hw_launch_watch(struct hw_launch_words words) {
  watched = words;
  __atomic_store_n(&is_watching, true, __ATOMIC_RELEASE);
#ifdef __GLIBC__
  bool is_registered = on_exit(note_exit, NULL) == 0;
#else
  // Other C libraries do not pass the code to their handlers.
  bool is_registered = atexit(note_quick_exit) == 0;
#endif
  return is_registered && at_quick_exit(note_quick_exit) == 0 ? 0 : ENOMEM;
}

int hw_launch_has_forked(void) { return __atomic_load_n(&has_forked, __ATOMIC_ACQUIRE); }

/// When the latest request arrived, in nanoseconds since boot.
static uint64_t request_time;

void hw_launch_is_alive(uint64_t stopping_since) {
  if (!can_mark()) return;
  __atomic_store_n(watched.fork, 0, __ATOMIC_RELAXED);
  uint64_t time = __atomic_load_n(&request_time, __ATOMIC_RELAXED);
  if (time != 0 && time < stopping_since) __atomic_store_n(watched.request, 0, __ATOMIC_RELAXED);
}

// MARK: - Signals

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGSYS, SIGABRT};
static const int request_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
/// The other signals that terminate a process without a handler (signal(7)).
static const int fatal_signals[] = {SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,   SIGXCPU, SIGXFSZ,
                                    SIGPROF, SIGPOLL, SIGPWR,  SIGSTKFLT, SIGVTALRM};

/// The handlers that were installed before.
static struct sigaction earlier[NSIG];

/// Does what would have happened without our handler.
///
/// @return Whether the process continues: an earlier handler returned, and did not restore the default action.
static bool call_earlier_handler(int signal, siginfo_t *info, void *context) {
  struct sigaction *before = &earlier[signal];
  if (before->sa_handler == SIG_DFL) {
    // A fault occurs again when this handler returns; other signals are raised again (raise(3)).
    sigaction(signal, before, NULL);
    raise(signal);
    return false;
  }
  if (before->sa_flags & SA_SIGINFO) {
    before->sa_sigaction(signal, info, context);
  } else {
    before->sa_handler(signal);
  }
  struct sigaction now;
  return sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_DFL;
}

static void on_crash(int signal, siginfo_t *info, void *context) {
  int code = errno;
  if (can_mark()) mark(watched.crash, (uint32_t)signal);
  bool continues = call_earlier_handler(signal, info, context);
  // The earlier handler has recovered from the fault; abort(3) terminates the process in any case.
  if (continues && signal != SIGABRT && can_mark()) __atomic_store_n(watched.crash, 0, __ATOMIC_RELAXED);
  errno = code;
}

/// The payload of a request, as LaunchRecord.Request reads it.
static uint32_t request(int signal, const siginfo_t *info) {
  bool is_from_process = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
  uint32_t sender = is_from_process ? 1 | (uint32_t)info->si_pid << 2 : info->si_code == SI_KERNEL ? 2 : 0;
  return (uint32_t)signal | sender << 8;
}

static void on_request(int signal, siginfo_t *info, void *context) {
  int code = errno;
  struct timespec now = {0};
  clock_gettime(CLOCK_BOOTTIME, &now);
  __atomic_store_n(&request_time, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, __ATOMIC_RELAXED);
  if (can_mark()) mark(watched.request, request(signal, info));
  // The program's own handler has returned: the signal alone does not end it.
  if (call_earlier_handler(signal, info, context) && can_mark()) mark(watched.request, request(signal, info) | 0x80);
  errno = code;
}

static void install(int signal, void (*handler)(int, siginfo_t *, void *), bool is_only_default) {
  struct sigaction before;
  if (sigaction(signal, NULL, &before) != 0 || before.sa_handler == SIG_IGN) return;
  bool is_ours = before.sa_sigaction == on_crash || before.sa_sigaction == on_request;
  if (is_ours || (is_only_default && before.sa_handler != SIG_DFL)) return;
  earlier[signal] = before;
  struct sigaction action = {.sa_sigaction = handler, .sa_mask = before.sa_mask};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & (SA_RESTART | SA_NODEFER));
  sigaction(signal, &action, NULL);
}

// MARK: - Alternate stacks

enum { STACK = 65536 };
static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

/// Runs at the end of a thread.
static void free_stack(void *stack) {
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  munmap(stack, STACK);
}

static void make_stack_key(void) { pthread_key_create(&stack_key, free_stack); }

void hw_launch_provide_stack(void) {
  stack_t now;
  if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
  // Its pages use no memory until they are touched.
  void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return;
  pthread_once(&stack_once, make_stack_key);
  pthread_setspecific(stack_key, stack);
  stack_t ours = {.ss_sp = stack, .ss_size = STACK};
  sigaltstack(&ours, NULL);
}

void hw_launch_install_handlers(void) {
  hw_launch_provide_stack();
  for (size_t at = 0; at < sizeof crash_signals / sizeof *crash_signals; at++) {
    install(crash_signals[at], on_crash, false);
  }
  for (size_t at = 0; at < sizeof fatal_signals / sizeof *fatal_signals; at++) {
    install(fatal_signals[at], on_crash, true);
  }
  for (size_t at = 0; at < sizeof request_signals / sizeof *request_signals; at++) {
    install(request_signals[at], on_request, request_signals[at] != SIGTERM);
  }
}

// MARK: - The build id

struct build_id {
  char *digits;
  size_t size;
  size_t length;
};

static void write_digits(struct build_id *id, const uint8_t *bytes, size_t count) {
  for (size_t at = 0; at < count; at++) {
    id->digits[2 * at] = "0123456789abcdef"[bytes[at] >> 4];
    id->digits[2 * at + 1] = "0123456789abcdef"[bytes[at] & 15];
  }
  id->length = 2 * count;
}

/// Searches the notes of the first object, which is the program (dl_iterate_phdr(3), elf(5)).
static int find_build_id(struct dl_phdr_info *object, size_t size, void *found) {
  (void)size;
  struct build_id *id = found;
  for (int at = 0; at < object->dlpi_phnum; at++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[at];
    if (header->p_type != PT_NOTE) continue;
    const char *place = (const char *)object->dlpi_addr + header->p_vaddr;
    const char *end = place + header->p_memsz;
    while (place + sizeof(ElfW(Nhdr)) <= end) {
      const ElfW(Nhdr) *note = (const void *)place;
      const char *name = place + sizeof *note;
      const char *content = name + ((note->n_namesz + 3) & ~3u);
      place = content + ((note->n_descsz + 3) & ~3u);
      if (place > end) break;
      bool is_id = note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0;
      if (is_id && 2 * (size_t)note->n_descsz < id->size) write_digits(id, (const uint8_t *)content, note->n_descsz);
    }
  }
  return 1;
}

size_t hw_build_id(char *digits, size_t size) {
  struct build_id id = {.digits = digits, .size = size, .length = 0};
  dl_iterate_phdr(find_build_id, &id);
  return id.length;
}

#endif
