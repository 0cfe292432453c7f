// One thread runs both tasks, which take two locks in opposite orders, since the other comes to no
// place where it could take one. Nothing in the program orders the tasks.
//@ flags: -O1 -fopenmp
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
int shared; // not static: clang would remove what nobody reads
static atomic_int done; // relaxed: fixes the order of the run, synchronises nothing

static void forth(void) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // expect: lock-order #1
    shared++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
}

static void back(void) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); // expect: lock-order #1
    shared++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
}

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
#pragma omp task
            forth();
#pragma omp task
            back();
#pragma omp taskwait
            atomic_store_explicit(&done, 1, memory_order_relaxed);
        }
        while (!atomic_load_explicit(&done, memory_order_relaxed)) usleep(100);
    }
    return shared == 7;
}
