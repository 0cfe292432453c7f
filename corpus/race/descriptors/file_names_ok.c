// Files that say by being there, by their new name, or by being gone that something is done; and a
// file that serves as a lock.
// expect: nothing
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/raddle_namesXXXXXX";
static char made[64], draft[64], final[64], gone[64], lock[64];
int first, second, third, guarded;

static void locked(void) {
    int fd;
    while ((fd = open(lock, O_CREAT | O_EXCL | O_WRONLY, 0600)) < 0) usleep(50);
    guarded++;
    close(fd);
    unlink(lock);
}

static void *tell(void *arg) {
    first = 1;
    close(open(made, O_CREAT | O_WRONLY, 0600));
    FILE *file = fopen(draft, "w");
    fputs("text", file), fclose(file);
    second = 1;
    rename(draft, final);
    third = 1;
    unlink(gone);
    for (int i = 0; i < 10; i++) locked();
    return arg;
}

static void *hear(void *arg) {
    struct stat info;
    FILE *file;
    while (access(made, F_OK)) usleep(50);
    first = 2;
    while (!(file = fopen(final, "r"))) usleep(50);
    fclose(file);
    second = 2;
    while (stat(gone, &info) == 0) usleep(50);
    third = 2;
    for (int i = 0; i < 10; i++) locked();
    return arg;
}

int main(void) {
    pthread_t threads[2];
    mkdtemp(folder);
    sprintf(made, "%s/made", folder), sprintf(draft, "%s/draft", folder), sprintf(final, "%s/final", folder);
    sprintf(gone, "%s/gone", folder), sprintf(lock, "%s/lock", folder);
    close(creat(gone, 0600));
    pthread_create(&threads[0], 0, tell, 0);
    pthread_create(&threads[1], 0, hear, 0);
    pthread_join(threads[0], 0), pthread_join(threads[1], 0);
    unlink(made), unlink(final), rmdir(folder);
    return guarded != 20;
}
