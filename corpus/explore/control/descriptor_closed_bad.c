// expect: assertion
// A thread closes a descriptor that another still wants to use.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int fd;

void *closes(void *arg) {
    pthread_mutex_lock(&lock);
    close(fd);
    pthread_mutex_unlock(&lock);
    return arg;
}

void *writes(void *arg) {
    pthread_mutex_lock(&lock);
    assert(write(fd, "x", 1) == 1); // expect: assertion here
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    fd = open("/dev/null", O_WRONLY);
    pthread_create(&a, 0, writes, 0);
    pthread_create(&b, 0, closes, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
