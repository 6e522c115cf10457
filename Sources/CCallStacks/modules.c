#define _GNU_SOURCE
#include "internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/// Code of further files has no module.
#define MAX_MODULES 4096

/// `HW_NO_MODULE` is the first one, and stays NULL.
static struct hw_module *modules[MAX_MODULES];
static uint32_t module_count = 1;

struct hw_module *hw_module(uint32_t number) {
  return number < module_count ? modules[number] : NULL;
}

const char *hw_module_path(uint32_t number) {
  const struct hw_module *module = hw_module(number);
  return module == NULL ? "" : module->path;
}

static uint32_t find(const struct hw_mapping *mapping) {
  for (uint32_t at = 1; at < module_count; at++) {
    if (modules[at]->inode != mapping->inode || modules[at]->device != mapping->device) continue;
    // Without an inode: the vdso.
    if (mapping->inode != 0 || strcmp(modules[at]->path, mapping->path) == 0) return at;
  }
  return HW_NO_MODULE;
}

static uint32_t add(const struct hw_mapping *mapping, struct hw_elf elf, int is_elf) {
  struct hw_module *module = module_count < MAX_MODULES ? calloc(1, sizeof *module) : NULL;
  char *path = strdup(mapping->path);
  if (module == NULL || path == NULL) {
    if (is_elf) hw_elf_close(&elf);
    free(module);
    free(path);
    return HW_NO_MODULE;
  }
  *module = (struct hw_module){
    .device = mapping->device, .inode = mapping->inode, .path = path, .elf = elf, .is_elf = is_elf};
  modules[module_count] = module;
  return module_count++;
}

// MARK: - Opening files

/// Whether the process has mapped this file.
///
/// Some file systems, such as btrfs and overlayfs, show other numbers in `/proc/PID/maps` than to stat(2): then the
/// mapped code must be that of the file.
static int is_mapped_file(int file, const struct hw_mapping *mapping, pid_t thread) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  if (status.st_ino == mapping->inode && status.st_dev == mapping->device) return 1;
  uint8_t in_file[4096], in_memory[4096];
  struct hw_memory memory = hw_memory_of(thread);
  ssize_t length = pread(file, in_file, sizeof in_file, (off_t)mapping->offset);
  if (length < 64 || memory.read(&memory, mapping->start, in_memory, (size_t)length) != (size_t)length) return 0;
  return memcmp(in_file, in_memory, (size_t)length) == 0;
}

/// Opens the file of a mapping, also if it has been deleted; -1 if that is not possible.
///
/// Only root may open `map_files`; whoever may trace the process, `exe`.
static int open_mapped_file(const struct hw_mapping *mapping, pid_t thread) {
  char paths[3][PATH_MAX + 32];
  snprintf(paths[0], sizeof paths[0], "/proc/%d/map_files/%lx-%lx", (int)thread, mapping->start, mapping->end);
  snprintf(paths[1], sizeof paths[1], "/proc/%d/root%s", (int)thread, mapping->path);
  snprintf(paths[2], sizeof paths[2], "/proc/%d/exe", (int)thread);
  for (int at = 0; at < 3; at++) {
    int file = open(paths[at], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) continue;
    if (is_mapped_file(file, mapping, thread)) return file;
    close(file);
  }
  return -1;
}

static int is_anonymous(const char *path) {
  return *path != '/' || strncmp(path, "/memfd:", 7) == 0 || strncmp(path, "/dev/zero", 9) == 0;
}

static uint32_t open_module(const struct hw_mapping *mapping, pid_t thread) {
  struct hw_elf elf = {.file = -1};
  int file = open_mapped_file(mapping, thread);
  if (file < 0) return is_anonymous(mapping->path) ? HW_NO_MODULE : add(mapping, elf, 0);
  if (hw_elf_open(&elf, file, NULL, (uint64_t)lseek(file, 0, SEEK_END))) return add(mapping, elf, 1);
  close(file);
  // Such as an archive of code that a JIT compiler has stored.
  return HW_NO_MODULE;
}

/// The vdso is an ELF file that exists in memory only, the same in all processes.
static uint32_t open_vdso(const struct hw_mapping *mapping, pid_t thread) {
  struct hw_elf elf;
  size_t size = mapping->end - mapping->start;
  uint8_t *image = size <= 1 << 20 ? malloc(size) : NULL;
  struct hw_memory memory = hw_memory_of(thread);
  if (image != NULL && memory.read(&memory, mapping->start, image, size) == size) {
    if (hw_elf_open(&elf, -1, image, size)) return add(mapping, elf, 1);
  }
  free(image);
  return HW_NO_MODULE;
}

// MARK: - Addresses

/// The segment that a mapping shows, preferably an executable one; NULL if none.
static const struct hw_segment *segment_of(const struct hw_mapping *mapping, const struct hw_elf *elf) {
  const struct hw_segment *found = NULL;
  for (int at = 0; at < elf->segment_count; at++) {
    const struct hw_segment *segment = &elf->segments[at];
    uint64_t end = mapping->offset + (mapping->end - mapping->start);
    int overlaps = segment->offset < end && mapping->offset < segment->offset + segment->size;
    if (overlaps && (found == NULL || segment->is_executable > found->is_executable)) found = segment;
  }
  return found;
}

void hw_resolve_mapping(struct hw_mapping *mapping, pid_t thread) {
  int is_vdso = strcmp(mapping->path, "[vdso]") == 0;
  mapping->is_resolved = 1;
  mapping->bias = 0;
  mapping->module = mapping->inode == 0 && !is_vdso ? HW_NO_MODULE : find(mapping);
  if (mapping->module == HW_NO_MODULE && is_vdso) mapping->module = open_vdso(mapping, thread);
  if (mapping->module == HW_NO_MODULE && mapping->inode != 0) mapping->module = open_module(mapping, thread);
  if (mapping->module == HW_NO_MODULE) return;
  const struct hw_segment *segment = segment_of(mapping, &modules[mapping->module]->elf);
  mapping->bias = mapping->start - mapping->offset;
  if (segment != NULL) mapping->bias += segment->offset - segment->address;
}
