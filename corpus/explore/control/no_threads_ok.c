// expect: nothing
// A program without any thread but main: one schedule, and raddle says so.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
    pthread_mutex_lock(&mu);
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += i;
    pthread_mutex_unlock(&mu);
    assert(sum == 45);
    return 0;
}
