// expect: nothing
// The same with a count under a lock: what is printed depends on who comes first, and nothing is wrong with it.
#include <pthread.h>
#include <stdio.h>

static int done;
static const char *last = "nobody";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        done++;
        last = arg;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, "a");
    pthread_create(&b, 0, work, "b");
    pthread_mutex_lock(&lock);
    printf("%d so far, %s was last\n", done, last);
    pthread_mutex_unlock(&lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%d in all, %s was last\n", done, last);
    return 0;
}
