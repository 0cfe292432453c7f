// One thread runs tasks that use what belongs to the thread, and then tasks that share a variable without asking which thread they
// run on, or that ask only for its id, as a log does. The later ones get the logical threads of the earlier ones.
//@ flags: -O1 -fopenmp
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static _Thread_local struct {
    _Alignas(64) long n;
} own[60]; // a line for each task, so that it has one owner
static pthread_key_t key;
long shared = 1, logged;
static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

int main(void) {
    pthread_key_create(&key, 0);
    shared = logged = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
            for (int i = 0; i < 60; i++) {
#pragma omp task firstprivate(i)
                {
                    own[i].n++;
                    pthread_setspecific(key, pthread_getspecific(key));
                }
            }
#pragma omp taskwait
            for (int i = 0; i < 60; i++) {
#pragma omp task
                shared++; // expect: data-race #1
#pragma omp task
                {
                    pthread_t id = pthread_self();
                    (void)id;
                    logged++; // expect: data-race #2
                }
            }
#pragma omp taskwait
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return shared == 60 ? 0 : 1;
}
