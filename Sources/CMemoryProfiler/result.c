#define _GNU_SOURCE
#include "profiler.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The profile of the largest process of a name, as text.
struct result {
  char command[16];
  int64_t anonymous;
  char *text;
  struct result *next;
};

static struct result *results;
static int count;

/// More names than any target has; further ones are not kept.
#define MAX_RESULTS 64

static void read_command(pid_t process, char command[16]) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, command, 15);
  if (file >= 0) close(file);
  command[length > 0 ? length : 0] = '\0';
  command[strcspn(command, "\n")] = '\0';
}

/// Writes a name on one line: a module's path or a function may have any bytes.
static void write_text(FILE *file, const char *text) {
  for (; *text != '\0'; text++) fputc((unsigned char)*text < 32 || *text == 127 ? '?' : *text, file);
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static void write_node(FILE *file, const struct hw_code *code, uint32_t node, const struct hw_weight *weight) {
  struct hw_place place = hw_tree_place(node);
  fprintf(file, "node\t%u\t%u\t%lld\t%lld\t", node, hw_tree_parent(node),
    weight == NULL ? 0LL : (long long)weight->live, weight == NULL ? 0LL : (long long)weight->touched);
  if (place.module == HW_SCRIPT) {
    struct hw_python_frame script = hw_script_at(place);
    fputc('\t', file);
    write_text(file, script.function);
    fputc('\t', file);
    write_text(file, script.file);
    fprintf(file, "\t%d\n", script.line);
    return;
  }
  write_text(file, file_name(hw_module_path(place.module)));
  fputc('\t', file);
  write_text(file, hw_function_at(code, place));
  fputs("\t\t0\n", file);
}

/// Writes the nodes that have memory, and their callers.
static void write_nodes(FILE *file, const struct hw_memory *memory) {
  const struct hw_snapshot *snapshot = &memory->snapshot;
  uint32_t nodes = hw_tree_count();
  const struct hw_weight **weights = calloc(nodes, sizeof *weights);
  unsigned char *needed = calloc(nodes, 1);
  for (uint32_t at = 0; weights != NULL && needed != NULL && at < snapshot->count; at++) {
    uint32_t node = snapshot->weights[at].node;
    weights[node] = &snapshot->weights[at];
    for (; node != HW_NO_STACK && !needed[node]; node = hw_tree_parent(node)) needed[node] = 1;
  }
  for (uint32_t node = 1; weights != NULL && needed != NULL && node < nodes; node++) {
    if (needed[node]) write_node(file, memory->code, node, weights[node]);
  }
  free(weights);
  free(needed);
}

static char *text_of(const char *command, const char *program, const struct hw_memory *memory) {
  const struct hw_snapshot *snapshot = &memory->snapshot;
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (file == NULL) return NULL;
  fputs("process\t", file);
  write_text(file, command);
  fputc('\t', file);
  write_text(file, file_name(program));
  fprintf(file, "\t%d\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\n", memory->has_blocks, (long long)memory->samples,
    (long long)snapshot->peak,
    (long long)snapshot->anonymous, (long long)snapshot->overhead, (long long)snapshot->unseen,
    (long long)snapshot->library);
  if (memory->code != NULL) {
    hw_code_read_perf_map(memory->code);
    write_nodes(file, memory);
  }
  fputs("end\n", file);
  fclose(file);
  return text;
}

void hw_result_keep(pid_t process, const struct hw_memory *memory) {
  char command[16], link[48], program[4096];
  read_command(process, command);
  snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
  ssize_t length = readlink(link, program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  struct result *result = results;
  while (result != NULL && strcmp(result->command, command) != 0) result = result->next;
  if (result != NULL && result->anonymous >= memory->snapshot.anonymous) return;
  if (result == NULL && (count >= MAX_RESULTS || (result = calloc(1, sizeof *result)) == NULL)) return;
  if (result->text == NULL) {
    memcpy(result->command, command, sizeof command);
    result->next = results;
    results = result;
    count++;
  }
  free(result->text);
  result->text = text_of(command, program, memory);
  result->anonymous = memory->snapshot.anonymous;
}

void hw_profile_write(int file) {
  for (const struct result *result = results; result != NULL; result = result->next) {
    const char *text = result->text == NULL ? "" : result->text;
    for (size_t left = strlen(text); left > 0;) {
      ssize_t written = write(file, text, left);
      if (written <= 0) return;
      text += written;
      left -= (size_t)written;
    }
  }
}
