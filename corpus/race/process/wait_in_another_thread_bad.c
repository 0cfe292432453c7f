// One thread starts a child and then writes; another waits for that child and reads. The child's
// end says nothing about what its parent did after the fork.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int late;

static void *start(void *unused) {
    if (fork() == 0) _exit(0);
    late = 1;               // expect: data-race write #1
    return unused;
}

int main(void) {
    late = 0;
    pthread_t thread;
    pthread_create(&thread, 0, start, 0);
    while (waitpid(-1, 0, 0) <= 0) usleep(1000);
    printf("%d\n", late);    // expect: data-race read #1
    pthread_join(thread, 0);
    return 0;
}
