// Tasks and sections that take two locks in opposite orders, and that something keeps apart: a
// wait, a group, a dependence, a barrier, their creation, or a lock around both.
// expect: nothing
//@ flags: -O1 -fopenmp
#include <pthread.h>

typedef struct {
    pthread_mutex_t a, b;
} Pair;

static Pair pairs[8];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
int shared; // not static: clang would remove what nobody reads

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void forth(int i) { both(&pairs[i].a, &pairs[i].b); }

static void back(int i) { both(&pairs[i].b, &pairs[i].a); }

static void tasks(void) {
    int x = 0;
#pragma omp task
    forth(0);
#pragma omp taskwait
#pragma omp task
    back(0);

#pragma omp taskgroup
    {
#pragma omp task
        forth(1);
    }
#pragma omp task
    back(1);

#pragma omp task depend(out : x)
    forth(2);
#pragma omp task depend(in : x)
    back(2);
#pragma omp taskwait

    for (int i = 0; i < 2; i++) {
#pragma omp task
        {
            pthread_mutex_lock(&gate);
            if (i) back(3); else forth(3);
            pthread_mutex_unlock(&gate);
        }
    }

    forth(4);
#pragma omp task
    back(4);

#pragma omp task
    {
        forth(5);
#pragma omp task
        back(5);
    }
#pragma omp taskwait
}

int main(void) {
    for (int i = 0; i < 8; i++) {
        pthread_mutex_init(&pairs[i].a, 0);
        pthread_mutex_init(&pairs[i].b, 0);
    }
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp master
            tasks();
#pragma omp barrier
#pragma omp master
            {
#pragma omp task
                forth(6);
            }
#pragma omp barrier
#pragma omp master
            {
#pragma omp task
                back(6);
            }
        }
#pragma omp parallel sections num_threads(2)
        {
#pragma omp section
            forth(7);
        }
    }
    return shared == 7;
}
