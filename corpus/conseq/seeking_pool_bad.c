// expect: assertion
// A worker looks for tasks for ever and counts each round, so it does not only wait. It ends when
// `main` has given it its task, which no order without preemptions lets `main` do.
// BUG: it says that it has ended before it has the result.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_long rounds, task, ended;
static long result;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *seek(void *unused) {
  for (;;) {
    atomic_fetch_add(&rounds, 1);
    long number = atomic_load(&task);
    if (number) {
      atomic_store(&ended, 1);
      pthread_mutex_lock(&lock);
      result = number;
      pthread_mutex_unlock(&lock);
      return unused;
    }
  }
}

int main(void) {
  pthread_t worker;
  pthread_create(&worker, 0, seek, 0);
  atomic_store(&task, 7);
  while (!atomic_load(&ended))
    atomic_fetch_add(&rounds, 1);
  pthread_mutex_lock(&lock);
  assert(result == 7);
  pthread_mutex_unlock(&lock);
  pthread_join(worker, 0);
  return 0;
}
