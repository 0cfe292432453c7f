// expect: nothing
// Asks another thread and waits for ten seconds in all. The scheduler lets both waits time out, but
// no thread stands still for so long while it could go on: this is no finding, and the suspect is
// not confirmed.
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
        until.tv_sec += 5;
        pthread_cond_timedwait(&answered, &lock, &until);
    }
    assert(answer == 42);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
