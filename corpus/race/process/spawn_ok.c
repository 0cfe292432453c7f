// system, popen, posix_spawn and vfork with exec, from several threads at once: none of them may hang or report.
// expect: nothing
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        int status = -1;
        pid_t child;
        char *argv[] = {"true", 0};
        if (system("true") != 0) abort();
        FILE *f = popen("echo 7", "r");
        char line[8] = "";
        if (!f || !fgets(line, sizeof line, f) || line[0] != '7' || pclose(f) != 0) abort();
        if (posix_spawn(&child, "/bin/true", 0, 0, argv, environ) != 0) abort();
        waitpid(child, &status, 0);
        if (status != 0) abort();
        child = vfork();
        if (child == 0) {
            execve("/bin/true", argv, environ);
            _exit(1);
        }
        waitpid(child, &status, 0);
        if (status != 0) abort();
    }
    return arg;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
