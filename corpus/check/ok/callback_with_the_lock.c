// The callback takes the thread's lock. It is handed over while that is held, and called later; another is kept for the end.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
extern void on_event(void (*f)(void));
extern void on_cleanup(void (*f)(void));

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return arg;
}

static void callback(void) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
}

static void at_the_end(void) { n = 0; }

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_lock(&m);
    on_event(callback);
    on_cleanup(at_the_end);
    pthread_mutex_unlock(&m);
    on_event(callback);
    on_cleanup(at_the_end);
    pthread_join(t, NULL);
    return 0;
}
