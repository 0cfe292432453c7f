// What is handed to a function that nobody defines may be called; it takes another lock than the thread does.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
extern void on_event(void (*f)(void));

static void *worker(void *arg) {
    pthread_mutex_lock(&a);
    n++; // expect: data-race #1
    pthread_mutex_unlock(&a);
    return arg;
}

static void callback(void) {
    pthread_mutex_lock(&b);
    n++; // expect: data-race #1
    pthread_mutex_unlock(&b);
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    on_event(callback);
    pthread_join(t, NULL);
    return 0;
}
