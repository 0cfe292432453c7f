// What is done after a child was made is not ordered with who reads what the child writes, nor is
// what was done before with who reads what a thread of the process has written.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static int from_child[2], from_thread[2];
static int after, before;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void reached(int n) { atomic_store_explicit(&step, n, memory_order_relaxed); }
static void until(int n) {
    while (atomic_load_explicit(&step, memory_order_relaxed) < n) usleep(100);
}

static void *reads(void *arg) {
    char c;
    if (read(from_child[0], &c, 1) != 1) return 0;
    until(1);
    after++;                                            // expect: data-race #1
    reached(2);
    return arg;
}

static void *writes(void *arg) { return write(from_thread[1], "x", 1) == 1 ? arg : 0; }

static void *reads_thread(void *arg) {
    char c;
    until(1);
    if (read(from_thread[0], &c, 1) != 1) return 0;
    before++;                                           // expect: data-race #2
    return arg;
}

// Two threads touch the variables before the race: `fast` forgets what one alone has touched.
static void *touches(void *arg) {
    after = before = 0;
    return arg;
}

int main(void) {
    pthread_t t[3];
    pthread_t first;
    if (pthread_create(&first, 0, touches, 0) || pthread_join(first, 0)) return 1;
    after = before = 0;
    if (pipe(from_child) || pipe(from_thread)) return 1;
    pthread_create(&t[0], 0, reads, 0);
    pthread_create(&t[1], 0, reads_thread, 0);
    pthread_create(&t[2], 0, writes, 0);
    pthread_join(t[2], 0);
    before++;                                           // expect: data-race #2
    pid_t child = fork();
    if (child == 0) _exit(write(from_child[1], "x", 1) != 1);
    after++;                                            // expect: data-race #1
    reached(1);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    waitpid(child, 0, 0);
    return 0;
}
