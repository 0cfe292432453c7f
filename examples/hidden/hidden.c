/* Nothing protects `result`. A critical section orders the two writes in nearly every run, by luck:
 * the worker is the first to take the lock. */
#include <pthread.h>
#include <unistd.h>

int result, done;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused)
{
    result = 42; /* before the critical section … */
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    usleep(50000); /* the worker is nearly always first */
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    result++; /* … and after it: ordered in this run, by luck */
    pthread_join(thread, NULL);
    return 0;
}
