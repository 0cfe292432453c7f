// One thread writes and starts a child; another waits for that child and reads. The end of a child
// comes after its beginning, so what was written before is seen after.
// expect: nothing
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int before_fork, before_spawn;

static void *start(void *unused) {
    before_fork = 1;
    if (fork() == 0) _exit(0);
    before_spawn = 1;
    char *words[] = {"true", 0};
    pid_t child;
    if (posix_spawnp(&child, "true", 0, 0, words, environ)) perror("true");
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, start, 0);
    // There is no child at first, and the writes are ordered by nothing else.
    for (int seen = 0; seen < 2;) {
        if (waitpid(-1, 0, 0) > 0) seen++;
        else usleep(1000);
    }
    printf("%d %d\n", before_fork, before_spawn);
    pthread_join(thread, 0);
    return 0;
}
