// Calls that make or remove a file say that something is done, and so do a folder and a link.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/raddle_foundXXXXXX";
static char opened_at[64], appended_at[64], folded_at[64], linked_at[64], removed_at[64];
int opened, appended, folded, linked, removed;

static void *makes(void *arg) {
    opened = 1;
    close(open(opened_at, O_CREAT | O_WRONLY, 0600));
    appended = 1;
    fclose(fopen(appended_at, "a"));
    folded = 1;
    mkdir(folded_at, 0700);
    linked = 1;
    (void)!symlink("there", linked_at);
    removed = 1;
    remove(removed_at);
    return arg;
}

static void *looks(void *arg) {
    struct stat info;
    while (access(opened_at, F_OK)) usleep(50);
    opened = 2;
    while (stat(appended_at, &info)) usleep(50);
    appended = 2;
    while (access(folded_at, F_OK)) usleep(50);
    folded = 2;
    while (lstat(linked_at, &info)) usleep(50);
    linked = 2;
    while (!access(removed_at, F_OK)) usleep(50);
    removed = 2;
    return arg;
}

int main(void) {
    pthread_t threads[2];
    mkdtemp(folder);
    sprintf(opened_at, "%s/opened", folder), sprintf(appended_at, "%s/appended", folder);
    sprintf(folded_at, "%s/folded", folder), sprintf(linked_at, "%s/linked", folder);
    sprintf(removed_at, "%s/removed", folder);
    close(creat(removed_at, 0600));
    pthread_create(&threads[0], 0, makes, 0);
    pthread_create(&threads[1], 0, looks, 0);
    pthread_join(threads[0], 0), pthread_join(threads[1], 0);
    unlink(opened_at), unlink(appended_at), rmdir(folded_at), unlink(linked_at), rmdir(folder);
    return 0;
}
