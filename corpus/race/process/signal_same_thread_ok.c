// A signal handler that interrupts the very thread whose counter it changes: an interruption, not a thread. A timer and kill
// deliver to main alone, since the others block the signal. Silent in every mode; calls interrupted by it still work.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

volatile sig_atomic_t ticks;
volatile long plain;
pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
long count;
sem_t done;

static void tick(int signal) {
    int saved = errno;
    ticks += signal == SIGALRM;
    plain++;
    errno = saved;
}

void *work(void *arg) {
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mu);
        count++;
        pthread_mutex_unlock(&mu);
    }
    sem_post(&done);
    return arg;
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sem_init(&done, 0, 0);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    struct sigaction action = {.sa_handler = tick};
    sigaction(SIGALRM, &action, 0);
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, 0);
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mu);
        count++;
        pthread_mutex_unlock(&mu);
        plain++;
    }
    for (int i = 0; i < 2; i++)
        while (sem_wait(&done) != 0 && errno == EINTR) {}
    while (ticks < 5) usleep(1000);
    setitimer(ITIMER_REAL, &never, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return count != 6000;
}
