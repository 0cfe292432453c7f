// expect: nothing
// A child that the program has forked ends by `quick_exit`, with its own status, after handlers that
// both have.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int ended;

static void counts(void) { ended++; }

static void *does(void *nothing) { return nothing; }

int main(void)
{
    pthread_t thread;
    int status;
    at_quick_exit(counts);
    pthread_create(&thread, 0, does, 0);
    pid_t child = fork();
    if (child == 0)
        quick_exit(3);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
        abort();
    pthread_join(thread, 0);
    return 0;
}
