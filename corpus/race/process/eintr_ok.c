// A signal without SA_RESTART interrupts read, sem_wait, nanosleep, epoll_wait and pause with EINTR under the detector as it does
// without. Silent in every mode.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

atomic_int stage;
int fds[2], failures;
sem_t never;

static void handler(int signal) { (void)signal; }

static void expect_eintr(int status) {
    if (status != -1 || errno != EINTR) failures++;
    atomic_fetch_add(&stage, 1);
}

void *blocked(void *arg) {
    char byte;
    struct epoll_event event;
    struct timespec minute = {60, 0};
    expect_eintr((int)read(fds[0], &byte, 1));
    expect_eintr(sem_wait(&never));
    expect_eintr(nanosleep(&minute, 0));
    expect_eintr(epoll_wait(epoll_create1(0), &event, 1, 60000));
    expect_eintr(pause());
    return arg;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, 0);
    sem_init(&never, 0, 0);
    if (pipe(fds) != 0) return 1;
    pthread_t t;
    pthread_create(&t, 0, blocked, 0);
    while (atomic_load(&stage) < 5) {
        usleep(2000);
        if (atomic_load(&stage) < 5) pthread_kill(t, SIGUSR1);
    }
    pthread_join(t, 0);
    return failures;
}
