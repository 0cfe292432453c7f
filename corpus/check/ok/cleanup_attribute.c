// A lock guard with GCC's cleanup attribute.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void unlock(pthread_mutex_t **m) { pthread_mutex_unlock(*m); }
#define GUARD(m) __attribute__((cleanup(unlock))) pthread_mutex_t *guard_ = (pthread_mutex_lock(m), (m))

static int add(int n) {
    GUARD(&lock);
    if (n > 3)
        return -1;
    count += n;
    return count;
}

static void *worker(void *arg) {
    for (int i = 0; i < 6; i++)
        add(i);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
