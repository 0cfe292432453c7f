// Streams and folders that are closed by the last who uses them, by a lock or after a join; and a
// stream whose own lock guards something else.
// expect: nothing
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *shared, *joined;
static DIR *folder;
static int users = 2;

static void *use(void *arg) {
    fputs("text", joined);
    pthread_mutex_lock(&lock);
    fputs("text", shared), readdir(folder);
    if (--users == 0) fclose(shared), closedir(folder);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    shared = fopen("/dev/null", "w"), joined = fopen("/dev/null", "w");
    folder = opendir("/");
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, use, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    fclose(joined);
    return 0;
}
