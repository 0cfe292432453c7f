// Whoever is told of a change in a folder comes after it: a file that is made, opened, renamed or removed, and one that is
// only closed.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

static char folder[] = "/tmp/raddle-XXXXXX", one[64], two[64];
static int watch, data;

static void told(void) {
    char events[4096];
    if (read(watch, events, sizeof events) <= 0) abort();
    data++;
}

static void *makes(void *arg) {
    data++;
    close(open(one, O_CREAT | O_WRONLY, 0600));
    return arg;
}
static void *renames(void *arg) {
    data++;
    if (rename(one, two) != 0) abort();
    return arg;
}
static void *removes(void *arg) {
    data++;
    unlink(two);
    return arg;
}

int main(void) {
    static void *(*const each[])(void *) = {makes, renames, removes};
    static const unsigned what[] = {IN_CREATE, IN_MOVED_TO, IN_DELETE};
    if (!mkdtemp(folder)) return 1;
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(two, sizeof two, "%s/two", folder);
    watch = inotify_init1(0);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        inotify_add_watch(watch, folder, what[i]);
        pthread_create(&t[i], 0, each[i], 0);
        told();
    }
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    rmdir(folder);
    return 0;
}
