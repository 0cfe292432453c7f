// expect: assertion
// A queue is closed up with memmove under a lock, and its length is taken down only afterwards, under the lock again: a reader in between finds
// an element twice.
#include <assert.h>
#include <pthread.h>
#include <string.h>

int queue[8] = { 1, 2, 3, 4 };
int length = 4;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *take(void *arg) {
    pthread_mutex_lock(&lock);
    memmove(queue, queue + 1, (length - 1) * sizeof *queue);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    length--;
    pthread_mutex_unlock(&lock);
    return arg;
}

void *check(void *arg) {
    pthread_mutex_lock(&lock);
    int last = length - 1;
    assert(queue[last] != queue[last - 1]);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, check, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
