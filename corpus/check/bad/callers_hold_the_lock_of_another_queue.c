// The caller of `start` holds the lock of one queue, the thread that of another one. Both locks are
// the same member of the same type.
#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    int length;
};

static struct queue incoming = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct queue outgoing = {PTHREAD_MUTEX_INITIALIZER, 0};
static int messages, is_open;

void open_queues(void) {
    is_open = 1;
}

static void *deliver(void *arg) {
    pthread_mutex_lock(&outgoing.lock);
    messages--; // expect: data-race #1
    pthread_mutex_unlock(&outgoing.lock);
    return arg;
}

static void start(void) {
    pthread_t t;
    if (pthread_create(&t, NULL, deliver, NULL) == 0)
        messages++; // expect: data-race #1
}

int main(void) {
    if (is_open) {
        pthread_mutex_lock(&incoming.lock);
        start();
        pthread_mutex_unlock(&incoming.lock);
    }
    return 0;
}
