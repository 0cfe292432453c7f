// expect: assertion
// A thread clears a whole record by one call while another is between two looks at its last field.
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
    if (record.valid) {
        pthread_mutex_lock(&lock);
        used++;
        pthread_mutex_unlock(&lock);
        assert(record.valid == 1);
    }
    return arg;
}

void *clear(void *arg) {
    memset(&record, 0, size);
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
