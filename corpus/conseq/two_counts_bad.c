// expect: assertion
// Two counts in one word, of which only the second is counted under the lock: the first loses a request.
#include <assert.h>
#include <pthread.h>

struct {
    int requests;
    int replies;
} __attribute__((aligned(8))) counts;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *serve(void *arg) {
    for (int i = 0; i < 2; i++) {
        counts.requests++;
        pthread_mutex_lock(&lock);
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
