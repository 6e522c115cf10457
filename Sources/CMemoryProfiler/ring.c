#include "ring.h"
#include "profiler.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <time.h>

/// A writer needs less between reserving a record and saying whose it is, by far.
#define PATIENCE INT64_C(200000000)

/// How many records after that of a block its release counts as soon.
#define NEAR 32

/// A stack stands for fewer releases.
#define MAX_RELEASES 64

/// More processes than any target has.
#define MAX_SPACES (UINT32_C(1) << 22)

static struct hw_ring *ring;
static int is_shared_memory;

/// For each slot of the ring, the number plus 1 of the last record that was handled.
static uint32_t handled[HW_RING_RECORDS];
/// Whether its writer had not completed it.
static uint8_t is_incomplete[HW_RING_RECORDS];

/// The processes that have announced an address space, by its number; 0 for one that is gone.
static pid_t *spaces;
static uint32_t space_count;

int64_t hw_profile_ring_size(void) { return sizeof *ring; }

int hw_ring_open(int file, double interval) {
  void *mapped = file < 0
    ? MAP_FAILED
    // Touched here, the pages count for this process, and not for the target's cgroup.
    : mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (mapped == MAP_FAILED) return 0;
  struct statfs system;
  is_shared_memory = fstatfs(file, &system) == 0 && system.f_type == TMPFS_MAGIC;
  ring = mapped;
  ring->interval = interval;
  return 1;
}

int hw_ring_is_shared_memory(void) { return is_shared_memory; }

void hw_ring_set_interval(double interval) {
  if (ring != NULL) ring->interval = interval;
}

// MARK: - Address spaces

void hw_ring_announce(uint32_t space, pid_t process) {
  if (space > space_count && space <= MAX_SPACES) {
    uint32_t wanted = space * 2 + 64;
    pid_t *larger = realloc(spaces, (wanted + 1) * sizeof *spaces);
    if (larger == NULL) return;
    uint32_t former = spaces == NULL ? 0 : space_count + 1;
    memset(larger + former, 0, (wanted + 1 - former) * sizeof *larger);
    spaces = larger;
    space_count = wanted;
  }
  if (space > 0 && space <= space_count) spaces[space] = process;
}

void hw_ring_replace(pid_t process, pid_t heir) {
  for (uint32_t at = 1; spaces != NULL && at <= space_count; at++) {
    if (spaces[at] == process) spaces[at] = heir;
  }
}

static pid_t process_of(uint32_t space) { return space <= space_count && spaces != NULL ? spaces[space] : 0; }

// MARK: - Records

/// Copies bytes that may continue at the start of the ring.
static void read_data(uint32_t position, void *to, size_t size) {
  uint32_t at = position % HW_RING_DATA;
  size_t first = HW_RING_DATA - at < size ? HW_RING_DATA - at : size;
  memcpy(to, ring->data + at, first);
  memcpy((uint8_t *)to + first, ring->data, size - first);
}

/// What a record says, as it was when it was checked: the target may write to the ring at any time.
struct record {
  uint32_t data, stack_size, frame_count, releases;
  uint64_t block, size, released;
  double interval;
};

static struct record read_record(const struct hw_ring_record *from) {
  struct record record = {
    from->data,  from->stack_size, from->frame_count, from->releases,
    from->block, from->size,       from->released,    from->interval};
  if (record.stack_size > HW_RING_STACK) record.stack_size = HW_RING_STACK;
  if (record.frame_count > HW_RING_FRAMES) record.frame_count = HW_RING_FRAMES;
  if (record.releases > MAX_RELEASES) record.releases = 0;
  return record;
}

static uint32_t stack_of(struct hw_process *process, const struct record *record) {
  static uint8_t bytes[HW_RING_STACK];
  struct hw_ring_frame frames[HW_RING_FRAMES];
  struct hw_stack_copy copy = {.bytes = bytes, .size = record->stack_size};
  uint32_t at = record->data;
  _Static_assert(sizeof(struct hw_ring_frame) == sizeof(struct hw_python_copy), "The same fields");
  read_data(at, copy.registers, sizeof copy.registers);
  at += sizeof copy.registers;
  read_data(at, frames, record->frame_count * sizeof *frames);
  at += record->frame_count * (uint32_t)sizeof *frames;
  read_data(at, bytes, record->stack_size);
  return hw_process_stack_of_copy(process, &copy, (const struct hw_python_copy *)frames, (int)record->frame_count);
}

/// Its stack matters only if the sample of the block was kept.
static void note_release(struct hw_process *process, const struct record *record) {
  int is_followed = record->releases > 0 && hw_blocks_have(&process->memory->blocks, record->released);
  uint32_t stack = is_followed ? stack_of(process, record) : HW_NO_STACK;
  hw_note_release(process->memory, record->released, stack, record->releases);
}

/// Whether one of the next records releases the block of a record, without a stack that counts: most blocks are temporary, and
/// whose they were matters for no result. A peak lacks NEAR samples by that at most.
static int is_released_soon(const struct hw_ring_record *from, uint32_t number, uint32_t end) {
  for (uint32_t next = number + 1; next != end && next - number <= NEAR; next++) {
    const struct hw_ring_record *record = &ring->records[next % HW_RING_RECORDS];
    if (record->state == next + 1 && record->released == from->block && record->space == from->space) {
      return record->releases == 0 && record->block == 0;
    }
  }
  return 0;
}

/// Handles a record; 0 if its process is not known yet, since the stop of its creator has not been handled.
static int handle(const struct hw_ring_record *from, uint32_t number, uint32_t end) {
  pid_t pid = process_of(from->space);
  if (pid == 0) return 1;
  struct hw_process *process = hw_find_process(pid);
  if (process == NULL || process->memory == NULL) return 0;
  struct record record = read_record(from);
  if (record.released != 0 && record.block != 0) {
    hw_note_move(process->memory, record.released, record.block, record.size);
    return 1;
  }
  if (record.released != 0) note_release(process, &record);
  if (record.block == 0 || !hw_keeps_sample(record.size, record.interval)) return 1;
  if ((double)record.size < record.interval && is_released_soon(from, number, end)) {
    hw_note_temporary(process->memory, record.block, record.size);
  } else {
    hw_note_block(process->memory, record.block, record.size, stack_of(process, &record));
  }
  return 1;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Whether the writer of an incomplete record is gone: its address space is, or it has not said for long whose it is.
static int is_abandoned(struct hw_ring_record *record, uint32_t number) {
  static uint32_t awaited;
  static int64_t since;
  uint32_t space = record->space;
  if (space != 0) return process_of(space) == 0;
  if (awaited != number + 1) {
    awaited = number + 1;
    since = now();
  }
  uint32_t former = record->state;
  // If it is only late, it finds its record taken.
  return now() - since > PATIENCE && atomic_compare_exchange_strong(&record->state, &former, number + 1);
}

// MARK: - Reading

/// Where the data of the record after one begin; 0 if that is not known yet.
static int find_end(uint32_t number, uint64_t head, uint32_t *end) {
  const struct hw_ring_record *next = &ring->records[(number + 1) % HW_RING_RECORDS];
  int is_last = number + 1 == hw_ring_number(head);
  *end = is_last ? hw_ring_position(head) : next->data;
  return is_last || next->state == number + 2;
}

/// Gives the space of a handled record back; 0 if that must wait.
static int pass(uint32_t number, uint64_t head) {
  struct hw_ring_record *record = &ring->records[number % HW_RING_RECORDS];
  uint32_t begin = hw_ring_position(ring->tail), end = record->data + record->data_size;
  if (is_incomplete[number % HW_RING_RECORDS] && !find_end(number, head, &end)) return 0;
  if (end - begin > hw_ring_position(head) - begin) end = hw_ring_position(head);
  record->space = 0;
  ring->tail = (uint64_t)(number + 1) << 32 | end;
  return 1;
}

/// Complete records behind an incomplete one are handled at once: a block that its writer has not reported yet, or whose
/// release it has not reported yet, is in no other record.
int hw_ring_drain(void) {
  if (ring == NULL || ring->is_closed) return 0;
  uint64_t head = ring->head;
  uint32_t number = hw_ring_number(ring->tail), end = hw_ring_number(head), count = 0;
  // What no writer of the library does.
  if (end - number > HW_RING_RECORDS) ring->is_closed = 1;
  for (int passes = 1; number != end && !ring->is_closed; number++) {
    struct hw_ring_record *record = &ring->records[number % HW_RING_RECORDS];
    uint32_t *last = &handled[number % HW_RING_RECORDS];
    if (*last != number + 1) {
      int is_complete = record->state == number + 1;
      int is_done = is_complete ? handle(record, number, end) : is_abandoned(record, number);
      is_incomplete[number % HW_RING_RECORDS] = !is_complete;
      if (is_done) *last = number + 1;
      count += (uint32_t)is_done;
    }
    passes = passes && *last == number + 1 && pass(number, head);
  }
  return count > 0;
}
