/// Reads the kernel's text files for LaunchReason.
///
/// In C, because Swift's string processing (splitting, searching, parsing numbers) made a program that records its
/// launches load 0.9 MiB of the standard library that it did not need otherwise (Linux 6.18, Swift 6.3.1, 2026-11).
/// Nothing here allocates. If a file is given by its folder and its name, the name begins with a slash. A string that
/// does not fit into its buffer is cut, and always ends with a NUL.

#ifndef HW_FILES_H
#define HW_FILES_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin
// Hidden symbols are only linked if they are called.
#pragma GCC visibility push(hidden)

/// A word of the first line that begins with the word `key`, or of the first line if `key` is NULL.
///
/// @return The length of the word; 0 if there is none, or the file cannot be read.
size_t hw_file_word(const char *folder, const char *name, const char *_Nullable key, size_t index, char *word,
                    size_t size);

/// A number in the first line that begins with the word `key`, or in the first line if `key` is NULL.
///
/// @return Whether there is one.
int hw_file_number(const char *folder, const char *name, const char *_Nullable key, size_t index, uint64_t *number);

/// The inode of a file or folder; 0 if there is none, or `folder` is empty.
uint64_t hw_inode(const char *folder, const char *name);

/// The name of the operating system (`PRETTY_NAME` in os-release(5)) and a digest of the whole file, because a point
/// release often keeps the name: 64 bits of FNV-1a (RFC 9923, section 6.2).
///
/// @return The length; 0 if the file cannot be read.
size_t hw_os_release(const char *path, char *release, size_t size);

/// The share of the last ten seconds in which all tasks of a cgroup waited for memory, in percent; of the machine if
/// `folder` is `/proc` (Documentation/accounting/psi.rst).
///
/// @return Whether the kernel reports it.
int hw_pressure(const char *folder, double *share);

/// The pid and the start time, in clock ticks since boot, of the process with that folder (proc_pid_stat(5)).
///
/// @return Whether the process exists and is not a zombie.
int hw_process_identity(const char *folder, int32_t *pid, uint64_t *start);

/// Whether a process with this pid and start time is alive; another process with the same pid has another start time.
///
/// @param proc The folder `/proc`.
int hw_process_lives(const char *proc, int32_t pid, uint64_t start);

/// Whether a process with this pid lives that has a session of its own, as after daemon(3), and did not start before
/// `since`, in clock ticks since boot.
int hw_session_leader_lives(const char *proc, int32_t pid, uint64_t since);

/// The folder of a process's memory cgroup, version 1 or 2 (cgroups(7), Documentation/admin-guide/cgroup-v2.rst).
///
/// @param own The process's folder in `/proc`, with `cgroup` and `mountinfo`.
/// @return The length; 0 if no hierarchy with the memory controller is visible.
size_t hw_memory_cgroup(const char *own, char *folder, size_t size);

/// The lowest limit of a memory cgroup and its visible ancestors, in bytes.
///
/// @return Whether there is one.
int hw_memory_limit(const char *folder, uint64_t *limit);

/// How many processes of the cgroup the OOM killer has killed, because of a limit or of the machine; it only rises.
///
/// @return Whether the kernel counts them.
int hw_oom_kills(const char *folder, uint64_t *kills);

/// The kind of OOM kill of a process in a record of the kernel's log, such as
/// `3,2105,11614702880,-;Memory cgroup out of memory: Killed process 645 (python3) …` (mm/oom_kill.c).
///
/// @param since The sequence number of the newest record when the process started; earlier ones are of another process.
/// @return 0 if the record does not name the process, 1 for the limit of a cgroup, 2 for the memory of the machine.
int hw_log_record_kill(const char *record, size_t length, int32_t pid, uint64_t since);

/// What the kernel's log knows about a process.
struct hw_log {
  /// Whether it has any record that may be read.
  int is_readable;
  /// Whether it still has all records since the process was last known to be alive.
  int is_complete;
  /// As of `hw_log_record_kill`.
  int kind;
  /// The sequence number of the newest record.
  uint64_t newest;
};

/// Searches a whole log such as `/dev/kmsg` (Documentation/ABI/testing/dev-kmsg).
///
/// @param alive A time at which the process was alive, in microseconds of the log's clock.
struct hw_log hw_log_search(const char *path, int32_t pid, uint64_t since, uint64_t alive);

/// The file name of the program, without the ` (deleted)` that the kernel appends if the file was replaced.
size_t hw_program_name(char *name, size_t size);

/// The path of a program's launch record: `FOLDER/INSTANCE.launch`, with `_` for other bytes of the instance's first
/// 100 than letters, digits, `.`, `_` and `-`; further files for instances at the same time are `FOLDER/INSTANCE+N.launch`.
///
/// @param folder By default `highwater` in the first of `$STATE_DIRECTORY` (systemd.exec(5)), `$XDG_STATE_HOME` and
///               `~/.local/state` that is an absolute path.
/// @param instance By default the program's file name.
/// @param number 0 for the first file.
/// @return The length; 0 if no folder can be determined.
size_t hw_record_path(const char *_Nullable folder, const char *_Nullable instance, unsigned number, char *path,
                      size_t size);

/// Opens the file of a launch record; a link is not followed.
///
/// @return The descriptor, or -1 with `errno`.
int hw_record_open(const char *path);

/// Creates an empty file for a launch record, accessible to its user only and locked with flock(2).
///
/// It is locked before it has a name, so that no other process that starts now takes it for a damaged record; where the
/// file system has no unnamed files (`O_TMPFILE` in open(2)), right after that.
///
/// @return The descriptor, or -1 with `errno`: `EEXIST` if another process has just created or locked it.
int hw_record_create(const char *path);

/// Whether the program is a unit test host (XCTest, Swift Testing), by its name.
int hw_is_test_host(void);

/// A random number, to distinguish runs.
uint32_t hw_random(void);

/// Creates the missing folders of a path, accessible to their user only.
///
/// @param failed Receives the folder that could not be created.
/// @return 0, or an error number.
int hw_make_folders(const char *path, char *failed, size_t size);

#pragma GCC visibility pop
#pragma clang assume_nonnull end

#endif
