// expect: nothing
//@ options: --strategy dfs
// It ends with 3 in every schedule, as programs do that were skipped.
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
    return sees >= 0 ? 3 : 0;
}
