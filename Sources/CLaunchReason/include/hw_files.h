/// What LaunchReason reads of the kernel's small files and writes into none.
///
/// In C, since Swift's way with texts (splitting, searching, reading numbers) made a program that records its launches
/// touch 0.9 MiB of code of the standard library that it needed for nothing else (Linux 6.18, Swift 6.3.1, 2026-11).
/// Nothing here allocates. Where a file is given by its folder and its name in it, the name begins with a slash. A text that has no room in its place is cut, and ends with a NUL always.

#ifndef HW_FILES_H
#define HW_FILES_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin
// What is not exported is not linked where nothing calls it.
#pragma GCC visibility push(hidden)

/// A word of a file's first line that begins with the word `key`; of its first line at all where that is NULL.
///
/// @return The word's length; 0 where there is none, or the file cannot be read.
size_t hw_file_word(const char *folder, const char *name, const char *_Nullable key, size_t index, char *word,
                    size_t room);

/// A number of a file's first line that begins with the word `key`; of its first line at all where that is NULL.
///
/// @return Whether there is one.
int hw_file_number(const char *folder, const char *name, const char *_Nullable key, size_t index, uint64_t *number);

/// The name of the operating system (`PRETTY_NAME` in os-release(5)) and a digest of the whole file, since a point
/// release often keeps the name: 64 bits of FNV-1a (RFC 9923, section 6.2).
///
/// @return Its length; 0 where the file cannot be read.
size_t hw_os_release(const char *path, char *release, size_t room);

/// The share of the last ten seconds in which all tasks of a cgroup waited for memory, in percent; of the machine,
/// where `folder` is `/proc` (Documentation/accounting/psi.rst).
///
/// @return Whether the kernel tells one.
int hw_pressure(const char *folder, double *share);

/// The pid and start, in clock ticks since boot, of the process with that folder, if it is no zombie
/// (proc_pid_stat(5)).
///
/// @return Whether there is one.
int hw_process_identity(const char *folder, int32_t *pid, uint64_t *start);

/// Whether a process with this pid and start lives; one that was given the same pid since has another start.
///
/// @param proc The folder `/proc`.
int hw_process_lives(const char *proc, int32_t pid, uint64_t start);

/// The folder of a process's memory cgroup, version 1 or 2 (cgroups(7), Documentation/admin-guide/cgroup-v2.rst).
///
/// @param own The process's folder in `/proc`, with `cgroup` and `mountinfo`.
/// @return Its length; 0 where no hierarchy that counts memory can be seen.
size_t hw_memory_cgroup(const char *own, char *folder, size_t room);

/// The lowest limit of a memory cgroup and of those above it that can be seen, in bytes.
///
/// @return Whether there is one.
int hw_memory_limit(const char *folder, uint64_t *limit);

/// How many processes of the cgroup were killed for want of memory, by any limit or by the machine's; it only rises.
///
/// @return Whether that is counted.
int hw_oom_kills(const char *folder, uint64_t *kills);

/// Whose want of memory a process was killed for, as a record of the kernel's log tells, such as
/// `3,2105,11614702880,-;Memory cgroup out of memory: Killed process 645 (python3) …` (mm/oom_kill.c).
///
/// Records that programs wrote themselves are not believed: they have another facility than the kernel's, which is 0.
///
/// @param since In microseconds since boot; what was logged before is of another process.
/// @return 0 where the record tells nothing of it, 1 for the limit of a cgroup, 2 for the machine's memory.
int hw_log_record_kill(const char *record, size_t length, int32_t pid, uint64_t since);

/// The same of a whole log, as `/dev/kmsg` gives it (Documentation/ABI/testing/dev-kmsg).
int hw_log_kill(const char *path, int32_t pid, uint64_t since);

/// The file name of the program; after an upgrade under way the kernel appends ` (deleted)`, which is no part of it.
size_t hw_program_name(char *name, size_t room);

/// The path of a program's launch record: `FOLDER/INSTANCE.launch`, with `_` for other bytes of the instance's first
/// 100 than letters, digits, `.`, `_` and `-`.
///
/// @param folder By default `highwater` in the first of `$STATE_DIRECTORY` (systemd.exec(5)), `$XDG_STATE_HOME` and
///               `~/.local/state`.
/// @param instance By default the program's file name.
/// @return Its length; 0 where no folder can be found.
size_t hw_record_path(const char *_Nullable folder, const char *_Nullable instance, char *path, size_t room);

/// Opens the file of a launch record, made where it is missing, for its user only; a link is not followed.
///
/// @return Its descriptor, or -1 with `errno`.
int hw_record_open(const char *path);

/// Whether the program is a host of unit tests (XCTest, Swift Testing), as its name says.
int hw_is_test_host(void);

/// A number that nobody can foresee, for telling one run from another.
uint32_t hw_random(void);

/// Makes the folders above a path that are missing, for their user only.
///
/// @param failed Gets the folder that could not be made.
/// @return 0, or an error number.
int hw_make_folders(const char *path, char *failed, size_t room);

#pragma GCC visibility pop
#pragma clang assume_nonnull end

#endif
