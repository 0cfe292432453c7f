// expect: nothing
// The twin of copied_name_bad.c: one lock around both.
#include <assert.h>
#include <pthread.h>
#include <string.h>

char name[16] = "alice";
char initial = 'a';
const char *volatile next = "bob";
int looks;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *look(void *arg) {
    pthread_mutex_lock(&lock);
    if (initial == 'a') {
        looks++;
        assert(name[0] == 'a');
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

void *rename_it(void *arg) {
    pthread_mutex_lock(&lock);
    strcpy(name, next);
    initial = 'b';
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, look, 0);
    pthread_create(&b, 0, rename_it, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
