/// Reports samples to the supervisor: by the ring, and where that is not possible by a stop.

#define _GNU_SOURCE
#include "sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct hw_ring *ring;

/// Without a ring: the interval that the supervisor has set at the last stop.
static _Atomic double stopping_interval;

/// The number of this address space, in a page that a forked child finds empty (MADV_WIPEONFORK, Linux 4.14).
static _Atomic uint32_t *space;

double hw_interval(void) {
  return ring == NULL ? atomic_load_explicit(&stopping_interval, memory_order_relaxed)
                      : atomic_load_explicit(&ring->interval, memory_order_relaxed);
}

void hw_set_interval(double interval) { stopping_interval = interval; }

int hw_open_ring(const char *path) {
  struct stat status;
  int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return 0;
  int fits = fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof *ring;
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Its pages exist already; otherwise each would cost a page fault.
  void *mapped = fits ? mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0) : MAP_FAILED;
  close(file);
  if (page == MAP_FAILED || mapped == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0) return 0;
  space = page;
  ring = mapped;
  return 1;
}

// MARK: - Stopping

/// Passes a new block, a released one, or a new address space to the supervisor, which may answer with an interval.
static __attribute__((noinline)) void stop(const void *block, size_t size, const void *released, uint64_t new_space) {
  uint64_t answer = HW_STOP_MARK;
#if defined(__x86_64__)
  __asm__ volatile("int3" : "+a"(answer) : "D"(block), "S"(size), "d"(released), "c"(new_space) : "memory");
#elif defined(__aarch64__)
  register uint64_t mark __asm__("x0") = HW_STOP_MARK;
  register const void *address __asm__("x1") = block;
  register size_t bytes __asm__("x2") = size;
  register const void *other __asm__("x3") = released;
  register uint64_t number __asm__("x4") = new_space;
  __asm__ volatile("brk #0" : "+r"(mark) : "r"(address), "r"(bytes), "r"(other), "r"(number) : "memory");
  answer = mark;
#endif
  if (answer != HW_STOP_MARK && answer > 0) stopping_interval = (double)answer;
}

/// The number of this address space. Its first writer announces it, so that the supervisor knows whose records these are.
static uint32_t own_space(void) {
  uint32_t known = atomic_load_explicit(space, memory_order_relaxed);
  if (known != 0) return known;
  uint32_t new_space = atomic_fetch_add(&ring->spaces, 1) + 1;
  stop(NULL, 0, NULL, new_space);
  // Another thread may have announced the same space under another number, which is as good.
  atomic_store(space, new_space);
  return new_space;
}

void hw_announce(void) { stop(NULL, 0, NULL, 0); }

// MARK: - The stack

/// Where the stack of this thread is known to end: the one of the program below what the kernel has put there, that of a
/// thread at its control block.
struct stack {
  uintptr_t from;
  size_t size;
  /// Whether all of it exists: a signal handler, or a coroutine, may have a stack anywhere.
  int is_certain;
};

/// Farther away the stack is another one: the gap between the stack and mappings is 128 MiB at least (mm/util.c).
#define MAX_DISTANCE (UINT64_C(64) << 20)

static uintptr_t thread_pointer(void) {
  uintptr_t pointer;
#if defined(__x86_64__)
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
  __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
  return pointer;
}

static struct stack stack_from(uintptr_t from) {
  uintptr_t program_end = getauxval(AT_RANDOM), thread_end = thread_pointer();
  struct stack stack = {.from = from, .size = HW_RING_STACK};
  uintptr_t end = 0;
  if (program_end > from && program_end - from < MAX_DISTANCE) {
    end = program_end;
    stack.is_certain = 1;
  } else if (thread_end > from && thread_end - from < MAX_DISTANCE) {
    end = thread_end;
  }
  if (end != 0 && end - from < stack.size) stack.size = end - from;
  return stack;
}

/// Stores the registers that a function preserves, the stack pointer and the program counter.
#if defined(__x86_64__)
#define STACK_POINTER 6
#define SAVE_REGISTERS(to)                                                                                        \
  __asm__ volatile("movq %%rbx, (%0)\n movq %%rbp, 8(%0)\n movq %%r12, 16(%0)\n movq %%r13, 24(%0)\n"              \
                   "movq %%r14, 32(%0)\n movq %%r15, 40(%0)\n movq %%rsp, 48(%0)\n leaq 0f(%%rip), %%rax\n"        \
                   "0: movq %%rax, 56(%0)"                                                                         \
                   : : "r"(to) : "rax", "memory")
#elif defined(__aarch64__)
#define STACK_POINTER 12
#define SAVE_REGISTERS(to)                                                                                        \
  __asm__ volatile("stp x19, x20, [%0]\n stp x21, x22, [%0, #16]\n stp x23, x24, [%0, #32]\n"                      \
                   "stp x25, x26, [%0, #48]\n stp x27, x28, [%0, #64]\n stp x29, x30, [%0, #80]\n"                 \
                   "mov x9, sp\n adr x10, 0f\n 0: stp x9, x10, [%0, #96]"                                          \
                   : : "r"(to) : "x9", "x10", "memory")
#endif

// MARK: - Writing records

/// Reserves a record of this address space with so many bytes of data; NULL if the ring is full, or no longer read.
static struct hw_ring_record *reserve(uint32_t size, uint32_t own, uint32_t *number) {
  uint64_t head = atomic_load(&ring->head), next;
  do {
    uint64_t tail = atomic_load(&ring->tail);
    uint32_t records = hw_ring_number(head) - hw_ring_number(tail);
    uint32_t used = hw_ring_position(head) - hw_ring_position(tail);
    if (records >= HW_RING_RECORDS || used + size > HW_RING_DATA || ring->is_closed) return NULL;
    // A forked process has a page fault here, so that none follows between reserving a record and saying whose it is.
    atomic_fetch_or(&ring->records[hw_ring_number(head) % HW_RING_RECORDS].state, 0);
    next = (uint64_t)(hw_ring_number(head) + 1) << 32 | (uint32_t)(hw_ring_position(head) + size);
  } while (!atomic_compare_exchange_weak(&ring->head, &head, next));
  *number = hw_ring_number(head);
  struct hw_ring_record *record = &ring->records[*number % HW_RING_RECORDS];
  atomic_store(&record->space, own);
  record->data = hw_ring_position(head);
  record->data_size = size;
  return record;
}

/// Without memcpy(3), which tools replace that check addresses.
static void copy(uint8_t *to, const void *from, size_t size) {
#if defined(__x86_64__)
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
  for (size_t at = 0; at < size; at++) {
    to[at] = ((const volatile uint8_t *)from)[at];
  }
#endif
}

/// The two parts of some bytes of the ring, the second of which begins at its start.
static void locate(uint32_t position, size_t size, struct iovec parts[2]) {
  uint32_t at = position % HW_RING_DATA;
  size_t first = HW_RING_DATA - at < size ? HW_RING_DATA - at : size;
  parts[0] = (struct iovec){ring->data + at, first};
  parts[1] = (struct iovec){ring->data, size - first};
}

static void write_data(uint32_t position, const void *from, size_t size) {
  struct iovec parts[2];
  locate(position, size, parts);
  copy(parts[0].iov_base, from, parts[0].iov_len);
  copy(parts[1].iov_base, (const uint8_t *)from + parts[0].iov_len, parts[1].iov_len);
}

/// Copies a stack; how much of it exists, and 0 if the system does not allow to read it.
static size_t write_stack(uint32_t position, struct stack stack) {
  if (stack.is_certain) {
    write_data(position, (const void *)stack.from, stack.size);
    return stack.size;
  }
  struct iovec parts[2], remote = {(void *)stack.from, stack.size};
  locate(position, stack.size, parts);
  int code = errno;
  ssize_t length = process_vm_readv(getpid(), parts, 2, &remote, 1, 0);
  errno = code;
  return length > 0 ? (size_t)length : 0;
}

/// Completes a record; 0 if the supervisor has passed it over, since it was not complete for so long.
static int publish(struct hw_ring_record *record, uint32_t number, uint32_t former) {
  return atomic_compare_exchange_strong(&record->state, &former, number + 1);
}

/// The size of the data, a multiple of 16.
static uint32_t data_size(uint32_t frames, size_t stack) {
  size_t size = HW_RING_REGISTERS * sizeof(uint64_t) + frames * sizeof(struct hw_ring_frame) + stack;
  return (uint32_t)(size + 15) & ~15u;
}

/// Visits the frames of Python of this thread, and writes them to a position unless it is only to count them.
static uint32_t visit_frames(const uint32_t *position) {
  uint32_t count = 0;
  // The interpreter's own frames lie in between.
  uint64_t frame = hw_python_frame();
  for (uint32_t steps = 0; frame != 0 && count < HW_RING_FRAMES && steps < 2 * HW_RING_FRAMES; steps++) {
    struct hw_ring_frame found;
    frame = hw_read_python_frame(frame, &found);
    if (found.code == 0) continue;
    if (position != NULL) write_data(*position + count * (uint32_t)sizeof found, &found, sizeof found);
    count++;
  }
  return count;
}

/// What a record says beside its stack; one with two blocks moves one to the other, and needs no stack.
struct sample {
  const void *block, *released;
  size_t size;
  double interval;
  uint32_t releases;
};

static void write_keys(uint32_t position, const uint64_t *keys, uint32_t count) {
  for (uint32_t at = 0; at < count; at++) {
    struct hw_ring_frame frame = {.code = keys[at]};
    write_data(position + at * (uint32_t)sizeof frame, &frame, sizeof frame);
  }
}

/// Writes a record, with the stack of some registers or without one; whether it has what it should.
static int write_record(struct sample sample, const uint64_t *registers) {
  uint64_t keys[HW_RING_FRAMES];
  uint32_t java = registers == NULL ? 0 : hw_java_frames(keys), own = own_space(), number;
  uint32_t frames = registers == NULL ? 0 : java > 0 ? java : visit_frames(NULL);
  struct stack stack = registers == NULL ? (struct stack){0} : stack_from(registers[STACK_POINTER]);
  struct hw_ring_record *record = reserve(registers == NULL ? 0 : data_size(frames, stack.size), own, &number);
  if (record == NULL) return 0;
  uint32_t former = atomic_load(&record->state), at = record->data;
  size_t copied = 0;
  if (registers != NULL) {
    write_data(at, registers, HW_RING_REGISTERS * sizeof *registers);
    at += HW_RING_REGISTERS * sizeof *registers;
    if (java > 0) write_keys(at, keys, java);
    else if (frames > 0) visit_frames(&at);
    copied = write_stack(at + frames * (uint32_t)sizeof(struct hw_ring_frame), stack);
  }
  record->frame_count = frames;
  record->stack_size = (uint32_t)copied;
  int is_whole = copied > 0 || sample.block == NULL || sample.released != NULL;
  // Without a stack the program stops for a new block, and this record says nothing.
  record->block = is_whole ? (uintptr_t)sample.block : 0;
  record->size = sample.size;
  record->released = (uintptr_t)sample.released;
  record->releases = copied > 0 ? sample.releases : 0;
  record->interval = sample.interval;
  return publish(record, number, former) && is_whole;
}

__attribute__((noinline)) void hw_report_block(const void *block, size_t size, double interval) {
  uint64_t registers[HW_RING_REGISTERS];
  SAVE_REGISTERS(registers);
  struct sample sample = {.block = block, .size = size, .interval = interval};
  if (ring == NULL || !write_record(sample, registers)) stop(block, size, NULL, 0);
}

void hw_report_move(const void *from, const void *block, size_t size) {
  struct sample sample = {.block = block, .size = size, .released = from};
  if (ring == NULL || !write_record(sample, NULL)) stop(block, size, from, 0);
}

__attribute__((noinline)) void hw_report_release(const void *released, uint32_t releases) {
  uint64_t registers[HW_RING_REGISTERS];
  SAVE_REGISTERS(registers);
  struct sample sample = {.released = released, .releases = releases};
  if (ring == NULL || !write_record(sample, releases > 0 ? registers : NULL)) stop(NULL, 0, released, 0);
}
