// What was done before a process was made comes before what that process writes, also for a thread that was there already:
// fork, popen and posix_spawn.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int by_fork[2], by_popen[2], by_spawn[2];
static int data[3];

static void *reads(void *arg) {
    char c;
    if (read(by_fork[0], &c, 1) == 1) data[0]++;
    if (read(by_popen[0], &c, 1) == 1) data[1]++;
    if (read(by_spawn[0], &c, 1) == 1) data[2]++;
    return arg;
}

int main(void) {
    pthread_t t;
    char command[64];
    if (pipe(by_fork) || pipe(by_popen) || pipe(by_spawn)) return 1;
    pthread_create(&t, 0, reads, 0);
    usleep(1000);

    data[0] = 1;
    pid_t child = fork();
    if (child == 0) _exit(write(by_fork[1], "x", 1) != 1);
    data[1] = 1;
    snprintf(command, sizeof command, "echo >&%d", by_popen[1]);
    FILE *f = popen(command, "r");
    data[2] = 1;
    snprintf(command, sizeof command, "echo >&%d", by_spawn[1]);
    char *argv[] = {"sh", "-c", command, 0};
    pid_t other;
    if (!f || posix_spawn(&other, "/bin/sh", 0, 0, argv, environ)) return 1;

    pthread_join(t, 0);
    pclose(f);
    waitpid(child, 0, 0);
    waitpid(other, 0, 0);
    return 0;
}
