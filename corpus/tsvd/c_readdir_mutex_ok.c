// expect: nothing
// The right twin of c_readdir_bad: a lock around the stream and the entry it returns.
#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include "work.h"

static DIR *folder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned long next_name(void) {
    pthread_mutex_lock(&lock);
    struct dirent *entry = readdir(folder);
    unsigned long n = entry ? strlen(entry->d_name) : 0;
    pthread_mutex_unlock(&lock);
    return n;
}

static void *walk(void *arg) {
    for (int i = 0; i < 220; i++) {
        work(4);
        *(unsigned long *)arg += next_name();
    }
    return 0;
}

int main(void) {
    pthread_t other;
    unsigned long one = 0, two = 0;
    folder = opendir("/");
    pthread_create(&other, 0, walk, &one);
    walk(&two);
    pthread_join(other, 0);
    closedir(folder);
    return one + two > 0 ? 0 : 1;
}
