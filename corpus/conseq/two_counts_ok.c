// expect: nothing
// The twin of two_counts_bad.c: both counts under the lock. The second is always the last that is written of their word, which says nothing
// about the first.
#include <assert.h>
#include <pthread.h>

struct {
    int requests;
    int replies;
} __attribute__((aligned(8))) counts;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *serve(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        counts.requests++;
        counts.replies++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, serve, 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    assert(counts.requests == 8);
    assert(counts.replies == 8);
    return 0;
}
