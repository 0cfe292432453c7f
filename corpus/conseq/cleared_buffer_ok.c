// expect: nothing
// The twin of cleared_buffer_bad.c: one lock around both looks, and around the call.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct {
    int id;
    char name[40];
    int valid;
} record = { 7, "a", 1 };
size_t size = sizeof record;
int used;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *use(void *arg) {
    pthread_mutex_lock(&lock);
    if (record.valid) {
        used++;
        assert(record.valid == 1);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

void *clear(void *arg) {
    pthread_mutex_lock(&lock);
    memset(&record, 0, size);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, clear, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
