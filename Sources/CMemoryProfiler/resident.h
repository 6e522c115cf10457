/// The resident memory of a process, as the kernel shows it; not exported.

#ifndef HW_RESIDENT_H
#define HW_RESIDENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Addresses from `start` to before `end`; for a mapping, whether it is one of a file, and whether that or one of its
/// variables that start as zero, behind it.
struct hw_area {
  uint64_t start, end;
  int is_file, is_static;
};

/// Ranges of addresses, ascending.
struct hw_ranges {
  int users;
  size_t count;
  /// The size of the process, in bytes.
  int64_t size;
  struct hw_area ranges[];
};

/// Where the mappings of a process lie.
struct hw_layout {
  /// The range of the heap that brk(2) manages.
  uint64_t heap_start, heap_end;
  /// The end of the last mapping: PAGEMAP_SCAN refuses addresses that no program can have.
  uint64_t end;
  /// The ranges of the preloaded library: its file's mappings, and the one of its variables behind them.
  uint64_t library_start, library_end;
  /// The ring of the preloaded library; empty without one.
  struct hw_area ring;
  /// The mappings that may have anonymous pages, ascending.
  struct hw_area *areas;
  size_t area_count, area_capacity;
  /// The end of the last mapping with a file's variables.
  uint64_t variables_end;
};

void hw_read_layout(pid_t thread, struct hw_layout *layout);
void hw_layout_clear(struct hw_layout *layout);

/// A resident anonymous page. `is_exclusive`: no other process has it.
struct hw_page {
  uint64_t address;
  int is_huge, is_exclusive;
};

typedef void (*hw_page_visitor)(void *context, struct hw_page page);

/// Visits the resident anonymous pages of the process of a thread, in ascending order; `exclusive` is whether the visitor
/// needs to know which are so.
void hw_visit_pages(pid_t thread, const struct hw_layout *layout, int exclusive, hw_page_visitor visitor, void *context);

/// How much of the ring is resident in a process, in bytes.
int64_t hw_ring_size(pid_t thread, const struct hw_layout *layout);

/// What of a process is resident; NULL if the kernel does not show it.
struct hw_ranges *hw_resident_ranges(pid_t thread);
void hw_ranges_close(struct hw_ranges *ranges);

/// Whether an address lies in one of the ranges, which are in ascending order.
int hw_ranges_have(const struct hw_ranges *ranges, uint64_t address);

#endif
