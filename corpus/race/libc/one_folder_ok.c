// Two threads read one open folder, each under a lock, and each a folder of its own.
// expect: nothing
#include <dirent.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static DIR *folder;
static size_t length;

static void *work(void *unused) {
    DIR *own = opendir("/");
    for (int i = 0; i < 3; i++) {
        readdir(own);
        pthread_mutex_lock(&lock);
        struct dirent *entry = readdir(folder);
        if (entry) length += strlen(entry->d_name);
        pthread_mutex_unlock(&lock);
    }
    closedir(own);
    return unused;
}

int main(void) {
    folder = opendir("/");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    closedir(folder);
    return length == 0;
}
