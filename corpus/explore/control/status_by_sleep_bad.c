// expect: exit-status
//@ bound: 1
//@ options: --strategy dfs
// The first run, in real time, ends with 3, and so does the first schedule: what looks usual is the failure.
// Fails when: main looks before the worker has stored.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_int is_done;

void *worker(void *arg) {
    usleep(100000);
    atomic_store(&is_done, 1);
    return arg;
}

int main(void) {
    pthread_t w;
    pthread_create(&w, 0, worker, 0);
    int sees = atomic_load(&is_done);
    pthread_join(w, 0);
    return sees ? 0 : 3;
}
