// Two threads read one open folder. Its position, and the entries that it hands out, are for one
// thread at a time. The relaxed atomic makes main the second, and orders nothing.
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static DIR *folder;
static atomic_int has_read;

static void *work(void *unused) {
    readdir(folder);            // expect: data-race write #1
    atomic_store_explicit(&has_read, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    folder = opendir("/");
    readdir(folder);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    while (!atomic_load_explicit(&has_read, memory_order_relaxed)) usleep(1000);
    readdir(folder);            // expect: data-race write #1
    pthread_join(thread, 0);
    closedir(folder);
    return 0;
}
