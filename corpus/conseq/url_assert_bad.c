// expect: assertion
// After Mozilla (figure 1c of the paper): two variables that belong together, each access under the lock, and the two not together.
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
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    in_progress = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

void *ui(void *arg) {
    pthread_mutex_lock(&lock);
    int busy = in_progress;
    pthread_mutex_unlock(&lock);
    if (busy) {
        pthread_mutex_lock(&lock);
        const char *url = running_url;
        pthread_mutex_unlock(&lock);
        assert(url != 0);
    }
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
