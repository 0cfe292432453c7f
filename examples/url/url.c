/* A page shows its address while a loader may clear it. Each access is under the lock, and every
 * ordinary run passes: the loader takes longer than the page. */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static const char *url = "index.html";
static int shown;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void *show(void *unused)
{
    pthread_mutex_lock(&mu);
    assert(url != 0);
    shown = 1;
    pthread_mutex_unlock(&mu);
    return unused;
}

static void *load(void *unused)
{
    usleep(20000);
    pthread_mutex_lock(&mu);
    url = 0;
    pthread_mutex_unlock(&mu);
    return unused;
}

int main(void)
{
    pthread_t page, loader;
    pthread_create(&page, 0, show, 0);
    pthread_create(&loader, 0, load, 0);
    pthread_join(page, 0);
    pthread_join(loader, 0);
    return !shown;
}
