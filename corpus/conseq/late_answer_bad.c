// expect: assertion
// Asks another thread and takes the answer as given when it has waited for a tenth of a second in
// all. On a busy machine the other one needs longer.
#include <assert.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
int answer;

void *answers(void *arg) {
    pthread_mutex_lock(&lock);
    answer = 42;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, answers, 0);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 2 && answer == 0; i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&answered, &lock, &until);
    }
    assert(answer == 42);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
