// expect: nothing
// A memset of constant size, which gcc would expand, under the lock of the fields that it clears.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static struct {
    int length, sum, spare[2];
} queue = {3, 3, {0}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reset(void *arg) {
    pthread_mutex_lock(&lock);
    memset(&queue, 0, sizeof queue);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *use(void *arg) {
    pthread_mutex_lock(&lock);
    int length = queue.length;
    int sum = queue.sum;
    pthread_mutex_unlock(&lock);
    assert(length == sum);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, reset, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
