#include "internal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Larger sections are not read. The largest known symbol tables have 200 MB.
#define MAX_BYTES (512u << 20)

// MARK: - Headers

static int read_at(const struct hw_elf *elf, uint64_t offset, void *to, uint64_t size) {
  if (offset > elf->size || size > elf->size - offset) return 0;
  if (elf->image != NULL) {
    memcpy(to, elf->image + offset, size);
    return 1;
  }
  while (size > 0) {
    ssize_t got = pread(elf->file, to, size, (off_t)offset);
    if (got <= 0) return 0;
    to = (char *)to + got;
    offset += (uint64_t)got;
    size -= (uint64_t)got;
  }
  return 1;
}

void *hw_elf_read(const struct hw_elf *elf, uint64_t offset, uint64_t size) {
  if (size > MAX_BYTES || offset > elf->size || size > elf->size - offset) return NULL;
  char *bytes = malloc(size + 1);
  if (bytes == NULL) return NULL;
  bytes[size] = 0;
  if (read_at(elf, offset, bytes, size)) return bytes;
  free(bytes);
  return NULL;
}

static void read_segments(struct hw_elf *elf, const Elf64_Ehdr *header) {
  for (int at = 0; at < header->e_phnum && elf->segment_count < HW_MAX_SEGMENTS; at++) {
    Elf64_Phdr segment;
    if (!read_at(elf, header->e_phoff + (uint64_t)at * sizeof segment, &segment, sizeof segment)) return;
    if (segment.p_type != PT_LOAD) continue;
    elf->segments[elf->segment_count++] = (struct hw_segment){
      .offset = segment.p_offset,
      .size = segment.p_memsz,
      .address = segment.p_vaddr,
      .is_executable = (segment.p_flags & PF_X) != 0,
    };
  }
}

int hw_elf_open(struct hw_elf *elf, int file, const uint8_t *image, uint64_t size) {
  *elf = (struct hw_elf){.file = file, .image = image, .size = size};
  Elf64_Ehdr header;
  if (!read_at(elf, 0, &header, sizeof header)) return 0;
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != HW_ELF_MACHINE) return 0;
  if (header.e_phentsize == sizeof(Elf64_Phdr)) read_segments(elf, &header);
  if (header.e_shentsize == sizeof(Elf64_Shdr)) elf->section_count = header.e_shnum;
  elf->section_offset = header.e_shoff;
  elf->section_names_at = header.e_shstrndx;
  return 1;
}

void hw_elf_close(struct hw_elf *elf) {
  if (elf->file >= 0) close(elf->file);
  free(elf->sections);
  free(elf->section_names);
  *elf = (struct hw_elf){.file = -1};
}

// MARK: - Sections

void *hw_elf_section_bytes(const struct hw_elf *elf, const Elf64_Shdr *section) {
  if (section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED)) return NULL;
  return hw_elf_read(elf, section->sh_offset, section->sh_size);
}

static int read_sections(struct hw_elf *elf) {
  if (elf->sections != NULL || elf->section_count == 0) return elf->sections != NULL;
  elf->sections = hw_elf_read(elf, elf->section_offset, (uint64_t)elf->section_count * sizeof(Elf64_Shdr));
  if (elf->sections != NULL && elf->section_names_at < elf->section_count) {
    const Elf64_Shdr *names = &elf->sections[elf->section_names_at];
    elf->section_names = hw_elf_section_bytes(elf, names);
    elf->section_names_size = names->sh_size;
  }
  if (elf->sections == NULL) elf->section_count = 0;
  return elf->sections != NULL;
}

static int is_named(const struct hw_elf *elf, const Elf64_Shdr *section, const char *name) {
  if (elf->section_names == NULL || section->sh_name >= elf->section_names_size) return 0;
  return strcmp(elf->section_names + section->sh_name, name) == 0;
}

const Elf64_Shdr *hw_elf_section(struct hw_elf *elf, const char *name, uint32_t type) {
  if (!read_sections(elf)) return NULL;
  for (int at = 0; at < elf->section_count; at++) {
    const Elf64_Shdr *section = &elf->sections[at];
    if (name != NULL ? is_named(elf, section, name) : section->sh_type == type) return section;
  }
  return NULL;
}

uint64_t hw_elf_symbol(struct hw_elf *elf, uint32_t type, const char *name) {
  const Elf64_Shdr *table = hw_elf_section(elf, NULL, type);
  if (table == NULL || table->sh_link >= elf->section_count) return 0;
  Elf64_Sym *symbols = hw_elf_section_bytes(elf, table);
  char *names = symbols == NULL ? NULL : hw_elf_section_bytes(elf, &elf->sections[table->sh_link]);
  uint64_t value = 0;
  for (uint64_t at = 0; names != NULL && value == 0 && at < table->sh_size / sizeof *symbols; at++) {
    int is_inside = symbols[at].st_name < elf->sections[table->sh_link].sh_size;
    if (is_inside && strcmp(names + symbols[at].st_name, name) == 0) value = symbols[at].st_value;
  }
  free(symbols);
  free(names);
  return value;
}

/// The size of a section in the file; of a compressed one, once it is decompressed.
static uint64_t section_size(struct hw_elf *elf, const Elf64_Shdr *section, int *is_compressed) {
  Elf64_Chdr header;
  *is_compressed = (section->sh_flags & SHF_COMPRESSED) && read_at(elf, section->sh_offset, &header, sizeof header);
  return *is_compressed ? header.ch_size : section->sh_type == SHT_NOBITS ? 0 : section->sh_size;
}

static uint64_t bounded_sum(uint64_t one, uint64_t other) { return one > UINT64_MAX - other ? UINT64_MAX : one + other; }

struct hw_section_sizes hw_elf_section_sizes(struct hw_elf *elf) {
  struct hw_section_sizes sizes = {0, 0};
  if (!read_sections(elf)) return sizes;
  for (int at = 0; at < elf->section_count; at++) {
    int is_compressed;
    uint64_t size = section_size(elf, &elf->sections[at], &is_compressed);
    sizes.all = bounded_sum(sizes.all, size);
    if (is_compressed) sizes.decompressed = bounded_sum(sizes.decompressed, size);
  }
  return sizes;
}

// MARK: - Separate debug files

size_t hw_elf_build_id(struct hw_elf *elf, uint8_t *id, size_t capacity) {
  const Elf64_Shdr *section = hw_elf_section(elf, ".note.gnu.build-id", 0);
  Elf64_Nhdr note;
  if (section == NULL || section->sh_size < sizeof note + 4) return 0;
  if (!read_at(elf, section->sh_offset, &note, sizeof note)) return 0;
  if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > capacity) return 0;
  return read_at(elf, section->sh_offset + sizeof note + 4, id, note.n_descsz) ? note.n_descsz : 0;
}

static int open_path(struct hw_elf *elf, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (file < 0) return 0;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    if (hw_elf_open(elf, file, NULL, (uint64_t)status.st_size)) return 1;
  }
  close(file);
  return 0;
}

static int open_by_build_id(struct hw_elf *debug, const uint8_t *id, size_t length) {
  char path[PATH_MAX], *to = path + sprintf(path, "/usr/lib/debug/.build-id/%02x/", id[0]);
  for (size_t at = 1; at < length; at++) to += sprintf(to, "%02x", id[at]);
  strcpy(to, ".debug");
  return open_path(debug, path);
}

/// The checksum that `.gnu_debuglink` has of the file: CRC-32 of ISO 3309.
static uint32_t checksum(const struct hw_elf *elf) {
  uint8_t bytes[4096];
  uint32_t sum = ~0u;
  for (uint64_t offset = 0; offset < elf->size; offset += sizeof bytes) {
    uint64_t size = elf->size - offset < sizeof bytes ? elf->size - offset : sizeof bytes;
    if (!read_at(elf, offset, bytes, size)) return 0;
    for (uint64_t at = 0; at < size; at++) {
      sum ^= bytes[at];
      for (int bit = 0; bit < 8; bit++) sum = (sum >> 1) ^ (0xedb88320u & -(sum & 1));
    }
  }
  return ~sum;
}

static int has_build_id(struct hw_elf *elf, const uint8_t *id, size_t length) {
  uint8_t own[64];
  return hw_elf_build_id(elf, own, sizeof own) == length && memcmp(own, id, length) == 0;
}

/// Opens the file that `.gnu_debuglink` names, if its build id, or without one its checksum, is right.
static int open_by_link(
  struct hw_elf *debug, const char *path, const char *name, uint32_t expected, const uint8_t *id, size_t length
) {
  static const char *const places[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
  const char *slash = strrchr(path, '/');
  if (slash == NULL || strchr(name, '/') != NULL) return 0;
  for (int at = 0; at < 3; at++) {
    char candidate[PATH_MAX];
    int written = snprintf(candidate, sizeof candidate, places[at], (int)(slash - path), path, name);
    if (written >= (int)sizeof candidate || strcmp(candidate, path) == 0 || !open_path(debug, candidate)) continue;
    if (length > 0 ? has_build_id(debug, id, length) : checksum(debug) == expected) return 1;
    hw_elf_close(debug);
  }
  return 0;
}

int hw_elf_open_debug_file(struct hw_elf *elf, const char *path, struct hw_elf *debug) {
  uint8_t id[64];
  size_t length = hw_elf_build_id(elf, id, sizeof id);
  if (length > 1 && open_by_build_id(debug, id, length)) {
    if (has_build_id(debug, id, length)) return 1;
    hw_elf_close(debug);
  }
  const Elf64_Shdr *section = hw_elf_section(elf, ".gnu_debuglink", 0);
  char *link = section == NULL || section->sh_size < 8 ? NULL : hw_elf_section_bytes(elf, section);
  if (link == NULL) return 0;
  uint32_t expected;
  memcpy(&expected, link + section->sh_size - 4, sizeof expected);
  link[section->sh_size - 4] = 0;
  int is_open = open_by_link(debug, path, link, expected, id, length);
  free(link);
  return is_open;
}
