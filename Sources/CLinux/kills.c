#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// How many CPUs are watched; each takes a descriptor and two pages.
#define MAX_CPUS 256

/// One reader for each CPU, for the whole life of the process; in .bss, so that it costs nothing until it is used.
static struct {
  struct pollfd descriptors[MAX_CPUS];
  struct perf_event_mmap_page *rings[MAX_CPUS];
  int count;
  struct hw_kill_format format;
} readers;

/// A sample with PERF_SAMPLE_TID, PERF_SAMPLE_TIME and PERF_SAMPLE_RAW (perf_event_open(2)).
struct sample {
  struct perf_event_header header;
  uint32_t process, thread;
  uint64_t time;
  uint32_t size;
  char fields[256];
};

static int open_reader(int cpu) {
  struct perf_event_attr wanted = {
    .type = PERF_TYPE_TRACEPOINT,
    .size = sizeof wanted,
    .config = readers.format.tracepoint,
    .sample_period = 1,
    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
    .disabled = 1,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
    .wakeup_events = 1,
  };
  int descriptor = (int)syscall(SYS_perf_event_open, &wanted, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return -1;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *ring = MAP_FAILED;
  if (ioctl(descriptor, PERF_EVENT_IOC_SET_FILTER, "sig == 9") == 0) {
    ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (ring == MAP_FAILED || ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) != 0) {
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
  }
  readers.descriptors[readers.count] = (struct pollfd){.fd = descriptor, .events = POLLIN};
  readers.rings[readers.count++] = ring;
  return 0;
}

int hw_kills_open(struct hw_kill_format format) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus > MAX_CPUS || !hw_try_descriptors(cpus < 32 ? (int)cpus * 2 : 64)) return EMFILE;
  readers.format = format;
  for (int cpu = 0; cpu < cpus; cpu++) {
    // A CPU that is offline sends no signals.
    if (open_reader(cpu) == 0 || errno == ENODEV) continue;
    int code = errno;
    for (; readers.count > 0; readers.count--) close(readers.descriptors[readers.count - 1].fd);
    return code;
  }
  return 0;
}

/// Copies bytes of a ring, whose size is a power of two.
static void copy(const struct perf_event_mmap_page *ring, uint64_t from, void *to, size_t size) {
  uint64_t capacity = (uint64_t)sysconf(_SC_PAGESIZE);
  const char *data = (const char *)ring + capacity;
  for (size_t at = 0; at < size; at++) ((char *)to)[at] = data[(from + at) & (capacity - 1)];
}

/// Takes the next record of a ring; returns whether it is that of a kill.
static int take(struct perf_event_mmap_page *ring, struct hw_kill *kill) {
  struct sample sample;
  uint64_t from = ring->data_tail;
  copy(ring, from, &sample.header, sizeof sample.header);
  size_t size = sample.header.size < sizeof sample ? sample.header.size : sizeof sample;
  copy(ring, from, &sample, size);
  __atomic_store_n(&ring->data_tail, from + sample.header.size, __ATOMIC_RELEASE);
  size_t last = (size_t)(readers.format.target > readers.format.code ? readers.format.target : readers.format.code);
  if (sample.header.type != PERF_RECORD_SAMPLE || last + sizeof(int32_t) > sizeof sample.fields) return 0;
  *kill = (struct hw_kill){.sender = (pid_t)sample.process, .time = (int64_t)sample.time};
  memcpy(&kill->target, sample.fields + readers.format.target, sizeof kill->target);
  memcpy(&kill->code, sample.fields + readers.format.code, sizeof kill->code);
  return 1;
}

int hw_kills_await(struct hw_kill *found, int capacity) {
  int count = 0;
  while (count == 0) {
    if (poll(readers.descriptors, (nfds_t)readers.count, -1) < 0 && errno != EINTR) return -1;
    for (int at = 0; at < readers.count; at++) {
      struct perf_event_mmap_page *ring = readers.rings[at];
      while (count < capacity && ring->data_tail != __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE)) {
        count += take(ring, &found[count]);
      }
    }
  }
  return count;
}
