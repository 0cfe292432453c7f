// expect: assertion
// A name and its first letter are kept in two places. One thread copies a new name with strcpy, another looks at both in between.
#include <assert.h>
#include <pthread.h>
#include <string.h>

char name[16] = "alice";
char initial = 'a';
const char *volatile next = "bob";
int looks;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *look(void *arg) {
    if (initial == 'a') {
        pthread_mutex_lock(&lock);
        looks++;
        pthread_mutex_unlock(&lock);
        assert(name[0] == 'a');
    }
    return arg;
}

void *rename_it(void *arg) {
    strcpy(name, next);
    initial = 'b';
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
