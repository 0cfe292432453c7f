// expect: nothing
// More steps than an execution gets at first, all of them work.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int n;

void *adds(void *arg) {
    for (int i = 0; i < 8000; i++) {
        pthread_mutex_lock(&mu);
        n++;
        pthread_mutex_unlock(&mu);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 16000);
    return 0;
}
