// Each of two threads starts a child and waits for its own. That orders nothing between the threads.
// The relaxed atomic makes the second write the later one, and orders nothing either.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static int config;
static atomic_int has_waited;

static void start_and_wait(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, 0, 0);
}

static void *first(void *unused) {
    config = 1;                 // expect: data-race write #1
    start_and_wait();
    atomic_store_explicit(&has_waited, 1, memory_order_relaxed);
    return unused;
}

static void *second(void *unused) {
    while (!atomic_load_explicit(&has_waited, memory_order_relaxed)) usleep(1000);
    start_and_wait();
    siginfo_t nobody;
    waitid(P_ALL, 0, &nobody, WEXITED | WNOHANG);
    config = 2;                 // expect: data-race write #1
    return unused;
}

int main(void) {
    config = 7;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return config == 7;
}
