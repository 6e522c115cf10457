#define _GNU_SOURCE
#include "profiler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// What one process held.
struct member {
  struct hw_snapshot snapshot;
  struct hw_code *code;
};

/// The processes of one name at one moment; the peak is that at which they held most together.
struct group {
  char command[16];
  int moment;
  struct member *members;
  size_t count;
  int64_t anonymous;
  int has_blocks;
  /// The mean number of bytes between samples of Go's runtime; 0 without it.
  int64_t go_rate;
  const char *obstacle;
  /// An estimate of what all its processes have allocated in blocks, in bytes.
  double allocated;
  /// Of its peak: what all its processes have released.
  struct hw_releases releases;
};

/// More names than any target has, at all moments; further ones are not kept.
#define MAX_GROUPS 896

static struct group groups[MAX_GROUPS];
static int group_count;

/// What stands for the copying of pages, `CallTree.Function.copyAfterFork`.
#define HW_COPY_NAME "[copy-after-fork]"

/// What stands for the release of a block, `CallTree.Function.release`.
#define HW_RELEASE_NAME "[release]"

/// Whether debug information is read; and the longest CPU time for that and all names, in seconds.
static int has_sources = 1;
#define MAX_SECONDS 30

// MARK: - Keeping

static struct group *group_of(const char *command, int moment) {
  for (int at = 0; at < group_count; at++) {
    if (groups[at].moment == moment && strcmp(groups[at].command, command) == 0) return &groups[at];
  }
  if (group_count == MAX_GROUPS) return NULL;
  struct group *group = &groups[group_count++];
  group->moment = moment;
  snprintf(group->command, sizeof group->command, "%s", command);
  return group;
}

static void release(struct member *member) {
  free(member->snapshot.weights);
  hw_code_close(member->code);
}

static void clear(struct group *group) {
  for (size_t at = 0; at < group->count; at++) release(&group->members[at]);
  free(group->members);
  group->members = NULL;
  group->count = 0;
}

/// Adds what a process holds to an array with room for it; takes over the weights.
static void add_member(struct group *group, struct hw_memory *memory, struct hw_snapshot snapshot) {
  struct member *member = &group->members[group->count++];
  *member = (struct member){.snapshot = snapshot};
  if (memory->code != NULL) member->code = hw_code_share(memory->code);
  // Objects of Go are blocks as well. Whether its few others were sampled is chance.
  group->has_blocks |= memory->has_blocks || hw_go_rate(memory) > 0;
  group->go_rate = hw_go_rate(memory) > 0 ? hw_go_rate(memory) : group->go_rate;
  group->obstacle = hw_go_obstacle(memory);
}

static int is_smaller(struct member one, struct member other) {
  return one.snapshot.anonymous < other.snapshot.anonymous;
}

static void add_copy(struct group *group, struct hw_memory *memory) {
  struct hw_snapshot copy = memory->snapshot;
  size_t size = copy.count * sizeof *copy.weights;
  copy.weights = malloc(size + 1);
  if (copy.weights == NULL) return;
  if (size > 0) memcpy(copy.weights, memory->snapshot.weights, size);
  add_member(group, memory, copy);
}

/// The most processes of one name of which each is kept; further ones only count together with them.
#define MAX_SINGLE 8

/// Keeps what one process has held at its own peak, if it is among the largest of its name.
static void keep_single(const char *command, struct hw_memory *memory) {
  struct group *group = memory->is_kept ? NULL : group_of(command, HW_SINGLE);
  if (group == NULL) return;
  memory->is_kept = 1;
  if (group->members == NULL) group->members = calloc(MAX_SINGLE, sizeof *group->members);
  if (group->members == NULL) return;
  if (group->count == MAX_SINGLE) {
    struct member *least = &group->members[MAX_SINGLE - 1];
    if (least->snapshot.anonymous >= memory->snapshot.anonymous) return;
    release(least);
    group->count--;
  }
  add_copy(group, memory);
  for (size_t at = group->count - 1; at > 0 && is_smaller(group->members[at - 1], group->members[at]); at--) {
    struct member larger = group->members[at];
    group->members[at] = group->members[at - 1];
    group->members[at - 1] = larger;
  }
}

void hw_result_keep(const char *command, struct hw_memory *const *memories, size_t count) {
  struct group *group = group_of(command, HW_PEAK);
  int64_t sum = 0;
  for (size_t at = 0; at < count; at++) sum += memories[at]->snapshot.anonymous;
  // The names of generated code, before the process is gone.
  if (memories[0]->code != NULL) hw_code_read_perf_map(memories[0]->code);
  // Several threads may show that a process is about to exit.
  if (!memories[0]->is_kept) hw_releases_end(&memories[0]->releases, &memories[0]->blocks, memories[0]->fork_order);
  keep_single(command, memories[0]);
  if (group == NULL) return;
  group->allocated += memories[0]->allocated - memories[0]->fork_allocated + memories[0]->allocated_large;
  memories[0]->allocated_large = 0;
  memories[0]->fork_allocated = memories[0]->allocated;
  hw_releases_move(&group->releases, &memories[0]->releases);
  if (sum <= group->anonymous) return;
  struct member *members = calloc(count, sizeof *members);
  if (members == NULL) return;
  clear(group);
  group->members = members;
  group->anonymous = sum;
  for (size_t at = 0; at < count; at++) add_copy(group, memories[at]);
}

void hw_result_add(int moment, struct hw_memory *memory, struct hw_snapshot snapshot) {
  struct group *group = *snapshot.command == '\0' ? NULL : group_of(snapshot.command, moment);
  struct member *larger =
    group == NULL ? NULL : realloc(group->members, (group->count + 1) * sizeof *group->members);
  if (larger == NULL) {
    free(snapshot.weights);
    return;
  }
  group->members = larger;
  group->anonymous += snapshot.anonymous;
  add_member(group, memory, snapshot);
}

void hw_result_forget(int moment) {
  for (int at = 0; at < group_count; at++) {
    if (groups[at].moment != moment) continue;
    clear(&groups[at]);
    groups[at].anonymous = 0;
  }
}

int64_t hw_result_held(int moment) {
  int64_t held = 0;
  for (int at = 0; at < group_count; at++) {
    const struct group *group = &groups[at];
    if (group->moment != moment) continue;
    for (size_t member = 0; member < group->count; member++) {
      held += group->members[member].snapshot.anonymous - group->members[member].snapshot.overhead;
    }
  }
  return held;
}

// MARK: - Writing

/// Writes a name on one line: a module's path or a function may have any bytes.
static void write_text(FILE *file, const char *text) {
  for (; *text != '\0'; text++) fputc((unsigned char)*text < 32 || *text == 127 ? '?' : *text, file);
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

/// The path below a folder, the innermost of this name; with the folder itself if nothing else is between it and the file.
/// NULL outside of such folders.
static const char *path_below(const char *path, const char *folder) {
  const char *found = NULL;
  for (const char *at = path; (at = strstr(at, folder)) != NULL; at++) found = at;
  if (found == NULL) return NULL;
  const char *below = found + strlen(folder);
  return strchr(below, '/') == NULL ? found + 1 : below;
}

/// The name of a library or program; of one that is installed for a language with the folders (CodeOrigin.swift).
static const char *module_name(const char *path) {
  static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/node_modules/", "/lib-dynload/"};
  for (size_t at = 0; at < sizeof folders / sizeof folders[0]; at++) {
    const char *name = path_below(path, folders[at]);
    if (name != NULL) return name;
  }
  return file_name(path);
}

/// A function as it was written; equal texts are mostly the same pointers.
struct written {
  const char *module;
  struct hw_source source;
  int is_inlined;
  /// From 1; 0 in free slots.
  uint32_t number;
};

static struct written *functions;
static uint32_t function_count, function_capacity;

static struct written *slot_of(struct written function) {
  uintptr_t mixed = (uintptr_t)function.module ^ (uintptr_t)function.source.function << 1;
  mixed ^= (uintptr_t)function.source.file << 2 ^ (uintptr_t)function.source.line << 32 ^ (uintptr_t)function.is_inlined;
  uint32_t at = (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (function_capacity - 1);
  for (; functions[at].number != 0; at = (at + 1) & (function_capacity - 1)) {
    const struct written *other = &functions[at];
    if (other->module == function.module && other->source.function == function.source.function &&
      other->source.file == function.source.file && other->source.line == function.source.line &&
      other->is_inlined == function.is_inlined) break;
  }
  return &functions[at];
}

/// Doubles the table; 0 if there is no memory for that.
static int grow_functions(void) {
  struct written *former = functions;
  uint32_t count = function_capacity, larger = count == 0 ? 4096 : count * 2;
  struct written *grown = calloc(larger, sizeof *grown);
  if (grown == NULL) return 0;
  functions = grown;
  function_capacity = larger;
  for (uint32_t at = 0; at < count; at++) {
    if (former[at].number != 0) *slot_of(former[at]) = former[at];
  }
  free(former);
  return 1;
}

/// The number of a function, which is written at its first use; 0 if there is no memory for it.
static uint32_t number_of(FILE *file, const char *module, struct hw_source source, int is_inlined) {
  if (function_count >= function_capacity / 2 && !grow_functions()) return 0;
  struct written function = {.module = module, .source = source, .is_inlined = is_inlined};
  struct written *slot = slot_of(function);
  if (slot->number != 0) return slot->number;
  *slot = function;
  slot->number = ++function_count;
  fprintf(file, "function\t%u\t", slot->number);
  const char *texts[] = {module, source.function, source.file};
  for (int at = 0; at < 3; at++) {
    write_text(file, texts[at]);
    fputc('\t', file);
  }
  fprintf(file, "%d\t%d\n", source.line, is_inlined);
  return slot->number;
}

/// Writes a node; of several functions at its place, one after the other, the last one is the caller of further nodes.
static void write_line(
  FILE *file, uint32_t node, uint32_t parent, struct hw_weight weight, const char *module, struct hw_source source,
  int is_inlined
) {
  uint32_t function = number_of(file, module, source, is_inlined);
  fprintf(
    file, "node\t%u\t%u\t%lld\t%lld\t%lld\t%u\n", node, parent, (long long)weight.live, (long long)weight.touched,
    (long long)weight.sampled, function);
}

/// Whether the debug information of a file is worth reading: that of the C library, of the loader and of interpreters takes
/// longer than all else, and their functions are not named (`FunctionRole`).
static int has_useful_sources(const char *module) {
  static const char *const useless[] = {"libc.so", "ld-", "python3", "libpython3", "libjvm.so", "libnode.so", "libv8"};
  if (!has_sources || strcmp(module, "node") == 0) return 0;
  for (size_t at = 0; at < sizeof useless / sizeof *useless; at++) {
    if (strncmp(module, useless[at], strlen(useless[at])) == 0) return 0;
  }
  return 1;
}

/// Of several functions at its place, the outermost comes first; if `is_inside_out`, the innermost, as in stacks of releases.
static void write_node(
  FILE *file, const struct hw_code *code, uint32_t node, struct hw_weight weight, int is_inside_out
) {
  struct hw_place place = hw_tree_place(node);
  uint32_t parent = hw_tree_parent(node);
  if (place.module == HW_COPY || place.module == HW_RELEASE) {
    const char *name = place.module == HW_COPY ? HW_COPY_NAME : HW_RELEASE_NAME;
    write_line(file, node, parent, weight, "", (struct hw_source){name, "", 0}, 0);
    return;
  }
  if (place.module == HW_SCRIPT) {
    struct hw_python_frame script = hw_script_at(place);
    write_line(file, node, parent, weight, "", (struct hw_source){script.function, script.file, script.line}, 0);
    return;
  }
  const struct hw_source *sources = NULL;
  const char *module = module_name(hw_module_path(place.module));
  int count = has_useful_sources(module) ? hw_sources_at(place, &sources) : 0;
  struct hw_source outer = count > 0 ? sources[0] : (struct hw_source){"", "", 0};
  outer.function = hw_function_at(code, place);
  int last = count > 1 ? count - 1 : 0;
  for (int at = 0; at <= last; at++) {
    int frame = is_inside_out ? last - at : at;
    // Only the last one has memory.
    write_line(
      file, node, at == 0 ? parent : node, at == last ? weight : (struct hw_weight){0}, module,
      frame == 0 ? outer : sources[frame], frame > 0);
  }
}

/// The sums of several processes by node.
struct sums {
  struct hw_weight *weights;
  unsigned char *needed;
  uint32_t count;
};

/// Begins sums of all nodes; 0 if there is no memory for them. They are to be freed in both cases.
static int open_sums(struct sums *sums) {
  sums->count = hw_tree_count();
  sums->weights = calloc(sums->count, sizeof *sums->weights);
  sums->needed = calloc(sums->count, 1);
  return sums->weights != NULL && sums->needed != NULL;
}

static void free_sums(struct sums *sums) {
  free(sums->weights);
  free(sums->needed);
}

static void add_weight(struct sums *sums, struct hw_weight added) {
  struct hw_weight *weight = &sums->weights[added.node];
  weight->live += added.live;
  weight->touched += added.touched;
  weight->sampled += added.sampled;
  for (uint32_t node = added.node; node != HW_NO_STACK && !sums->needed[node]; node = hw_tree_parent(node)) {
    sums->needed[node] = 1;
  }
}

static void add(struct sums *sums, const struct hw_snapshot *snapshot) {
  for (uint32_t at = 0; at < snapshot->count; at++) add_weight(sums, snapshot->weights[at]);
}

/// Writes the nodes that have memory, and their callers, which come first; and begins new sums.
static void write_nodes(FILE *file, const struct hw_code *code, struct sums *sums, int is_inside_out) {
  for (uint32_t node = 1; node < sums->count; node++) {
    if (sums->needed[node]) write_node(file, code, node, sums->weights[node], is_inside_out);
  }
  memset(sums->weights, 0, sums->count * sizeof *sums->weights);
  memset(sums->needed, 0, sums->count);
}

/// Writes the nodes of all members together; of those with generated code, whose addresses each process names
/// differently, one after the other.
static void write_members(FILE *file, const struct group *group) {
  struct sums sums;
  if (open_sums(&sums)) {
    for (size_t at = 0; at < group->count; at++) {
      const struct member *member = &group->members[at];
      if (member->code == NULL || !hw_code_has_perf_map(member->code)) add(&sums, &member->snapshot);
    }
    write_nodes(file, NULL, &sums, 0);
    for (size_t at = 0; at < group->count; at++) {
      const struct member *member = &group->members[at];
      if (member->code == NULL || !hw_code_has_perf_map(member->code)) continue;
      add(&sums, &member->snapshot);
      write_nodes(file, member->code, &sums, 0);
    }
  }
  free_sums(&sums);
}

/// How many processes have a part that matters: others only wait for these.
static int significant_count(const struct group *group) {
  int count = 0;
  for (size_t at = 0; at < group->count; at++) {
    count += group->members[at].snapshot.anonymous >= group->anonymous / 100;
  }
  return count;
}

/// Writes the line with which what processes hold begins.
static void write_head(FILE *file, const struct group *group, const char *moment, unsigned rank, struct hw_snapshot sum) {
  fputs("process\t", file);
  write_text(file, group->command);
  fputc('\t', file);
  write_text(file, group->members[0].snapshot.program);
  fputc('\t', file);
  write_text(file, group->members[0].snapshot.started_as);
  fprintf(
    file, "\t%s\t%u\t%d\t%d\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\n", moment, rank,
    significant_count(group), group->has_blocks, (long long)hw_sampling_interval, (long long)group->allocated,
    (long long)sum.peak, (long long)sum.anonymous, (long long)sum.overhead, (long long)sum.unseen, (long long)sum.library,
    (long long)sum.files, (long long)sum.shared);
}

/// Writes what processes have released together, in nodes of their own.
static void write_releases(FILE *file, const struct group *group) {
  struct sums sums;
  if (group->releases.count == 0) return;
  if (open_sums(&sums)) {
    for (uint32_t at = 0; at < group->releases.capacity; at++) {
      struct hw_released released = group->releases.slots[at];
      if (released.node != 0) add_weight(&sums, (struct hw_weight){.node = released.node, .live = (int64_t)released.bytes});
    }
    write_head(file, group, "releases", 0, (struct hw_snapshot){0});
    write_nodes(file, NULL, &sums, 1);
    fputs("end\n", file);
  }
  free_sums(&sums);
}

/// Writes what processes hold together; `rank` is the place of one of several, or 0.
static void write_group(FILE *file, const struct group *group, const char *moment, unsigned rank) {
  struct hw_snapshot sum = {0};
  for (size_t at = 0; at < group->count; at++) {
    const struct hw_snapshot *snapshot = &group->members[at].snapshot;
    sum.peak += snapshot->peak;
    sum.files = snapshot->files > sum.files ? snapshot->files : sum.files;
    sum.shared = snapshot->shared > sum.shared ? snapshot->shared : sum.shared;
    sum.anonymous += snapshot->anonymous;
    sum.overhead += snapshot->overhead;
    sum.unseen += snapshot->unseen;
    sum.library += snapshot->library;
    sum.objects += snapshot->objects;
  }
  write_head(file, group, moment, rank, sum);
  for (size_t at = 0; at < group->count; at++) {
    const struct hw_snapshot *snapshot = &group->members[at].snapshot;
    fprintf(file, "member\t%d\t%lld\n", (int)snapshot->process, (long long)snapshot->time);
  }
  if (group->go_rate > 0) fprintf(file, "objects\t%lld\t%lld\n", (long long)sum.objects, (long long)group->go_rate);
  else if (group->obstacle != NULL && group->obstacle[0] != '\0') fprintf(file, "objects\t%s\n", group->obstacle);
  write_members(file, group);
  fputs("end\n", file);
}

static int by_size(const void *one, const void *other) {
  const struct member *left = one, *right = other;
  return is_smaller(*left, *right) ? 1 : is_smaller(*right, *left) ? -1 : 0;
}

/// Writes each process of a name that several have had, the largest first.
static void write_single(FILE *file, const struct group *group, const char *moment) {
  struct group one = *group;
  qsort(group->members, group->count, sizeof *group->members, by_size);
  one.count = 1;
  for (size_t at = 0; group->count > 1 && at < group->count && at < MAX_SINGLE; at++) {
    one.members = &group->members[at];
    one.anonymous = one.members->snapshot.anonymous;
    write_group(file, &one, moment, (unsigned)at + 1);
  }
}

static void write_moment(FILE *file, const struct group *group, const char *moment) {
  write_group(file, group, moment, 0);
  if (group->moment != HW_PEAK) write_single(file, group, moment);
}

static int write_groups(int descriptor) {
  int own = dup(descriptor);
  FILE *file = own < 0 ? NULL : fdopen(own, "w");
  if (file == NULL) return EBADF;
  struct hw_moments chosen = hw_chosen_moments();
  const int moments[] = {HW_PEAK, chosen.end, chosen.middle, chosen.early};
  const char *const names[] = {"peak", "end", "middle", "early"};
  for (int at = 0; at < group_count; at++) {
    for (int moment = 0; moment < 4 && groups[at].count > 0; moment++) {
      if (groups[at].moment == moments[moment]) write_moment(file, &groups[at], names[moment]);
    }
    if (groups[at].moment == HW_SINGLE) write_single(file, &groups[at], "peak");
    if (groups[at].moment == HW_PEAK && groups[at].count > 0) write_releases(file, &groups[at]);
  }
  return fclose(file) == 0 ? 0 : errno;
}

/// Writes all in a process of its own, which damaged debug information may end or keep busy; whether that succeeded.
static int write_apart(int descriptor) {
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {MAX_SECONDS, MAX_SECONDS};
    setrlimit(RLIMIT_CPU, &limit);
    _exit(write_groups(descriptor));
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void hw_profile_write(int descriptor) {
  if (write_apart(descriptor)) return;
  has_sources = 0;
  if (ftruncate(descriptor, 0) == 0 && lseek(descriptor, 0, SEEK_SET) == 0) write_groups(descriptor);
}
