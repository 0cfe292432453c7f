// One thread starts a child and then writes; another waits for that child and reads. The child's
// end says nothing about what its parent did after the fork. The relaxed atomic makes main the
// second, and orders nothing.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int late;
static atomic_int has_written;

static void *start(void *unused) {
    if (fork() == 0) _exit(0);
    late = 1;                   // expect: data-race write #1
    atomic_store_explicit(&has_written, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    late = 7;
    pthread_t thread;
    pthread_create(&thread, 0, start, 0);
    while (waitpid(-1, 0, 0) <= 0) usleep(1000);
    while (!atomic_load_explicit(&has_written, memory_order_relaxed)) usleep(1000);
    printf("%d\n", late);       // expect: data-race read #1
    pthread_join(thread, 0);
    return 0;
}
