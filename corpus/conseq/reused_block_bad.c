// expect: use-after-free
// A block is freed and the next allocation gets it again at once: whoever still has the old pointer mostly finds memory that is in use again.
#include <pthread.h>
#include <stdlib.h>

struct job {
    long number;
    long state;
};
struct job *current;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    struct job *mine = current;
    pthread_mutex_unlock(&lock);
    mine->state = 1;
    return arg;
}

void *replace(void *arg) {
    struct job *next = malloc(sizeof *next);
    next->number = 2;
    next->state = 0;
    pthread_mutex_lock(&lock);
    struct job *old = current;
    current = next;
    pthread_mutex_unlock(&lock);
    free(old);
    struct job *another = malloc(sizeof *another);
    another->state = 0;
    free(another);
    return arg;
}

int main(void) {
    current = malloc(sizeof *current);
    current->number = 1;
    current->state = 0;
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, replace, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    free(current);
    return 0;
}
