// expect: nothing
//@ explored only
// An hour's sleep passes in no time, in virtual time; run without raddle it would take the hour.
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

void *sleeper(void *arg) {
    assert(sleep(3600) == 0);
    return arg;
}

int main(void) {
    time_t start = time(0);
    pthread_t a, b;
    pthread_create(&a, 0, sleeper, 0);
    pthread_create(&b, 0, sleeper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(time(0) - start >= 3600);
    return 0;
}
