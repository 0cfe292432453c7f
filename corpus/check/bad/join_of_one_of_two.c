// Which of two threads is joined first a function of another library knows. Both do the same, so
// the other one still runs, whichever it was.
#include <pthread.h>

extern pthread_t thread_of(int which);
extern void keep(int which, pthread_t thread);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *run(void *arg) {
    pthread_mutex_lock(&lock);
    done++; // expect: data-race #1
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        pthread_create(&t, 0, run, 0);
        keep(i, t);
    }
    pthread_join(thread_of(0), 0);
    done++; // expect: data-race #1
    pthread_join(thread_of(1), 0);
    return done;
}
