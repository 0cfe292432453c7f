// The ordinary initialiser makes a mutex that may not be taken twice; the first unlock of a recursive one releases nothing.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(&plain); // expect: double-lock #1
    pthread_mutex_lock(&plain); // expect: double-lock #1
    return 0;
}
