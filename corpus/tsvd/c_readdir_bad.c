//@ pair 1: parallel-loop often
// Two threads walk one directory stream together, and neither knows what the other's entry was overwritten with.
#include <dirent.h>
#include <pthread.h>
#include "work.h"

static DIR *folder;

static void *walk(void *arg) {
    for (int i = 0; i < 220; i++) {
        work(*(unsigned *)arg);
        struct dirent *entry = readdir(folder);    // expect: thread-safety-violation write write #1
        if (!entry) *(unsigned *)arg = 3;
    }
    return 0;
}

int main(void) {
    pthread_t other;
    unsigned one = 4, two = 4;
    folder = opendir("/usr/include");
    if (!folder) folder = opendir("/");
    pthread_create(&other, 0, walk, &one);
    walk(&two);
    pthread_join(other, 0);
    closedir(folder);
    return 0;
}
