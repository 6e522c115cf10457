/// Shows a target another number of CPUs than the machine has (`hw_plan.cpu_count`); not exported.
///
/// A seccomp filter hands the few calls by which a program learns the number to the supervisor, which answers them itself:
/// sched_getaffinity(2), sched_setaffinity(2), and the opening of files to read (SECCOMP_RET_USER_NOTIF, seccomp(2)). It
/// needs no tracer, no right to mount, and changes nothing in the memory of the target.

#ifndef HW_CPUS_H
#define HW_CPUS_H

#include <sys/types.h>

/// Installs the filter in the process that is about to execute the program, and sends its listener through a socket;
/// 0, or -1 and errno. Makes system calls only.
int hw_cpus_install(int socket);

/// Takes the listener out of the pair of sockets after the exec, and closes them; -1 if there is none.
int hw_cpus_accept(int sockets[2], pid_t program);

/// Answers one call; 0 if the listener is of no use any longer.
int hw_cpus_serve(int listener, int count);

/// Whether a thread has restricted itself to some of the CPUs that exist: then it sees those.
int hw_cpus_are_restricted(pid_t thread);

/// A file with what `path` would have on a machine with so many CPUs, for the thread that opens it; -1 if it does not
/// depend on them.
int hw_cpus_open(const char *path, pid_t thread, int count);

#endif
