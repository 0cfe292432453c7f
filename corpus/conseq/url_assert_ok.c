// expect: nothing
// The twin of url_assert_bad.c: the two variables change, and are looked at, together.
#include <assert.h>
#include <pthread.h>

const char *running_url;
int in_progress;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *loader(void *arg) {
    pthread_mutex_lock(&lock);
    in_progress = 1;
    running_url = "imap://inbox";
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    running_url = 0;
    in_progress = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

void *ui(void *arg) {
    pthread_mutex_lock(&lock);
    if (in_progress)
        assert(running_url != 0);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, loader, 0);
    pthread_create(&b, 0, ui, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
