// A condition that was stored in a bool, a byte or a bit is the condition.
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int g;
extern int opt(void);
struct flags { bool on; unsigned char byte; unsigned bit : 1; };

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    g++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    struct flags f, copy;
    int i = opt();
    f.on = i > 3;
    f.byte = i > 3;
    f.bit = i > 3;
    copy = f;
    if (f.on) pthread_mutex_lock(&m);
    if (i > 5) g++;
    if (copy.byte == 1) pthread_mutex_unlock(&m);
    if (copy.on) pthread_mutex_lock(&m);
    if (i == 4) g++;
    if (f.bit) pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
