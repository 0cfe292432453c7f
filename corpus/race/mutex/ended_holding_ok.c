// Threads that end with a lock in ways that are right: a robust mutex, whose next owner is told; a mutex that a cleanup
// handler or the destructor of a thread's variable releases; one that is freed with its object; a
// spinlock, which has no owner; and a mutex that `main` holds when the process ends.
// `ended_holding_bad.c` is the twin.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t robust, cleaned = PTHREAD_MUTEX_INITIALIZER, last = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
pthread_key_t key;
pthread_spinlock_t spin;

void unlock(void *mutex) {
    pthread_mutex_unlock(mutex);
}

void *owner(void *arg) {
    pthread_mutex_lock(&robust);
    return arg;
}

void *frees(void *arg) {
    pthread_mutex_t *own = malloc(sizeof *own);
    pthread_mutex_init(own, NULL);
    pthread_mutex_lock(own);
    free(own);
    pthread_spin_lock(&spin);
    return arg;
}

void *leaves(void *arg) {
    pthread_mutex_lock(&last);
    pthread_setspecific(key, &last);
    pthread_mutex_lock(&cleaned);
    pthread_cleanup_push(unlock, &cleaned);
    pthread_exit(arg);
    pthread_cleanup_pop(0);
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    pthread_key_create(&key, unlock);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_t a, b, c;
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, leaves, 0);
    pthread_create(&c, 0, frees, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    if (pthread_mutex_lock(&robust) != EOWNERDEAD) return 1;
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    if (pthread_mutex_lock(&last) != 0 || pthread_mutex_lock(&cleaned) != 0) return 2;
    pthread_mutex_unlock(&cleaned);
    pthread_mutex_unlock(&last);
    pthread_mutex_lock(&held);
    return 0;
}
